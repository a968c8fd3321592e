"""The worker on twins: words in, frozen segments out, once, whatever becomes of partitions and processes."""

from __future__ import annotations

from caesura.schemas.segments import Segment
from caesura.worker.core.language.rules import DecodingRules
from caesura.worker.ports.observer import BatchLabelled, Event, SilentObserver
from tests.harness.in_memory_world import World
from tests.harness.speech import by_session, check_every_word_once, event, said, speech, untimed


class Labelled(SilentObserver):
    """Counts the sessions that were labelled."""

    seen = 0

    def note(self, event: Event) -> None:
        if isinstance(event, BatchLabelled):
            self.seen += event.sessions


PATIENT = DecodingRules(flush_after_ms=10_000, stall_after_ms=10_000)
NOON_MS = 1_700_000_000_000


def test_every_word_comes_out_once_and_in_order() -> None:
    world = World(partitions=3)
    events = [one for name in ("ann", "ben", "cy", "dee") for one in speech(name, 41)]
    world.send(*events)
    worker = world.worker()
    worker.settle()
    check_every_word_once(events, world.segments())


def test_another_worker_goes_on_where_the_first_was_stopped() -> None:
    world = World()
    events = speech("ann", 60)
    world.send(*events[:7])
    first = world.worker(0)
    first.settle()
    first.worker.drain()
    world.send(*events[7:])
    second = world.worker(1)
    second.settle()
    check_every_word_once(events, world.segments())


def test_a_hand_over_changes_no_label() -> None:
    events = [one for name in ("ann", "ben") for one in speech(name, 50)]
    alone, handed = World(rules=PATIENT), World(rules=PATIENT)
    alone.send(*events, timestamp_ms=NOON_MS)
    alone.worker().settle()
    for ordinal, start in enumerate(range(0, len(events), 5)):
        handed.send(*events[start : start + 5], timestamp_ms=NOON_MS)
        worker = handed.worker(ordinal)
        worker.settle()
        worker.worker.drain()
    assert untimed(_bare(alone)) == untimed(_bare(handed))


def test_silence_freezes_words_without_new_input() -> None:
    world = World()
    world.send(event("ann", 0, "we", "wait"))
    worker = world.worker()
    worker.turn(20)
    assert world.segments() == []
    worker.turn(60)
    assert [one.cause for one in world.segments()] == ["silence"]


def test_a_crowd_that_falls_silent_at_once_is_flushed_over_several_turns() -> None:
    world = World()
    names = [f"ann-{number}" for number in range(300)]
    world.send(*(event(name, 0, "we", "wait") for name in names), timestamp_ms=world.clock.wall_ms())
    heard = Labelled()
    worker = world.worker(observer=heard)
    worker.turn(20)
    world.clock.pass_s(2.0)
    most = 0
    for _ in range(40):
        before = heard.seen
        worker.turn()
        most = max(most, heard.seen - before)
    assert 0 < most < len(names)
    assert len(by_session(world.segments())) == len(names)


def test_a_crowd_that_one_record_makes_due_is_flushed_over_several_turns_and_before_it() -> None:
    world = World()
    names = [f"ann-{number}" for number in range(300)]
    world.send(*(event(name, 0, "we", "wait") for name in names))
    heard = Labelled()
    worker = world.worker(observer=heard, max_poll_records=32)
    worker.turn(40)
    worker.source.hold_fetches()  # the end is not asked for: the record alone says how late it is
    world.clock.pass_s(2.0)
    worker.source.fetch_again()
    world.send(event("late", 0, "so", "late", session_end=True), *(event(name, 1, "again") for name in names))
    most = 0
    for _ in range(60):
        before = heard.seen
        worker.turn()
        most = max(most, heard.seen - before)
        if len(by_session(world.segments())) == len(names) + 1:
            break
    assert 0 < most < len(names)
    assert [one.session for one in world.segments()][-1] == "late"
    worker.turn(120)
    check_every_word_once(
        [
            *(one for name in names for one in (event(name, 0, "we", "wait"), event(name, 1, "again"))),
            event("late", 0, "so", "late"),
        ],
        world.segments(),
    )
    assert {one.cause for one in world.segments()} == {"silence", "end"}


def test_a_target_gets_its_translation_records_and_an_unknown_one_is_named() -> None:
    world = World()
    world.send(event("ann", 0, "good", "morning", targets=("de", "xx"), session_end=True))
    world.worker().settle()
    assert len(world.records("translate.de")) == 1
    assert [one.unknown_targets for one in world.segments()] == [("xx",)]


def test_a_refused_event_is_a_dead_letter_with_its_bytes_and_good_sessions_go_on() -> None:
    world = World()
    world.broker.append("asr.words", 0, b"\xc1nonsense", key=b"ann")
    world.send(event("ann", 0, "hello", session_end=True), event("ann", 1, "again"))
    world.worker().settle()
    letters = world.records("asr.words.dead")
    assert [dict(one.headers)["caesura.reason"] for one in letters] == [b"malformed", b"session_ended"]
    assert letters[0].value == b"\xc1nonsense"
    assert [one.session for one in world.segments()] == ["ann"]


def test_names_beyond_the_limit_are_dead_letters_and_neither_the_open_sessions_nor_the_partition_stop() -> None:
    world = World(rules=DecodingRules(max_open_sessions=2))
    world.send(*(event(name, 0, "hello") for name in ("ann", "ben", "cy", "dee")))
    world.send(event("ann", 1, "again", session_end=True), event("cy", 1, "now", session_end=True))
    world.worker(dead_letter_limit=1).turn(80)
    letters = world.records("asr.words.dead")
    assert [dict(one.headers)["caesura.reason"] for one in letters] == [b"too_many_sessions"] * 2
    said_by = {name: said(found) for name, found in by_session(world.segments()).items()}
    assert said_by == {"ann": ["hello", "again"], "ben": ["hello"], "cy": ["now"]}


def _bare(world: World) -> list[Segment]:
    return sorted(world.segments(), key=lambda one: (one.session, one.index))
