"""How long a partition takes to come back, by how many sessions it holds: load, catch-up, and after Redis lost all.

    python -m bench.rebuild_time

Real Apache Kafka, real Redis, the shipped model. Every session has spoken and is open: it has a ledger record and words
in its buffer. The topic also holds ``--old-words`` words of sessions that ended before, which a rebuild must not read.
A word is sent as Redis is emptied, and nobody falls silent. ``loss_to_next_commit_s`` runs from FLUSHALL to the first
checkpoint that the rebuilt partition commits, ``loss_to_word_committed_s`` to the one that holds this word. Before
that the sessions are claimed twice: ``load_s`` is a claim of what Redis holds as committed, ``catch_up_s`` one after a
crash whose last checkpoint, of ``--speaking`` sessions, was not saved. On a machine that others use, too, the
processor's seconds (``_cpu_s``) say more than the clock's.
"""

from __future__ import annotations

import argparse
import os
import time
import uuid

from typing_extensions import override

from bench.machine import write_result
from caesura.worker.ports.commit_steps import CheckpointTaken, CommitStep
from caesura.worker.ports.observer import Event, PartitionClaimed, PartitionRebuilt, RebuildSummary, SilentObserver
from caesura.worker.ports.reasons import CheckpointOutcome, ClaimVerdict
from caesura.worker.runtime.loop.loop import Worker
from tests.harness.parts.kafka_part import Kafka
from tests.harness.parts.real_parts import real_parts
from tests.harness.parts.redis_part import RedisServer
from tests.harness.pipeline import build
from tests.harness.real_world import Kill, RealWorker, RealWorld
from tests.harness.speech import event, speech

WORDS = [
    "so",
    "we",
    "open",
    "the",
    "next",
    "archive",
    "and",
    "the",
    "label",
    "says",
    "that",
    "it",
    "was",
    "sent",
    "in",
    "march",
]


class Stopwatch(SilentObserver):
    """Notes when a partition was claimed or rebuilt, and when the next checkpoint committed."""

    def __init__(self) -> None:
        self.claim_s: float | None = None
        self.verdict: ClaimVerdict | None = None
        self.rebuild: RebuildSummary | None = None
        self.rebuild_s: float | None = None
        self.committed = 0

    @override
    def note(self, event: Event) -> None:
        """Note the times of claim and rebuild, and count committed checkpoints."""
        match event:
            case PartitionClaimed():
                self.claim_s, self.verdict = event.took_s, event.verdict
            case PartitionRebuilt():
                self.rebuild, self.rebuild_s = event.summary, event.took_s
            case CheckpointTaken():
                self.committed += event.outcome is CheckpointOutcome.COMMITTED
            case _:
                pass


def measure(kafka: Kafka, redis: RedisServer, sessions: int, options: argparse.Namespace) -> dict[str, object]:
    """Fill a partition, claim it, crash before a save, lose Redis, and time each way back."""
    world = RealWorld(kafka, redis.url, f"bench-{uuid.uuid4().hex[:8]}", partitions=1)
    # Nobody falls silent meanwhile: the flush of every session at once is another measurement.
    world.rules = {"flush_after_ms": 600_000, "stall_after_ms": 600_000, "idle_after_ms": 3_600_000}
    world.kafka_changes = {"max_poll_interval_ms": 300_000}
    worker, _ = _started(world, 0)
    old = [speech(f"old-{number}", 100) for number in range(options.old_words // 100)]
    live = [[event(f"live-{number}", 0, *WORDS[:4], utterance_end=True), event(f"live-{number}", 1, *WORDS[4:12])]
            for number in range(sessions)]  # fmt: skip
    world.send(*(one for talk in [*old, *live] for one in talk))
    end = sum(len(talk) for talk in [*old, *live])
    worker.turn_until(lambda: _position(worker.worker) == end, timeout_s=1200.0)
    worker.turn_for(1.0)
    worker.leave()

    second, loaded = _started(world, 1)
    second.turn_until(lambda: loaded.claim_s is not None, timeout_s=120.0)
    second.leave()
    world.send(*(event(f"live-{number}", 2, *WORDS[12:14]) for number in range(options.speaking)))
    with world.process(2, kill=Kill(at=CommitStep.COMMITTED), engine="shipped") as unsaved:
        unsaved.wait()

    third, fresh = _started(world, 3)
    third.turn_until(lambda: fresh.claim_s is not None, timeout_s=120.0)
    claims = {"load_s": loaded.claim_s, "catch_up_s": fresh.claim_s}
    assert (loaded.verdict, fresh.verdict) == (ClaimVerdict.GOOD, ClaimVerdict.CAUGHT_UP)
    third.turn_until(lambda: third.caught_up, timeout_s=120.0)
    redis.flush()
    fresh.committed = 0
    began_s, began_cpu_s = time.monotonic(), time.process_time()
    world.send(event("live-0", 3, "there"))
    third.turn_until(lambda: fresh.rebuild is not None and fresh.committed > 0, timeout_s=600.0)
    next_commit_s, next_commit_cpu_s = time.monotonic() - began_s, time.process_time() - began_cpu_s
    third.turn_until(lambda: third.caught_up, timeout_s=60.0)
    word_s = time.monotonic() - began_s
    assert fresh.rebuild is not None
    third.worker.drain()
    return {
        "sessions": fresh.rebuild.sessions,
        "ledger_records": fresh.rebuild.ledger_records,
        "input_records_read": fresh.rebuild.input_records,
        "input_records": end,
        **{name: round(took_s or 0.0, 3) for name, took_s in claims.items()},
        "rebuild_s": round(fresh.rebuild_s or 0.0, 2),
        "loss_to_next_commit_s": round(next_commit_s, 2),
        "loss_to_next_commit_cpu_s": round(next_commit_cpu_s, 2),
        "loss_to_word_committed_s": round(word_s, 2),
        "load_average": round(os.getloadavg()[0], 1),
    }


def _started(world: RealWorld, ordinal: int) -> tuple[RealWorker, Stopwatch]:
    """Start a worker with the shipped model."""
    watch = Stopwatch()
    return RealWorker(world, build(world.pipeline(ordinal).replaced(engine="shipped"), watch)), watch


def _position(worker: Worker) -> int:
    loaded = worker.assignment.loaded
    return max((one.next_offset for one in loaded.values()), default=-1)


def main() -> None:
    """Measure, print, and write the result beside this file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sessions", type=int, nargs="+", default=[1_000, 10_000])
    parser.add_argument("--old-words", type=int, default=20_000)
    parser.add_argument("--speaking", type=int, default=100, help="sessions of the checkpoint that was not saved")
    options = parser.parse_args()
    with real_parts() as (kafka, redis):
        rows = [measure(kafka, redis, sessions, options) for sessions in options.sessions]
    sizes = " ".join(map(str, options.sessions))
    command = (
        f"python -m bench.rebuild_time --sessions {sizes} --old-words {options.old_words} --speaking {options.speaking}"
    )
    write_result("rebuild_time", command, {"rows": rows})


if __name__ == "__main__":
    main()
