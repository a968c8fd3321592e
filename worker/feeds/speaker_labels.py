"""Speakers' labels in written speech: ``SPEAKER_00:``, ``[Speaker 1]``, ``MAN 2:``, ``Anna Berg:``, ``Agent:``.

A label stands at the beginning of a line, or is a line of its own. What looks like one is a label where it recurs in
the text, where it counts speakers (``Speaker 1``), where it is one of several parts in a call (``Agent``,
``Customer``), or where it is written in capitals in captions. It is not spoken, and names who speaks until the next.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["FoundLabel", "SpeakerLabels"]

_LONGEST_NAME_BYTES = 45  # it stands in a session's name
_TURN = re.compile(r"\s*(?:[-–—]{1,3}\s+|[-–—](?=[^\W\d])|>>+\s*)?")
_PART = (
    r"speaker|spk|sprecher|participant|person|caller|agent|customer|client|host|guest|interviewer|interviewee|operator|"
    r"doctor|patient|man|woman|boy|girl|male|female|voice|user|channel|narrator|moderator|assistant|representative"
)
_COUNTED = re.compile(rf"(?:{_PART})[ _-]?#?\d{{1,3}}|(?:speaker|spk)[ _-]?[A-Z]|说话人\s?\d{{1,3}}", re.IGNORECASE)
_DIARIZED = re.compile(
    r"[\[({<]?((?:SPEAKER|SPK)_\d{1,3})\b[\])}>]?\s{0,3}(?:\([^()\n]{1,40}\)\s{0,3}(?=[:：]))?"
    r"(?:[:：>|]|[-–—]{1,2}(?=\s))?",
    re.IGNORECASE,
)
_COUNTED_TIGHT = re.compile(r"([^:：\n]{1,20})[:：](?!\d)")
_ROLE = re.compile(rf"(?:{_PART})", re.IGNORECASE)
_BRACKETED = re.compile(r"(?:\[([^\[\]\n]{1,40})\]|\(([^()\n]{1,40})\)|<([^<>\n]{1,40})>)(:|：|(?=\s|$))")
_NAMED = re.compile(r"([^:：\n]{1,60}?)\s{0,3}(?:\([^()\n]{1,40}\)\s{0,3})?(?::(?=\s|$)|：)")
_NAME_WORD = re.compile(r"[\w'’.#-]+")
_PARTICLES = frozenset(("de", "da", "di", "del", "der", "den", "la", "le", "van", "von", "of", "and", "bin", "al"))
_CAPITALS = re.compile(r"[^\W\d_][\w .'’#-]*")
_NOT_NAMES = frozenset(
    (
        "note",
        "notes",
        "example",
        "warning",
        "tip",
        "hint",
        "ps",
        "step",
        "figure",
        "table",
        "chapter",
        "part",
        "section",
        "todo",
        "subject",
        "date",
        "time",
        "re",
        "fig",
        "title",
        "summary",
        "http",
        "https",
        "question",
        "result",
        "remember",
        "first",
        "second",
        "third",
        "finally",
    )
)


@dataclass(frozen=True, slots=True)
class FoundLabel:
    """A label, or a turn without one: ``-``, ``>>``. end: the place behind it in its line. name: who speaks, if known.

    labelled: there is a label, not only the sign of a turn. sure: its form alone tells that it is one.
    """

    name: str
    end: int
    labelled: bool = True
    sure: bool = False


class SpeakerLabels:
    """Which labels a text has: notes all beginnings of lines first, then tells labels apart from other words.

    captions: a name in capitals is a label there, also where it comes once.
    """

    def __init__(self, lines: Iterable[str] = (), *, captions: bool = False) -> None:
        self._captions = captions
        self._recurring: set[str] = set()
        self._counts: Counter[str] = Counter()
        self._names: dict[str, str] = {}
        self._roles = self._lines = self._labelled = 0
        for line in lines:
            self.add(line)

    def add(self, line: str) -> None:
        """Note a line that may begin with a label."""
        found = _candidate(line)
        if found is None or not found.name or found.end < len(line.rstrip()):
            self._lines += 1  # a label on a line of its own belongs to the line below it
        if found is not None and found.name:
            folded = found.name.casefold()
            self._labelled += 1
            self._counts[folded] += 1
            if found.sure or self._counts[folded] > 1:
                self._recurring.add(folded)
            self._names.setdefault(folded, found.name)
            self._roles += _ROLE.fullmatch(found.name) is not None

    def find(self, line: str) -> FoundLabel | None:
        """Return the label that a line begins with, or the sign of another's turn; None where it begins with neither.

        A name in capitals that does not recur, in a text without other labels, names nobody and is not spoken.
        """
        found = _candidate(line)
        if found is None or not found.name:
            return found
        folded = found.name.casefold()
        if found.sure or self._is_name(folded) or (self._roles > 1 and _ROLE.fullmatch(found.name)):
            return FoundLabel(self._names.get(folded, found.name), found.end)
        if _is_capitals(found.name) and (self._captions or self._recurring):
            return FoundLabel(found.name if self._recurring else "", found.end)
        turn = _turn_end(line)
        return FoundLabel("", turn, labelled=False) if line[:turn].strip() else None

    def _is_name(self, folded: str) -> bool:
        """Tell whether a label recurs: often enough among all lines, or as one of several that do.

        Where nearly every line has one, as in short files of meetings, one need not recur.
        """
        labelled = self._counts[folded]
        if labelled < 2:
            every = len(self._counts) > 1 and self._labelled >= 0.8 * self._lines
            return every and (self._captions or " " in folded)
        several = labelled > 2 or len(self._recurring) > 1
        return several or labelled * 50 >= self._lines or " " in folded or _is_capitals(self._names[folded])


def _candidate(line: str) -> FoundLabel | None:
    """Return what may be a label at a line's beginning."""
    begin = _turn_end(line)
    if (diarized := _DIARIZED.match(line, begin)) is not None:  # nobody says such a name, whatever stands behind it
        return FoundLabel(diarized[1], diarized.end(), sure=True)
    if (bracketed := _BRACKETED.match(line, begin)) is not None:
        name = next(group for group in bracketed.groups()[:3] if group is not None).strip()
        counted = _COUNTED.fullmatch(name) is not None
        if counted or (bracketed[4] and _is_name(name)):
            return FoundLabel(name, bracketed.end(), sure=counted)
    named = _NAMED.match(line, begin)
    if named is not None:
        name = named[1].strip(" *_")
        sure = _COUNTED.fullmatch(name) is not None
        if sure or _is_name(name) or _ROLE.fullmatch(name):
            return FoundLabel(name, named.end(), sure=sure)
    tight = _COUNTED_TIGHT.match(line, begin)
    if tight is not None and _COUNTED.fullmatch(tight[1]) is not None:
        return FoundLabel(tight[1], tight.end(), sure=True)
    if _COUNTED.fullmatch(line.strip()) is not None:
        return FoundLabel(line.strip(), len(line), sure=True)
    return FoundLabel("", begin, labelled=False) if line[:begin].strip() else None


def _turn_end(line: str) -> int:
    found = _TURN.match(line)
    return found.end() if found is not None else 0


def _is_name(name: str) -> bool:
    """Tell whether a text could be somebody's name: a few words with capitals, or characters of a script without."""
    words = name.split()
    if not 0 < len(words) <= 5 or len(name.encode()) > _LONGEST_NAME_BYTES or name.casefold().strip(".") in _NOT_NAMES:
        return False
    if not name.isascii() and not any(char.isupper() for char in name):
        return len(name) <= 10 and all(char.isalnum() or char == " " for char in name)
    return words[0][0].isupper() and all(map(_is_name_word, words))


def _is_name_word(word: str) -> bool:
    fits = word[0].isupper() or word.isdecimal() or word in _PARTICLES
    return fits and _NAME_WORD.fullmatch(word) is not None


def _is_capitals(name: str) -> bool:
    return len(name) > 1 and name.isupper() and _CAPITALS.fullmatch(name) is not None
