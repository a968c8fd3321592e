"""A call's sessions merged: every word once, each side in its order, in order of audio time; and its numbers."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from caesura.schemas.segments import PunctuationName, Segment, SegmentWord, Timing
from caesura.worker.core.rendering.conversation import (
    ConversationOrder,
    Interruption,
    Placed,
    characteristics_of,
    in_order,
    side_name,
)
from caesura.worker.core.rendering.paragraphs import Paragraph, ParagraphLimits, Paragraphs
from tests.harness.segments import a_segment

Said = tuple[str, int, int, PunctuationName]


def segment(session: str, *said: Said, end: bool = False, appended_ms: int = 0, **fields: object) -> Segment:
    words = [
        SegmentWord(text=text, punctuation=mark, disfluency="O", start_ms=start, end_ms=end_ms)
        for text, start, end_ms, mark in said
    ]
    ends = bool(said) and said[-1][3] in ("period", "question")
    timing = Timing(appended_ms=appended_ms, polled_ms=0, frozen_ms=0)
    whole = a_segment(words, session=session, session_end=end, sentence_end=ends, timing=timing)
    return msgspec.structs.replace(whole, **fields)


def texts(placed: Sequence[Placed]) -> list[str]:
    return [word.text for one in placed for word in one.segment.words]


@st.composite
def conversations(draw: st.DrawFn) -> list[Segment]:
    """Segments of some sessions as they freeze, timed or not, a session's own in order, some with wild times."""
    streams: list[list[Segment]] = []
    for number in range(draw(st.integers(1, 4))):
        at_ms, words = 0, 0
        timed = draw(st.booleans())
        stream = []
        for _ in range(draw(st.integers(0, 6))):
            said: list[SegmentWord] = []
            for _ in range(draw(st.integers(0, 4))):
                at_ms += draw(st.integers(-300, 3_000))
                start_ms, end_ms = (max(0, at_ms), max(0, at_ms) + 200) if timed else (None, None)
                said.append(
                    SegmentWord(
                        text=f"{number}-{words}", punctuation="none", disfluency="O", start_ms=start_ms, end_ms=end_ms
                    )
                )
                words += 1
            stream.append(
                a_segment(said, session=f"s{number}", timing=Timing(appended_ms=at_ms + 9, polled_ms=0, frozen_ms=0))
            )
        if draw(st.booleans()):
            stream.append(a_segment([], session=f"s{number}", session_end=True))
        streams.append(stream)
    order = draw(st.permutations([number for number, stream in enumerate(streams) for _ in stream]))
    return [streams[number].pop(0) for number in order]


@given(conversations(), st.one_of(st.none(), st.integers(0, 5_000)))
def test_every_segment_comes_once_and_a_side_keeps_its_order(segments: list[Segment], hold_ms: int | None) -> None:
    order = ConversationOrder(hold_ms=hold_ms)
    placed = [one for given_ in segments for one in order.add(given_)] + order.finish()
    for session in {one.session for one in segments}:
        assert [one.segment for one in placed if one.segment.session == session] == [
            one for one in segments if one.session == session
        ]
    assert len(placed) == len(segments)


@given(conversations())
def test_a_whole_conversation_is_in_order_of_time_and_its_numbers_add_up(segments: list[Segment]) -> None:
    placed = in_order(segments)
    assert [one.start_ms for one in placed] == sorted(one.start_ms for one in placed)
    assert len(placed) == len(segments)

    found = paragraphs(placed)
    assert [word.text for one in found for said in one.segments for word in said.words] == texts(placed)
    assert all(len({said.session for said in one.segments}) == 1 for one in found)

    numbers = characteristics_of(placed)
    assert all(side.talk_ms + side.silence_ms == numbers.duration_ms for side in numbers.sides)
    assert 0 <= numbers.silence_ms <= numbers.duration_ms
    talked_ms = sum(side.talk_ms for side in numbers.sides)
    assert numbers.duration_ms - numbers.silence_ms <= talked_ms
    assert numbers.overlap_ms <= talked_ms - (numbers.duration_ms - numbers.silence_ms)
    assert sum(side.words for side in numbers.sides) == sum(len(one.words) for one in segments)


@given(conversations())
def test_each_start_within_another_sides_sentence_interrupts_it(segments: list[Segment]) -> None:
    """Against a plain reading of the rule: the last word before the start ends no sentence and ended lately."""
    numbers = characteristics_of(in_order(segments))
    words: dict[str, list[tuple[int, int]]] = {}
    for one in segments:
        said = words.setdefault(one.session, [])
        for word in one.words:
            if word.start_ms is not None and word.end_ms is not None:
                start_ms = max([word.start_ms, *(start for start, _ in said[-1:])])
                said.append((start_ms, max(start_ms, word.end_ms)))
    expected = {
        (start_ms, by, of)
        for by, talk in words.items()
        for at, (start_ms, _) in enumerate(talk)
        if at == 0 or start_ms - max(end for _, end in talk[:at]) >= 500
        for of, said in words.items()
        if of != by and (before := [word for word in said if word[0] < start_ms]) and start_ms - before[-1][1] < 800
    }
    assert {(one.at_ms, one.by, one.of) for one in numbers.interruptions} == expected


def test_of_many_sides_at_once_the_last_ones_to_speak_are_interrupted() -> None:
    call = [segment(f"s{at:02}", ("so", at, 100_000, "none")) for at in range(40)]
    last = [one.of for one in characteristics_of(in_order(call)).interruptions if one.by == "s39"]
    assert last == [f"s{at}" for at in range(23, 39)]


@given(conversations())
def test_a_segment_comes_as_soon_as_no_open_side_can_precede_it(segments: list[Segment]) -> None:
    order = ConversationOrder()
    came: list[Placed] = []
    for count, one in enumerate(segments, start=1):
        came += order.add(one)
        heard = in_order(segments[:count])
        reached = {placed.segment.session: placed.end_ms for placed in heard}
        for placed in heard:
            reached[placed.segment.session] = max(reached[placed.segment.session], placed.end_ms)
        ended = {placed.segment.session for placed in heard if placed.segment.session_end}
        still = [ms for session, ms in reached.items() if session not in ended]
        certain = [placed for placed in heard if all(placed.start_ms < ms for ms in still)]
        assert {id(placed.segment) for placed in certain} <= {id(placed.segment) for placed in came}
        assert all(placed.start_ms <= ms for placed in came[-1:] for ms in still)


def paragraphs(placed: Sequence[Placed], limits: ParagraphLimits | None = None) -> list[Paragraph]:
    made = Paragraphs(limits)
    found = [*(made.add(one) for one in placed), made.finish()]
    return [one for one in found if one is not None]


def test_what_one_side_froze_late_stands_before_what_the_other_said_after() -> None:
    answer = segment("b", ("yes", 3_000, 3_300, "period"))
    question = segment("a", ("is", 500, 700, "none"), ("it", 700, 900, "question"))
    assert texts(in_order([answer, question])) == ["is", "it", "yes"]


def test_a_segment_waits_until_no_other_side_can_precede_it() -> None:
    order = ConversationOrder()
    order.expect("a")
    order.expect("b")
    assert order.add(segment("b", ("yes", 3_000, 3_300, "period"))) == []
    assert texts(order.add(segment("a", ("well", 500, 900, "comma")))) == ["well"]
    assert texts(order.add(segment("a", ("so", 3_400, 3_500, "none")))) == ["yes"]
    assert texts(order.add(segment("b", end=True))) == ["so"]


def test_a_side_that_says_nothing_keeps_the_other_waiting_so_long_and_no_longer() -> None:
    order = ConversationOrder(hold_ms=5_000)
    order.expect("a")
    assert order.add(segment("b", ("one", 0, 200, "period"))) == []
    assert order.add(segment("b", ("two", 4_000, 4_900, "period"))) == []
    assert texts(order.add(segment("b", ("three", 5_000, 5_300, "period")))) == ["one"]


def test_sessions_without_times_stand_by_their_records() -> None:
    later, earlier = (segment(name, appended_ms=at) for name, at in (("a", 9_000), ("b", 5_000)))
    word = SegmentWord(text="x", punctuation="none", disfluency="O")
    placed = in_order([msgspec.structs.replace(one, words=(word,)) for one in (later, earlier)])
    assert [one.segment.session for one in placed] == ["b", "a"]
    assert not placed[0].timed


@pytest.mark.parametrize(
    ("gap_ms", "mark", "words", "expected"),
    [
        (2_000, "period", 100, 2),
        (1_999, "period", 100, 1),
        (2_000, "none", 100, 1),
        (5_000, "none", 100, 2),
        (0, "period", 1, 2),
        (0, "none", 1, 1),
    ],
)
def test_a_paragraph_ends_at_a_pause_or_at_its_length(
    gap_ms: int, mark: PunctuationName, words: int, expected: int
) -> None:
    placed = in_order([segment("a", ("one", 0, 100, mark)), segment("a", ("two", 100 + gap_ms, 900 + gap_ms, "none"))])
    assert len(paragraphs(placed, ParagraphLimits(words=words))) == expected


def test_a_start_within_the_others_sentence_interrupts() -> None:
    call = [
        segment("a", ("i", 0, 300, "none"), ("want", 300, 800, "none"), ("it", 1_200, 1_500, "period")),
        segment("b", ("which", 700, 1_000, "none"), ("one", 1_000, 1_300, "question")),
        segment("b", ("right", 4_000, 4_400, "period")),
    ]
    numbers = characteristics_of(in_order(call))
    assert numbers.interruptions == (Interruption(at_ms=700, until_ms=1_300, by="b", of="a"),)
    assert (numbers.duration_ms, numbers.silence_ms, numbers.overlap_ms) == (4_400, 2_500, 600)
    assert [(side.session, side.talk_ms, side.silence_ms, side.turns) for side in numbers.sides] == [
        ("a", 1_500, 2_900, 1),
        ("b", 1_000, 3_400, 1),
    ]


@pytest.mark.parametrize(
    ("mark", "end_ms"),
    [pytest.param("period", 1_000, id="the sentence has ended"), pytest.param("none", 200, id="the side has stopped")],
)
def test_a_start_after_the_others_sentence_does_not_interrupt(mark: PunctuationName, end_ms: int) -> None:
    call = [segment("a", ("yes", 0, end_ms, mark)), segment("b", ("good", 1_000, 1_300, "period"))]
    assert characteristics_of(in_order(call)).interruptions == ()


def test_a_side_is_called_by_its_speaker_else_by_its_name_in_the_conversation() -> None:
    assert side_name(segment("call/0/agent", conversation="call", speaker="Ann")) == "Ann"
    assert side_name(segment("call/0", conversation="call")) == "0"
    assert side_name(segment("call", conversation="call")) == "call"
    assert side_name(segment("call-a")) == "call-a"
