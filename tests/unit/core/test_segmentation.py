"""Chinese words from characters, words or phrases: conservation, prefix-stability, and what is held back."""

from __future__ import annotations

import importlib.util
import math
import re
import unicodedata
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib.machinery import ModuleSpec
from itertools import pairwise
from pathlib import Path

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from caesura.schemas.events import Word
from caesura.schemas.segments import Segment
from caesura.schemas.state import HeldBack, ModelWord, ModelWordPiece
from caesura.worker.core.language import dictionary
from caesura.worker.core.language.dictionary import (
    HAN,
    LONGER,
    WORD,
    Dictionary,
    dictionary_sha256,
    load_dictionary,
    word_list,
)
from caesura.worker.core.language.normalisation import model_view
from caesura.worker.core.language.running_cut import MAX_HELD_CHARACTERS, RunningCut
from caesura.worker.core.language.segmentation import ChineseSegmenter, segmenters
from caesura.worker.core.language.traditional import simplified
from caesura.worker.core.language.words import WhitespaceSegmenter, as_unit
from caesura.worker.errors import FatalError
from tests.harness.partition_driver import Driver, event, however_grouped
from tests.harness.speech import said


def unit(text: str, position: int = 0) -> ModelWordPiece:
    return ModelWordPiece(
        text=text,
        start_ms=position * 100,
        end_ms=position * 100 + 90,
        confidence=0.5,
        offset=7,
        position=position,
        appended_ms=1,
        polled_ms=2,
        unit_start=0,
        unit_length=len(text),
    )


def units_of(texts: Sequence[str]) -> list[ModelWordPiece]:
    return [unit(text, position) for position, text in enumerate(texts)]


def views(words: Sequence[ModelWord]) -> list[str]:
    return [word.view for word in words]


def texts(words: Sequence[ModelWord]) -> list[list[str]]:
    return [[piece.text for piece in word.pieces] for word in words]


def dictionary_of(*words: str) -> Dictionary:
    """Build a dictionary in which every word is equally frequent."""
    return counted_dictionary(dict.fromkeys(words, 10))


def counted_dictionary(counts: Mapping[str, int]) -> Dictionary:
    """Build a dictionary of words and how often each occurs."""
    return Dictionary("".join(f"{word} {count} n\n" for word, count in counts.items()))


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


@example(units_of(["㊜"]))
@given(UNITS)
def test_pieces_give_every_unit_back_untouched_and_a_word_has_a_folded_view(units: list[ModelWordPiece]) -> None:
    words = segmented(units, [1])
    for word in words:
        assert word.pieces
        assert word.view == model_view(word.view)
        text = unicodedata.normalize("NFKC", "".join(piece.text for piece in word.pieces))  # compatibility forms first
        assert word.view == model_view(simplified(text))
    pieces = [piece for word in words for piece in word.pieces]
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


@given(UNITS, UNITS)
def test_a_word_that_came_out_stays_and_a_restart_behind_it_is_invisible(
    units: list[ModelWordPiece], more: list[ModelWordPiece]
) -> None:
    going_on = ChineseSegmenter(SMALL, max_held_characters=5)
    settled = going_on.push(units)
    assert segmented([*units, *more], [3])[: len(settled)] == settled
    stored = msgspec.msgpack.decode(msgspec.msgpack.encode(going_on.held), type=HeldBack)
    restored = ChineseSegmenter(SMALL, stored, max_held_characters=5)
    assert restored.held == going_on.held
    assert restored.push(()) == []
    assert restored.held == going_on.held
    assert restored.push(more) == going_on.push(more)
    assert restored.flush() == going_on.flush()


@given(UNITS)
def test_held_back_words_are_bounded_and_flushed(units: list[ModelWordPiece]) -> None:
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


@pytest.mark.parametrize(
    ("sound", "view"),
    [("Uhhh", "uh"), ("umm", "um"), ("ermmm", "erm"), ("hmmm", "hmm"), ("mmm", "mmm"), ("hmm", "hmm")],
)
def test_the_view_shortens_a_sound_that_is_drawn_out(sound: str, view: str) -> None:
    assert model_view(sound) == view


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


def test_held_characters_of_another_segmenter_go_out_next() -> None:
    held = HeldBack(units=tuple(as_unit(one) for one in units_of(["ok", "你好，"])), given_code_points=1)
    restored = ChineseSegmenter(load_dictionary(), held)
    assert restored.held == held
    assert texts(restored.push([])) == [["k"], ["你好，"]]
    assert restored.held == HeldBack()


def test_only_chinese_sessions_get_the_chinese_segmenter() -> None:
    assert isinstance(segmenters("zh", HeldBack()), ChineseSegmenter)
    assert isinstance(segmenters("en", HeldBack()), WhitespaceSegmenter)


ALPHABET = "甲乙丙"
RUNS = st.text(ALPHABET, max_size=24)
DICTIONARIES = st.dictionaries(st.text(ALPHABET, min_size=1, max_size=5), st.integers(1, 1000), max_size=14).map(
    counted_dictionary
)
SENTENCES = (
    "今天下午三点我们在会议室讨论一下新产品的计划",
    "我觉得这个方案还可以但是价格有点高",
    "他昨天从北京大学图书馆借了两本关于语音识别的书",
    "请把窗户打开让新鲜空气进来",
    "明年春天公司准备在上海开设一家新的门店",
    "老师说学生们应该多读书多思考",
    "由于天气原因航班推迟了两个小时",
    "她一边听音乐一边写作业",
    "中华人民共和国中央人民政府门户网站",
    "结婚的和尚未结婚的都来了",
    "研究生命起源的科学家发表了论文",
    "南京市长江大桥今天上午恢复通车",
)


def cut(dictionary: Dictionary, run: Iterable[str], max_held_characters: int = 1000) -> list[str]:
    running = RunningCut(dictionary, max_held_characters=max_held_characters)
    return [*(word for character in run for word in running.add(character)), *running.flush()]


def whole_cut(dictionary: Dictionary, run: str) -> list[str]:
    """Cut a whole run at once: the cheapest path, of equal ones that with the longest last word."""

    @cache
    def best(end: int) -> tuple[int, tuple[str, ...]]:
        if end == 0:
            return 0, ()
        paths = []
        for start in range(end):
            entry = dictionary.entries_of(run[start]).get(run[start:end], 0)
            if entry & WORD or start == end - 1:
                cost = Dictionary.cost(entry) if entry & WORD else dictionary.unknown_cost
                paths.append((best(start)[0] + cost, start))
        cost, start = min(paths)
        return cost, (*best(start)[1], run[start:end])

    return list(best(len(run))[1])


@given(DICTIONARIES, RUNS)
def test_a_run_cut_as_it_grows_is_cut_as_the_whole(dictionary: Dictionary, run: str) -> None:
    assert cut(dictionary, run) == whole_cut(dictionary, run)


@given(st.text(sorted(set("".join(SENTENCES))), max_size=30))
def test_a_run_is_cut_as_the_whole_with_the_packaged_dictionary_too(run: str) -> None:
    assert cut(load_dictionary(), run) == whole_cut(load_dictionary(), run)


@given(DICTIONARIES, RUNS, RUNS)
def test_a_settled_word_stays_whatever_follows(dictionary: Dictionary, run: str, rest: str) -> None:
    running = RunningCut(dictionary, max_held_characters=1000)
    settled = [word for character in run for word in running.add(character)]
    assert whole_cut(dictionary, run + rest)[: len(settled)] == settled


@given(DICTIONARIES, RUNS.filter(bool))
def test_a_tail_starts_anew_as_it_would_have_gone_on(dictionary: Dictionary, run: str) -> None:
    running = RunningCut(dictionary, max_held_characters=6)
    for character in run:
        running.add(character)
        again = RunningCut(dictionary, max_held_characters=6)
        assert [word for held in running.held for word in again.add(held)] == []
        assert again.held == running.held
        assert cut(dictionary, running.held + "乙甲", 6) == [
            *(word for later in "乙甲" for word in again.add(later)),
            *again.flush(),
        ]


@given(DICTIONARIES, RUNS, RUNS)
def test_after_a_flush_a_new_run_begins(dictionary: Dictionary, run: str, rest: str) -> None:
    running = RunningCut(dictionary, max_held_characters=6)
    first = [*(word for character in run for word in running.add(character)), *running.flush()]
    second = [*(word for character in rest for word in running.add(character)), *running.flush()]
    assert (first, second) == (cut(dictionary, run, 6), cut(dictionary, rest, 6))


@given(DICTIONARIES, RUNS, st.integers(1, 8))
def test_the_tail_is_bounded_and_nothing_is_lost(dictionary: Dictionary, run: str, bound: int) -> None:
    running = RunningCut(dictionary, max_held_characters=bound)
    words = []
    for character in run:
        words += running.add(character)
        assert len(running.held) < bound
    assert "".join([*words, running.held]) == run


def test_a_tail_at_its_bound_gives_its_first_word_as_it_stands() -> None:
    chained = dictionary_of("甲乙", "乙甲", "甲", "乙")
    running = RunningCut(chained, max_held_characters=4)
    assert [running.add(character) for character in "甲乙甲乙"] == [[], [], [], ["甲乙"]]
    assert running.held == "甲乙"


def test_a_word_is_settled_as_soon_as_no_longer_one_can_hold_it() -> None:
    dictionary = dictionary_of("北京", "大学", "大学生", "北京大学")
    running = RunningCut(dictionary)
    assert [running.add(character) for character in "北京大学的"] == [[], [], [], [], ["北京大学", "的"]]
    assert RunningCut(dictionary).add("的") == ["的"]


def test_entries_say_which_beginnings_grow_into_longer_words() -> None:
    dictionary = dictionary_of("甲乙丙", "甲", "乙")
    entries = dictionary.entries_of("甲")
    assert {text: entry & (WORD | LONGER) for text, entry in entries.items()} == {
        "甲": WORD | LONGER,
        "甲乙": LONGER,
        "甲乙丙": WORD,
    }
    assert list(dictionary.entries_of("乙")) == ["乙"]
    assert not dictionary.entries_of("丙")


def test_the_packaged_dictionary_is_the_one_this_release_was_made_with() -> None:
    assert dictionary_sha256() == "7197c3211ddd98962b036cdf40324d1ea2bfaa12bd028e68faa70111a88e12a8"
    counted = (Path(str(importlib.util.find_spec("jieba").origin)).parent / "dict.txt").read_text()  # type: ignore[union-attr]
    assert max(map(len, re.findall(f"^[{HAN}]+", counted, re.MULTILINE))) * 2 == MAX_HELD_CHARACTERS
    assert load_dictionary() is load_dictionary()


def test_sentences_are_cut_as_jieba_cuts_them_without_its_hidden_markov_model() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # jieba's source has escapes that Python warns about
        jieba = importlib.import_module("jieba")
    tokenizer = jieba.Tokenizer()
    with (Path(str(jieba.__file__)).parent / "dict.txt").open("rb") as lines:
        tokenizer.FREQ, tokenizer.total = tokenizer.gen_pfdict(lines)
    tokenizer.initialized = True  # its own way would leave a cache in the temporary folder
    for sentence in SENTENCES:
        assert cut(load_dictionary(), sentence) == list(tokenizer.cut(sentence, HMM=False))


def test_costs_are_minus_the_logarithm_of_a_words_share() -> None:
    dictionary = counted_dictionary({"甲": 3, "乙": 1})
    assert math.isclose(Dictionary.cost(dictionary.entries_of("甲")["甲"]) / 2**16, math.log(4 / 3), abs_tol=1e-4)
    assert dictionary.unknown_cost == Dictionary.cost(dictionary.entries_of("乙")["乙"])


def test_only_words_of_chinese_characters_are_taken() -> None:
    dictionary = Dictionary("甲 3 n\nAA制 3 n\n甲A 3 n\n乙 2 n\n甲乙 1 n")
    assert {text for first in "甲乙AA" for text in dictionary.entries_of(first)} == {"甲", "乙", "甲乙"}
    assert dictionary.unknown_cost == round(math.log(6) * 2**16)


def test_a_cost_is_the_same_whichever_character_was_asked_for_first() -> None:
    counts = {"甲": 3, "甲乙": 2, "乙": 1}
    for order in ("甲乙", "乙甲"):
        dictionary = counted_dictionary(counts)
        entries = {text: bits for first in order for text, bits in dictionary.entries_of(first).items()}
        assert {text: Dictionary.cost(entries[text]) for text in counts} == {
            text: round(math.log(6 / count) * 2**16) for text, count in counts.items()
        }
        assert dictionary.unknown_cost == round(math.log(6) * 2**16)


def test_words_are_counted_for_the_first_text_not_at_loading() -> None:
    dictionary = counted_dictionary({"甲": 3})
    assert "_total" not in vars(dictionary), "counting them all takes a fifth of a second of every start"
    assert dictionary.entries_of("甲")
    assert "_total" in vars(dictionary)


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Put a folder in the place of the installed package."""
    origin = str(tmp_path / "__init__.py")
    monkeypatch.setattr(dictionary, "find_spec", lambda name: ModuleSpec(name, None, origin=origin))
    load_dictionary.cache_clear()
    yield tmp_path
    load_dictionary.cache_clear()


def test_a_package_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dictionary, "find_spec", lambda _: None)
    with pytest.raises(FatalError, match="needs the package jieba: install"):
        word_list()


@pytest.mark.parametrize("read", [load_dictionary, word_list])
def test_a_package_without_its_list_differs_from_a_damaged_list(package: Path, read) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001
    with pytest.raises(FatalError, match="missing: install the pinned jieba again"):
        read()
    (package / "dict.txt").write_bytes("我们 100 r\n".encode()[1:])
    with pytest.raises(FatalError, match="damaged: install the pinned jieba again"):
        read()


def test_a_line_is_a_word_how_often_it_occurs_and_its_kind(package: Path) -> None:
    (package / "dict.txt").write_text("我们 100 r\n去 50 v\n", encoding="utf-8")
    assert word_list().splitlines() == ["我们 100 r", "去 50 v"]
    assert load_dictionary().entries_of("我").keys() == {"我", "我们"}


TEXT = "我们今天下午去北京大学开会然后呃他说明天可能会下雨所以我们要早一点出发请大家带好雨伞和身份证"


def _segments(units: list[str], events: list[int], *, restarts: list[bool]) -> list[Segment]:
    driver = Driver(segmenters=segmenters)
    for seq, size in enumerate(events):
        taken, units = units[:size], units[size:]
        driver.give(event(seq, [Word(text=text) for text in taken], lang="zh"))
        if restarts[seq % len(restarts)]:
            driver.restart()
    driver.give(event(len(events), [Word(text=text) for text in units], lang="zh", session_end=True))
    return driver.segments


sizes = st.lists(st.integers(0, 9), max_size=12)


@given(
    cuts=st.sets(st.integers(1, len(TEXT) - 1)), one=sizes, other=sizes, restarts=st.lists(st.booleans(), min_size=1)
)
def test_grouping_and_restarts_change_nothing_and_no_character_is_lost(
    cuts: set[int], one: list[int], other: list[int], restarts: list[bool]
) -> None:
    ends = [*sorted(cuts), len(TEXT)]
    units = [TEXT[start:end] for start, end in zip([0, *ends], ends, strict=False)]

    segments = _segments(units, one, restarts=[False])

    assert however_grouped(segments) == however_grouped(_segments(units, other, restarts=restarts))
    assert "".join(said(segments)) == TEXT
