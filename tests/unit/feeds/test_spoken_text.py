"""What of a text is speech: properties over generated texts with sounds, fillers and labels among the words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caesura.worker.feeds.hypothesis import HeardWord
from caesura.worker.feeds.speaker_labels import SpeakerLabels
from caesura.worker.feeds.spoken_text import spoken_pieces, spoken_text, spoken_words

_WORD = st.sampled_from(["yes", "no", "f(x)", "price(s)", "(re)open", "well,", "2", "go.", "[unk]", "a*b"])
_SOUND = st.sampled_from(
    [
        "[door slams]",
        "(he\nlaughs)",
        "【音乐】",
        "♪ la la ♪",
        "♫ la\nla ♫",
        "<noise>",
        "*coughs*",
        "!SIL",
        "<|en|>",
        "[ __ ]",
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


@given(text=st.text(alphabet="ab [](){}<>*♪【】（）!SIL\n", max_size=60))
def test_any_text_keeps_its_places_and_is_told_the_same_twice(text: str) -> None:
    spoken = spoken_text(text)
    assert len(spoken) == len(text)
    assert all(one in (other, " ") for one, other in zip(spoken, text, strict=True))


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
