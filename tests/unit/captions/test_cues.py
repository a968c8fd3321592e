"""Cues keep to a broadcaster's limits, hold every word once, and never change once they are written."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from caesura.schemas.segments import DisfluencyTag, NumberForm, PunctuationName, Segment
from caesura.worker.captions.cues import Cue, CueWriter
from caesura.worker.captions.files import VTT_HEAD, srt, vtt
from caesura.worker.captions.limits import CaptionLimits, columns
from caesura.worker.captions.sides import SideCues
from caesura.worker.core.overlays.rules import OverlayRules
from caesura.worker.core.rendering.rendering import Style, render_segment
from caesura.worker.errors import FatalError
from caesura.worker.feeds.formats.captions import srt_hypotheses, vtt_hypotheses
from caesura.worker.feeds.hypothesis import Hypothesis
from tests.harness.segments import TimedWord, timed_segment


def spoken(text: str, *, length_ms: int = 300) -> Segment:
    return timed_segment(*((word, "none", 0, length_ms) for word in text.split()))


def test_a_short_segment_is_one_line_and_stands_long_enough_to_be_read() -> None:
    (cue,) = CueWriter(CaptionLimits()).write(timed_segment(("so", "comma", 500, 200), ("yes", "period", 0, 200)))
    assert cue == Cue(number=1, start_ms=500, end_ms=1500, lines=("So, yes.",))


def test_a_long_segment_breaks_where_the_text_breathes() -> None:
    words: list[TimedWord] = [
        (word, "none", 0, 250) for word in ["we", "can", "meet", "at", "the", "depot", "on", "thursday"]
    ]
    words[-1] = ("thursday", "comma", 0, 250)
    words += [
        (word, "none", 0, 250)
        for word in ["or", "you", "can", "come", "here", "and", "bring", "the", "papers", "with", "you"]
    ]
    cues = list(CueWriter(CaptionLimits()).write(timed_segment(*words)))
    assert [cue.lines for cue in cues] == [
        ("We can meet at the depot on thursday,", "or you can come here and bring the papers"),
        ("with you",),
    ]
    assert cues[1].start_ms >= cues[0].end_ms


def test_a_number_in_digits_is_one_word_with_the_times_of_all_of_its_words() -> None:
    said = timed_segment(*((word, "none", 0, 300) for word in ["we", "paid", "twenty", "two", "dollars", "for", "it"]))
    ended = msgspec.structs.replace(said, numbers=NumberForm.DIGITS)
    (cue,) = CueWriter(CaptionLimits()).write(ended)
    assert cue.lines == ("We paid $22 for it",)
    assert cue.end_ms == 7 * 300


@pytest.mark.parametrize(
    ("lang", "said", "lines"),
    [
        (
            "de-AT",
            "es kostet zwanzig euro, kommst du heute um acht uhr dreißig?",
            ("Es kostet 20\u00a0€,", "kommst du heute um 8:30 Uhr?"),
        ),
        (
            "es-MX",
            "cuesta veinte euros, cuándo vienes a las ocho y treinta?",
            ("Cuesta 20\u00a0€,", "¿cuándo vienes a las 8:30?"),
        ),
        (
            "fr-CA",
            "ça coûte vingt euros, tu viens avec nous à huit heures trente?",
            ("Ça coûte 20\u00a0€,", "tu viens avec nous à 8\u00a0h\u00a030\u202f?"),
        ),
    ],
)
def test_a_line_breaks_inside_no_amount_and_before_no_mark(lang: str, said: str, lines: tuple[str, str]) -> None:
    marks: dict[str, PunctuationName] = {",": "comma", "?": "question"}
    words = [(word.rstrip(",?"), marks.get(word[-1], "none"), 0, 250) for word in said.split()]
    segment = timed_segment(*words, lang=lang)
    overlays = OverlayRules(numbers=NumberForm.DIGITS, french_spaces=True)
    (cue,) = CueWriter(CaptionLimits(line_columns=32), overlays=overlays).write(segment)
    assert cue.lines == lines


def test_a_pause_ends_a_cue() -> None:
    cues = list(CueWriter(CaptionLimits()).write(timed_segment(("so", "none", 0, 200), ("yes", "none", 2000, 200))))
    assert [cue.lines for cue in cues] == [("So",), ("yes",)]
    assert cues[1].start_ms == 2200


def test_chinese_has_no_spaces_and_half_the_characters_a_line() -> None:
    said = [(one, "none", 0, 200) for one in "我们今天下午三点在办公室开会讨论新的计划和明年的预算"]
    cues = list(CueWriter(CaptionLimits(line_columns=20)).write(timed_segment(*said, lang="zh")))  # type: ignore[arg-type]
    assert all(columns(line) <= 20 for cue in cues for line in cue.lines)
    assert "".join("".join(cue.lines) for cue in cues) == "".join(one[0] for one in said)


def test_words_without_times_stand_where_their_records_were_appended() -> None:
    writer = CueWriter(CaptionLimits())
    first = timed_segment(("so", "none", 0, 0), timed=False, appended_ms=50_000)
    later = timed_segment(("yes", "none", 0, 0), timed=False, appended_ms=54_000)
    assert [cue.start_ms for one in (first, later) for cue in writer.write(one)] == [0, 4_000]


def test_a_later_session_of_the_same_name_has_times_of_its_own() -> None:
    writer = CueWriter(CaptionLimits())
    first = timed_segment(("so", "none", 600_000, 200))
    later = msgspec.structs.replace(timed_segment(("yes", "none", 1_000, 200)), since=99)
    assert [(cue.number, cue.start_ms) for one in (first, later) for cue in writer.write(one)] == [
        (1, 600_000),
        (2, 1_000),
    ]


def test_speech_faster_than_reading_is_followed_no_later_than_the_limit() -> None:
    limits = CaptionLimits(most_late_ms=2_000)
    writer = CueWriter(limits)
    words = [("word", "none", 0, 100)] * 600
    cues = list(writer.write(timed_segment(*words)))  # type: ignore[arg-type]
    assert cues[-1].start_ms <= 60_000 + limits.most_late_ms + limits.most_ms


def _moved(segment: Segment, by_ms: int) -> Segment:
    """Return the segment, spoken so much later."""
    words = tuple(
        msgspec.structs.replace(
            word,
            start_ms=None if word.start_ms is None else word.start_ms + by_ms,
            end_ms=None if word.end_ms is None else word.end_ms + by_ms,
        )
        for word in segment.words
    )
    return msgspec.structs.replace(segment, words=words)


def _with_time(segment: Segment, index: int, at_ms: int) -> Segment:
    """Return the segment, one of its words at another time."""
    words = list(segment.words)
    words[index] = msgspec.structs.replace(words[index], start_ms=at_ms, end_ms=at_ms + 200)
    return msgspec.structs.replace(segment, words=tuple(words))


def _a_talk() -> list[Segment]:
    """Return twenty segments of six words, spoken one after another."""
    return [_moved(spoken("so we went down to it"), 3_000 * number) for number in range(20)]


def _cues(segments: list[Segment]) -> list[list[Cue]]:
    writer = CueWriter(CaptionLimits())
    return [list(writer.write(segment)) for segment in segments]


def _starts(cues: list[list[Cue]]) -> list[list[int]]:
    return [[cue.start_ms for cue in one] for one in cues]


@pytest.mark.parametrize("at_ms", [0, 40_000, 45_000, 10**6, 10**12])
@pytest.mark.parametrize("index", [0, 2, 5])
def test_one_wild_time_leaves_later_cues_where_they_are(index: int, at_ms: int) -> None:
    talk = _a_talk()
    regular = _starts(_cues(talk))
    wild = _starts(_cues([_with_time(one, index, at_ms) if number == 10 else one for number, one in enumerate(talk)]))
    assert wild[:10] == regular[:10]
    assert wild[12:] == regular[12:]
    assert wild[11][0] - regular[11][0] in range(301), "its first word stands by the second one"


def test_slightly_wrong_times_make_no_cue_later_than_the_limits_allow() -> None:
    talk = _a_talk()
    regular = _starts(_cues(talk))
    wild = _starts(_cues([_with_time(one, 5, 36_000) if number == 10 else one for number, one in enumerate(talk)]))
    late = [one[0] - other[0] for one, other in zip(wild[11:], regular[11:], strict=True)]
    assert max(late) <= CaptionLimits().most_late_ms
    assert late[-1] == 0


@pytest.mark.parametrize(("index", "at_ms"), [(0, 10**6), (0, 10**12), (2, 0), (2, 10**12), (4, 0), (4, 10**12)])
def test_one_wild_time_does_not_move_its_own_cue(index: int, at_ms: int) -> None:
    talk = _a_talk()
    (regular,) = _cues(talk)[10]
    (wild,) = _cues([_with_time(one, index, at_ms) if number == 10 else one for number, one in enumerate(talk)])[10]
    assert wild.lines == regular.lines
    assert 0 <= wild.start_ms - regular.start_ms <= 300


@pytest.mark.parametrize("at_ms", [0, 10**12])
def test_whole_segments_of_wild_times_harm_themselves_alone(at_ms: int) -> None:
    talk = _a_talk()
    regular = _starts(_cues(talk))
    wild = _starts(_cues([_moved(one, at_ms - 3_000 * n) if n in (10, 11) else one for n, one in enumerate(talk)]))
    assert wild[12][0] - regular[12][0] in range(301)
    assert wild[13:] == regular[13:]


def test_limits_that_nothing_can_meet_are_refused() -> None:
    with pytest.raises(FatalError, match="10 columns"):
        CaptionLimits(line_columns=5)


_WORDS = st.lists(
    st.tuples(
        st.text(alphabet="abcdé我们", min_size=1, max_size=50),
        st.sampled_from(["none", "comma", "period"]),
        st.integers(0, 3_000),
        st.integers(0, 900),
    ),
    min_size=1,
    max_size=40,
)
_LIMITS = st.builds(
    CaptionLimits,
    line_columns=st.integers(12, 42),
    lines=st.integers(1, 3),
    words_a_minute=st.integers(100, 300),
    pause_ms=st.integers(500, 3_000),
)


@given(
    said=st.lists(_WORDS, max_size=4), limits=_LIMITS, style=st.sampled_from(Style), lang=st.sampled_from(["en", "zh"])
)
def test_cues_keep_to_the_limits_and_hold_the_whole_text(
    said: list[list[TimedWord]], limits: CaptionLimits, style: Style, lang: str
) -> None:
    segments, at_ms = [], 0
    for words in said:
        segments.append(_moved(timed_segment(*words, lang=lang), at_ms))
        at_ms = segments[-1].words[-1].end_ms or at_ms
    writer = CueWriter(limits, style)
    cues = [cue for one in segments for cue in writer.write(one)]
    for cue in cues:
        assert 1 <= len(cue.lines) <= limits.lines
        assert all(0 < columns(line) <= limits.line_columns for line in cue.lines)
        assert limits.least_ms <= cue.end_ms - cue.start_ms <= limits.most_ms
    assert [cue.number for cue in cues] == list(range(1, len(cues) + 1))
    assert all(before.end_ms <= after.start_ms for before, after in pairwise(cues))
    whole = "".join(render_segment(one, style).text for one in segments)
    assert _bare("".join("".join(cue.lines) for cue in cues)) == _bare(whole)


@given(said=st.lists(_WORDS, min_size=1, max_size=5), cut=st.integers(0, 5))
def test_a_cue_that_is_written_never_changes_whatever_comes_after(said: list[list[TimedWord]], cut: int) -> None:
    def written(segments: list[list[TimedWord]]) -> list[str]:
        writer = CueWriter(CaptionLimits())
        return [srt(cue) for words in segments for cue in writer.write(timed_segment(*words))]

    assert written(said)[: len(written(said[:cut]))] == written(said[:cut])


def _bare(text: str) -> str:
    return "".join(text.split())


def test_srt_and_vtt_can_be_read_again() -> None:
    cue = Cue(number=3, start_ms=3_723_004, end_ms=3_724_500, lines=("Q & A <now>,", "so --> yes."), speaker="Anna > B")
    assert srt(cue) == "3\n01:02:03,004 --> 01:02:04,500\nQ & A <now>,\nso → yes.\n\n"
    assert vtt(cue) == ("3\n01:02:03.004 --> 01:02:04.500\n<v Anna &gt; B>Q &amp; A &lt;now&gt;,\nso --&gt; yes.\n\n")
    plain = Cue(number=1, start_ms=0, end_ms=900, lines=("So, we begin", "and go on."))
    assert _read(srt_hypotheses(srt(plain).splitlines())) == ["So,", "we", "begin", "and", "go", "on."]
    assert _read(vtt_hypotheses((VTT_HEAD + vtt(plain)).splitlines())) == ["So,", "we", "begin", "and", "go", "on."]


def _read(hypotheses: Iterator[Hypothesis]) -> list[str]:
    return [word.text for one in hypotheses for word in one.words]


def sure_segment(*words: tuple[str, PunctuationName, DisfluencyTag, float | None]) -> Segment:
    said = timed_segment(*((text, mark, 0, 300) for text, mark, _, _ in words))
    labelled = [
        msgspec.structs.replace(word, disfluency=tag, punctuation_probability=sure, disfluency_probability=sure)
        for word, (_, _, tag, sure) in zip(said.words, words, strict=True)
    ]
    ends = words[-1][1] == "period"
    return msgspec.structs.replace(said, words=tuple(labelled), sentence_start=True, sentence_end=ends)


def test_uncertain_labels_are_hidden_and_start_no_sentence() -> None:
    segments = [
        sure_segment(("so", "comma", "O", 0.9), ("uh", "none", "B-IM", 0.6), ("home", "period", "O", 0.6)),
        sure_segment(("then", "none", "O", 0.9), ("out", "period", "O", None)),
        sure_segment(("yes", "period", "O", 0.9)),
    ]
    shown = {}
    for least in (0.0, 0.7, 1.0):
        writer = CueWriter(CaptionLimits(at_least=least))
        shown[least] = [line for segment in segments for cue in writer.write(segment) for line in cue.lines]
    assert shown[0.0] == ["So, home.", "Then out.", "Yes."]
    assert shown[0.7] == ["So, uh home", "then out.", "Yes."]
    assert shown[1.0] == ["So uh home", "then out.", "Yes"]


def said(session: str, role: str, *words: TimedWord, end: bool = False) -> Segment:
    return msgspec.structs.replace(
        timed_segment(*words), session=session, role=role, conversation="call", session_end=end
    )


def lines(cues: SideCues, segment: Segment) -> list[str]:
    return [line for cue in cues.write(segment) for line in cue.lines]


def test_a_side_is_named_at_its_start_and_the_end_is_that_of_all() -> None:
    cues = SideCues(session=None, conversation="call", limits=CaptionLimits())
    assert lines(cues, said("a", "agent", ("can", "none", 0, 300))) == ["agent: Can"]
    assert lines(cues, said("a", "agent", ("we", "question", 900, 200))) == ["We?"]
    assert lines(cues, said("b", "customer", ("yes", "period", 1_500, 200))) == ["customer: Yes."]
    assert lines(cues, msgspec.structs.replace(said("c", "", ("no", "none", 0, 1)), conversation="other")) == []
    assert lines(cues, said("a", "agent", end=True)) == []
    before = cues.have_ended
    assert lines(cues, said("b", "customer", end=True)) == []
    assert (before, cues.have_ended) == (False, True)


def test_a_session_alone_has_no_names() -> None:
    cues = SideCues(session="a", conversation=None, limits=CaptionLimits())
    assert lines(cues, said("a", "agent", ("yes", "period", 0, 300), end=True)) == ["Yes."]
    assert lines(cues, said("b", "customer", ("no", "period", 0, 300))) == []
    assert cues.have_ended


@pytest.mark.parametrize(("session", "conversation"), [(None, None), ("a", "call")])
def test_captions_are_of_one_session_or_of_one_conversation(session: str | None, conversation: str | None) -> None:
    with pytest.raises(FatalError, match="--session or --conversation"):
        SideCues(session=session, conversation=conversation, limits=CaptionLimits())
