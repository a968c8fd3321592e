"""The worker end to end on a real Apache Kafka and a real Redis, with the shipped model.

    python -m bench.end_to_end delay        live sessions at the pace of speech: how long until a segment can be read
    python -m bench.end_to_end throughput   a backlog read as fast as it goes: words a second, CPU-seconds a million

Delay is told twice. ``word``: from the append of a segment's last word to the segment being readable; look-ahead is in
it, so it follows the pace of speech. ``system``: from the append of the event that let the segment freeze, the last of
its session before the freeze; that is what the worker, Kafka and Redis add. All parts share this machine's cores. Live
events say how far the audio was heard, as a recogniser's do: they come 800 ms apart, which is ``flush_after_ms``.
"""

from __future__ import annotations

import argparse
import random
import time
import uuid
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import msgspec

from bench.live_load import STEP_WORDS, Heard, Listener, causes, own_delays, percentiles
from bench.machine import write_result
from bench.worker_process import ROOT, WorkerProcess, add_spoken_options, as_spoken, choosing, wait_until_joined
from caesura.schemas.codec import decode_event
from caesura.schemas.events import WordsEvent
from caesura.worker.sizing.speech import EVENT_WORDS, WORDS_A_SECOND
from tests.harness.parts.real_parts import real_parts
from tests.harness.real_world import RealWorld
from tests.harness.speech import speech, talk


def heard_in_time(spoken: list[WordsEvent]) -> list[WordsEvent]:
    """Return a session's events saying how far the audio was heard: else the pause between two of them is silence."""
    step_ms, worded = round(EVENT_WORDS / WORDS_A_SECOND * 1000), sum(bool(one.words) for one in spoken)
    return [
        msgspec.structs.replace(one, heard_until_ms=min(place, worded) * step_ms)
        for place, one in enumerate(spoken, start=1)
    ]


def send_at_the_pace_of_speech(world: RealWorld, talks: list[list[WordsEvent]]) -> None:
    """Send the sessions' events, each session begun at another moment, and at another of the decoder's three places.

    Begun within the same event, all would take their steps in the same two of three rounds (``bench.live_load``).
    """
    step_s = EVENT_WORDS / WORDS_A_SECOND
    due = sorted(
        ((index / len(talks) + index % STEP_WORDS + number) * step_s, index, number)
        for index, talk in enumerate(talks)
        for number in range(len(talk))
    )
    began_s = time.monotonic()
    for at_s, index, number in due:
        time.sleep(max(0.0, began_s + at_s - time.monotonic()))
        world.send(talks[index][number])


def delays(world: RealWorld, heard: Sequence[Heard]) -> dict[str, dict[str, float]]:
    """Return both delays' percentiles."""
    appended: dict[str, list[int]] = defaultdict(list)
    for record in world.records(world.words_topic):
        appended[decode_event(record.value or b"").session].append(record.timestamp_ms)
    word = [one.read_ms - one.appended_ms for one in heard if one.words]
    return {"word_ms": percentiles(word), "system_ms": percentiles(own_delays(heard, appended))}


def measure(
    world: RealWorld,
    options: argparse.Namespace,
    *,
    code: Path = ROOT,
    model: str | None = None,
    language: str = "en",
) -> dict[str, object]:
    """Run one measurement; code: the root of the sources that the worker runs; model: the active one's id."""
    rng = random.Random(options.seed)  # noqa: S311 - the same speech in every run is wanted
    talks = [
        speech(f"session-{number}", talk(options.words, rng, language), a_time=EVENT_WORDS, lang=language)
        for number in range(options.sessions)
    ]
    words = options.words * options.sessions
    listener = Listener(world)
    live = options.what == "delay"
    if live:
        talks = [heard_in_time(one) for one in talks]
    else:
        world.send(*(one for turn in zip(*talks, strict=True) for one in turn))
    with WorkerProcess(world, code=code, settings=choosing(model)) as worker:
        began_s = time.monotonic()
        listener.start()
        if live:
            wait_until_joined(world, [worker])
            send_at_the_pace_of_speech(world, talks)
        listener.wait_for_ended(options.sessions, options.timeout_s, [worker])
        wall_s = time.monotonic() - began_s
        cpu_s = worker.finish()
    listener.stop()
    published = sum(one.words for one in listener.heard)
    assert published == words, f"{published} of {words} words came out"
    result: dict[str, object] = {"sessions": options.sessions, "words": words, "cpu_s": round(cpu_s, 2)}
    result["cpu_s_per_million_words"] = round(cpu_s / words * 1e6, 1)
    result["segments_by_cause"] = causes(listener.heard)
    return result | (delays(world, listener.heard) if live else {"words_per_second": round(words / wall_s, 1)})


def main() -> None:
    """Measure, print, and write the result beside this file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("delay", "throughput"))
    parser.add_argument("--sessions", type=int, default=100)
    parser.add_argument("--words", type=int, default=150, help="words a session")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--timeout-s", type=float, default=900.0)
    add_spoken_options(parser)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    with real_parts() as (kafka, redis):
        world = RealWorld(kafka, redis.url, f"bench-{uuid.uuid4().hex[:8]}", partitions=4)
        measured = measure(world, options, model=options.model, language=options.language)
    command = f"python -m bench.end_to_end {options.what} --sessions {options.sessions} --words {options.words}"
    command += as_spoken(options)
    write_result(f"end_to_end_{options.what}", command, measured, out=options.out)


if __name__ == "__main__":
    main()
