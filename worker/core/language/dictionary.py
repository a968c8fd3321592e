"""The Chinese dictionary for segmentation: jieba's packaged word list, read by our own code and kept in memory.

jieba's module is not imported: it keeps a cache in the shared temporary folder, which is not safe, and logs to stderr.
The list never changes: jieba's version is pinned, and the manifest of a model that uses the list has its hash. Loading
finds where each character's words stand, in less than a tenth of a second. The count of all word frequencies takes
twice as long and waits for the first Chinese text. A character's words are read when a text first has it. So a worker
starts at once, and keeps only what it needs.
"""

from __future__ import annotations

import hashlib
import math
import re
from functools import cached_property, lru_cache
from importlib.util import find_spec
from pathlib import Path

from caesura.worker.errors import FatalError

HAN = "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
"""The characters that words are made of, as the inside of a regular expression's class."""

LONGER = 1
WORD = 2
_COST_SHIFT = 2
_COST_SCALE = 1 << 16
_COUNTED = re.compile(f"^([{HAN}]+) ([0-9]+)", re.MULTILINE)
_COUNTS = re.compile(f"^[{HAN}]+ ([0-9]+)", re.MULTILINE)
_SAME_FIRST = re.compile(r"^(.).*\n(?:\1.*\n)*", re.MULTILINE)


class Dictionary:
    """Words and the beginnings of words, each with a few bits: ``entries_of`` says which."""

    def __init__(self, counted: str) -> None:
        """Build from lines of a word and how often it occurs; lines that begin otherwise are passed over."""
        self._counted: dict[str, str] = {}
        for lines in _SAME_FIRST.finditer(counted if counted.endswith("\n") else f"{counted}\n"):
            first = lines[1]
            self._counted[first] = self._counted.get(first, "") + lines[0]
        self._entries: dict[str, dict[str, int]] = {}

    @cached_property
    def unknown_cost(self) -> int:
        """What a single character that is no word costs."""
        return self._cost_of(1)

    def entries_of(self, first: str) -> dict[str, int]:
        """Return what begins with the character ``first``: text -> bits.

        ``LONGER`` where a longer word begins so, ``WORD`` where it is one, and above them the word's cost, minus the
        logarithm of its share: an integer, so that sums are exact and ties the same everywhere.
        """
        entries = self._entries.get(first)
        if entries is None:
            entries = self._entries[first] = self._read(first)
        return entries

    @staticmethod
    def cost(entry: int) -> int:
        """Return the cost in an entry that has ``WORD``."""
        return entry >> _COST_SHIFT

    def _read(self, first: str) -> dict[str, int]:
        counts = {word: int(count) for word, count in _COUNTED.findall(self._counted.get(first, ""))}
        entries = {word: self._cost_of(count) << _COST_SHIFT | WORD for word, count in counts.items()}
        for word in counts:
            for end in range(len(word) - 1, 0, -1):
                beginning = word[:end]
                entry = entries.get(beginning, 0)
                if entry & LONGER:
                    break
                entries[beginning] = entry | LONGER
        self._counted.pop(first, None)  # counted by now, since a word's cost is its share of all
        return entries

    @cached_property
    def _total(self) -> int:
        return max(1, sum(int(count) for lines in self._counted.values() for count in _COUNTS.findall(lines)))

    def _cost_of(self, count: int) -> int:
        return round(math.log(self._total / max(1, count)) * _COST_SCALE)


@lru_cache(maxsize=1)
def load_dictionary() -> Dictionary:
    """Return jieba's dictionary; the first call reads it. FatalError where the package is missing or damaged."""
    return Dictionary(word_list())


def word_list() -> str:
    """Return jieba's list: a line is a word, how often it occurs, and its kind. FatalError as above."""
    try:
        return _packaged().decode()
    except UnicodeDecodeError as error:
        raise FatalError("jieba's dictionary is damaged: install the pinned jieba again") from error


def dictionary_sha256() -> str:
    """Return the SHA-256 of the dictionary as packaged, in hexadecimal: what a model's manifest records."""
    return hashlib.sha256(_packaged()).hexdigest()


def _packaged() -> bytes:
    """Read the list without importing jieba, which would touch logging, warnings and the temporary folder."""
    spec = find_spec("jieba")
    if spec is None or spec.origin is None:
        raise FatalError("Chinese needs the package jieba: install the pinned one")
    try:
        return (Path(spec.origin).parent / "dict.txt").read_bytes()
    except OSError as error:
        raise FatalError("jieba's dictionary is missing: install the pinned jieba again") from error
