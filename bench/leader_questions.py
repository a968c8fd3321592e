"""What it costs to ask leaders whether a silence is one: questions a second by live sessions, and CPU a question.

    python -m bench.leader_questions

How many: a worker on the twins, in the twins' own time, 12 partitions; each session says three words a second for three
seconds and is silent for two. A request asks one leader about all of its partitions
that have something due; questions are counted a partition. What each costs: a real Apache Kafka with one broker, which
leads all 12 partitions, a group member that reads them at rest, and questions for all of them at once.
"""

from __future__ import annotations

import argparse
import random
import resource
import statistics
import time
from collections.abc import Mapping
from pathlib import Path

from bench.machine import write_result
from caesura.worker.adapters.kafka.settings import KafkaSettings
from caesura.worker.adapters.kafka.word_source import KafkaWordSource
from caesura.worker.adapters.memory.engine import ScriptedEngine, marked_words
from caesura.worker.core.language.rules import DecodingRules
from tests.harness.group_member import Member
from tests.harness.in_memory_world import World
from tests.harness.parts.kafka_part import find_kafka, unique
from tests.harness.speech import event

PARTITIONS = 12
SIMULATED_S = 20.0
STEP_S = 0.02
QUESTIONS = 300


def main() -> None:
    """Measure both, and write the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, nargs="*", default=[12, 120, 600, 1200])
    parser.add_argument("--out", type=Path, help="where to write the figures")
    given = parser.parse_args()
    figures = {
        "partitions": PARTITIONS,
        "a_second": [asked(count) for count in given.sessions],
        "a_request": answered(),
    }
    write_result("leader_questions", "python -m bench.leader_questions", figures, out=given.out)


def asked(sessions: int) -> dict[str, float]:
    """Return how many requests and questions a second there are where so many sessions live."""
    world = World(partitions=PARTITIONS, rules=DecodingRules(idle_after_ms=10_000_000))
    worker = world.worker(engine=ScriptedEngine(script=marked_words))
    counts = {"requests": 0, "questions": 0}
    ask = worker.source.ask_ends

    def counted(next_offsets: Mapping[int, int], timeout_s: float) -> None:
        counts["requests"] += 1
        counts["questions"] += len(next_offsets)
        ask(next_offsets, timeout_s)

    worker.source.ask_ends = counted  # type: ignore[method-assign]
    worker.turn(20)
    drawn = random.Random(7)  # noqa: S311 (drawn again the same)
    begins_s = {f"s-{number}": drawn.uniform(0.0, 5.0) for number in range(sessions)}
    said = dict.fromkeys(begins_s, 0)
    start_s = world.clock.now_s
    for step in range(round(SIMULATED_S / STEP_S)):
        now_s = step * STEP_S
        world.clock.now_s = max(world.clock.now_s, start_s + now_s)  # a poll that finds something takes no time
        for name, begin_s in begins_s.items():
            place_s = (now_s + begin_s) % 5.0
            if place_s < 3.0 and int(place_s * 3) != int((place_s - STEP_S) * 3):
                world.send(event(name, said[name], "word"))
                said[name] += 1
        worker.turn()
    silences = sum(one.cause == "silence" for one in world.segments())
    return {
        "sessions": sessions,
        "silences_a_s": round(silences / SIMULATED_S, 1),
        "requests_a_s": round(counts["requests"] / SIMULATED_S, 1),
        "questions_a_s": round(counts["questions"] / SIMULATED_S, 1),
    }


def answered() -> dict[str, float]:
    """Return what a request for all partitions costs: the time until it is answered, CPU of the whole process."""
    kafka = find_kafka()
    try:
        topic = kafka.create_topic("words", PARTITIONS)
        settings = KafkaSettings(bootstrap_servers=kafka.bootstrap, group_id=unique("asks"))
        source = KafkaWordSource(settings, topic, kafka.create_topic("claims", PARTITIONS))
        source.partition_count(10.0)
        member = Member(source)
        while len(member.ends) < PARTITIONS:
            member.step()
        began_s, rest_s = _cpu_s(), time.monotonic()
        for _ in range(QUESTIONS):
            source.poll(500, STEP_S)
        idle_cpu_s, took_s = _cpu_s() - began_s, []
        idle_s = time.monotonic() - rest_s
        began_s, rest_s = _cpu_s(), time.monotonic()
        for _ in range(QUESTIONS):
            asked_s = time.monotonic()
            source.ask_ends(dict.fromkeys(range(PARTITIONS), 0), 2.0)
            heard = 0
            while heard < PARTITIONS:
                heard += len(source.end_answers())
                time.sleep(0.0005)
            took_s.append(time.monotonic() - asked_s)
            source.poll(500, STEP_S)
        asking_cpu_s = _cpu_s() - began_s - idle_cpu_s * (time.monotonic() - rest_s) / idle_s
        source.close()
    finally:
        kafka.close()
    return {
        "answered_p50_ms": round(statistics.median(took_s) * 1000, 2),
        "answered_p95_ms": round(statistics.quantiles(took_s, n=20)[18] * 1000, 2),
        "cpu_us": round(asking_cpu_s / QUESTIONS * 1e6),
    }


def _cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
