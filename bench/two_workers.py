"""Two workers against one: what a word costs each, and what two carry together.

    python -m bench.two_workers

A backlog on a real Apache Kafka and a real Redis, the shipped model, by turns: one worker has all partitions, then two
have half of them each. Each is kept to one core, so its engine has one thread. Processor time counts from the moment
that all have joined, idle, to the last session's end; ``gain`` is what two cores carry with two workers to what one
carries with one, by processor time a word: 2 × one's price / the two's. Of the rounds the cheapest of each counts.
"""

from __future__ import annotations

import argparse
import os
import random
import uuid
from contextlib import ExitStack

from bench.live_load import Listener
from bench.machine import write_result
from bench.worker_process import WorkerProcess, wait_until_joined
from tests.harness.parts.kafka_part import Kafka
from tests.harness.parts.real_parts import real_parts
from tests.harness.parts.redis_part import RedisServer
from tests.harness.real_world import RealWorld
from tests.harness.speech import speech, talk

_TIMEOUT_S = 600.0
_PARTITIONS = 8


def price(kafka: Kafka, redis: RedisServer, workers: int, options: argparse.Namespace) -> dict[str, float]:
    """Return the CPU seconds a million words of so many workers over the same backlog."""
    world = RealWorld(kafka, redis.url, f"bench-{uuid.uuid4().hex[:8]}", partitions=_PARTITIONS)
    cores = sorted(os.sched_getaffinity(0))
    rng = random.Random(options.seed)  # noqa: S311 - the same speech in every run is wanted
    talks = [speech(f"s-{number}", talk(options.words, rng), a_time=2) for number in range(options.sessions)]
    with ExitStack() as stack:
        running = [
            stack.enter_context(WorkerProcess(world, ordinal=n, cpus={cores[n % len(cores)]})) for n in range(workers)
        ]
        wait_until_joined(world, running)
        before_s = [one.cpu_s for one in running]
        listener = Listener(world)
        listener.start()
        world.send(*(one for turn in zip(*talks, strict=True) for one in turn))
        listener.wait_for_ended(options.sessions, _TIMEOUT_S, running)
        spent_s = [one.cpu_s - before for one, before in zip(running, before_s, strict=True)]
        for one in running:
            one.finish()
    listener.stop()
    words = sum(one.words for one in listener.heard)
    return {
        "words": words,
        "cpu_s_per_million_words": round(sum(spent_s) / words * 1e6, 1),
        "largest_share_of_a_worker": round(max(spent_s) / sum(spent_s), 3),
    }


def main() -> None:
    """Measure, print, and write the result beside this file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sessions", type=int, default=200)
    parser.add_argument("--words", type=int, default=100, help="words a session")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    runs: dict[str, list[dict[str, float]]] = {"one": [], "two": []}
    with real_parts() as (kafka, redis):
        for _ in range(options.rounds):
            runs["one"].append(price(kafka, redis, 1, options))
            runs["two"].append(price(kafka, redis, 2, options))
    best = {name: min(run["cpu_s_per_million_words"] for run in made) for name, made in runs.items()}
    command = (
        f"python -m bench.two_workers --sessions {options.sessions} --words {options.words} --rounds {options.rounds}"
    )
    measured = {"gain": round(2 * best["one"] / best["two"], 2), "cpu_s_per_million_words": best, "runs": runs}
    write_result("two_workers", command, measured)


if __name__ == "__main__":
    main()
