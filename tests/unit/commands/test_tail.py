"""What ``tail`` prints of segments: lines, JSON, captions, of a stretch."""

from __future__ import annotations

import pytest
from msgspec import structs

from caesura.worker.commands.disfluency_counts import DisfluencyCounts
from caesura.worker.commands.tail import (
    Format,
    SegmentsRead,
    _nothing_shown,
    _said_within,
    _stretch,
    _writer,
    caption_limits,
)
from caesura.worker.core.rendering.rendering import Style
from caesura.worker.errors import FatalError
from tests.harness.segments import timed_segment

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


def test_a_line_for_people_and_one_of_json() -> None:
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


def test_a_stretch_that_is_none_is_refused() -> None:
    with pytest.raises(FatalError, match="FROM-TO"):
        _stretch("noon")
    with pytest.raises(FatalError, match="it ends before it begins"):
        _stretch("14:00-12:30")


def test_what_began_within_the_stretch_is_shown() -> None:
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
def test_whoever_sees_nothing_is_told_what_was_read(read: SegmentsRead, came: int, said: str) -> None:
    assert _nothing_shown(read, came) == said
