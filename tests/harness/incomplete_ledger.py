"""A twin world whose ledger is to miss something: how it begins, how it parks, what an operator writes.

``struck_ledger`` strikes the records.
"""

from __future__ import annotations

from caesura.worker.core.language.rules import DecodingRules
from caesura.worker.runtime.ledger.output_records import GIVEN_UP_HEADER, THROUGH_HEADER
from caesura.worker.runtime.retries.parking import Parked
from tests.harness.in_memory_world import InMemoryWorker, World
from tests.harness.speech import event

__all__ = ["PATIENT", "give_up", "parked_of", "rebuilt", "world_of_two"]

PATIENT = DecodingRules(flush_after_ms=60_000, stall_after_ms=60_000, idle_after_ms=600_000)


def world_of_two() -> World:
    """Two sessions have published, one of them twice, and have words that wait; a third has words only."""
    world = World(rules=PATIENT)
    first = world.worker()
    world.send(event("ann", 0, "one", utterance_end=True), event("ben", 0, "who", utterance_end=True))
    first.settle()
    world.send(event("ann", 1, "two", utterance_end=True))
    first.settle()
    world.send(event("ann", 2, "three"), event("ben", 1, "is"), event("zoe", 0, "not"))
    first.settle()
    first.worker.drain()
    return world


def rebuilt(world: World) -> InMemoryWorker:
    world.redis.lose_everything()
    worker = world.worker(1)
    worker.settle()
    return worker


def parked_of(worker: InMemoryWorker) -> Parked:
    (parked,) = worker.worker.assignment.parked.values()
    assert parked.reason == "ledger_incomplete"
    return parked


def give_up(
    world: World, detail: str, *, through: str | None = None, given_up: str | None = None, key: bytes | None = b"ann"
) -> None:
    """Do what the detail says."""
    words = dict(word.rstrip(";").split("=") for word in detail.split() if word.startswith("caesura.") and "=" in word)
    headers = {THROUGH_HEADER: through or words[THROUGH_HEADER], GIVEN_UP_HEADER: given_up or words[GIVEN_UP_HEADER]}
    coded = tuple((name, value.encode()) for name, value in headers.items())
    world.broker.append("caesura.ledger", 0, None, key=key, headers=coded)
