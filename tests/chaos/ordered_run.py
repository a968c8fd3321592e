"""A run on the twins in which nothing goes wrong: the oracle finds it in order, and bugs are planted in it."""

from __future__ import annotations

import functools

from caesura.worker.core.language.rules import DecodingRules
from tests.chaos.kept import Kept
from tests.chaos.said import Place, Said, said
from tests.chaos.timed import TIMED_RULES
from tests.harness.checker import Output
from tests.harness.in_memory_world import InMemoryWorker, World
from tests.harness.producers import session_records
from tests.harness.reference import RULES, output_of

PARTITIONS = 2
SESSIONS = 70
SEED = 5
CLOSED_BEFORE_ITS_FIRST_ROUTE = 278
"""A session of this seed that is idle, is closed, and only then asks for a route."""


@functools.cache
def a_run() -> tuple[Output, Said, Kept]:
    """Have sessions say their words at their pace, to one worker on the twins; timers fire."""
    world = World(partitions=PARTITIONS, rules=DecodingRules(routes=frozenset({"de"}), **{**RULES, **TIMED_RULES}))  # type: ignore[arg-type]
    worker = world.worker(dead_letter_limit=1_000_000)
    numbers = (*range(SESSIONS), CLOSED_BEFORE_ITS_FIRST_ROUTE)
    running = [session_records(SEED, number, PARTITIONS, timed=True) for number in numbers]
    refused: dict[Place, str] = {}
    waiting = [(0.01 * number, number, next(session), session) for number, session in enumerate(running)]
    while waiting:
        waiting.sort(key=lambda one: one[:2])
        at_s, number, sent, session = waiting.pop(0)
        while world.clock.now_s < at_s:
            worker.turn()
        world.broker.append("asr.words", sent.partition, sent.value, key=sent.key, headers=sent.headers)
        if sent.refused is not None:
            refused[Place(sent.partition, sent.key, sent.value)] = sent.refused
        following = next(session, None)
        if following is not None:
            waiting.append((world.clock.now_s + 0.11 + following.after_s, number, following, session))
    worker.turn(100)
    output = output_of(world.records("asr.segments"), world.records("translate.de"), world.records("asr.words.dead"))
    begins = {(one.session, one.since) for one in output.segments}
    return output, said(world.records("asr.words"), refused, begins), kept_in(world, worker)


def kept_in(world: World, worker: InMemoryWorker) -> Kept:
    """Return what is kept in a world of twins."""
    partitions = range(world.partitions)
    return Kept(
        ends={partition: world.broker.log("asr.words", partition).end for partition in partitions},
        offsets={partition: world.broker.last_committed("caesura", "asr.words", partition) for partition in partitions},
        fields={partition: dict(worker.store.load(partition)) for partition in partitions},
        ledger=world.records("caesura.ledger"),
    )
