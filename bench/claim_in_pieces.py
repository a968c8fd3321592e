"""What it costs to claim a partition of very many stored sessions, most of them ended: longest turn, CPU, memory.

    python -m bench.claim_in_pieces

A real Redis holds ``--sessions`` sessions of partition 0, one in a hundred open, the rest ended; partition 1 has a few
live sessions that go on speaking while partition 0 is claimed. Kafka and the engine are the twins in this process, so
what is measured is the claim. ``longest_turn_ms`` is the wall clock of one turn of the loop, ``longest_turn_cpu_ms``
the processor's time of one: on a machine that others use, too, the second says more.
"""

from __future__ import annotations

import argparse
import os
import resource
import time
from pathlib import Path

import msgspec

from bench.machine import write_result
from caesura.schemas.checkpoint import MANIFEST_VERSION, Manifest, OffsetMetadata
from caesura.schemas.codec import encode_event
from caesura.schemas.digests import digest_sum
from caesura.schemas.state import decode_state, encode_state
from caesura.worker.adapters.memory.broker import MemoryBroker
from caesura.worker.adapters.memory.engine import ScriptedEngine
from caesura.worker.adapters.memory.log_reader import MemoryLogReader, MemoryPeerTransactions
from caesura.worker.adapters.memory.publisher import MemoryPublisher
from caesura.worker.adapters.memory.word_source import MemoryWordSource
from caesura.worker.adapters.redis.session_store import RedisSessionStore, partition_key
from caesura.worker.adapters.redis.settings import RedisSettings
from caesura.worker.adapters.system_clock import SystemClock
from caesura.worker.core.language.rules import DecodingRules
from caesura.worker.core.language.segmentation import segmenters
from caesura.worker.core.partition.partitioning import murmur2_partition
from caesura.worker.ports.observer import SilentObserver
from caesura.worker.runtime.loop.loop import Worker
from caesura.worker.runtime.settings.parts import RuntimeAdapters
from caesura.worker.runtime.settings.settings import Partitioner, RuntimeSettings
from caesura.worker.runtime.settings.totals import snapshot_digest
from caesura.worker.sizing.resident_memory import resident_bytes
from tests.harness.executors import DeferredExecutor
from tests.harness.parts.redis_part import RedisServer, find_redis
from tests.harness.speech import event

TOPIC = "asr.words"
RULES = DecodingRules(flush_after_ms=600_000, stall_after_ms=600_000, idle_after_ms=3_600_000)
OPEN_EVERY = 100
FILL_FIELDS = 5_000
SPEAKERS = 5


def main() -> None:
    """Fill, claim, print, and write the result."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sessions", type=int, nargs="+", default=[10_000, 1_000_000])
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    redis = find_redis()
    try:
        rows = [measure(redis, sessions) for sessions in given.sessions]
    finally:
        redis.close()
    command = f"python -m bench.claim_in_pieces --sessions {' '.join(map(str, given.sessions))}"
    write_result("claim_in_pieces", command, {"rows": rows}, out=given.out)


def measure(redis: RedisServer, sessions: int) -> dict[str, object]:
    """Claim a partition that holds so many sessions, and time every turn until it is loaded."""
    redis.flush()
    clock = SystemClock()
    broker = MemoryBroker(wall_ms=clock.wall_ms, wait=lambda _: None)
    for topic in (TOPIC, "asr.segments", "asr.words.dead", "caesura.ledger", "caesura.claims"):
        broker.create_topic(topic, 2)
    first = _worker(broker, redis, 0)
    for name in ("open", "ended"):
        broker.append(
            TOPIC, 0, encode_event(event(name, 0, "so", "it", session_end=name == "ended")), key=name.encode()
        )
    _turn_until_committed(first, broker, 2)
    first.drain()
    _fill(redis, broker, sessions)

    before_mib = resident_bytes() / 2**20
    second = _worker(broker, redis, 1)
    speakers = [name for name in (f"s{number}" for number in range(99)) if murmur2_partition(name.encode(), 2) == 1]
    turns_ms: list[float] = []
    turns_cpu_ms: list[float] = []
    seq = 0
    while 0 not in second.assignment.loaded:
        for name in speakers[:SPEAKERS]:
            broker.append(TOPIC, 1, encode_event(event(name, seq, "and", "so", "on")), key=name.encode())
        seq += 1
        began_s, began_cpu_s = time.monotonic(), time.process_time()
        second.turn(0.0)
        turns_ms.append((time.monotonic() - began_s) * 1000.0)
        turns_cpu_ms.append((time.process_time() - began_cpu_s) * 1000.0)
    loaded = second.assignment.loaded[0].sessions
    assert len(loaded) == sessions
    spoken = len(broker.records("asr.segments", 1))
    row: dict[str, object] = {
        "sessions": sessions,
        "awake": len(loaded.awake),
        "turns": len(turns_ms),
        "longest_turn_ms": round(max(turns_ms), 1),
        "longest_turn_cpu_ms": round(max(turns_cpu_ms), 1),
        "claim_s": round(sum(turns_ms) / 1000.0, 1),
        "claim_cpu_s": round(sum(turns_cpu_ms) / 1000.0, 1),
        "cpu_us_a_session": round(sum(turns_cpu_ms) * 1000.0 / sessions, 1),
        "segments_of_the_other_partition_meanwhile": spoken,
        "memory_mib": round(resident_bytes() / 2**20 - before_mib),
        "peak_memory_mib": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0 - before_mib),
        "redis_mib": round(_redis_mib(redis)),
        "load_average": round(os.getloadavg()[0], 1),
    }
    second.drain()
    return row


def _worker(broker: MemoryBroker, redis: RedisServer, ordinal: int) -> Worker:
    settings = RuntimeSettings(ordinal=ordinal, partitioner=Partitioner.UNCHECKED)
    clock = SystemClock()
    parts = RuntimeAdapters(
        source=MemoryWordSource(broker, TOPIC, group_id=settings.group),
        publisher=MemoryPublisher(broker, settings.transactional_id, TOPIC),
        store=_store(redis),
        reader=MemoryLogReader(broker),
        peers=MemoryPeerTransactions(broker, TOPIC, group_id=settings.group),
        engine=ScriptedEngine(),
        clock=clock,
        observer=SilentObserver(),
        saving=DeferredExecutor(is_deferring=False),
        asking=DeferredExecutor(is_deferring=False),
    )
    worker = Worker(parts, settings, rules=RULES, segmenters=segmenters)
    worker.start()
    return worker


def _store(redis: RedisServer) -> RedisSessionStore:
    return RedisSessionStore(RedisSettings(addresses=(redis.url.split("/")[2],)), deployment="caesura", topic=TOPIC)


def _turn_until_committed(worker: Worker, broker: MemoryBroker, next_offset: int) -> None:
    while (committed := broker.committed("caesura", TOPIC, 0)) is None or committed.next_offset < next_offset:
        worker.turn(0.02)


def _fill(redis: RedisServer, broker: MemoryBroker, sessions: int) -> None:
    """Put copies of the two stored sessions beside each other, as the committed checkpoint would have left them."""
    committed = broker.committed("caesura", TOPIC, 0)
    metadata = OffsetMetadata.decode(committed.metadata) if committed is not None else None
    assert metadata is not None
    found = {name: decode_state(stored) for name, stored in _store(redis).load(0)}
    key, digests = partition_key("caesura", TOPIC, 0), [0]
    with redis.client() as client:
        for name in found:
            client.hdel(key, f"s:{name}")
        for start in range(0, sessions, FILL_FIELDS):
            fields = {}
            for number in range(start, min(start + FILL_FIELDS, sessions)):
                name = f"meeting-{number:08}"
                state = msgspec.structs.replace(found["ended" if number % OPEN_EVERY else "open"], session=name)
                snapshot = encode_state(state)
                digests.append(snapshot_digest(name, snapshot))
                fields[f"s:{name}"] = snapshot
            client.hset(key, mapping=fields)
        manifest = Manifest(
            version=MANIFEST_VERSION,
            id=str(metadata.id),
            sessions=sessions,
            digest=digest_sum(digests),
            history=metadata.history,
            next_offset=metadata.next_offset,
            ledger_end=0,
        )
        client.hset(key, "m", msgspec.msgpack.encode(manifest))


def _redis_mib(redis: RedisServer) -> float:
    with redis.client() as client:
        return float(client.info("memory")["used_memory"]) / 2**20


if __name__ == "__main__":
    main()
