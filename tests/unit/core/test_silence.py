"""Silence: what freezes a buffer when nobody speaks, and what does not look like it (docs/design.md, *Silence*)."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from caesura.schemas.events import Emission, SessionOptions, Word, WordsEvent
from caesura.schemas.segments import Cause, Pause, Segment
from caesura.worker.adapters.memory.engine import ScriptedEngine
from caesura.worker.core.decoding.silence import heard_pause, last_word_end_ms, silence_due_ms, untimed_until_ms
from caesura.worker.core.decoding.timeline import PartitionTime
from caesura.worker.core.language.rules import DecodingRules
from caesura.worker.core.partition.paced_looks import PacedLooks
from tests.harness.partition_driver import MARKED, NOW_MS, Driver, event, however_grouped, timed
from tests.harness.speech import said
from tests.harness.speeches import look_aheads, rules, words


def test_silence_freezes_what_is_there_and_invents_no_mark() -> None:
    driver = Driver(engine=MARKED)
    driver.give(event(0, "one two"))

    driver.wait(799)
    assert driver.segments == []

    driver.wait(1)
    (segment,) = driver.segments
    assert (segment.cause, segment.sentence_end, said([segment])) == (Cause.SILENCE, False, ["one", "two"])
    assert segment.pause == Pause(ms=800, clock="arrival")


def test_a_flush_is_split_where_a_sentence_ends_in_it() -> None:
    driver = Driver(engine=MARKED)
    driver.give(event(0, "one two-stop three"))
    driver.wait(1_000)

    assert [(one.cause, one.sentence, one.sentence_start, one.sentence_end) for one in driver.segments] == [
        (Cause.SENTENCE, 0, True, True),
        (Cause.SILENCE, 1, True, False),
    ]
    assert [one.pause is not None for one in driver.segments] == [False, True]


def test_pieces_of_one_sentence_share_its_number() -> None:
    driver = Driver(engine=MARKED)
    driver.give(event(0, "one two"))
    driver.give(event(1, "three-stop"), after_ms=1_000)
    driver.give(event(2, "four"), after_ms=1_000)
    driver.give(event(3, session_end=True))

    assert [(one.sentence, one.sentence_start, one.sentence_end) for one in driver.segments] == [
        (0, True, False),
        (0, False, True),
        (1, True, True),
    ]


def test_after_silence_the_words_stay_as_left_context_and_keep_their_labels() -> None:
    driver = Driver(rules=DecodingRules(look_ahead_words=0))
    driver.give(event(0, "one two"))
    driver.give(event(1, "three"), after_ms=1_000)

    assert driver.requests[-1].words == ("one", "two", "three")
    assert driver.state().decoding.frozen == 2


def test_a_timer_without_words_to_freeze_publishes_nothing() -> None:
    driver = Driver()
    driver.give(event(0, "one", utterance_end=True))
    driver.wait(5_000)

    assert [one.cause for one in driver.segments] == [Cause.UTTERANCE]


def test_after_the_end_of_an_utterance_no_silence_is_waited_for() -> None:
    rules = DecodingRules()
    driver = Driver(rules=rules, engine=MARKED)
    driver.give(event(0, "one", utterance_end=True))

    assert driver.sessions.next_due_ms == NOW_MS + rules.idle_after_ms


def test_a_due_silence_fires_before_the_record_that_makes_it_due() -> None:
    driver = Driver(lazy=True)
    driver.give(event(0, "one"))
    driver.give(event(1, "two"), after_ms=900)
    driver.work()

    assert said(driver.segments) == ["one"]


def test_a_backlog_read_after_a_pause_fires_only_what_the_record_times_justify() -> None:
    time = PartitionTime(max_skew_ms=1_000)
    driver = Driver()
    paused_for_ms = 600_000
    for seq in range(6):
        driver.time_ms = time.observe(NOW_MS + 300 * seq, NOW_MS + paused_for_ms, by_broker=False)
        driver.give(event(seq, "word"))
        driver.sessions.tick(time.latest_possible_ms(1_000.0 + paused_for_ms))

    assert [segment.cause for segment in driver.segments if segment.cause is Cause.SILENCE] == []

    driver.time_ms = time.observe(NOW_MS + 1_500 + 800, NOW_MS + paused_for_ms, by_broker=False)
    driver.give(event(0, "word", session="another"))
    assert [segment.cause for segment in driver.segments if segment.session == "s"][-1] is Cause.SILENCE


def test_a_producers_fast_clock_makes_no_other_session_look_silent() -> None:
    time = PartitionTime(max_skew_ms=500)
    driver = Driver()
    driver.time_ms = time.observe(NOW_MS, NOW_MS, by_broker=False)
    driver.give(event(0, "word"))
    driver.time_ms = time.observe(NOW_MS + 3_600_000, NOW_MS + 100, by_broker=False)
    driver.give(event(0, "word", session="fast"))

    assert driver.segments == []


def _heard(seq: int, words: list[Word], heard_until_ms: int) -> WordsEvent:
    return event(seq, words, heard_until_ms=heard_until_ms)


def test_a_session_with_an_audio_clock_is_silent_by_its_audio() -> None:
    driver = Driver(engine=MARKED)
    driver.give(_heard(0, [timed("one", 0, 400)], 500))
    driver.wait(3_000)
    assert driver.segments == []

    driver.give(_heard(1, [], 1_199))
    assert driver.segments == []
    driver.give(_heard(2, [], 1_200))
    assert [(one.cause, one.pause) for one in driver.segments] == [(Cause.SILENCE, Pause(ms=800, clock="audio"))]


def test_a_session_with_an_audio_clock_that_stops_is_flushed_at_the_stall() -> None:
    driver = Driver(rules=DecodingRules(stall_after_ms=4_000))
    driver.give(_heard(0, [timed("one", 0, 400)], 500))

    driver.wait(3_999)
    assert driver.segments == []
    driver.wait(1)
    assert [(one.cause, one.pause) for one in driver.segments] == [(Cause.SILENCE, Pause(ms=4_000, clock="arrival"))]


def test_a_pause_between_two_words_of_one_event_is_silence_on_the_audio_clock() -> None:
    driver = Driver(engine=MARKED)
    driver.give(_heard(0, [timed("one", 0, 400), timed("two", 1_200, 1_500), timed("three", 2_299, 2_400)], 2_400))

    assert [(said([one]), one.pause) for one in driver.segments] == [
        (["one"], Pause(ms=800, clock="audio", ended=True))
    ]


def test_the_audio_clock_does_not_go_back_where_words_overlap() -> None:
    driver = Driver(engine=MARKED)
    driver.give(_heard(0, [timed("one", 0, 2_000), timed("two", 100, 300)], 2_000))
    driver.give(_heard(1, [], 2_799))
    assert driver.segments == []
    driver.give(_heard(2, [], 2_800))
    assert [one.cause for one in driver.segments] == [Cause.SILENCE]


def test_words_without_times_are_heard_where_their_event_says() -> None:
    driver = Driver(engine=MARKED)
    driver.give(_heard(0, [Word(text="one")], 5_000))
    driver.give(_heard(1, [], 5_799))
    assert driver.segments == []
    driver.give(_heard(2, [], 5_800))
    assert [one.cause for one in driver.segments] == [Cause.SILENCE]


def test_a_restarted_producer_may_have_lost_its_audio_clock() -> None:
    driver = Driver(engine=MARKED)
    driver.give(_heard(0, [timed("one", 90_000, 90_400)], 90_400))
    driver.give(event(0, [timed("two", 0, 400)], epoch=1, heard_until_ms=400))
    driver.give(event(1, epoch=1, heard_until_ms=1_200))

    assert [said([one]) for one in driver.segments] == [["one", "two"]]


@st.composite
def _spoken(draw: st.DrawFn) -> list[Word]:
    pauses = draw(st.lists(st.sampled_from([0, 50, 700, 799, 800, 2_000]), min_size=1, max_size=25))
    spoken, at_ms = [], 0
    for place, pause_ms in enumerate(pauses):
        spoken.append(timed(f"w{place % 7}", at_ms + pause_ms, at_ms + pause_ms + 200))
        at_ms += pause_ms + 200
    return spoken


@given(data=st.data(), spoken=_spoken())
def test_on_the_audio_clock_bursts_and_heartbeats_change_no_segment(data: st.DataObject, spoken: list[Word]) -> None:
    def decode() -> Driver:
        driver = Driver()
        rest, seq = spoken, 0
        while rest:
            size = data.draw(st.integers(1, len(rest)))
            taken, rest = rest[:size], rest[size:]
            end_ms = taken[-1].end_ms or 0
            until_ms = data.draw(st.integers(end_ms, rest[0].start_ms or 0)) if rest else end_ms
            driver.give(_heard(seq, taken, end_ms), after_ms=data.draw(st.integers(0, 3_000)))
            driver.give(_heard(seq + 1, [], until_ms), after_ms=data.draw(st.integers(0, 1_900)))
            seq += 2
        driver.give(event(seq, session_end=True))
        return driver

    first, second = decode(), decode()
    assert however_grouped(first.segments) == however_grouped(second.segments)
    for segment in first.segments:
        _check_pause(segment, spoken)


def _check_pause(segment: Segment, spoken: list[Word]) -> None:
    """Hold a segment's pause to what was spoken: exact where it had ended, else at least the flush, at most all."""
    if segment.cause is not Cause.SILENCE:
        assert segment.pause is None
        return
    assert segment.pause is not None
    end = segment.first_word + len(segment.words)
    if segment.pause.clock == "audio" and end < len(spoken):
        whole_ms = (spoken[end].start_ms or 0) - (spoken[end - 1].end_ms or 0)
        assert 800 <= segment.pause.ms <= whole_ms
        assert segment.pause.ms == whole_ms or not segment.pause.ended


AUDIO_MS = st.integers(0, 20_000)


@given(AUDIO_MS, AUDIO_MS, st.booleans())
def test_audio_clock_silence_counts_from_the_last_words_end(end_ms: int, heard_ms: int, speaking: bool) -> None:
    options = DecodingRules().choose(None)
    pause = heard_pause(heard_ms, end_ms, options, speaking=speaking)
    if heard_ms - end_ms < options.flush_after_ms:
        assert pause is None
    else:
        assert pause == Pause(ms=heard_ms - end_ms, clock="audio", ended=speaking)
    assert heard_pause(None, end_ms, options) is heard_pause(heard_ms, None, options) is None


@given(st.none() | AUDIO_MS, st.none() | AUDIO_MS)
def test_the_audio_clock_never_goes_back(known_ms: int | None, end_ms: int | None) -> None:
    later_ms = max((one for one in (known_ms, end_ms) if one is not None), default=None)
    assert last_word_end_ms(known_ms, Word(text="so", end_ms=end_ms)) == later_ms
    assert last_word_end_ms(known_ms, Word(text="so", start_ms=end_ms)) == later_ms
    however_grouped = WordsEvent(
        version="1.0", session="s", seq=0, lang="en", words=(Word(text="so"),), heard_until_ms=end_ms
    )
    assert untimed_until_ms(known_ms, however_grouped) == later_ms


@given(st.none() | AUDIO_MS, AUDIO_MS, AUDIO_MS)
def test_where_an_event_was_heard_to_ends_no_word_that_says_so_itself(
    known_ms: int | None, start_ms: int, heard_ms: int
) -> None:
    silent = WordsEvent(version="1.0", session="s", seq=0, lang="en", heard_until_ms=heard_ms)
    assert untimed_until_ms(known_ms, silent) == known_ms
    assert untimed_until_ms(known_ms, replace(silent, words=(Word(text="so", start_ms=start_ms),))) == known_ms
    assert untimed_until_ms(known_ms, replace(silent, words=(Word(text="so", end_ms=start_ms),))) == known_ms


@given(AUDIO_MS, AUDIO_MS)
def test_a_session_that_hears_waits_longer_by_arrival_and_from_its_last_event(word_ms: int, after_ms: int) -> None:
    rules, event_ms = DecodingRules(), word_ms + after_ms
    options = rules.choose(None)
    assert silence_due_ms(rules, options, word_ms=word_ms, event_ms=event_ms, has_audio_clock=False) == word_ms + 800
    assert silence_due_ms(rules, options, word_ms=word_ms, event_ms=event_ms, has_audio_clock=True) == event_ms + 5_000


def marks(driver: Driver) -> list[str]:
    return [word.punctuation for segment in driver.segments for word in segment.words]


@pytest.mark.parametrize(
    ("said", "mark"), [("one", "period"), ("one-comma", "period"), ("one-ask", "question"), ("one-stop", "period")]
)
def test_a_session_that_ends_ends_its_sentence(said: str, mark: str) -> None:
    driver = Driver(engine=MARKED)
    driver.give(event(0, f"zero {said}", session_end=True))

    assert marks(driver) == ["none", mark]
    assert driver.segments[-1].sentence_end


@pytest.mark.parametrize("offset", [0.0, 1.0])
def test_segments_cut_by_silence_or_utterance_end_stay(offset: float) -> None:
    driver = Driver(engine=MARKED, rules=DecodingRules(silence_end_offset=offset, utterance_end_offset=offset))
    driver.give(event(0, "one-comma", utterance_end=True))
    driver.give(event(1, "two-comma"))
    driver.wait(2_000)
    driver.give(event(2, session_end=True))

    assert marks(driver) == ["comma", "comma"]
    assert [request.offsets.sentence_end for request in driver.requests] == [offset, offset]


def test_a_change_of_options_or_of_language_ends_no_sentence() -> None:
    driver = Driver(engine=MARKED, rules=DecodingRules(utterance_end_offset=5.0))
    driver.give(event(0, "one"))
    driver.give(event(1, "two", configure=SessionOptions(own_fillers=("well",))))
    driver.give(event(2, "drei", lang="zh"))

    assert [request.offsets.sentence_end for request in driver.requests] == [0.0, 0.0]


def test_without_marks_or_a_model_none_is_invented() -> None:
    for driver in (
        Driver(engine=ScriptedEngine(models=[])),
        Driver(engine=MARKED, rules=DecodingRules(emission=Emission.SETTLED)),
    ):
        options = SessionOptions(punctuation=False)
        driver.give(event(0, "one two", options=options, session_end=True))
        assert marks(driver) == ["none", "none"]


@given(said=words, chosen=rules, look_ahead=look_aheads, shows=st.booleans())
def test_every_session_with_a_model_ends_with_a_sentence_mark(
    said: tuple[str, ...], chosen: DecodingRules, look_ahead: int, *, shows: bool
) -> None:
    driver = Driver(rules=chosen, engine=ScriptedEngine(look_ahead_words=look_ahead), looks_ahead=shows)
    driver.give(event(0, " ".join(said)))
    frozen = sum(len(segment.words) for segment in driver.segments)
    driver.give(event(1, session_end=True))

    if frozen < len(said):
        assert marks(driver)[-1] in ("period", "question")


A_LONG_INTERVAL_S = 30 * 24 * 3600.0


def test_what_was_told_is_due_again_an_interval_later_if_it_has_changed() -> None:
    looks = PacedLooks[str](0.5)
    looks.changed("ann")
    looks.told("ann", 10.0)
    assert looks.due(99.0) == []
    looks.told("ann", 100.0)
    looks.changed("ann")
    assert looks.due(100.25) == []
    assert looks.due_in_s(100.25) == 0.25
    assert looks.due(100.5) == ["ann"]
    assert looks.due_in_s(100.5) == 0


def test_sessions_are_looked_at_in_the_order_of_their_first_change() -> None:
    looks = PacedLooks[str](0.5)
    for name in ("ben", "ann", "ben", "cleo"):
        looks.changed(name)
    assert looks.due(0.0) == looks.due(0.0) == ["ben", "ann", "cleo"], "due until they are told"


def test_a_forgotten_session_starts_anew() -> None:
    looks = PacedLooks[str](0.5)
    looks.told("ann", 0.0)
    looks.changed("ann")
    looks.forget("ann")
    assert looks.due_in_s(0.25) == math.inf
    looks.changed("ann")
    assert looks.due(0.25) == ["ann"]


def test_skipped_looks_are_counted_and_keep_their_pace() -> None:
    looks = PacedLooks[str](0.5)
    looks.told("ann", 0.0)
    looks.changed("ann")
    looks.changed("ben")
    assert looks.pass_over() == 2
    assert looks.due(0.25) == []
    looks.changed("ann")
    assert looks.due(0.25) == []
    assert looks.due(0.5) == ["ann"]


@pytest.mark.parametrize("interval_s", [0.0, 0.25, A_LONG_INTERVAL_S])
@given(changes=st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 3))))
def test_looks_keep_their_interval_and_the_wait_ends_when_one_is_due(
    interval_s: float, changes: list[tuple[str, int]]
) -> None:
    looks, now_s, told_at_s = PacedLooks[str](interval_s), 0.0, dict[str, float]()
    for name, quarters in changes:
        now_s += quarters / 4
        looks.changed(name)
        assert bool(looks.due(now_s)) == (looks.due_in_s(now_s) == 0)
        for key in looks.due(now_s):
            assert now_s - told_at_s.get(key, -math.inf) >= interval_s
            looks.told(key, now_s)
            told_at_s[key] = now_s
    wait_s = looks.due_in_s(now_s)
    assert math.isinf(wait_s) or looks.due(now_s + wait_s)
    assert {name for name, _ in changes} == told_at_s.keys(), "each was told once at least"
