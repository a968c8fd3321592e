"""What of a text is speech: properties over generated texts with sounds, fillers and labels among the words."""

from __future__ import annotations

import os
import re
from pathlib import Path
from threading import Thread

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caesura.worker.errors import FatalError
from caesura.worker.feeds.hypothesis import HeardWord
from caesura.worker.feeds.lines import read_lines, readable_lines
from caesura.worker.feeds.speaker_labels import SpeakerLabels
from caesura.worker.feeds.spoken_text import spoken_pieces, spoken_text, spoken_words
from caesura.worker.feeds.written_words import is_mark, unmarked

_WORD = st.sampled_from(["yes", "no", "f(x)", "price(s)", "(re)open", "well,", "2", "go.", "[unk]", "a*b"])
_SOUND = st.sampled_from(
    [
        "[door slams]",
        "(he\nlaughs)",
        "【音乐】",
        "{door slams}",
        "｛笑声｝",
        "♪ la la ♪",
        "♫ la\nla ♫",
        "<noise>",
        "*coughs*",
        "!SIL",
        "<|en|>",
        "[ __ ]",
        "[music [loud] plays]",
        "( he (softly) laughs )",
    ]
)
_FILLER = st.sampled_from([("[UH]", "UH"), ("[um]", "um"), ("(uh)", "uh"), ("[Mm-hmm]", "Mm-hmm")])
_PART = st.one_of(_WORD.map(lambda word: (word, word)), _SOUND.map(lambda sound: (sound, "")), _FILLER)


@given(parts=st.lists(_PART, max_size=12))
def test_each_word_is_spoken_once_and_no_sound_is(parts: list[tuple[str, str]]) -> None:
    text = " ".join(written for written, _ in parts)
    spoken = spoken_text(text)
    assert len(spoken) == len(text)
    assert spoken.split() == [said for _, said in parts if said]


@given(parts=st.lists(_PART, max_size=8), data=st.data())
def test_sounds_are_found_wherever_a_text_is_cut_into_pieces(parts: list[tuple[str, str]], data: st.DataObject) -> None:
    text = " ".join(written for written, _ in parts)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    pieces = [text[begin:end] for begin, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    assert "".join(spoken_pieces(pieces)) == spoken_text(text)


@given(text=st.text(alphabet="ab1 [](){}<>*♪【】（）｛｝!SIL\n", max_size=60))
def test_any_text_keeps_its_places_and_is_told_the_same_twice(text: str) -> None:
    spoken = spoken_text(text)
    assert len(spoken) == len(text)
    assert all(one in (other, " ") for one, other in zip(spoken, text, strict=True))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("so ( 1 - p ) is less than (x, 1)", 11),
        ("we know (he laughs) that (210) is it", 6),
        ("(2) (1 - p) so", 4),
        ("so (0:05) we go", 3),
        ("so (MAN 2) we go", 3),
    ],
)
def test_a_formula_within_a_sentence_is_spoken(text: str, words: int) -> None:
    assert len(spoken_text(text).split()) == words


def test_a_note_that_is_never_closed_does_not_silence_a_recording() -> None:
    assert len(spoken_text("♪ " + "so " * 200).split()) == 200


@pytest.mark.parametrize("sign", ["[", "(", "*", "♪", "<", "（", "[a ", "♪ \n", "(x)"])
def test_a_long_text_of_signs_is_read_in_time_linear_in_its_length(sign: str) -> None:
    assert len(spoken_text(sign * 100_000)) == 100_000 * len(sign)


def test_timed_words_keep_their_times() -> None:
    words = [HeardWord(text=text, start_ms=at) for at, text in enumerate(["(door", "slams)", "so", "[UM]", "yes"])]
    assert [(word.text, word.start_ms) for word in spoken_words(words)] == [("so", 2), ("UM", 3), ("yes", 4)]


_NAME = st.sampled_from(["SPEAKER_00", "Speaker 2", "MAN 1", "Anna", "Ben Hill", "Agent", "Customer", "小王"])
_FORM = st.sampled_from(["{}: ", "[{}]: ", "{} (Host): "])


@given(
    turns=st.lists(st.tuples(_NAME, st.lists(_WORD, min_size=1, max_size=4).map(" ".join)), min_size=1, max_size=8),
    form=_FORM,
    captions=st.booleans(),
)
def test_a_label_that_recurs_names_each_line_and_loses_no_word(
    turns: list[tuple[str, str]], form: str, *, captions: bool
) -> None:
    lines = [form.format(name) + said for name, said in turns] * 2
    labels = SpeakerLabels(lines, captions=captions)
    for line, (name, said) in zip(lines, turns * 2, strict=True):
        found = labels.find(line)
        assert found is not None
        assert (found.name, line[found.end :].strip()) == (name, said)


@given(lines=st.lists(st.lists(_WORD, min_size=1, max_size=4).map(" ".join), max_size=8))
def test_lines_without_labels_have_none(lines: list[str]) -> None:
    labels = SpeakerLabels(lines, captions=True)
    assert [labels.find(line) for line in lines] == [None] * len(lines)


@pytest.mark.parametrize(
    "line", ["http://a.example", "Note: so", "He said: go", "at 10:30 we go", "so: yes", "Remember: go", "WARNING: go"]
)
def test_words_before_a_colon_are_no_label_where_they_do_not_recur(line: str) -> None:
    assert SpeakerLabels([line]).find(line) is None


def test_labels_that_stand_only_where_the_speaker_changes_recur_in_a_long_text() -> None:
    lines = ["so we go on"] * 500
    lines[3], lines[90], lines[150], lines[300], lines[400] = "Anna: a", "Ben: b", "Anna: c", "Ben: d", "Then: e"
    labels = SpeakerLabels(lines)
    assert [found.name for line in lines if (found := labels.find(line)) is not None] == ["Anna", "Ben", "Anna", "Ben"]


@given(text=st.text(alphabet="aß1_%$!?.,' ♪é你\n", max_size=12))
def test_marks_are_taken_off_both_ends_and_nothing_else(text: str) -> None:
    kept = r"[\w%$€£#@&+]"
    between = re.fullmatch(rf"(?s).*?({kept}.*{kept}|{kept}).*?", text)
    assert unmarked(text) == ("" if is_mark(text) or between is None else between[1])


def test_a_word_with_a_million_marks_within_stays_as_it_is() -> None:
    word = "a" + "!" * 1_000_000 + "a"  # a search that begins again at each mark would not come to an end
    assert unmarked(f"({word})") == word


def test_a_sign_that_is_written_behind_a_letter_is_no_mark() -> None:
    said = "สวัสดี, है। cafe\N{COMBINING ACUTE ACCENT}!"
    assert [unmarked(word) for word in said.split()] == ["สวัสดี", "है", "cafe\N{COMBINING ACUTE ACCENT}"]


def test_a_pipe_is_read_to_its_end(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = Thread(target=pipe.write_bytes, args=(b"so um\r\nwe go\ryes",))
    writer.start()
    assert list(read_lines(str(pipe))) == ["so um\r\n", "we go\r", "yes"]
    writer.join()


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="this system has no device without an end")
def test_a_line_without_an_end_is_refused_at_the_limit() -> None:
    with pytest.raises(FatalError, match="/dev/zero has a line of more than 100000 bytes"):
        list(read_lines("/dev/zero", longest_bytes=100_000))
    with pytest.raises(FatalError, match="/dev/zero has a line of more than 100000 bytes"):
        list(readable_lines("/dev/zero", longest_bytes=100_000))


def test_a_line_as_long_as_the_limit_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"x" * 9 + b"\n" + b"y" * 10)
    assert list(read_lines(str(tmp_path / "a.txt"), longest_bytes=10)) == ["x" * 9 + "\n", "y" * 10]


def test_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FatalError, match="cannot be read"):
        list(read_lines(str(tmp_path)))
