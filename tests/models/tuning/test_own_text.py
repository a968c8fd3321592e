"""A folder of a user's own text: what is read of it, what is refused and how, and how it is split."""

from __future__ import annotations

from pathlib import Path

import pytest

from caesura.models.data.aligned_words import UNKNOWN
from caesura.models.tuning.own_text import OwnFile, aligned, read_folder, session_of, unmarked_lines
from caesura.models.tuning.text_split import TextParts, split
from caesura.schemas.labels import Disfluency, Punctuation
from caesura.worker.errors import FatalError
from tests.harness.models.own_texts import paragraph, write_files, write_folder

NONE, COMMA, PERIOD, QUESTION, ENUMERATION = (int(mark) for mark in Punctuation)


def own(*paragraphs: str, name: str = "one.txt") -> OwnFile:
    return OwnFile(name=name, paragraphs=paragraphs)


def test_every_text_file_is_a_document_and_a_line_a_paragraph(tmp_path: Path) -> None:
    texts = {"b.txt": "\ufeffOne, two.\r\nThree?\r\n", "deep/a.txt": "Four.\n\n\nFive.", "notes.md": "Not read."}
    files = read_folder(write_files(tmp_path, texts), "en")
    assert [(file.name, file.paragraphs) for file in files] == [
        ("b.txt", ("One, two.", "Three?")),
        ("deep/a.txt", ("Four.", "Five.")),
    ]


@pytest.mark.parametrize(
    ("language", "lines", "joined"),
    [("en", ("We go,", "now."), "We go, now."), ("zh", ("我们走，", "现在。"), "我们走，现在。")],
)
def test_wrapped_lines_are_joined_up_to_the_next_blank_line(
    language: str, lines: tuple[str, str], joined: str, tmp_path: Path
) -> None:
    write_files(tmp_path, {"a.txt": "\n".join(lines) + "\n\n" + lines[1]})
    assert read_folder(tmp_path, language, wrapped=True)[0].paragraphs == (joined, lines[1])


def test_english_marks_become_three_and_words_have_no_tags() -> None:
    document = aligned(own("Well; we saw it: all of it!", "Did you? I-"), "en")
    assert document.words == ["well", "we", "saw", "it", "all", "of", "it", "did", "you", "i"]
    assert document.punctuation == [PERIOD, NONE, NONE, COMMA, NONE, NONE, PERIOD, NONE, QUESTION, UNKNOWN]
    assert document.disfluency == [UNKNOWN] * 10
    assert document.turn_ends == {6, 9}


def test_chinese_is_cut_as_the_worker_cuts_it_and_scored_by_character() -> None:
    file = own("我们今天去北京、上海，好吗？")
    document = aligned(file, "zh")
    assert document.words == ["我们", "今天", "去", "北京", "上海", "好", "吗"]
    assert document.punctuation == [NONE, NONE, NONE, ENUMERATION, COMMA, NONE, QUESTION]
    session = session_of(file, "zh")
    assert "".join(session.units) == "我们今天去北京上海好吗"
    assert [place for place, mark in enumerate(session.marks) if mark] == [6, 8, 10]


def test_text_that_is_said_to_be_fluent_has_tags() -> None:
    assert aligned(own("We went home."), "en", fluent=True).disfluency == [int(Disfluency.O)] * 3
    assert aligned(own("我们回家。"), "zh", fluent=True).disfluency == [int(Disfluency.O)] * 2


@pytest.mark.parametrize(
    ("texts", "language", "said"),
    [
        ({"notes.md": "Text."}, "en", r"holds no \.txt file"),
        ({"good.txt": "Fine.", "plain.txt": "no mark in here"}, "en", r"plain\.txt has 4 words and no mark at all"),
        ({"empty.txt": "\n\n"}, "en", r"empty\.txt holds no word"),
        ({"a.txt": "我们今天去北京。"}, "en", r"a\.txt: 100% of its letters are Chinese characters; is it in en\?"),
        ({"a.txt": "We went home."}, "zh", r"a\.txt: 0% of its letters are Chinese characters; is it in zh\?"),
    ],
)
def test_text_that_teaches_nothing_is_refused_by_the_files_name(
    texts: dict[str, str], language: str, said: str, tmp_path: Path
) -> None:
    with pytest.raises(FatalError, match=said):
        read_folder(write_files(tmp_path, texts), language)


def test_a_path_that_is_not_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FatalError, match="is not a folder"):
        read_folder(tmp_path / "nowhere", "en")


def test_a_file_that_is_not_utf_8_is_refused_with_the_place_of_the_byte(tmp_path: Path) -> None:
    (tmp_path / "latin.txt").write_bytes(b"A caf\xe9, then.")
    with pytest.raises(FatalError, match=r"latin\.txt is not UTF-8: byte 5 is 0xe9"):
        read_folder(tmp_path, "en")


def test_no_refusal_names_a_word_of_the_text(tmp_path: Path) -> None:
    write_files(tmp_path, {"a.txt": "zanzibar quokka"})
    with pytest.raises(FatalError) as refused:
        read_folder(tmp_path, "en")
    assert "zanzibar" not in str(refused.value)
    assert "quokka" not in str(refused.value)


def test_lines_without_a_mark_at_their_end_speak_for_wrapped_text() -> None:
    assert unmarked_lines(own("We went home", "and slept, then", "woke."), "en") == pytest.approx(2 / 3)
    assert unmarked_lines(own("我们回家。", "睡觉。"), "zh") == 0


def names(part: tuple[OwnFile, ...]) -> set[str]:
    return {file.name for file in part}


def test_every_document_is_in_one_part_and_each_part_holds_some(tmp_path: Path) -> None:
    files = read_folder(write_folder(tmp_path, files=40, paragraphs=2), "en")
    parts = split(files)
    assert parts.whole_files
    together = [names(parts.training), names(parts.watched), names(parts.scored)]
    assert sum(map(len, together)) == len(set().union(*together)) == 40
    assert min(map(len, together)) >= 1
    assert len(parts.training) > 25


def test_a_later_file_moves_no_other_and_a_new_name_moves_none(tmp_path: Path) -> None:
    files = read_folder(write_folder(tmp_path, files=40, paragraphs=2), "en")
    before = split(files)
    grown = split([*files, own(paragraph(8, seed=9999), name="later.txt")])
    for part in ("training", "watched", "scored"):
        assert names(getattr(before, part)) == names(getattr(grown, part)) - {"later.txt"}
    renamed = split([OwnFile(name=f"new-{file.name}", paragraphs=file.paragraphs) for file in reversed(files)])
    assert [file.paragraphs for file in renamed.scored] == [file.paragraphs for file in before.scored]


def test_a_single_file_is_split_by_paragraphs_and_loses_none() -> None:
    file = own(*(paragraph(5, seed=seed) for seed in range(60)))
    parts = split([file])
    assert not parts.whole_files
    stretches = (*parts.training, *parts.watched, *parts.scored)
    assert sorted(p for one in stretches for p in one.paragraphs) == sorted(file.paragraphs)
    assert all(one.name.startswith("one.txt#") for one in stretches)
    assert min(len(parts.watched), len(parts.scored)) >= 1


def test_a_file_that_is_most_of_the_text_is_split_too() -> None:
    long = own(*(paragraph(5, seed=seed) for seed in range(60)), name="long.txt")
    short = [own(paragraph(3, seed=seed), name=f"short-{seed}.txt") for seed in range(100, 103)]
    assert not split([long, *short]).whole_files


@pytest.mark.parametrize("paragraphs", [1, 2])
def test_a_text_of_too_few_paragraphs_is_refused(paragraphs: int) -> None:
    with pytest.raises(FatalError, match="too few files and paragraphs"):
        split([own(*(paragraph(30, seed=seed) for seed in range(paragraphs)))])


def test_fair_parts_are_not_lopsided() -> None:
    ten = tuple(own("x" * 100, name=str(number)) for number in range(10))
    fair = TextParts(training=ten[:8], watched=ten[8:9], scored=ten[9:], whole_files=True)
    assert not fair.lopsided
    assert TextParts(training=ten[:5], watched=ten[5:7], scored=ten[7:], whole_files=True).lopsided
