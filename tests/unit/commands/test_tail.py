"""What ``tail`` prints of segments: lines, JSON, captions, of a stretch."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import pytest
from msgspec import structs

from caesura.schemas.segments import NumberForm, Segment, SegmentWord
from caesura.worker.captions.limits import CaptionLimits
from caesura.worker.commands.captions import RenderedSegments
from caesura.worker.commands.conversation_lines import conversation_line, live_order, talk_lines, whole_order
from caesura.worker.commands.disfluency_counts import DisfluencyCounts
from caesura.worker.commands.tail import (
    Format,
    SegmentsRead,
    _conversation_texts,
    _nothing_shown,
    _said_within,
    _stretch,
    _writer,
    caption_limits,
)
from caesura.worker.core.rendering.conversation import characteristics_of
from caesura.worker.core.rendering.rendering import Style
from caesura.worker.errors import FatalError
from caesura.worker.settings.tree import SettingSources, load_broker_settings
from tests.harness.segments import TimedWord, a_segment, timed_segment

SAID = timed_segment(("so", "comma", 61_000, 300), ("yes", "period", 0, 400))


@pytest.mark.parametrize(
    ("form", "style", "shown"),
    [
        (Format.SRT, None, "1\n00:01:01,000 --> 00:01:02,000\nSo, yes.\n\n"),
        (Format.VTT, None, "1\n00:01:01.000 --> 00:01:02.000\nSo, yes.\n\n"),
        (Format.SRT, Style.VERBATIM, "1\n00:01:01,000 --> 00:01:02,000\nso yes\n\n"),
    ],
)
def test_captions_are_fluent_unless_told_and_end_with_a_blank_line(
    form: Format, style: Style | None, shown: str
) -> None:
    assert "".join(_writer(form, style, caption_limits(42, 2, 170))(SAID)) == shown


def test_a_segment_is_written_as_text_or_json() -> None:
    limits = caption_limits(42, 2, 170)
    assert next(_writer(Format.TEXT, None, limits)(SAID)).endswith("s #0  sentence   So, yes.\n")
    assert next(_writer(Format.JSONL, None, limits)(SAID)).startswith('{"version":"1.0","session":"s"')


@pytest.mark.parametrize(
    ("text", "stretch"),
    [
        ("12:30-14:00", (750_000, 840_000)),
        ("1:02:30-1:03:00.5", (3_750_000, 3_780_500)),
        ("90-120", (90_000, 120_000)),
    ],
)
def test_a_stretch_is_written_as_people_write_times(text: str, stretch: tuple[int, int]) -> None:
    assert _stretch(text) == stretch


def test_an_invalid_time_range_is_refused() -> None:
    with pytest.raises(FatalError, match="FROM-TO"):
        _stretch("noon")
    with pytest.raises(FatalError, match="it ends before it begins"):
        _stretch("14:00-12:30")


def test_segments_that_begin_within_the_range_are_shown() -> None:
    assert _said_within(SAID, 61_000, 62_000)
    assert not _said_within(SAID, 0, 61_000)
    assert not _said_within(timed_segment(("so", "none", 0, 0), timed=False), 0, 1)


def test_fillers_and_repairs_are_counted_by_session_without_a_word() -> None:
    counts = DisfluencyCounts()
    words = timed_segment(*((text, "none", 0, 1_000) for text in ["um", "so", "we", "we", "you", "know", "go"])).words
    tags = ("B-IM", "O", "B-RM", "O", "B-IM", "I-IM", "O")
    said = tuple(structs.replace(word, disfluency=tag) for word, tag in zip(words, tags, strict=True))
    counts.take(structs.replace(SAID, words=said))
    counts.take(structs.replace(SAID, session="t", words=()))
    head, one, other = counts.lines()
    assert head.split()[:3] == ["session", "words", "fillers"]
    assert one.split() == ["s", "7", "2", "17.1", "1", "1"]
    assert other.split() == ["t", "0", "0", "-", "0", "0"]


@pytest.mark.parametrize(
    ("read", "came", "said"),
    [
        (SegmentsRead(), 0, "nothing new: --from-start shows all that there is"),
        (SegmentsRead(from_start=True), 0, "the topic holds no segment"),
        (SegmentsRead(session="talk-9"), 1, "1 segment read, none of session 'talk-9'"),
        (SegmentsRead(session="a", stretch="1-2"), 7, "7 segments read, none of session 'a' within 1-2"),
    ],
)
def test_an_empty_view_says_what_was_read(read: SegmentsRead, came: int, said: str) -> None:
    assert _nothing_shown(read, came) == said


def said(session: str, role: str, *words: TimedWord) -> Segment:
    return msgspec.structs.replace(timed_segment(*words), session=session, role=role, conversation="call")


QUESTION = said("call/a", "agent", ("can", "none", 1_000, 300), ("we", "question", 0, 200))
ANSWER = said("call/c", "customer", ("yes", "period", 2_000, 400))


def test_sides_stand_in_order_of_audio_time_with_their_names() -> None:
    lines = [conversation_line(one, Style.MARKED) for one in whole_order([ANSWER, None, QUESTION])]
    assert lines == ["[00:00:01] agent: Can we?", "[00:00:02] customer: Yes."]
    assert conversation_line(whole_order([msgspec.structs.replace(ANSWER, words=())])[0], Style.MARKED) is None


def test_captions_name_the_sides() -> None:
    text = "".join(_conversation_texts(whole_order([ANSWER, QUESTION]), Format.VTT, None, CaptionLimits()))
    assert [line for line in text.splitlines() if line.startswith("<v")] == ["<v agent>Can we?", "<v customer>Yes."]


def test_paragraphs_begin_with_another_side_and_after_a_pause() -> None:
    more = msgspec.structs.replace(
        said("call/c", "customer", ("i", "none", 9_000, 300), ("do", "period", 0, 200)), index=1
    )
    text = "".join(_conversation_texts(whole_order([ANSWER, more, QUESTION]), Format.PARAGRAPHS, None, CaptionLimits()))
    assert text == "[00:00:01] agent: Can we?\n\n[00:00:02] customer: Yes.\n\n[00:00:09] customer: I do.\n"


def test_live_a_segment_waits_for_the_others_until_nothing_came_for_a_while() -> None:
    clock = [0.0]
    shown: list[str] = []

    def came() -> Iterator[Segment | None]:
        yield ANSWER
        yield QUESTION  # of a side that has not been heard before: what it says is earlier, and shown at once
        yield msgspec.structs.replace(ANSWER, index=1)
        seen.append(len(shown))
        clock[0] = 5.0
        yield None
        seen.append(len(shown))

    seen: list[int] = []
    for placed in live_order(came(), lambda: clock[0]):
        shown.append(placed.segment.session)  # noqa: PERF401 - how many there are is looked at while they come
    assert sorted(shown) == ["call/a", "call/c", "call/c"]
    assert seen[0] < seen[1] == 3


def test_the_numbers_are_a_line_a_side() -> None:
    lines = list(talk_lines(characteristics_of(whole_order([ANSWER, QUESTION]))))
    assert lines[1].split() == ["agent", "2", "1", "0.5", "0.9", "0"]
    assert lines[2].split() == ["customer", "1", "1", "0.4", "1.0", "0"]
    assert lines[3] == "1.4 s, 0.0 s of overlap, 0.5 s of silence"


def test_captions_have_the_operators_spellings_and_chosen_numbers() -> None:
    told = {"CAESURA_KAFKA_BOOTSTRAP_SERVERS": "broker:9092", "CAESURA_WORKER_SPELLINGS": "post gres=PostgreSQL"}
    settings = load_broker_settings(SettingSources(environ=told))
    shown = RenderedSegments(session="s", numbers=NumberForm.DIGITS)
    cues = shown.cues(CaptionLimits(), settings)
    words = ["we", "have", "twenty", "five", "post", "gres", "servers"]
    said = a_segment(SegmentWord(text=word, punctuation="none", disfluency="O") for word in words)
    assert " ".join(line for cue in cues.write(said) for line in cue.lines) == "we have 25 PostgreSQL servers"
