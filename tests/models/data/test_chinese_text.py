"""Chinese text to words, marks and tags: what is mapped, what is dropped, and that words are cut as the worker cuts."""

from __future__ import annotations

import random

import pytest

from caesura.models.data.aligned_words import UNKNOWN, AlignedDocument
from caesura.models.data.chinese_corpora import CHINESE_SPEECH
from caesura.models.data.chinese_marks import LabelledUnit, add_turn, cut_again, read_chinese_marks
from caesura.models.data.disfluencies import insert_disfluencies
from caesura.models.data.recogniser_units import as_units
from caesura.schemas.labels import Disfluency, Punctuation
from caesura.schemas.state import HeldBack
from caesura.worker.core.language.segmentation import segmenters

NONE, COMMA, PERIOD = Punctuation.NONE, Punctuation.COMMA, Punctuation.PERIOD
QUESTION, ENUMERATION = Punctuation.QUESTION, Punctuation.ENUMERATION_COMMA


def turn(*lines: str) -> AlignedDocument:
    document = AlignedDocument("made-up", "one")
    for line in lines:
        add_turn(document, read_chinese_marks(line))
    return document


def marked(line: str) -> list[tuple[str, int]]:
    return [(unit.text, unit.mark) for unit in read_chinese_marks(line)]


def test_the_four_marks_stand_after_the_text_that_they_follow() -> None:
    line = "红的、蓝的都要，可以吗？可以。"
    assert marked(line) == [("红的", ENUMERATION), ("蓝的都要", COMMA), ("可以吗", QUESTION), ("可以", PERIOD)]


@pytest.mark.parametrize(
    ("mark", "read"),
    [("：", COMMA), ("——", COMMA), ("；", PERIOD), ("！", PERIOD), ("?!", QUESTION), ("……", UNKNOWN), (",", COMMA)],
)
def test_other_marks_are_mapped_to_the_four(mark: str, read: int) -> None:
    assert marked(f"门开了{mark}风很大。") == [("门开了", read), ("风很大", PERIOD)]


def test_an_ellipsis_at_a_lines_end_ends_its_sentence() -> None:
    assert marked("门好像开了……") == [("门好像开了", PERIOD)]
    assert marked("门好像开了") == [("门好像开了", UNKNOWN)]


def test_quotes_brackets_and_dots_in_names_are_dropped() -> None:
    assert marked("他读《安娜·李》。「真好」，他说。") == [
        ("他读", NONE),
        ("安娜李", PERIOD),
        ("真好", COMMA),
        ("他说", PERIOD),
    ]


def test_numbers_and_latin_words_keep_what_is_inside_them() -> None:
    texts = [text for text, _ in marked("我用Node.js算了3.5和10,000，it's OK。")]
    assert texts == ["我用", "Node.js", "算了", "3.5", "和", "10,000", "it's", "OK"]


def test_a_trained_word_is_a_word_that_the_worker_cuts_from_the_same_characters() -> None:
    lines = ("昨天下午我们在图书馆开会，", "会议室里没有空调，大家都很热。")
    spoken = [character for line in lines for unit in read_chinese_marks(line) for character in unit.text]
    segmenter = segmenters("zh", HeldBack())
    served = [*segmenter.push(as_units(spoken)), *segmenter.flush()]
    assert turn("".join(lines)).words == [word.view for word in served]


def test_a_mark_inside_a_word_that_the_cutter_makes_goes_to_the_end_of_the_word() -> None:
    document = turn("放在桌子上，海边见。")
    assert "上海" in document.words
    assert document.punctuation[document.words.index("上海")] == COMMA


def test_each_line_is_a_turn() -> None:
    first, second = turn("门开了。"), turn("风很大。")
    both = turn("门开了。", "风很大。")
    assert both.words == first.words + second.words
    assert both.turn_ends == {len(first.words) - 1, len(both.words) - 1}
    assert both.sentence_starts() == [0, len(first.words)]


def test_words_of_one_unit_carry_on_its_tag() -> None:
    document = AlignedDocument("made-up", "one")
    units = [LabelledUnit("我们明天", NONE, Disfluency.B_RM), LabelledUnit("我们后天出发", PERIOD)]
    add_turn(document, units)
    published = [Disfluency(tag).published for tag in document.disfluency]
    assert published[:2] == ["B-RM", "I-RM"]
    assert set(published[2:]) == {"O"}


def test_a_word_of_fluent_and_disfluent_characters_has_no_known_tag() -> None:
    document = AlignedDocument("made-up", "one")
    add_turn(document, [LabelledUnit("就是", NONE, Disfluency.B_IM), LabelledUnit("说不好", PERIOD)])
    assert document.words[0] == "就是说"
    assert document.disfluency[0] == UNKNOWN


def test_inserted_disfluencies_are_tagged_and_cut_as_one_running_text() -> None:
    fluent = turn(*["我们打算下个星期把这批新的箱子送到客户的仓库里去，因为他们那里已经没有多余的了。"] * 60)
    disfluent = insert_disfluencies(fluent, random.Random(3), share=1.0, habits=CHINESE_SPEECH)
    again = cut_again(disfluent)
    assert "".join(again.words) == "".join(disfluent.words)
    assert {Disfluency.B_RM, Disfluency.I_RM, Disfluency.B_IM} <= set(again.disfluency)
    kept = [word for word, tag in zip(again.words, again.disfluency, strict=True) if tag == Disfluency.O]
    assert len(kept) > 0.9 * len(fluent.words)
    commas = sum(mark == COMMA for mark in again.punctuation)
    assert commas == sum(mark == COMMA for mark in fluent.punctuation)
