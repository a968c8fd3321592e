"""What a word costs end to end, by stage: poll, decode, core, network, Redis, publish, commit.

    python -m bench.cost_split backlog --sessions 200 --words 200
    python -m bench.cost_split live --sessions 100 --seconds 30
    python -m bench.cost_split backlog --sessions 200 --words 200 --stage network

A worker on a real Apache Kafka, a real Redis and the shipped model, kept to one core so that its engine has one
thread; ``bench.staged_worker`` says what is counted where. Stages are of the time since the first record was polled, in
CPU seconds a million published words; ``start`` (imports, models, the claim) is of the run, and in no word's price. The
stages and ``client_threads`` add up to the process's time; ``unaccounted`` is what the kernel counts beside that, at
the interpreter's end. ``of_it_the_timing`` is what the measuring costs, which no worker spends, as far as it is known:
in the midst of other work a clock costs more than where nothing else is asked. So where one stage matters, it is timed
alone, and all the others are ``loop``. ``around`` is the whole to what ``caesura bench`` measures: its factor.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import tempfile
import time
import uuid
from pathlib import Path

from bench.live_load import Listener, Said, Speakers, causes, own_delays, percentiles
from bench.machine import write_result
from bench.staged_worker import STAGES
from bench.worker_process import WorkerProcess, add_spoken_options, as_spoken, choosing, wait_until_joined
from tests.harness.parts.real_parts import real_parts
from tests.harness.real_world import RealWorld
from tests.harness.speech import speech, talk

_MEASURED_BY_BENCH = ("decode", "core", "network", "snapshots")
_TIMEOUT_S = 600.0


def split(told: dict[str, object], words: int, cpu_s: float) -> dict[str, object]:
    """Return CPU seconds a million words by stage, of what a staged worker has told and the kernel's whole time."""
    stages, start_s, whole_s = told["stages_s"], told["start_s"], told["whole_s"]
    assert isinstance(stages, dict)
    assert isinstance(start_s, float)
    assert isinstance(whole_s, float)
    threads_s, timing_s = told["client_threads_s"], told["timing_s"]
    assert isinstance(threads_s, float)
    assert isinstance(timing_s, float)
    spent: dict[str, float] = {**stages, "client_threads": threads_s}
    a_million = {name: round(seconds / words * 1e6, 1) for name, seconds in spent.items()}
    derived: dict[str, float] = {}
    if "network" in spent:
        beside_s = sum(spent.values()) - spent["network"]
        derived["all_but_the_network_cpu_s_per_million_words"] = round(beside_s / words * 1e6, 1)
    derived["of_it_the_timing"] = round(timing_s / words * 1e6, 1)
    if spent.keys() >= set(_MEASURED_BY_BENCH):
        derived["around"] = round(sum(spent.values()) / sum(spent[name] for name in _MEASURED_BY_BENCH), 3)
    return {
        "cpu_s_per_million_words": round((whole_s - start_s) / words * 1e6, 1),
        "stages_cpu_s_per_million_words": a_million,
        **derived,
        "start_cpu_s": round(start_s, 2),
        "unaccounted_cpu_s": round(cpu_s - whole_s, 2),
        "cpu_s_of_the_process": round(cpu_s, 2),
        "calls": told["calls"],
    }


def backlog(world: RealWorld, options: argparse.Namespace) -> dict[str, object]:
    """Read a backlog as fast as it goes."""
    rng = random.Random(options.seed)  # noqa: S311 - the same speech in every run is wanted
    talks = [
        speech(f"s-{number}", talk(options.words, rng, options.language), a_time=2, lang=options.language)
        for number in range(options.sessions)
    ]
    world.send(*(one for turn in zip(*talks, strict=True) for one in turn))
    return _measured(world, options, None)


def live(world: RealWorld, options: argparse.Namespace) -> dict[str, object]:
    """Let sessions speak at the pace of speech."""
    return _measured(
        world, options, Speakers(world, options.sessions, said=Said(language=options.language, seed=options.seed))
    )


def _measured(world: RealWorld, options: argparse.Namespace, speakers: Speakers | None) -> dict[str, object]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "stages.json"
        settings = {"worker.engine_memory_mib": options.engine_memory_mib, **choosing(options.model)}
        program = ("-m", "bench.staged_worker", str(file), ",".join(options.stage or STAGES))
        listener = Listener(world)
        with WorkerProcess(world, cpus={options.cpu}, program=program, settings=settings) as worker:
            listener.start()
            if speakers is not None:
                wait_until_joined(world, [worker])
                speakers.start()
                time.sleep(options.seconds)
                speakers.stop()
            listener.wait_for_ended(options.sessions, _TIMEOUT_S, [worker])
            cpu_s = worker.finish()
        listener.stop()
        told = json.loads(file.read_text(encoding="utf-8"))
    words = sum(one.words for one in listener.heard)
    result: dict[str, object] = {"sessions": options.sessions, "words": words, **split(told, words, cpu_s)}
    if speakers is not None:
        result["own_delay_ms"] = percentiles(own_delays(listener.heard, speakers.appended_ms))
    return result | {"segments_by_cause": causes(listener.heard)}


def main() -> None:
    """Measure, print, and write the result beside this file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("backlog", "live"))
    parser.add_argument("--sessions", type=int, help="200 in a backlog, 100 live")
    parser.add_argument("--words", type=int, default=200, help="words a session of a backlog")
    parser.add_argument("--seconds", type=float, default=30.0, help="of live speech")
    parser.add_argument("--cpu", type=int, default=max(os.sched_getaffinity(0)), help="the core of the worker")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--engine-memory-mib", type=int, default=8192, help="room for the rows of all sessions")
    parser.add_argument("--stage", choices=STAGES, action="append", default=[], help="timed; all, if none is named")
    add_spoken_options(parser)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    options.sessions = options.sessions or (200 if options.what == "backlog" else 100)
    with real_parts() as (kafka, redis):
        world = RealWorld(kafka, redis.url, f"bench-{uuid.uuid4().hex[:8]}", partitions=4)
        measured = (backlog if options.what == "backlog" else live)(world, options)
    size = f"--words {options.words}" if options.what == "backlog" else f"--seconds {options.seconds:g}"
    command = f"python -m bench.cost_split {options.what} --sessions {options.sessions} {size}"
    command += as_spoken(options)
    command += "".join(f" --stage {name}" for name in options.stage)
    write_result("_".join(("cost_split", options.what, *options.stage)), command, measured, out=options.out)


if __name__ == "__main__":
    main()
