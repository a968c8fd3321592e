"""Live sessions handed over: how long their output pauses, what it costs; and the memory of a session.

    python -m bench.hand_over --sessions 1000
    python -m bench.hand_over --kill --baseline e807f3d --rounds 3

Two workers, a core each, on a real Apache Kafka, a real Redis and the shipped model. ``--sessions`` sessions have said
``--first-words`` words and speak on (``bench.live_load``); then one worker is told to stop. It finishes what it has
read and leaves, the other claims its partitions, loads their sessions and computes their buffers anew.

With ``--kill`` the one is killed instead, and with ``--baseline`` another commit's workers take turns with today's.

``pause_ms``: of the partitions that moved, the longest time without a readable segment from the stop on; and of those
that stayed, and of all of them in as many seconds before it. ``extra_cpu_s``: what the one that stays spends in
``--seconds`` after the stop, less what its words cost both in as many before it. Bytes a session are of both workers'
resident memory, and of Redis, before the sessions and with them; what an engine takes for its first batches is in the
former. What Redis takes in and spends a word is counted after the stop, the claims included.
"""

from __future__ import annotations

import argparse
import os
import time
import uuid
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import redis as redis_client

from bench.live_load import Heard, Listener, Speakers, own_delays, percentiles
from bench.machine import write_result
from bench.worker_process import ROOT, WorkerProcess, wait_until_joined
from tests.harness.command import release
from tests.harness.parts.kafka_part import Kafka
from tests.harness.parts.real_parts import real_parts
from tests.harness.parts.redis_part import RedisServer
from tests.harness.real_world import RealWorld

_PARTITIONS = 8
_ENDED_S = 300.0
_SETTLED_S = 120.0


def longest_gaps(
    heard: Sequence[Heard], partitions: Collection[int], start_ms: float, end_ms: float
) -> dict[str, float]:
    """Return each partition's longest time without a readable segment: the median one, and the longest.

    start_ms, end_ms: when the listening began and ended; they bound the first and the last gap.
    """
    times: dict[int, list[float]] = {partition: [start_ms, end_ms] for partition in partitions}
    for one in heard:
        if one.partition in times:
            times[one.partition].append(one.read_ms)
    gaps = sorted(max(after - before for before, after in pairwise(sorted(read))) for read in times.values())
    return {"median": round(gaps[len(gaps) // 2]), "longest": round(gaps[-1])} if gaps else {}


def partitions_of(world: RealWorld, client_id: str) -> set[int]:
    """Return the partitions that a member of the group holds."""
    asked = world.kafka.admin.describe_consumer_groups([world.deployment], request_timeout=5)
    return {
        place.partition
        for member in asked[world.deployment].result(30).members
        if member.client_id == client_id and member.assignment is not None
        for place in member.assignment.topic_partitions
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class RedisUse:
    """What Redis says of itself: memory used, bytes that came in, processor seconds."""

    used_bytes: int
    input_bytes: int
    cpu_s: float

    @classmethod
    def of(cls, server: RedisServer) -> RedisUse:
        """Ask it."""
        with redis_client.Redis.from_url(server.url) as client:
            told = client.info()
        assert isinstance(told, dict)
        return cls(
            used_bytes=int(told["used_memory"]),
            input_bytes=int(told["total_net_input_bytes"]),
            cpu_s=float(told["used_cpu_user"]) + float(told["used_cpu_sys"]),
        )


def kafka_bytes_a_word(world: RealWorld, words: int) -> dict[str, float]:
    """Return the bytes of keys and values, a published word, that each topic has taken."""
    topics = {"words": world.words_topic, "segments": world.segments_topic, "ledger": f"{world.deployment}.ledger"}
    sizes = {
        name: sum(len(one.key or b"") + len(one.value or b"") for one in world.records(topic))
        for name, topic in topics.items()
    }
    return {name: round(size / words, 1) for name, size in sizes.items()}


def two_workers(world: RealWorld, options: argparse.Namespace, code: Path) -> Iterator[WorkerProcess]:
    """Start them one after the other, each with a core of its own where there are two."""
    cores = sorted(os.sched_getaffinity(0))
    for n in range(2):
        yield WorkerProcess(
            world,
            ordinal=n,
            code=code,
            cpus={cores[n % len(cores)]},
            settings={
                "worker.engine_memory_mib": 4096,
                "decoding.max_context_words": options.max_context_words,
                "decoding.context_words": min(10, options.max_context_words),
            },
        )


def measure(kafka: Kafka, server: RedisServer, options: argparse.Namespace, code: Path = ROOT) -> dict[str, object]:
    """Run two workers, stop one, and watch."""
    world = RealWorld(kafka, server.url, f"bench-{uuid.uuid4().hex[:8]}", partitions=_PARTITIONS)
    with ExitStack() as running:
        workers = [running.enter_context(one) for one in two_workers(world, options, code)]
        wait_until_joined(world, workers)
        return _watched(world, server, workers, options)


def _watched(
    world: RealWorld, server: RedisServer, workers: Sequence[WorkerProcess], options: argparse.Namespace
) -> dict[str, object]:
    listener = Listener(world)
    listener.start()
    empty_bytes, empty_redis = sum(one.resident_bytes for one in workers), RedisUse.of(server)
    speakers = Speakers(world, options.sessions, words_a_second=options.words_a_second, first_words=options.first_words)
    speakers.start()
    _wait_until_level(listener, options.sessions)
    leaving, staying = workers
    moved = partitions_of(world, f"{world.deployment}-0")
    before_ms, before_s = time.time() * 1000, sum(one.cpu_s for one in workers)
    time.sleep(options.seconds)
    before_s = sum(one.cpu_s for one in workers) - before_s
    held_bytes, held_redis = sum(one.resident_bytes for one in workers), RedisUse.of(server)
    stopped_ms, stayed_s = time.time() * 1000, staying.cpu_s
    leaving.kill() if options.kill else leaving.finish()
    left_ms = time.time() * 1000
    time.sleep(max(0.0, options.seconds - (left_ms - stopped_ms) / 1000))
    after_ms, after_s = time.time() * 1000, staying.cpu_s - stayed_s
    last_redis, spoken = RedisUse.of(server), max(1, sum(one.words for one in listener.since(stopped_ms, after_ms)))
    speakers.stop()
    listener.wait_for_ended(options.sessions, _ENDED_S, [staying])
    staying.finish()
    listener.stop()
    before, after = listener.since(before_ms, stopped_ms), listener.since(stopped_ms, after_ms)
    words = {"before": sum(one.words for one in before), "after": sum(one.words for one in after)}
    everywhere = set(range(_PARTITIONS))
    return {
        "sessions": options.sessions,
        "words_a_second": options.words_a_second,
        "moved_partitions": len(moved),
        "stopped_within_ms": round(left_ms - stopped_ms),
        "pause_ms": {
            "moved": longest_gaps(after, moved, stopped_ms, after_ms),
            "stayed": longest_gaps(after, everywhere - moved, stopped_ms, after_ms),
            "before": longest_gaps(before, everywhere, before_ms, stopped_ms),
        },
        "own_delay_ms": {
            "before": percentiles(own_delays(before, speakers.appended_ms)),
            "after": percentiles(own_delays(after, speakers.appended_ms)),
        },
        "cpu_s": {"both_before": round(before_s, 2), "the_other_after": round(after_s, 2)},
        "extra_cpu_s": round(after_s - before_s * words["after"] / max(1, words["before"]), 2),
        "words": words,
        "resident_bytes_a_session": round((held_bytes - empty_bytes) / options.sessions),
        "redis_bytes_a_session": round((held_redis.used_bytes - empty_redis.used_bytes) / options.sessions),
        "redis_input_bytes_a_word": round((last_redis.input_bytes - held_redis.input_bytes) / spoken),
        "redis_cpu_s_per_million_words": round((last_redis.cpu_s - held_redis.cpu_s) / spoken * 1e6, 1),
        "kafka_bytes_a_word": kafka_bytes_a_word(world, sum(one.words for one in listener.heard)),
    }


def _wait_until_level(listener: Listener, sessions: int) -> None:
    """Wait until each session has been heard of, and for a few seconds more."""
    until_s = time.monotonic() + _SETTLED_S
    while len({one.session for one in list(listener.heard)}) < sessions and time.monotonic() < until_s:
        time.sleep(0.5)
    time.sleep(3.0)


def main() -> None:
    """Measure, print, and write the result beside this file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sessions", type=int, default=1000)
    parser.add_argument(
        "--words-a-second", type=float, default=0.5, help="of a session: 1,000 of them at 2.5 want 2 cores"
    )
    parser.add_argument("--first-words", type=int, default=40, help="that each session has said before")
    parser.add_argument("--seconds", type=float, default=12.0, help="before the stop, and after it")
    parser.add_argument("--max-context-words", type=int, default=64, help="decoding.max_context_words")
    parser.add_argument("--kill", action="store_true", help="kill the one worker in place of stopping it")
    parser.add_argument("--baseline", help="a commit whose workers take turns with today's")
    parser.add_argument("--rounds", type=int, default=1)
    options = parser.parse_args()
    with real_parts() as (kafka, server), ExitStack() as held:
        codes = {"now": ROOT}
        if options.baseline:
            codes = {options.baseline: held.enter_context(release(options.baseline, compiled=True)), **codes}
        turns = [
            {name: measure(kafka, server, options, code) for name, code in codes.items()} for _ in range(options.rounds)
        ]
    command = (
        f"python -m bench.hand_over --sessions {options.sessions} --words-a-second {options.words_a_second:g} "
        f"--first-words {options.first_words} --seconds {options.seconds:g} "
        f"--max-context-words {options.max_context_words} --rounds {options.rounds}"
        f"{' --kill' * options.kill}{f' --baseline {options.baseline}' if options.baseline else ''}"
    )
    write_result("hand_over", command, {"turns": turns})


if __name__ == "__main__":
    main()
