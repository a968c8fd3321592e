"""How many live sessions a worker's core carries: rising until the p99 of the own delay passes 250 ms.

    python -m bench.live_sessions                         one worker on one core, the rest of the machine for the rest
    python -m bench.live_sessions --worker-cpus 0 1       two workers, a core each; all else where there is room

A real Apache Kafka, a real Redis and the shipped model. The workers are kept to cores of their own, and the brokers,
Redis, the speakers and the listener to the others, where there are any: what generates the load takes processor time,
too. Of one worker, ``for_two_cores`` is twice its sessions, not a measurement; ``bench.two_workers`` says what two cost
each other.

Sessions speak at 2.5 words a second (``bench.live_load``). In a stage they begin one after another, over ``--warm-s``:
long enough that buffers are full and left context is let go of at any time, as where sessions come and go. Then words,
delays and the workers' processor seconds are counted for ``--seconds``; the first stage is run once before, uncounted.
Twice as many sessions a stage while they pass; then between the two.
"""

from __future__ import annotations

import argparse
import os
import time
import uuid
from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from bench.live_load import Listener, Said, Speakers, causes, own_delays, percentiles
from bench.machine import write_result
from bench.worker_process import WorkerProcess, add_spoken_options, as_spoken, choosing, wait_until_joined
from caesura.worker.sizing.measuring import rising
from tests.harness.parts.kafka_part import find_kafka
from tests.harness.parts.real_parts import real_parts
from tests.harness.real_world import RealWorld

LIMIT_MS = 250.0
_ENDED_S = 120.0
_BETWEEN = 2


def stage(
    world: RealWorld, workers: Sequence[WorkerProcess], listener: Listener, sessions: int, options: argparse.Namespace
) -> dict[str, object]:
    """Let so many sessions speak, and return what it cost and how late it was."""
    ended = listener.ended
    name = f"of-{sessions}-{uuid.uuid4().hex[:4]}"
    speakers = Speakers(world, sessions, name=name, begin_over_s=options.warm_s, said=Said(language=options.language))
    speakers.start()
    time.sleep(options.warm_s)
    began_s, began_ms, spent_s = time.monotonic(), time.time() * 1000, sum(one.cpu_s for one in workers)
    time.sleep(options.seconds)
    wall_s, end_ms = time.monotonic() - began_s, time.time() * 1000
    spent_s = sum(one.cpu_s for one in workers) - spent_s
    speakers.stop()
    caught_up = True
    try:
        listener.wait_for_ended(ended + sessions, _ENDED_S, workers)
    except TimeoutError:
        caught_up = False
    heard = listener.since(began_ms, end_ms)
    words = sum(one.words for one in heard)
    return {
        "sessions": sessions,
        "own_delay_ms": percentiles(own_delays(heard, speakers.appended_ms)),
        "words_a_second": round(words / wall_s, 1),
        "cpu_s_per_million_words": round(spent_s / max(1, words) * 1e6, 1),
        "of_the_workers_cores": round(spent_s / wall_s / len(workers), 3),
        "resident_mib": round(sum(one.resident_bytes for one in workers) / 2**20),
        "caught_up": caught_up,
        "sent_late_ms": round(speakers.late_s * 1000, 1),
        "segments_by_cause": causes(heard),
        "load_average": round(os.getloadavg()[0], 1),
    }


def passes(measured: dict[str, object]) -> bool:
    """Tell whether a stage's p99 is within the limit."""
    delays = measured["own_delay_ms"]
    assert isinstance(delays, dict)
    return bool(delays) and delays["p99"] <= LIMIT_MS


def measure(world: RealWorld, options: argparse.Namespace) -> dict[str, object]:
    """Rise."""
    settings = {"worker.engine_memory_mib": options.engine_memory_mib, **choosing(options.model)}
    passed: dict[int, bool] = {}
    stages: list[dict[str, object]] = []
    listener = Listener(world)
    with ExitStack() as running:
        workers = [
            running.enter_context(WorkerProcess(world, ordinal=ordinal, cpus={cpu}, settings=settings))
            for ordinal, cpu in enumerate(options.worker_cpus)
        ]
        listener.start()
        wait_until_joined(world, workers)
        stage(world, workers, listener, options.first, options)  # brokers that just began are slower
        for sessions in rising(options.first, options.most, passed, between=_BETWEEN):
            stages.append(stage(world, workers, listener, sessions, options))
            passed[sessions] = passes(stages[-1])
            print(f"{sessions} sessions: {stages[-1]}", flush=True)
            if not stages[-1]["caught_up"]:
                break  # the next stage would begin with what this one left
        for one in workers:
            one.finish()
    listener.stop()
    most = max((sessions for sessions, well in passed.items() if well), default=0)
    return {
        "limit_ms": LIMIT_MS,
        "workers": len(workers),
        "sessions": most,
        "for_two_cores": most * 2 // len(workers),
        "stages": stages,
    }


def main() -> None:
    """Measure, print, and write the result beside this file."""
    cores = sorted(os.sched_getaffinity(0))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--worker-cpus", type=int, nargs="+", default=[cores[0]], help="a core a worker")
    parser.add_argument("--first", type=int, default=100, help="sessions of the first stage")
    parser.add_argument("--most", type=int, default=6400, help="sessions at which the rise ends")
    parser.add_argument("--seconds", type=float, default=12.0, help="of a stage that count")
    parser.add_argument("--warm-s", type=float, default=40.0, help="over which the sessions of a stage begin")
    parser.add_argument("--engine-memory-mib", type=int, default=8192, help="room for the rows of all sessions")
    add_spoken_options(parser)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    os.sched_setaffinity(0, set(cores) - set(options.worker_cpus) or set(cores))
    with real_parts(partial(find_kafka, long_lived=True)) as (kafka, redis):
        world = RealWorld(kafka, redis.url, f"bench-{uuid.uuid4().hex[:8]}", partitions=4)
        measured = measure(world, options)
    cpus = " ".join(map(str, options.worker_cpus))
    command = (
        f"python -m bench.live_sessions --worker-cpus {cpus} --first {options.first} --seconds {options.seconds:g}"
    )
    command += as_spoken(options)
    write_result("live_sessions", command, measured, out=options.out)


if __name__ == "__main__":
    main()
