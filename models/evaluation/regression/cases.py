"""The regression list as it is written down, and how labels are judged by it.

``en.txt`` and ``zh.txt`` hold a sentence a line, under headings that begin with ``#``:

    [of] {uh} of course       reparandum, interregnum; (you know) either of the two
    where is it ? it's here   a sentence mark of its own: it must stand there (in Chinese 。 and ？)
    no no, not that           a comma (in Chinese ， and 、): any mark may stand there, or none

Every other word must be kept, and no sentence may end after it; the last word's mark is free where none is written.
``fluent_en.txt`` and ``fluent_zh.txt`` hold sentences in which nothing may be deleted; their marks are free.

``known_failures.txt`` holds the lines that the shipped models do not get right today, as ``language: line``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from caesura.models.data.aligned_words import REPARANDUM
from caesura.models.decoding.labelling_runs import Labelled
from caesura.schemas.labels import Disfluency, Punctuation
from caesura.worker.core.language.dictionary import HAN
from caesura.worker.core.language.normalisation import model_view

CASES_FOLDER = Path(__file__).parent
FLUENT = "fluent"
"""The section of the sentences in which nothing may be deleted."""

_KNOWN = "known_failures.txt"
_TOKENS = re.compile(
    r"(?P<open>[\[{(])|(?P<close>[\]})])|(?P<mark>[。？，、]|,(?!\d)|(?<!\S)[.?](?!\S))"
    rf"|(?P<unit>[{HAN}]|(?:[^\s{HAN}\[\]{{}}()，、。？,]|,(?=\d))+)"
)
_KEPT = frozenset((Disfluency.O,))
_INTERREGNUM = frozenset((Disfluency.B_IM, Disfluency.I_IM))
_TAGS = {"[": REPARANDUM, "{": _INTERREGNUM, "(": REPARANDUM | _INTERREGNUM}
_STOPS = frozenset(mark for mark in Punctuation if mark.ends_sentence)
_GOES_ON = frozenset(Punctuation) - _STOPS
_FREE = frozenset(Punctuation)
_MARKS = {
    ",": _FREE,
    "，": _FREE,
    "、": _FREE,
    ".": frozenset((Punctuation.PERIOD,)),
    "。": frozenset((Punctuation.PERIOD,)),
    "?": frozenset((Punctuation.QUESTION,)),
    "？": frozenset((Punctuation.QUESTION,)),
}


@dataclass(slots=True)
class Wish:
    """What a unit's labels may be."""

    tags: frozenset[Disfluency]
    marks: frozenset[Punctuation]


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One line of the list. units: words, or Chinese characters, as the plainest recogniser sends them."""

    language: str
    section: str
    line: str
    units: tuple[str, ...]
    wishes: tuple[Wish, ...]


def parse(language: str, section: str, line: str) -> Case:
    """Read one line; ValueError where a bracket is open, or nothing is said."""
    units: list[str] = []
    wishes: list[Wish] = []
    marked, tags = False, _KEPT
    for token in _TOKENS.finditer(line):
        marked = bool(token["mark"]) or (marked and bool(token["close"]))
        if token["open"]:
            tags = _TAGS[token["open"]]
        elif token["close"]:
            tags = _KEPT
        elif token["mark"]:
            wishes[-1].marks = _MARKS[token["mark"]]
        elif unit := model_view(token["unit"]):
            units.append(unit)
            wishes.append(Wish(tags, _GOES_ON))
    if tags is not _KEPT or not units:
        raise ValueError(f"{line!r} is no line of a regression list")
    if section == FLUENT:
        wishes = [Wish(wish.tags, _FREE) for wish in wishes]
    elif not marked:
        wishes[-1].marks = _FREE
    return Case(language=language, section=section, line=line, units=tuple(units), wishes=tuple(wishes))


LISTED_LANGUAGES = ("en", "zh")
"""Those that have a list."""


def read_cases(language: str, folder: Path = CASES_FOLDER) -> list[Case]:
    """Return a language's list, the fluent sentences last."""
    cases: list[Case] = []
    section = ""
    for line in _lines(folder / f"{language}.txt"):
        if line.startswith("#"):
            section = line.strip("# ")
        else:
            cases.append(parse(language, section, line))
    fluent = (line for line in _lines(folder / f"{FLUENT}_{language}.txt") if not line.startswith("#"))
    return cases + [parse(language, FLUENT, line) for line in fluent]


def _lines(path: Path) -> list[str]:
    return [line.strip() for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def judge(case: Case, labelled: Labelled) -> list[str]:
    """Return what is wrong with the labels of a case's units, in words; nothing where all is as it should be."""
    return list(_faults(case.units, case.wishes, labelled))


def _faults(units: Sequence[str], wishes: Sequence[Wish], labelled: Labelled) -> Iterator[str]:
    for unit, wish, mark, tag in zip(units, wishes, *labelled, strict=True):
        if tag not in wish.tags:
            wanted = " or ".join(sorted(one.published for one in wish.tags))
            yield f"{unit!r} is {Disfluency(tag).published}, not {wanted}"
        if mark not in wish.marks:
            wanted = "one that goes on" if wish.marks == _GOES_ON else next(iter(wish.marks)).published
            yield f"the mark after {unit!r} is {Punctuation(mark).published}, not {wanted}"


def read_known_failures(folder: Path = CASES_FOLDER) -> set[tuple[str, str]]:
    """Return (language, line) of what is known to fail."""
    pairs = (line.partition(": ") for line in _lines(folder / _KNOWN) if not line.startswith("#"))
    return {(language, line) for language, _, line in pairs}


def write_known_failures(failing: Iterable[Case], models: Sequence[str], folder: Path = CASES_FOLDER) -> None:
    """Write down the lines that fail today, in the order given."""
    head = (
        f"# What {' and '.join(models)} do not get right. Made by: python -m caesura.models regression --write-known\n"
    )
    lines = "".join(f"{case.language}: {case.line}\n" for case in failing)
    (folder / _KNOWN).write_text(head + lines, encoding="utf-8")
