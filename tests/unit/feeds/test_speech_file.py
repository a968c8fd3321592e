"""Files of speech as timed word events."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caesura.worker.errors import FatalError
from caesura.worker.feeds.formats.jsonl import events_of_json_lines
from caesura.worker.feeds.formats.text import events_of_text
from caesura.worker.feeds.pacing import paced
from caesura.worker.feeds.timed_events import Pace, TimedEvent, ended, routed


def of_text(*lines: str, at_once: int = 8) -> list[TimedEvent]:
    pace = Pace(words_a_minute=60, sessions_at_once=at_once)
    return list(events_of_text(lines, prefix="talk-", lang="en", pace=pace))


def of_json(*lines: str, epoch: int = 7) -> list[TimedEvent]:
    pace = Pace(words_a_minute=60)
    return list(events_of_json_lines(lines, prefix="", lang="en", epoch=epoch, pace=pace))


def test_a_line_of_text_is_a_session_of_one_word_an_event() -> None:
    events = of_text("so yes please\n", "\n", "no\n")
    assert [(one.at_ms, one.event.session, one.event.seq, one.event.words[0].text) for one in events] == [
        (1000, "talk-1", 0, "so"),
        (1000, "talk-3", 0, "no"),
        (2000, "talk-1", 1, "yes"),
        (3000, "talk-1", 2, "please"),
    ]
    assert [one.event.session_end for one in events] == [False, True, False, True]


def test_a_session_begins_where_one_before_it_has_ended() -> None:
    events = of_text("a b", "c", "d", at_once=1)
    assert [(one.at_ms, one.event.words[0].text) for one in events] == [
        (1000, "a"),
        (2000, "b"),
        (3000, "c"),
        (4000, "d"),
    ]


def test_json_lines_are_numbered_by_session() -> None:
    events = of_json('{"session": "a", "words": "so yes"}', '{"session": "b", "words": ["no"]}', '{"session": "a"}')
    assert [(one.event.session, one.event.seq, one.event.epoch) for one in events] == [
        ("a", 0, 7),
        ("b", 0, 7),
        ("a", 1, 7),
    ]
    assert [word.text for word in events[0].event.words] == ["so", "yes"]


def test_fields_of_a_line_override_the_defaults() -> None:
    line = '{"session": "a", "seq": 4, "epoch": 2, "lang": "zh", "version": "1.0", "session_end": true, "at_ms": 50}'
    event = of_json(line, '{"session": "a"}')
    assert (event[0].event.seq, event[0].event.epoch, event[0].event.lang, event[0].at_ms) == (4, 2, "zh", 50)
    assert event[1].event.seq == 5


def test_times_come_from_the_words_where_no_line_says_when() -> None:
    line = '{"session": "a", "words": [{"text": "so", "start_ms": 100, "end_ms": 300}]}'
    assert of_json(line)[0].at_ms == 300


def test_no_event_is_sent_before_the_one_above_it() -> None:
    events = of_json('{"session": "a", "at_ms": 900}', '{"session": "b", "at_ms": 100}')
    assert [one.at_ms for one in events] == [900, 900]


@pytest.mark.parametrize(
    "line",
    [
        "so yes",
        "[1]",
        '{"words": "' + "x" * 65 + '"}',
        '{"session": "a", "lang": 3}',
        '{"words": [{"txt": "secret"}]}',
        '{"session": ' + "[" * 100_000,
        '{"session": {"secret": 1}}',
        '{"at_ms": ' + "1" * 400 + "}",
        '{"at_ms": ' + "1" * 5000 + "}",
        '{"at_ms": 1e400}',
        '{"seq": ' + "1" * 400 + "}",
        '{"version": "1.2", "secret": ' + "[" * 900 + "]" * 900 + "}",
        '{"words": ["secret \\ud800"]}',
        '{"options": {"emission": "secret"}}',
    ],
)
def test_a_wrong_line_is_named_and_not_quoted(line: str) -> None:
    with pytest.raises(FatalError, match="line 2") as refused:
        of_json('{"session": "a"}', line)
    assert "secret" not in str(refused.value)
    assert "xxx" not in str(refused.value)


@pytest.mark.parametrize(
    ("slip", "meant"), [('"wrds": ["so"]', "did you mean words"), ('"zwieselhausen": 1', "there are version, session")]
)
def test_an_unknown_event_field_is_answered_with_the_known_ones(slip: str, meant: str) -> None:
    with pytest.raises(FatalError, match=f"line 1 has a field that no event has; {meant}") as refused:
        of_json(f'{{"session": "a", {slip}}}')
    assert "zwieselhausen" not in str(refused.value)


def test_a_recorded_event_may_have_fields_of_a_later_minor_version() -> None:
    assert of_json('{"session": "a", "version": "1.7", "mood": "good"}')[0].event.version == "1.7"


def test_a_word_that_no_worker_would_take_is_refused_before_anything_is_sent() -> None:
    with pytest.raises(FatalError, match=r"line 1 is no word event: forbidden_character: words\[0\].text"):
        of_json('{"session": "a", "words": ["so yes"]}')


@pytest.mark.parametrize("words", ['"so ' + "x" * 65 + '"', '["so", {"text": "' + "x" * 65 + '"}]'])
def test_a_word_that_is_too_long_is_told_with_the_length_that_it_may_have(words: str) -> None:
    told = r"line 1 is no word event: oversized: words\[1\].text: expected at most 64 characters"
    with pytest.raises(FatalError, match=told):
        of_json(f'{{"words": {words}}}')


def test_a_session_goes_where_it_is_sent_but_for_one_that_says_where() -> None:
    events = of_json('{"session": "a"}', '{"session": "b", "targets": []}', '{"session": "a"}', '{"session": "b"}')
    assert [one.event.targets for one in routed(events, ("de",))] == [("de",), (), None, None]


def test_sessions_can_be_ended_after_their_last_event() -> None:
    events = ended(of_json('{"session": "a"}', '{"session": "b"}', '{"session": "a"}'))
    assert [(one.event.session, one.event.session_end) for one in events] == [("a", False), ("b", True), ("a", True)]


@given(lines=st.lists(st.text(alphabet="ab \n", max_size=20), max_size=12), at_once=st.integers(1, 4))
def test_no_word_is_lost_and_times_never_go_back(lines: list[str], at_once: int) -> None:
    events = of_text(*lines, at_once=at_once)
    assert [one.at_ms for one in events] == sorted(one.at_ms for one in events)
    by_session: dict[str, list[str]] = {}
    for one in events:
        assert one.event.seq == len(by_session.setdefault(one.event.session, []))
        by_session[one.event.session].append(one.event.words[0].text)
    assert sorted(by_session.values()) == sorted(line.split() for line in lines if line.split())


class Wrist:
    """A clock that sleeping moves."""

    def __init__(self) -> None:
        self.now = 5.0
        self.slept: list[float] = []

    def now_s(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(round(seconds, 3))
        self.now += seconds


def test_events_keep_their_times_at_twice_the_speed() -> None:
    wrist = Wrist()
    assert len(list(paced(of_text("a b c"), speed=2, now_s=wrist.now_s, sleep=wrist.sleep))) == 3
    assert wrist.slept == [0.5, 0.5, 0.5]


def test_delays_do_not_add_up() -> None:
    wrist = Wrist()
    for _ in paced(of_text("a b c"), speed=1, now_s=wrist.now_s, sleep=wrist.sleep):
        wrist.now += 0.75
    assert wrist.slept == [1.0, 0.25, 0.25]


def test_a_time_further_off_than_any_system_sleeps_is_slept_through_in_parts() -> None:
    class AwokenError(Exception):
        pass

    def sleep(seconds: float) -> None:
        asked.append(seconds)
        if len(asked) == 3:
            raise AwokenError

    asked: list[float] = []
    with pytest.raises(AwokenError):
        list(paced(of_json(f'{{"at_ms": {2**53 - 1}}}'), speed=1, now_s=lambda: 0.0, sleep=sleep))
    assert max(asked) <= 24 * 3600


def test_speed_zero_never_waits() -> None:
    wrist = Wrist()
    assert len(list(paced(of_text("a b c"), speed=0, now_s=wrist.now_s, sleep=wrist.sleep))) == 3
    assert wrist.slept == []
