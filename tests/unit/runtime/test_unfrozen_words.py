"""Words told before they freeze: never a byte of state or of a segment changes by it, whatever becomes of them."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise

import pytest

from caesura.schemas.codec import decode_tentative
from caesura.schemas.tentative import Tentative
from caesura.schemas.wire import WireFormat
from caesura.worker.adapters.memory.publisher import MemoryTentativePublisher
from caesura.worker.adapters.system_clock import SystemClock
from caesura.worker.ports.observer import Event, SilentObserver
from caesura.worker.ports.service_events import UnfrozenReported
from caesura.worker.runtime.partition.unfrozen_words import UnfrozenWords
from tests.harness.in_memory_world import World
from tests.harness.partition_driver import Driver, event
from tests.harness.speech import speech, untimed

NAMES = ("ann", "ben", "cy")


def spoken(publisher: MemoryTentativePublisher | None, topic: str = "") -> World:
    """Return a world in which three people have spoken, a word or so at a time, in turns of twin time."""
    world = World(partitions=2)
    worker = world.worker(tentative=publisher, tentative_topic=topic)
    worker.settle()
    streams = [speech(name, 60) for name in NAMES]
    for together in zip(*streams, strict=False):
        world.send(*together)
        worker.turn(6)
    worker.settle()
    worker.worker.drain()
    return world


class Looks(SilentObserver):
    """Keeps what is told of looks."""

    def __init__(self) -> None:
        self.told: list[Event] = []

    def note(self, event: Event) -> None:
        self.told += [event] if isinstance(event, UnfrozenReported) else []


def looks(publisher: MemoryTentativePublisher) -> dict[str, list[Tentative]]:
    found: dict[str, list[Tentative]] = defaultdict(list)
    for _, key, value in publisher.records:
        found[key.decode()].append(decode_tentative(value))
    return found


@pytest.mark.parametrize("topic", ["", "asr.tentative"])
@pytest.mark.parametrize("failing", [False, True])
def test_state_and_segments_are_the_same_bytes_with_and_without_it(
    topic: str, failing: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "caesura.worker.runtime.claim.claim_token.secrets.token_hex", lambda size: "ab" * size
    )  # a claim's own chance
    publisher = MemoryTentativePublisher(failing=failing)
    without, told = spoken(None), spoken(publisher, topic)
    assert vars(told.redis) == vars(without.redis)
    for name in ("asr.segments", "translate.de", "asr.words.dead", "caesura.ledger"):
        assert [(one.key, one.value) for one in told.records(name)] == [
            (one.key, one.value) for one in without.records(name)
        ]
    assert without.segments()
    assert bool(publisher.records) is not publisher.failing
    assert publisher.closed


def test_unfrozen_words_are_labelled_if_there_is_a_topic() -> None:
    publisher = MemoryTentativePublisher()
    spoken(publisher, "asr.tentative")
    unlabelled = [len(one.words) - one.labelled_words for looked in looks(publisher).values() for one in looked]
    assert max(unlabelled) < 3, "a step labels every third word, and all before it"


def test_tentative_words_come_later_as_segments_in_order() -> None:
    publisher = MemoryTentativePublisher()
    world = spoken(publisher)
    frozen: dict[str, list[str]] = defaultdict(list)
    for segment in untimed(world.segments()):
        frozen[segment.session] += [word.text for word in segment.words]
    told = looks(publisher)
    assert set(told) == set(NAMES)
    for name, tentatives in told.items():
        for one in tentatives:
            words = [word.text for word in one.words]
            assert frozen[name][one.first_word : one.first_word + len(words)] == words
            assert one.revisable
            assert one.labelled_words <= len(words)


def test_a_session_is_told_of_at_most_once_in_the_interval() -> None:
    publisher = MemoryTentativePublisher()
    spoken(publisher)
    assert set(looks(publisher)) == set(NAMES)
    for tentatives in looks(publisher).values():
        times = [one.at_ms for one in tentatives]
        assert len(times) > 2
        assert min(later - before for before, later in pairwise(times)) >= 300


def test_a_worker_that_is_behind_tells_nothing() -> None:
    publisher = MemoryTentativePublisher()
    world = World()
    worker = world.worker(tentative=publisher, max_poll_records=1)
    worker.settle()
    for name in NAMES:
        world.send(*speech(name, 30))
    worker.settle()
    assert publisher.records == []


@pytest.mark.parametrize(
    ("behind", "failing", "told"),
    [
        (False, False, UnfrozenReported(offered=1)),
        (False, True, UnfrozenReported(dropped=1)),
        (True, False, UnfrozenReported(passed_over=1)),
    ],
)
def test_offered_and_dropped_unfrozen_words_are_counted(behind: bool, failing: bool, told: UnfrozenReported) -> None:
    driver, heard = Driver(), Looks()
    driver.give(event(0, "so we begin"))
    publisher = MemoryTentativePublisher(failing=failing)
    unfrozen = UnfrozenWords(
        publisher=publisher, clock=SystemClock(), interval_ms=300, wire=WireFormat.MSGPACK, observer=heard
    )
    unfrozen.tell({3: driver.sessions}, behind=behind)
    assert heard.told == [told]
