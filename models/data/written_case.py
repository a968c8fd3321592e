"""How a text writes a word, as the label of the third head; unknown where a sentence's start hides it."""

from __future__ import annotations

from functools import lru_cache

from caesura.models.data.aligned_words import UNKNOWN
from caesura.schemas.labels import Casing
from caesura.worker.core.language.casing import casing_of

__all__ = ["read_casing"]


@lru_cache(maxsize=200_000)
def read_casing(written: str, view: str, *, may_begin: bool) -> int:
    """Return the label of a word, given as the text writes it and as the model sees it.

    may_begin: a sentence may begin with it. There a capital letter says nothing of the word, but of "I" and "I'm",
    which always have one; nor does a small letter, which is a slip there.
    """
    casing = casing_of(written)
    if casing is None:
        return UNKNOWN
    hidden = may_begin and casing in (Casing.SMALL, Casing.CAPITAL_FIRST)
    return UNKNOWN if hidden and not (view == "i" or view.startswith("i'")) else int(casing)
