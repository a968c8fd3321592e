"""Sentences with amounts, dates, years and numbers read out, none of them a slip: every word belongs to what was said.

No word of them may be left out, and no sentence end may cut one in two.
Their frames stand nowhere in what is trained on (``calls``, ``chinese_frames``).
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from caesura.models.data.call_numbers import spoken_year, whole
from caesura.models.data.chinese_numbers import dates, read_out, sums, years, yuan
from caesura.models.data.spelled_numbers import SPELLED
from caesura.models.evaluation.harm import SaidSession
from caesura.schemas.labels import Disfluency, Punctuation
from caesura.schemas.segments import SegmentWord

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
    "奶奶{year}种的苹果树现在很高了",
    "从{year}到{year}这间屋子没人住",
    "博物馆{date}开门",
    "双胞胎是{date}在车上生的",
    "论文最晚{date}交",
    "中奖号码是{digits}",
    "记下我的号码{digits}",
    "菜谱上说要{sum}克面粉",
    "山顶有{sum}米高",
    "基金涨到了{sum}元",
    "这箱苹果卖{price}",
    "房租是{sum}元{one}角{one}分",
    "我家住在{low}号楼{low}单元{low}层{digits}室",
    "会议室在{low}楼{room}房间",
    "我们约在{date}下午{low}点{tens}分见面",
    "他{date}出生在一个小村子里",
    "血压是{sum}到{sum}",
    "一共来了{sum}人比去年多{sum}人",
    "那辆车的车牌号是{digits}",
    "体温三十{low}度{one}",
)
_GERMAN = (
    "der klempner will {whole} euro und {two} cent für eine stunde arbeit",
    "der strom hat uns diesen winter {whole} euro {two} gekostet",
    "das essen für das ganze büro kam auf {whole} euro und {two} cent",
    "über die alte brücke fuhren {whole} lastwagen am tag",
    "sie zählte {whole} vögel auf dem see und dann noch {whole}",
    "meine oma hat ihren apfelbaum {year} gepflanzt und er trägt noch",
    "von {year} bis {year} hat in dem haus keiner gewohnt",
    "das museum hat am {day} {month} {year} aufgemacht",
    "die zwillinge kamen am {day} {month} {year} im taxi zur welt",
    "die arbeit muss bis zum {day} {month} abgegeben werden",
    "die gewinnzahl lautet {digit} {digit} {digit} null {digit}",
    "im rezept stehen {two} gramm butter und {whole} gramm mehl",
    "das fieber stieg auf {two} komma {digit} grad",
    "der fonds ist seit dem frühling auf {two} millionen euro gewachsen",
    "wir wohnen in haus {two} wohnung {digit}",
    "der zug fährt um {hour} uhr {two} von gleis {digit} ab",
    "die miete ist um {two} komma {digit} prozent gestiegen",
)
_SPANISH = (
    "el fontanero pide {whole} euros con {two} por una hora de trabajo",
    "la luz nos costó {whole} pesos este invierno",
    "la cena de toda la oficina salió por {whole} euros",
    "por el puente viejo pasaban {whole} camiones al día",
    "contó {whole} pájaros en el lago y luego otros {whole}",
    "mi abuela plantó su manzano en {year} y todavía da fruta",
    "de {year} a {year} no vivió nadie en esa casa",
    "el museo abrió el {two} de {month} de {year}",
    "los gemelos nacieron el {low} de {month} de {year} en un taxi",
    "el trabajo se entrega antes del {low} de {month}",
    "el número ganador es {digit} {digit} {digit} cero {digit}",
    "la receta lleva {two} gramos de mantequilla y {whole} gramos de harina",
    "la fiebre le subió a {two} coma {digit} grados",
    "el fondo ha crecido a {two} millones de pesos",
    "vivimos en el edificio {two} puerta {digit}",
    "el tren sale a las {hour} y {two} de la vía {digit}",
    "el alquiler subió un {two} por ciento",
)
_FRENCH = (
    "le plombier demande {whole} euros et {two} centimes pour une heure de travail",
    "l'électricité nous a coûté {whole} euros cet hiver",
    "le dîner de tout le bureau est revenu à {whole} euros {two}",
    "sur le vieux pont passaient {whole} camions par jour",
    "elle a compté {whole} oiseaux sur le lac puis encore {whole}",
    "ma grand-mère a planté son pommier en {year} et il donne encore",
    "de {year} à {year} personne n'a habité cette maison",
    "le musée a ouvert le {low} {month} {year}",
    "les jumeaux sont nés le {low} {month} {year} dans un taxi",
    "il faut rendre le devoir avant le {low} {month}",
    "le numéro gagnant est le {digit} {digit} {digit} zéro {digit}",
    "la recette demande {two} grammes de beurre et {whole} grammes de farine",
    "sa fièvre est montée à {two} virgule {digit}",
    "le fonds est passé à {two} millions d'euros",
    "nous habitons au bâtiment {two} porte {digit}",
    "le train part à {hour} heures {two} de la voie {digit}",
    "le loyer a augmenté de {two} pour cent",
)
_EUROPEAN: Mapping[str, tuple[str, ...]] = {"de": _GERMAN, "es": _SPANISH, "fr": _FRENCH}
_EUROPEAN_MONTHS = {
    "de": "januar februar märz april juni juli august oktober dezember".split(),  # noqa: SIM905 - a list of words
    "es": "enero febrero marzo abril junio julio agosto octubre diciembre".split(),  # noqa: SIM905
    "fr": "janvier février mars avril juin juillet août octobre décembre".split(),  # noqa: SIM905
}
NUMBER_LANGUAGES = ("en", "zh", *_EUROPEAN)
"""Those that there are sentences of."""

_ENDS = frozenset(mark.published for mark in Punctuation if mark.ends_sentence)
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
    ones = "一二三四五六七八九"
    drawn = {
        "sum": sums(400),
        "yuan": yuan(400),
        "price": [
            f"{said}块{one}毛{other}" for said, one, other in zip(sums(81), ones * 9, sorted(ones * 9), strict=True)
        ],
        "year": years(400),
        "date": dates(400),
        "digits": read_out(400),
        "room": [first + second + third for first in ones for second in "零" + ones for third in ones],
        "one": list(ones),
        "low": [*ones, "十", "十一", "十二"],
        "tens": ["十", "十五", "二十", "三十", "四十五", "五十"],
    }
    return {name: (lambda words=words: rng.choice(words)) for name, words in drawn.items()}  # type: ignore[misc]


def _european(rng: random.Random, language: str) -> Mapping[str, Callable[[], str]]:
    said = SPELLED[language]
    return {
        "whole": lambda: said(rng.choice((rng.randint(101, 999), rng.randint(1001, 98_000)))),
        "two": lambda: said(rng.randint(21, 99)),
        "hour": lambda: said(rng.randint(7, 20)),
        "low": lambda: said(rng.randint(2, 31)),
        "day": lambda: f"{said(rng.randint(20, 31))}sten",
        "digit": lambda: said(rng.randint(2, 9)),
        "year": lambda: said(rng.randint(1950, 2024)),
        "month": lambda: rng.choice(_EUROPEAN_MONTHS[language]),
    }


def number_sessions(language: str, *, each: int = 20, seed: int = 11) -> Iterator[SaidSession]:
    """Yield ``each`` sentences of every frame of a language, one of ``NUMBER_LANGUAGES``, a session each."""
    rng = random.Random(f"{language} {seed}")
    frames: Sequence[str] = {"en": _ENGLISH, "zh": _CHINESE, **_EUROPEAN}[language]
    drawn = {"en": _english, "zh": _chinese}.get(language, partial(_european, language=language))
    slots = drawn(rng)
    for frame in frames:
        for _ in range(each):
            text = _SLOT.sub(lambda slot: slots[slot[1]](), frame)
            words = tuple(text if language == "zh" else text.split())
            yield SaidSession(language=language, words=words, tags=(int(Disfluency.O),) * len(words), finished=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberFaults:
    """What is wrong of some sentences. lost, cut: those with a word left out, or with a sentence end inside."""

    sentences: int
    lost: tuple[str, ...]
    cut: tuple[str, ...]


def number_faults(sessions: Sequence[SaidSession], published: Sequence[Sequence[SegmentWord]]) -> NumberFaults:
    """Find the sentences that are changed. published: the words of each as they went out, one a word said."""
    lost: list[str] = []
    cut: list[str] = []
    for said, words in zip(sessions, published, strict=True):
        text = ("" if said.language == "zh" else " ").join(said.words)
        if any(word.disfluency != Disfluency.O.published for word in words):
            lost.append(text)
        if any(word.punctuation in _ENDS for word in words[:-1]):
            cut.append(text)
    return NumberFaults(sentences=len(sessions), lost=tuple(lost), cut=tuple(cut))
