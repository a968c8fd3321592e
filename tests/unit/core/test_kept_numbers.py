"""Numbers go out whole, repairs keep the corrected one, and no mark cuts a number in two."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caesura.schemas.labels import Disfluency, Punctuation
from caesura.worker.core.decoding.kept_numbers import marks_around_numbers
from caesura.worker.core.decoding.kept_words import guard_tags
from tests.unit.core.spoken import MONTHS, chinese, english, ordinal, values, year
from tests.unit.core.tagged_lines import left_out

MARKS = {"": Punctuation.NONE, ".": Punctuation.PERIOD, ",": Punctuation.COMMA, "?": Punctuation.QUESTION}
SIGNS = {mark.value: sign for sign, mark in MARKS.items()}
tags = st.sampled_from([Disfluency.O, Disfluency.B_RM, Disfluency.I_RM])


@pytest.mark.parametrize(
    "line",
    [
        "it came to three hundred [and [ninety two pounds",
        "it came to [three [hundred [and ninety two pounds",
        "it was [forty six francs",
        "it was ninety [pounds [and sixty pence",
        "gate two {oh two",
        "born on may sixth [two [thousand [and nine",
        "hand me [six six pound weights",
        "[we [have [two dogs",
        "a nail of nine {mm will do",
        "付 [三百 [二十 块",
        "[三 三 得 九",
        "[二 二三 号",
        "[二十 二十五 块",
        "[一个 苹果 两个 梨",
        "住 在 八号 楼 [十二 [单元 十二 层",
        "等 了 [七 十五分钟",
    ],
)
def test_a_number_without_a_cue_stays(line: str) -> None:
    assert left_out(line) == ""


@pytest.mark.parametrize(
    ("line", "gone"),
    [
        ("born on the second {no the twelfth of august", "the second no"),
        ("bring [six {no {wait seven plates", "six no wait"),
        ("bring six {no [seven plates", "six no"),
        ("it costs [ten {uh twelve francs", "ten uh"),
        ("we met on the third {sorry on the fourth", "on the third sorry"),
        ("[we [have [two we have two dogs", "we have two"),
        ("[one one two three", ""),
        ("[one of them knew", "one"),
        ("[两 两个 人", "两"),
        ("[三 三十几 岁", "三"),
        ("[六十 六十多 岁", "六十"),
        ("来 了 [十六 十六个 人", "十六"),
        ("[一点 [五 一点 五 升", "一点 五"),
        ("[他 [有 [一个 他 有 了 一只 猫", "他 有 一个"),
        ("养 了 [一个 这么 一个 小鸟", "一个"),
        ("[住 [了 [三 大概 住 了 三 年", "住 了 三"),
        ("改 到 [大街 [二十七号 {不对 二十九号", "二十七号 不对"),
        ("要 [订 [三张 {不对 四张 票", "三张 不对"),
    ],
)
def test_a_repair_keeps_the_corrected_number(line: str, gone: str) -> None:
    assert left_out(line) == gone


def marked(line: str, *, digit_commas: bool = False, look_ahead_words: int = 6) -> str:
    words, marks = [], bytearray()
    for token in line.split():
        words.append(token.rstrip(".,?"))
        marks.append(MARKS[token[len(words[-1]) :]])
    marks_around_numbers(words, marks, 0, look_ahead_words=look_ahead_words, digit_commas=digit_commas)
    return " ".join(word + SIGNS[mark] for word, mark in zip(words, marks, strict=True))


@pytest.mark.parametrize(
    ("given_line", "line"),
    [
        ("on may sixth. two thousand and nine.", "on may sixth, two thousand and nine."),
        ("on the sixth of may. nineteen ninety.", "on the sixth of may nineteen ninety."),
        ("the code is four, eight, b, six.", "the code is four eight b six."),
        ("an m r. i scan of the n h. s today.", "an m r. i scan of the n h s today."),
        ("row f, a, two is full.", "row f a two is full."),
        ("gate a, c, nine is shut.", "gate a c nine is shut."),
        ("on may sixth. at ten fifteen we left.", "on may sixth at ten fifteen we left."),
        ("on may sixth. at home we ate.", "on may sixth at home we ate."),
        ("it fell by zero point two, five.", "it fell by zero point two five."),
        ("one forty six. over ninety today.", "one forty six over ninety today."),
        ("in nineteen ninety. we left town.", "in nineteen ninety we left town."),
        ("at two hundred and six yards. the shot missed.", "at two hundred and six yards the shot missed."),
        ("how far? at six yards. the shot missed.", "how far? at six yards. the shot missed."),
        ("he ran six yards. the shot missed.", "he ran six yards. the shot missed."),
        ("it was 17. 17 of them left.", "it was 17. 17 of them left."),
        ("it was the first one. 16 were left.", "it was the first one. 16 were left."),
        ("yes. five six seven eight nine ten", "yes. five six seven eight nine ten"),
        ("in tower sixty two. room nine oh one.", "in tower sixty two room nine oh one."),
        ("when? in nineteen ninety. we left town.", "when? in nineteen ninety. we left town."),
        ("take six grams of salt. and two eggs.", "take six grams of salt and two eggs."),
        ("it cost them. sixty pounds each.", "it cost them sixty pounds each."),
        ("we saw it. and two others.", "we saw it. and two others."),
        ("they owe me. two hundred and fifty one pounds", "they owe me two hundred and fifty one pounds"),
        ("they all left. two hundred and that is all", "they all left. two hundred and that is all"),
        ("i ate two. three were left.", "i ate two. three were left."),
        ("apples, pears, and two figs.", "apples, pears, and two figs."),
        ("you, i, two others.", "you, i, two others."),
        ("三点. 五", "三点 五"),
        ("票 六十 五块. 二.", "票 六十 五块 二."),
        ("要 四十 元, 八角, 五分.", "要 四十 元 八角 五分."),
        ("烧 到 三十九 度. 二.", "烧 到 三十九 度 二."),
        ("在 七 楼. 一 三五 房间.", "在 七 楼 一 三五 房间."),
        ("三 层 四四零二. 室.", "三 层 四四零二 室."),
        ("图书馆. 五月 二号 开放.", "图书馆 五月 二号 开放."),
        ("作业. 最 迟 五月 二号 交.", "作业 最 迟 五月 二号 交."),
        ("好的. 五月 二号 见.", "好的. 五月 二号 见."),
        ("我 都 知道. 五月 二号 见.", "我 都 知道. 五月 二号 见."),
        ("五月 二号. 下午 来.", "五月 二号 下午 来."),
        ("从 一九四 零 年. 他 走 了.", "从 一九四 零 年 他 走 了."),
        ("密码 是. 五五 零二.", "密码 是 五五 零二."),
        ("不对. 五五 零二.", "不对. 五五 零二."),
        ("来 了 八 只. 后来 又 来 了 五 只.", "来 了 八 只, 后来 又 来 了 五 只."),
        ("来 了 一只 鸟. 后来 又 来 了 十三只.", "来 了 一只 鸟, 后来 又 来 了 十三只."),
        ("他 走 了. 后来 又 来 了.", "他 走 了. 后来 又 来 了."),
        ("we met. on march fourth.", "we met on march fourth."),
        ("who came? on march fourth.", "who came? on march fourth."),
        ("yes. on march fourth.", "yes. on march fourth."),
        ("we met. on march fourth it rained.", "we met. on march fourth it rained."),
        ("the ratio is nine. nine.", "the ratio is nine nine."),
        ("is it nine? nine.", "is it nine? nine."),
        ("we land on may sixth. at half past one.", "we land on may sixth at half past one."),
    ],
)
def test_marks_around_numbers(given_line: str, line: str) -> None:
    assert marked(given_line) == line


def test_commas_between_digits_stay_where_they_are_wanted() -> None:
    assert marked("it is four, eight, b.", digit_commas=True) == "it is four, eight, b."
    assert marked("it is four. eight. six.", digit_commas=True) == "it is four eight six."


@given(data=st.data(), value=values, links=st.booleans(), step=st.integers(1, 20))
def test_no_word_of_a_number_is_left_out_without_a_cue(
    data: st.DataObject, value: int, *, links: bool, step: int
) -> None:
    said = english(value, links=links)
    words = ["we", "paid", *said, "dollars", "for", "it"]
    given_tags = bytearray(data.draw(st.lists(tags, min_size=len(words), max_size=len(words))))
    marks = bytes(len(words))
    for start in range(0, len(words), step):
        guard_tags(words, marks, given_tags, start, min(start + step, len(words)))

    if said != ["one"]:
        assert not any(given_tags[2 : 2 + len(said)])


@given(data=st.data(), value=st.integers(0, 10**8 - 1))
def test_no_character_of_a_chinese_number_is_left_out_without_a_cue(data: st.DataObject, value: int) -> None:
    words = ["付", "了", chinese(value), "块"]
    given_tags = bytearray(data.draw(st.lists(tags, min_size=4, max_size=4)))
    guard_tags(words, bytes(4), given_tags, 0, 4)

    assert not given_tags[2]


@given(
    data=st.data(),
    day=st.integers(1, 31),
    month=st.sampled_from(MONTHS),
    said=st.integers(1000, 2099),
    first=st.booleans(),
)
def test_no_sentence_ends_inside_a_date(data: st.DataObject, day: int, month: str, said: int, *, first: bool) -> None:
    date = [*ordinal(day), "of", month, *year(said)] if first else [month, *ordinal(day), *year(said)]
    words = ["on", *date, "it", "rained"]
    marks = bytearray(
        data.draw(st.lists(st.sampled_from(list(MARKS.values())), min_size=len(words), max_size=len(words)))
    )
    marks_around_numbers(words, marks, 0, look_ahead_words=6, digit_commas=False)

    ends = (Punctuation.PERIOD, Punctuation.QUESTION)
    assert not any(mark in ends for mark in marks[1 : len(date)])


@given(
    wrong=st.integers(2, 9_999), right=st.integers(2, 9_999), cue=st.sampled_from(["no", "sorry", "no wait", "i mean"])
)
def test_a_number_corrected_with_a_cue_goes_out_corrected(wrong: int, right: int, cue: str) -> None:
    first, second = english(wrong), english(right)
    words = ["they", "sold", *first, *cue.split(), *second, "boats"]
    given_tags = bytearray(len(words))
    for place, _ in enumerate(cue.split(), 2 + len(first)):
        given_tags[place] = Disfluency.I_IM
    guard_tags(words, bytes(len(words)), given_tags, 0, len(words))

    kept = [word for word, tag in zip(words, given_tags, strict=True) if not tag]
    assert kept == ["they", "sold", *second, "boats"]
