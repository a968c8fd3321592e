"""Sentences with amounts, dates, years and numbers read out, none of them a slip: every word belongs to what was said.

Their frames stand nowhere in what is trained on (``models.data.calls``, ``models.data.chinese_frames``).
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Mapping

from models.data.call_numbers import spoken_year, whole
from models.data.chinese_numbers import dates, read_out, sums, years, yuan
from models.evaluation.harm import SaidSession
from schemas.labels import Disfluency

__all__ = ["number_sessions"]

_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()  # noqa: SIM905 - a list of words
_ONES = "one two three four five six seven eight nine".split()  # noqa: SIM905
_MONTHS = "january february march april may june july august september october november december".split()  # noqa: SIM905
_ORDINALS = "first second third fourth sixth eighth ninth twelfth fifteenth twentieth thirtieth".split()  # noqa: SIM905
_ENGLISH = (
    "the plumber wants {whole} dollars and {two} cents for one hour of work",
    "our electricity came to {whole} euros and {two} cents this winter",
    "he paid back {whole} dollars and {two} cents on his last day",
    "dinner for the whole office cost us {whole} euros and {two} cents",
    "i put {whole} pounds and {two} pence into the tin",
    "the old bridge carried {whole} lorries a day before it was closed",
    "she counted {whole} birds on the lake and then {whole} more",
    "my grandmother planted her apple tree in {year} and it still bears fruit",
    "from {year} until {year} nobody lived in that cottage",
    "the museum opened its doors on {month} {nth} {year}",
    "their twins arrived on the {nth} of {month} {year} in a taxi",
    "you can hand in the essay by {month} {nth} {year} at the latest",
    "the winning ticket is {digit} {digit} double {digit} oh {digit}",
    "please write down {digit} {digit} {digit} {digit} {digit} and call back",
    "the recipe says {two} grams of butter and {whole} grams of flour",
    "at {one} hundred and {two} metres the wind is much stronger",
    "the fare is {one} pounds {two} and the child pays {one} pounds {two}",
    "her fever went up to one hundred and {one} point {one}",
    "the fund has grown to {one} million {whole} dollars since spring",
    "we live in building {two} apartment {one} oh {one}",
)
_CHINESE = (
    "水管工人要{yuan}",
    "冬天的电费花了{yuan}",
    "这座桥一天过{sum}辆车",
    "湖上有{sum}只鸟后来又来了{sum}只",
    "奶奶{year}种的苹果树还在结果",
    "从{year}到{year}这间屋子没人住",
    "博物馆{date}开门",
    "双胞胎是{date}在车上生的",
    "论文最晚{date}交",
    "中奖号码是{digits}",
    "请写下{digits}再打回来",
    "菜谱上说要{sum}克面粉",
    "山顶有{sum}米高",
    "基金涨到了{sum}元",
)
_SLOT = re.compile(r"\{(\w+)\}")


def _english(rng: random.Random) -> Mapping[str, Callable[[], str]]:
    return {
        "whole": lambda: whole(rng),
        "two": lambda: f"{rng.choice(_TENS)} {rng.choice(_ONES)}",
        "one": lambda: rng.choice(_ONES),
        "digit": lambda: rng.choice(_ONES),
        "year": lambda: spoken_year(rng),
        "month": lambda: rng.choice(_MONTHS),
        "nth": lambda: rng.choice(_ORDINALS),
    }


def _chinese(rng: random.Random) -> Mapping[str, Callable[[], str]]:
    drawn = {"sum": sums(400), "yuan": yuan(400), "year": years(400), "date": dates(400), "digits": read_out(400)}
    return {name: (lambda words=words: rng.choice(words)) for name, words in drawn.items()}  # type: ignore[misc]


def number_sessions(language: str, *, each: int = 20, seed: int = 11) -> Iterator[SaidSession]:
    """Yield ``each`` sentences of every frame of a language (en or zh), a session each."""
    rng = random.Random(f"{language} {seed}")
    frames, slots = (_CHINESE, _chinese(rng)) if language == "zh" else (_ENGLISH, _english(rng))
    for frame in frames:
        for _ in range(each):
            text = _SLOT.sub(lambda slot: slots[slot[1]](), frame)
            words = tuple(text if language == "zh" else text.split())
            yield SaidSession(language=language, words=words, tags=(int(Disfluency.O),) * len(words), finished=True)
