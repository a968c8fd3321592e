"""Words that are never left out, whatever a model's tags say; fillers and repairs still go."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caesura.schemas.labels import Disfluency, Punctuation
from caesura.worker.core.decoding.kept_words import guard_tags, join_answers
from tests.unit.core.tagged_lines import left_out


@pytest.mark.parametrize(
    "line",
    [
        "{uh {huh the parcel came",
        "{uh {oh the lid is open",
        "was it cold. {uh {uh it was fine",
        "{nuh {uh that one is mine",
        "{mm {hmm carry on",
        "{mm-hmm carry on",
        "take him to the {er tonight",
        "you wrote the word {um twice",
        "she only said {hmm and left",
        "the woman {you {know from the bakery rang",
        "as {you {know the bridge is shut",
        "anybody {you {know who sews",
        "the songs {you {know and love",
        "the more {you {know the better",
        "that is what {i {mean",
        "when i say [late {i {mean late",
        "by soon {i {mean before noon",
        "you think i mean the lake but {i {mean the sea",
        "[daddy [daddy daddy come here",
        "{i {mean well to all of them",
        "[走 [走 走 下雨 了",
        "what he [did [did no harm",
        "[my my what a view",
        "the [one one of them chose",
        "do you think {i {mean the left one",
        "the aunt {you {know as polly is here",
        "any song {you {know is old",
        "a place {you {know well.",
        "the tune {you {know by heart",
        "{you {know that i tried",
        "we met. {you {know very well why",
        "a gift {i {mean to keep",
        "she spelled it. spell {um twice",
        "{um is a short word",
        "{so late was she that we left",
        "[there there it is over",
        "[ho ho ho he said",
        "{you {know who's there",
        "but {you {know what happens next",
        "{i {mean that.",
        "[i {sorry",
        "on [monday {um {no {wait",
        "ask [so and so",
        "there [is {no {wait today",
        "那时 [说 [着 说 着 睡 了",
        "他 [看 [了 看手表",
        "[休息 休息 吧",
        "[是 [的 是 的",
        "{对 {对 对 走 吧",
        "[三个 三个 地 数",
        "十四 [是 十四 四十 是 四十",
        "{就是 这里",
        "我 想要 {那个",
        "{嗯 好 的",
        "{啊 我 忘 了",
        "{唉 没 办法",
        "{呃 字 怎么 写",
        "她 {啊 的 一声 跑 了",
        "{我 {是 说 过 这话",
        "it is {you know a mess",
        "{i mean",
        "{sorry about the noise",
        "there is {no milk",
        "{no {wait for me",
        "{actually it rained",
        "那 {不对 吧",
        "he {嗯 了 一声",
        "the soup was [so so good",
        "it is [very very late",
        "sign [in in the morning",
        "[the [more {you {know the better",
        "[come [on come on it starts",
        "see [w [w w dot shop",
        "雨 [很大 很大",
        "下午 [的 课 取消 了",
        "[不 [不 不 要",
        "你 [吃 没 吃饭",
        "{不好意思 我 来晚 了",
        "the street {you {know today was a field",
        "an inn {you {know well is safe",
        "red {i {mean red",
        "{you {know what is odd",
        "[八 八折",
        "[两 两 一队",
        "[一步 一步 走",
        "[慢慢 慢慢来",
        "[妈妈 妈妈 我 在",
        "[听着 听着 就 笑 了",
        "[别 别 别 走",
        "[这个 还有 这个",
        "我 [知道 {你 知道",
        "[这 不 对",
        "[那样 不好意思 吧",
        "[他 {不 {对 我 也 去",
        "{嗯",
        "{嗯. 走 吧",
        "{嗯 行, 走 吧",
        "{嗯 {嗯. 走 吧",
        "[不 不 我 要",
        "他 [特别 特别 高兴",
        "[一天 一天 地 过",
        "我 {就是 要 去",
        "[快快 快车 来 了",
        "she meant it. {i {mean every word too",
        "that is the tune {i {mean.",
        "{i {mean this in all kindness",
        "{你 {知道 的 他 来 了",
        "{那 {就是 {说 他 来 了",
        "要 {这个 和 {那个",
        "{这个 {那个 都 要",
        "我 买 {那个, 他 不 买",
        "[慢 [慢 慢 有 车",
        "我 [很 [想 很 想 家",
        "[不要 不要, 我 不 去",
        "不 {就是 书 吗",
    ],
)
def test_meant_repetitions_are_kept(line: str) -> None:
    assert left_out(line) == ""


@pytest.mark.parametrize(
    ("line", "gone"),
    [
        ("i {um left early", "um"),
        ("but {uh oh dear it rained", "uh"),
        ("ask the [younger [girl {no {no the older girl", "the younger girl no no"),
        ("we took [the [tram [no {no the bus", "the tram no no"),
        ("the [tram {no {first when does the bus run", "tram no first"),
        ("it was [so so there's no need", "so"),
        ("if {you {know they are late we wait", "you know"),
        ("what they said [is is odd", "is"),
        ("[my my uncle rang", "my"),
        ("我 [的 的 书", "的"),
        ("[we [we we went home", "we we"),
        ("then [one one thing fell", "one"),
        ("we went to the {uh {uh station", "uh uh"),
        ("the room was {er full", "er"),
        ("he said {um that it rained", "um"),
        ("it was {you {know rather odd", "you know"),
        ("{i {mean it was rather odd", "i mean"),
        ("see you [monday {i {mean tuesday", "monday i mean"),
        ("turn [left {no {wait right", "left no wait"),
        ("ask for [tom {um {sorry tim", "tom um sorry"),
        ("we go by [bus. {actually by tram", "bus actually"),
        ("[so so i left", "so"),
        ("it lay [in in the garden", "in"),
        ("[w we left", "w"),
        ("[b [b but why", "b b"),
        ("要 [红 的 {不对 蓝 的", "红"),
        ("he was {you {know as bad", "you know"),
        ("that {you {know is odd", "you know"),
        ("{i {mean to me it is odd", "i mean"),
        ("{so we left", "so"),
        ("[there there is a draught", "there"),
        ("there [is {no there are two", "is no"),
        ("他 [去 [了 去 了 北京", "去 了"),
        ("{就是 我 觉得 冷", "就是"),
        ("{那个 请问", "那个"),
        ("{那个, 请问", "那个"),
        ("{嗯 我 想 一下", "嗯"),
        ("{啊 我们 今年 搬家", "啊"),
        ("要 [红的 {不对 蓝的", "红的 不对"),
        ("went to the {i {mean the lake", "i mean"),
        ("we slept {you {know well into the day", "you know"),
        ("[我我 我我 去", "我我"),
        ("这 花 [很 很 香", "很"),
        ("他 [不 不 走", "不"),
        ("[比较 比较 远", "比较"),
        ("[不 [应该 不 应该 去", "不 应该"),
        ("[跟 [不 跟不上", "跟 不"),
        ("[带 [着 带 着 伞", "带 着"),
        ("[看着 看着 书", "看着"),
        ("[胖 [了 胖 到 八十斤", "胖 了"),
        ("[一年 一年 就 一次", "一年"),
        ("[聊聊 聊聊 到 很 晚", "聊聊"),
        ("[又 和 小王 去", "又"),
        ("我们 {嗯 {嗯 学 画画", "嗯 嗯"),
        ("{哎 昨天 我 在 路上 看到 他", "哎"),
        ("{就是 可能 明天 会 下雨 吧", "就是"),
        ("我 [那种 不 写 字", "那种"),
        ("{啊 不 像 以前", "啊"),
        ("[一个 一个 人", "一个"),
        ("[和 他 和 她", "和"),
        ("[我们 对不起 我们 走", "我们"),
        ("不, {就是 说 书", "就是"),
        ("[他 {不 {对 她 去", "他 不 对"),
        ("{你 {知道 他 来", "你 知道"),
        ("我 {就是 我 要 去", "就是"),
        ("{i {mean every bus was late", "i mean"),
        ("that one {i {mean is late", "i mean"),
        ("[可以 可以 先 付钱 吗", "可以"),
    ],
)
def test_fillers_and_repairs_still_go(line: str, gone: str) -> None:
    assert left_out(line) == gone


SAID = "um uh huh oh you know i mean no sorry wait the word er say when by as we go 不对 嗯".split()  # noqa: SIM905
speech = st.lists(
    st.tuples(st.sampled_from(SAID), st.sampled_from(list(Punctuation)), st.sampled_from(list(Disfluency)))
)


@given(said=speech, cut=st.integers(0, 40), unlabelled=st.lists(st.sampled_from(SAID)))
def test_only_tagged_words_and_the_second_of_a_pair_are_left_out(
    said: Sequence[tuple[str, Punctuation, Disfluency]], cut: int, unlabelled: list[str]
) -> None:
    words, marks, tags = [one[0] for one in said], bytes(one[1] for one in said), bytearray(one[2] for one in said)
    before = bytes(tags)
    start = min(cut, len(words))
    guard_tags([*words, *unlabelled], marks, tags, start, len(words))

    assert tags[:start] == before[:start], "what is frozen stays"
    for place in range(start, len(words)):
        pair = words[max(place - 1, 0) : place + 1] in (["you", "know"], ["i", "mean"])
        repaired = words[place] == "the" or not {"no", "sorry", "wait", "i", "不对"}.isdisjoint(
            words[place : place + 3]
        )
        assert tags[place] in (0, before[place]) or (pair and place == start) or repaired


@given(said=speech)
def test_a_pair_shares_its_fate_and_an_editing_term_goes_only_behind_words_taken_back(
    said: Sequence[tuple[str, Punctuation, Disfluency]],
) -> None:
    words, marks, tags = [one[0] for one in said], bytes(one[1] for one in said), bytearray(one[2] for one in said)
    guard_tags(words, marks, tags, 0, len(words))

    for place, tag in enumerate(tags):
        if words[place : place + 2] in (["you", "know"], ["i", "mean"]):
            assert bool(tag) == bool(tags[place + 1])
        if words[place] in ("sorry", "wait", "不对") and tag in (Disfluency.B_IM, Disfluency.I_IM):
            begin = place
            while begin and tags[begin - 1] in (Disfluency.B_IM, Disfluency.I_IM):
                begin -= 1
            assert begin
            assert tags[begin - 1] in (Disfluency.B_RM, Disfluency.I_RM)


@given(said=speech, step=st.integers(1, 5))
def test_a_pair_that_freezes_in_two_steps_shares_its_fate(
    said: Sequence[tuple[str, Punctuation, Disfluency]], step: int
) -> None:
    words, marks, tags = [one[0] for one in said], bytes(one[1] for one in said), bytearray(one[2] for one in said)
    for start in range(0, len(words), step):
        guard_tags(words, marks, tags, start, min(start + step, len(words)))

    for place in range(len(words) - 1):
        if words[place : place + 2] in (["you", "know"], ["i", "mean"]) and place % step == step - 1:
            assert not tags[place] or tags[place + 1]


@given(numeral=st.sampled_from("一二三四五六七八九"), measure=st.sampled_from("次步天年页"))
def test_no_numeral_of_a_discount_and_none_said_for_each_is_left_out(numeral: str, measure: str) -> None:
    assert left_out(f"打 [{numeral} {numeral}折") == ""
    assert left_out(f"[一{measure} 一{measure} 来") == ""


def test_an_answer_of_two_words_has_no_mark_inside() -> None:
    words = ["mm", "hmm", "that", "is", "it", "nuh", "uh"]
    marks = bytearray((2, 1, 0, 0, 2, 2, 2))
    join_answers(words, marks, 1)
    assert list(marks) == [2, 1, 0, 0, 2, 0, 2]
    join_answers(words, marks, 0)
    assert list(marks) == [0, 1, 0, 0, 2, 0, 2]


@pytest.mark.parametrize(
    ("line", "marks", "expected"),
    [
        ("mm hmm that is it", (0, 0, 0, 0, 2), [0, 1, 0, 0, 2]),
        ("it rained uh oh we left", (0, 2, 0, 0, 0, 2), [0, 2, 0, 1, 0, 2]),
        ("he said mm hmm that is it", (0, 0, 0, 0, 0, 0, 2), [0, 0, 0, 0, 0, 0, 2]),
        ("uh huh uh huh", (0, 0, 0, 2), [0, 0, 0, 2]),
        ("mm hmm", (0, 0), [0, 0]),
    ],
)
def test_an_answer_that_begins_a_sentence_has_a_comma_behind(
    line: str, marks: tuple[int, ...], expected: list[int]
) -> None:
    given_marks = bytearray(marks)
    join_answers(line.split(), given_marks, 0)
    assert list(given_marks) == expected
