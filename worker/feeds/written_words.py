"""Splits text into words at white space, and scripts without spaces into characters; a lone mark is not a word."""

from __future__ import annotations

import re
from unicodedata import category

# Chinese characters and kana, as sent one by one; Thai and the like stay as they come, separated by white space.
UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"
_UNIT = re.compile(rf"[{UNSPACED}]|[^\s{UNSPACED}]+")
_WRITTEN = re.compile(r"[.,?!;:。，、？！；：]")
_MARK = re.compile(r"[\W_♪]+")
_BRACKETS = {")": "(", "]": "[", "）": "（"}
_KEPT = re.compile(r"[\w%$€£#@&+]")


def is_mark(text: str) -> bool:
    """Tell whether a text has no letter and no digit in it: punctuation, a dash, a note."""
    return _MARK.fullmatch(text) is not None


def is_written(value: object) -> bool:
    """Tell whether a value is a text with capitals or marks, as one is written, not as a plain recogniser hears it."""
    return isinstance(value, str) and (_WRITTEN.search(value) is not None or value != value.lower())


def words_of(text: str) -> list[str]:
    """Return the words that white space parts, their marks with them; a mark that stands alone is dropped."""
    return [word for word in text.split() if not is_mark(word)]


def written_units(text: str) -> list[str]:
    """Return words and single Chinese or Japanese characters, without the marks around them."""
    return [bare for unit in _UNIT.findall(text) if (bare := unmarked(unit))]


def unmarked(text: str) -> str:
    """Return a word without the marks around it; empty of a mark alone.

    A vowel's sign or an accent is no mark, nor is a bracket that closes one within the word.
    """
    begin = _KEPT.search(text)
    end = _KEPT.search(text[::-1])  # from the end: a pattern that ends in $ looks at each run of marks again and again
    if is_mark(text) or begin is None or end is None:
        return ""
    last = len(text) - end.start()
    while last < len(text) and category(text[last]).startswith("M"):  # Thai, Hindi: they are written behind a letter
        last += 1
    inner = text[begin.start() : last]
    close = text[last : last + 1]
    if close in _BRACKETS and inner.count(_BRACKETS[close]) > inner.count(close):  # f(x) is one word with its brackets
        inner += close
    return inner
