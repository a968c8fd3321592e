"""The model's view of a word: what the network reads, never published (docs/design.md, *The model's view of a word*).

Case is folded, the recogniser's outer marks are removed, compatibility forms are normalised, and drawn-out sounds are
shortened ("uhhh" is "uh"). The inside of a word stays: "don't", "3.5" and "u.s" are words.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_OUTER_KEPT = frozenset("%$€£+#&@°")
_DRAWN_OUT = re.compile("(?:([uaoe]h)h+|(u|er|hm)mm+)")
_CACHED_WORDS = 2**14


def word_set(words: str) -> frozenset[str]:
    """Return the words of a list that is written with spaces between them."""
    return frozenset(words.split())


def _is_outer_mark(char: str) -> bool:
    return char not in _OUTER_KEPT and unicodedata.category(char)[0] in "PSZC"


@lru_cache(maxsize=_CACHED_WORDS)
def model_view(text: str) -> str:
    """Return the model's view of one recogniser word; an empty string where nothing but marks was there.

    Folding is NFKC and ``casefold``; typographic apostrophes become ``'``. The result is stable: the view of a view
    is itself.
    """
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    folded = folded.replace("\u2019", "'").replace("\u2018", "'")
    start, end = 0, len(folded)
    while start < end and _is_outer_mark(folded[start]):
        start += 1
    while end > start and _is_outer_mark(folded[end - 1]):
        end -= 1
    view = folded[start:end]
    if (sound := _DRAWN_OUT.fullmatch(view)) is not None:
        return sound[1] or sound[2] + "m"
    return view
