"""A broker refuses what a record holds: what it refuses is found, and nothing else pays for it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from caesura.schemas.codec import decode_event
from caesura.schemas.segments import Cause
from caesura.worker.adapters.memory.engine import ScriptedEngine, marked_words
from caesura.worker.core.language.rules import DecodingRules
from caesura.worker.errors import AbortableError
from caesura.worker.ports.publisher import Publisher
from caesura.worker.ports.records import Record
from tests.harness.engines import DEADLY
from tests.harness.in_memory_world import InMemoryWorker, World
from tests.harness.speech import by_session, event, said
from tests.harness.unsure import ChokingPublisher

_PATIENT = DecodingRules(flush_after_ms=60_000, stall_after_ms=60_000, idle_after_ms=600_000)
_HASTY = DecodingRules(flush_after_ms=500, stall_after_ms=500)


def _choking(
    *, takes: tuple[str, ...] = ("asr.words.dead",)
) -> tuple[list[ChokingPublisher], Callable[..., Publisher]]:
    made: list[ChokingPublisher] = []

    def around(publisher: Publisher) -> Publisher:
        made.append(ChokingPublisher(publisher))
        made[-1].takes = takes
        return made[-1]

    return made, around


def _park_and_go_on(world: World, worker: InMemoryWorker, choking: ChokingPublisher) -> None:
    """Check that the partition parked without a dead letter; mend the broker, release it, and go on."""
    assert [one.reason for one in worker.worker.assignment.parked.values()] == ["flush_fails"]
    assert world.records("asr.words.dead") == []
    choking.choking = False
    world.release(0)
    worker.turn(300)


def _headers(letter: Record) -> dict[str, bytes | None]:
    return dict(letter.headers)


@pytest.mark.parametrize("before", [0, 1, 5, 40])
def test_a_refused_record_alone_is_a_dead_letter_with_its_bytes(before: int) -> None:
    world = World(rules=_PATIENT)
    worker = world.worker(around=_choking()[1])
    names = [f"ann-{number}" for number in range(before)]
    world.send(*(event(name, 0, "we", "speak", session_end=True) for name in names))
    bad = event("ben", 0, "a", DEADLY, utterance_end=True)
    world.send(bad, event("ben", 1, "and", "on", session_end=True))
    world.send(*(event(f"{name}-too", 0, "we", "speak", session_end=True) for name in names))
    worker.turn(600)
    (letter,) = world.records("asr.words.dead")
    assert _headers(letter)["caesura.reason"] == b"poison"
    assert decode_event(letter.value or b"") == bad
    found = {name: said(segments) for name, segments in by_session(world.segments()).items()}
    others = {name: ["we", "speak"] for one in names for name in (one, f"{one}-too")}
    assert found == {"ben": ["and", "on"], **others}
    assert worker.worker.unready() == ()


def test_a_refused_record_stays_a_dead_letter_after_redis_is_lost() -> None:
    world = World(rules=_PATIENT)
    worker = world.worker(around=_choking()[1])
    world.send(event("ben", 0, "a", DEADLY, utterance_end=True), event("ben", 1, "and"))
    worker.turn(300)
    worker.worker.drain()
    world.redis.lose_everything()
    world.send(event("ben", 2, "on", session_end=True))
    world.worker(1).turn(200)
    assert said(world.segments()) == ["and", "on"]
    assert len(world.records("asr.words.dead")) == 1


def test_a_segment_that_is_too_large_is_split_to_fit_and_keeps_its_labels() -> None:
    world = World(rules=_PATIENT, max_segment_bytes=900)
    words = [f"Word{number}" for number in range(40)]
    worker = world.worker(engine=ScriptedEngine(script=marked_words))
    world.send(event("ann", 0, *words, session_end=True), event("ben", 0, "hi", session_end=True))
    worker.turn(900)
    found = by_session(world.segments())
    assert {name: said(found[name]) for name in found} == {"ann": words, "ben": ["hi"]}
    assert [one.index for one in found["ann"]] == list(range(len(found["ann"])))
    assert 2 <= len(found["ann"]) < len(words)
    assert Cause.FALLBACK not in {one.cause for one in found["ann"]}
    assert [one.session_end for one in found["ann"]] == [False] * (len(found["ann"]) - 1) + [True]
    assert world.records("asr.words.dead") == []
    assert worker.worker.unready() == ()


def test_a_too_large_segment_of_words_of_several_pieces_is_split_too() -> None:
    world = World(partitions=2, rules=_PATIENT, max_segment_bytes=900)
    characters = [*"我们上个月今天大家办法标签"]
    worker = world.worker(engine=ScriptedEngine())
    world.send(event("ann", 0, *characters, lang="zh", session_end=True))
    world.send(*(event(f"ben-{number}", 0, "hi", session_end=True) for number in range(8)))
    worker.turn(900)
    found = by_session(world.segments())
    assert said(found.pop("ann")) == characters
    assert len(found) == 8
    assert worker.worker.unready() == ()


def test_a_refused_word_of_several_pieces_is_a_dead_letter() -> None:
    world = World(rules=_PATIENT)
    worker = world.worker(engine=ScriptedEngine(), around=_choking()[1])
    world.send(event(DEADLY, 0, "我", "们", lang="zh", session_end=True), event("ann", 0, "hi", session_end=True))
    worker.turn(300)
    assert said(world.segments()) == ["hi"]
    assert len(world.records("asr.words.dead")) == 1
    assert worker.worker.unready() == ()


def test_a_too_large_segment_of_a_silence_flush_is_split_too() -> None:
    world = World(rules=_HASTY, max_segment_bytes=900)
    words = [f"word{number}" for number in range(20)]
    world.send(event("ann", 0, *words))
    worker = world.worker()
    worker.turn(900)
    assert said(world.segments()) == words
    assert worker.worker.unready() == ()


def test_a_flush_of_words_that_were_committed_parks_and_loses_nothing() -> None:
    world = World(rules=_HASTY)
    made, around = _choking()
    worker = world.worker(around=around)
    world.send(event("ann", 0, "a", DEADLY))
    worker.turn(300)
    _park_and_go_on(world, worker, made[0])
    assert said(world.segments()) == ["a", DEADLY]
    assert worker.worker.unready() == ()


def test_a_record_that_only_flushes_committed_words_is_not_to_blame() -> None:
    world = World(rules=_PATIENT)
    made, around = _choking()
    worker = world.worker(around=around)
    world.send(event("ann", 0, "a", DEADLY))
    worker.settle()
    world.send(event("ann", 1, "innocent", session_end=True))
    worker.turn(300)
    _park_and_go_on(world, worker, made[0])
    assert said(world.segments()) == ["a", DEADLY, "innocent"]


def test_a_dead_letter_that_its_topic_refuses_goes_without_its_bytes() -> None:
    world = World(rules=_PATIENT)
    worker = world.worker(around=_choking(takes=())[1])
    world.send(event("ben", 0, "a", DEADLY, utterance_end=True), event("ben", 1, "on", session_end=True))
    worker.turn(600)
    (letter,) = world.records("asr.words.dead")
    assert letter.value == b""
    assert _headers(letter)["caesura.sha256"]
    assert said(world.segments()) == ["on"]


def test_an_outage_in_the_midst_of_the_search_gives_no_record_up() -> None:
    world = World(rules=_PATIENT, max_segment_bytes=900)
    words = [f"word{number}" for number in range(40)]
    worker = world.worker()
    world.send(event("ann", 0, *words, session_end=True))
    for _ in range(60):
        world.broker.fail("commit", AbortableError("too few replicas"))
        worker.turn(10)
    worker.turn(3000)
    assert said(world.segments()) == words
    assert world.records("asr.words.dead") == []
    assert worker.worker.unready() == ()


def test_a_refusal_in_one_partition_costs_the_others_nothing_but_time() -> None:
    world = World(partitions=4, rules=_PATIENT)
    worker = world.worker(around=_choking()[1])
    names = [f"ann-{number}" for number in range(30)]
    world.send(event("ben", 0, "a", DEADLY, session_end=True))
    world.send(*(event(name, 0, "we", "speak", session_end=True) for name in names))
    worker.turn(900)
    found = by_session(world.segments())
    assert {name: said(found[name]) for name in names} == {name: ["we", "speak"] for name in names}
    assert [_headers(one)["caesura.reason"] for one in world.records("asr.words.dead")] == [b"poison"]


@pytest.mark.parametrize("takes", [("asr.words.dead",), ()])
def test_refused_content_is_found_while_redis_is_away(takes: tuple[str, ...]) -> None:
    world = World(rules=_PATIENT)
    worker = world.worker(around=_choking(takes=takes)[1])
    worker.settle()
    world.redis.away = True
    world.send(event("ann", 0, "we", "speak", session_end=True), event("ben", 0, "a", DEADLY, session_end=True))
    world.send(event("cy", 0, "so", session_end=True))
    for _ in range(400):
        worker.turn()
        world.clock.pass_s(0.05)
    assert {name: said(segments) for name, segments in by_session(world.segments()).items()} == {
        "ann": ["we", "speak"],
        "cy": ["so"],
    }
    assert len(world.records("asr.words.dead")) == 1
