"""Chinese words from characters, words or phrases: conservation, prefix-stability, and what is held back."""

from __future__ import annotations

import unicodedata
from itertools import pairwise

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from caesura.schemas.state import HeldBack, ModelWord, ModelWordPiece
from caesura.worker.core.language.dictionary import Dictionary, load_dictionary
from caesura.worker.core.language.normalisation import model_view
from caesura.worker.core.language.running_cut import MAX_HELD_CHARACTERS
from caesura.worker.core.language.segmentation import ChineseSegmenter, segmenters
from caesura.worker.core.language.traditional import simplified
from caesura.worker.core.language.words import WhitespaceSegmenter, as_unit
from tests.unit.core.units import dictionary_of, texts, unit, units_of, views

SMALL = dictionary_of("甲乙", "乙丙", "丙", "乙丙甲乙", "甲丙", "丙甲甲")
FORMS = st.text("甲乙丙甲乙丙a3.，!。“’", min_size=1, max_size=6) | st.text(
    st.characters(exclude_categories=("Z", "C")), min_size=1, max_size=4
)
UNITS = st.lists(FORMS, max_size=14).map(units_of)
SENTENCE = "我们今天在北京大学讨论这个问题"


def segmented(
    units: list[ModelWordPiece], sizes: list[int], dictionary: Dictionary = SMALL, bound: int = 5
) -> list[ModelWord]:
    """Push the units in calls of these sizes, again and again, then flush."""
    segmenter = ChineseSegmenter(dictionary, max_held_characters=bound)
    words, start, turn = [], 0, 0
    while start < len(units):
        size = sizes[turn % len(sizes)]
        words += segmenter.push(units[start : start + size])
        start, turn = start + size, turn + 1
    return [*words, *segmenter.flush()]


@given(UNITS, st.lists(st.integers(1, 4), min_size=1, max_size=4))
def test_how_units_are_grouped_into_calls_changes_nothing(units: list[ModelWordPiece], sizes: list[int]) -> None:
    assert segmented(units, sizes) == segmented(units, [len(units) or 1])


@given(UNITS)
def test_pieces_give_every_unit_back_once_in_order_and_untouched(units: list[ModelWordPiece]) -> None:
    pieces = [piece for word in segmented(units, [1]) for piece in word.pieces]
    assert "".join(piece.text for piece in pieces) == "".join(unit.text for unit in units)
    for of in units:
        parts = [piece for piece in pieces if piece.position == of.position]
        assert "".join(part.text for part in parts) == of.text
        assert [part.unit_start for part in parts][:1] == [0]
        assert all(a.unit_start + len(a.text) == b.unit_start for a, b in pairwise(parts))
        for part in parts:
            assert part.unit_length == len(of.text)
            assert (part.start_ms, part.end_ms, part.confidence) == (of.start_ms, of.end_ms, of.confidence)
            assert (part.offset, part.appended_ms, part.polled_ms) == (of.offset, of.appended_ms, of.polled_ms)


@example(units_of(["㊜"]))
@given(UNITS)
def test_every_word_has_pieces_and_a_folded_view(units: list[ModelWordPiece]) -> None:
    for word in segmented(units, [1]):
        assert word.pieces
        assert word.view == model_view(word.view)
        text = unicodedata.normalize("NFKC", "".join(piece.text for piece in word.pieces))  # compatibility forms first
        assert word.view == model_view(simplified(text))


@given(UNITS, UNITS)
def test_a_word_that_came_out_stays_whatever_follows(units: list[ModelWordPiece], more: list[ModelWordPiece]) -> None:
    settled = ChineseSegmenter(SMALL, max_held_characters=5).push(units)
    assert segmented([*units, *more], [3])[: len(settled)] == settled


@given(UNITS, UNITS)
def test_snapshot_and_restore_between_any_two_calls_is_invisible(
    units: list[ModelWordPiece], more: list[ModelWordPiece]
) -> None:
    going_on = ChineseSegmenter(SMALL, max_held_characters=5)
    going_on.push(units)
    stored = msgspec.msgpack.decode(msgspec.msgpack.encode(going_on.held), type=HeldBack)
    restored = ChineseSegmenter(SMALL, stored, max_held_characters=5)
    assert restored.held == going_on.held
    assert restored.push(()) == []
    assert restored.held == going_on.held
    assert restored.push(more) == going_on.push(more)
    assert restored.flush() == going_on.flush()


@given(UNITS)
def test_what_is_held_back_is_bounded_and_a_flush_holds_nothing(units: list[ModelWordPiece]) -> None:
    segmenter = ChineseSegmenter(SMALL, max_held_characters=5)
    for of in units:
        segmenter.push([of])
        held = segmenter.held
        characters = "".join(unit.text for unit in held.units)[held.given_code_points :]
        assert len(held.units) < 5
        assert sum(character in "甲乙丙" for character in characters) < 5
    segmenter.flush()
    assert segmenter.held == HeldBack()
    assert segmenter.flush() == []


@given(st.text("甲乙丙", max_size=20), st.data())
def test_words_do_not_depend_on_the_units_that_the_text_comes_in(text: str, data: st.DataObject) -> None:
    ends = sorted(data.draw(st.sets(st.integers(1, len(text)))) | {len(text)}) if text else []
    parts = [text[a:b] for a, b in pairwise([0, *ends])]
    assert views(segmented(units_of(parts), [1])) == views(segmented(units_of(list(text)), [2]))


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("今 天 我 很 好", [["今", "天"], ["我"], ["很"], ["好"]]),
        ("今天 我很 好", [["今天"], ["我"], ["很"], ["好"]]),
        ("北京大 学生", [["北京"], ["大", "学生"]]),
        ("我用 iPhone 打 电 话", [["我"], ["用"], ["iPhone"], ["打", "电", "话"]]),
        ("New York", [["New"], ["York"]]),
        ("iPhone手机 涨了3.5%", [["iPhone"], ["手机"], ["涨"], ["了"], ["3.5%"]]),
        ("你好，世界。", [["你好，"], ["世界。"]]),
        ("“你好”他说", [["“你好”"], ["他"], ["说"]]),
        ("你好 ， 世界", [["你好"], ["，"], ["世界"]]),
        ("ok,你好! U.S. 10:30", [["ok,"], ["你好!"], ["U.S."], ["10:30"]]),
        ("今 ，天", [["今"], ["，天"]]),
        ("2024 年 五月", [["2024"], ["年"], ["五月"]]),
        ("don’t说", [["don’t"], ["说"]]),
    ],
)
def test_units_and_words_are_cut_into_their_common_refinement(line: str, expected: list[list[str]]) -> None:
    segmenter = ChineseSegmenter(load_dictionary())
    assert texts([*segmenter.push(units_of(line.split())), *segmenter.flush()]) == expected


def test_the_view_drops_marks_and_folds_case_width_and_traditional_characters() -> None:
    segmenter = ChineseSegmenter(load_dictionary())
    words = [*segmenter.push(units_of(["我們，", "討論", "ＧＰＴ！", "。"])), *segmenter.flush()]
    assert views(words) == ["我们", "讨论", "gpt", ""]
    assert texts(words) == [["我們，"], ["討論"], ["ＧＰＴ！"], ["。"]]


def test_a_character_that_simplified_text_writes_too_is_not_folded() -> None:
    assert simplified("著名的乾隆") == "著名的乾隆"


@given(st.text())
def test_folding_keeps_the_length_and_folding_twice_changes_nothing(text: str) -> None:
    assert len(simplified(text)) == len(text)
    assert simplified(simplified(text)) == simplified(text)


def test_a_flush_settles_the_tail_as_it_stands_and_the_text_goes_on_after_it() -> None:
    segmenter = ChineseSegmenter(load_dictionary())
    assert views(segmenter.push(units_of(list(SENTENCE[:3])))) == ["我们"]
    assert views(segmenter.flush()) == ["今"]
    assert views([*segmenter.push([unit("天")]), *segmenter.flush()]) == ["天"]


def test_a_bound_that_a_tail_never_reaches_in_speech() -> None:
    segmenter = ChineseSegmenter(load_dictionary())
    for of in units_of(list(SENTENCE * 3)):
        segmenter.push([of])
        assert len(segmenter.held.units) < MAX_HELD_CHARACTERS // 2


def test_what_another_segmenter_held_goes_out_with_the_next_call() -> None:
    held = HeldBack(units=tuple(as_unit(one) for one in units_of(["ok", "你好，"])), given_code_points=1)
    restored = ChineseSegmenter(load_dictionary(), held)
    assert restored.held == held
    assert texts(restored.push([])) == [["k"], ["你好，"]]
    assert restored.held == HeldBack()


def test_only_chinese_sessions_get_the_chinese_segmenter() -> None:
    assert isinstance(segmenters("zh", HeldBack()), ChineseSegmenter)
    assert isinstance(segmenters("en", HeldBack()), WhitespaceSegmenter)
