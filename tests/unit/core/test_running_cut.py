"""Cutting a growing run: the same words however it grows, the best ones, each as early as it can be."""

from __future__ import annotations

import importlib.util
import math
import re
import warnings
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from caesura.worker.core.language.dictionary import (
    HAN,
    LONGER,
    WORD,
    Dictionary,
    dictionary_sha256,
    load_dictionary,
)
from caesura.worker.core.language.running_cut import MAX_HELD_CHARACTERS, RunningCut
from tests.unit.core.units import counted_dictionary, dictionary_of

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


def test_only_words_of_chinese_characters_are_taken_wherever_in_the_list_they_stand() -> None:
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


def test_words_are_counted_for_the_first_text_and_not_when_the_dictionary_is_loaded() -> None:
    dictionary = counted_dictionary({"甲": 3})
    assert "_total" not in vars(dictionary), "counting them all takes a fifth of a second of every start"
    assert dictionary.entries_of("甲")
    assert "_total" in vars(dictionary)
