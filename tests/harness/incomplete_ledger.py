"""A twin world whose ledger is to miss something: how it begins, how it parks, what an operator writes.

``struck_ledger`` strikes the records.
"""

from __future__ import annotations

from caesura.schemas.checkpoint import OffsetMetadata
from caesura.schemas.ledger_sum import LedgerSum
from caesura.schemas.state import decode_ledger
from caesura.worker.core.language.rules import DecodingRules
from caesura.worker.core.partition.partitioning import murmur2_partition
from caesura.worker.ports.records import Record
from caesura.worker.runtime.ledger.output_records import GIVEN_UP_HEADER, THROUGH_HEADER
from caesura.worker.runtime.retries.parking import Parked
from tests.harness.in_memory_world import InMemoryWorker, World
from tests.harness.speech import event

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


_TOPIC = "caesura.ledger"
_MARK = ("struck", b"")


def strike(world: World, session: str, *, older: bool = False) -> bool:
    """Put a tombstone over a session's record, or its record before that; False where there is none.

    Asked by nobody's id: it does not stand in a transaction.
    """
    key = session.encode()
    partition = murmur2_partition(key, world.partitions)
    written = [one for one in world.broker.records(_TOPIC, partition) if one.key == key and not _is_struck(one)]
    if not written or written[-1].value is None or (older and (len(written) < 2 or written[-2].value is None)):
        return False
    value = written[-2].value if older else None
    world.broker.append(_TOPIC, partition, value, key=key, headers=(_MARK,))
    return True


def write_again(world: World) -> int:
    """Write again whatever is struck and was not written over since; return how many sessions."""
    count = 0
    for partition in range(world.partitions):
        for key, (latest, written) in _latest(world, partition).items():
            if _is_struck(latest):
                world.broker.append(_TOPIC, partition, written.value, key=key, headers=written.headers)
                count += 1
    return count


def disagreement(world: World) -> str | None:
    """Say where what a committed offset says of the ledger is not what workers have written there; None: nowhere."""
    for partition in range(world.partitions):
        committed = world.broker.last_committed("caesura", "asr.words", partition)
        metadata = OffsetMetadata.decode(committed.metadata) if committed is not None else None
        log = world.broker.log(_TOPIC, partition)
        if metadata is None or log.stable_end != log.end:
            continue
        found = LedgerSum()
        for _, written in _latest(world, partition).values():
            if written.value is not None:
                found = found.plus(decode_ledger(written.value))
        if found != metadata.ledger:
            return f"partition {partition}: {metadata.ledger} is committed of the ledger, it says {found}"
    return None


def _latest(world: World, partition: int) -> dict[bytes, tuple[Record, Record]]:
    """Return of each key its last record, and its last one of a worker's."""
    latest: dict[bytes, tuple[Record, Record]] = {}
    for record in world.broker.records(_TOPIC, partition):
        key = record.key or b""
        before = latest.get(key, (record, record))[1]
        latest[key] = (record, before if _is_struck(record) else record)
    return latest


def _is_struck(record: Record) -> bool:
    return _MARK in record.headers
