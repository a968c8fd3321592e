"""The Chinese dictionary behind segmentation: jieba's packaged word list, read by us and kept in memory.

Only the list is jieba's: its module would keep a cache in the shared temporary folder, which is not to be trusted, and
log to stderr. The list is as constant as the code: the version of jieba is pinned, its hash goes into the manifest of
a model that reads it, and nothing is written anywhere. It is loaded once a process, half a second of work: a starting
worker loads it on a thread of its own while it joins its group, and a Chinese session that comes sooner waits for that.
"""

from __future__ import annotations

import hashlib
import math
import re
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from worker.errors import FatalError

__all__ = ["HAN", "LONGER", "WORD", "Dictionary", "dictionary_sha256", "load_dictionary", "load_dictionary_beside"]

HAN = "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
"""The characters that words are made of, as the inside of a regular expression's class."""

LONGER = 1
WORD = 2
_COST_SHIFT = 2
_COST_SCALE = 1 << 16
_WORDS = re.compile(f"^([{HAN}]+) ([0-9]+)", re.MULTILINE)
_LOADING = threading.Lock()


@dataclass(frozen=True, slots=True, kw_only=True)
class Dictionary:
    """Words and the beginnings of words.

    entries: text -> bits: ``LONGER`` where a longer word begins so, ``WORD`` where it is one, and above them the
    word's cost, an integer so that sums are exact and ties the same everywhere. unknown_cost: of a single character
    that is no word. max_word_characters: the longest word's.
    """

    entries: dict[str, int]
    unknown_cost: int
    max_word_characters: int

    @classmethod
    def of(cls, counts: Mapping[str, int]) -> Dictionary:
        """Build from words and how often each occurs; a word's cost is minus the logarithm of its share."""
        total = max(1, sum(counts.values()))
        packed = {count: _cost(count, total) << _COST_SHIFT | WORD for count in set(counts.values())}
        entries = {word: packed[count] for word, count in counts.items()}
        for word in counts:
            for end in range(len(word) - 1, 0, -1):
                beginning = word[:end]
                entry = entries.get(beginning, 0)
                if entry & LONGER:
                    break
                entries[beginning] = entry | LONGER
        return cls(
            entries=entries,
            unknown_cost=_cost(1, total),
            max_word_characters=max(map(len, counts), default=1),
        )

    @staticmethod
    def cost(entry: int) -> int:
        """Return the cost in an entry that has ``WORD``."""
        return entry >> _COST_SHIFT


def _cost(count: int, total: int) -> int:
    return round(math.log(total / max(1, count)) * _COST_SCALE)


def load_dictionary() -> Dictionary:
    """Return jieba's dictionary; the first call reads it, and all others wait for that.

    Words of Han characters alone are taken. FatalError where the package is missing or damaged.
    """
    with _LOADING:
        return _loaded()


def load_dictionary_beside() -> None:
    """Have a thread load the dictionary while the caller goes on. FatalError where the package is missing."""
    _packaged()
    threading.Thread(target=_load_quietly, name="dictionary", daemon=True).start()


def _load_quietly() -> None:
    with suppress(FatalError):  # whoever asks for it is told
        load_dictionary()


@cache
def _loaded() -> Dictionary:
    try:
        text = _packaged().decode()
    except UnicodeDecodeError as error:
        raise FatalError("jieba's dictionary is damaged: install the pinned jieba again") from error
    return Dictionary.of({word: int(count) for word, count in _WORDS.findall(text)})


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
