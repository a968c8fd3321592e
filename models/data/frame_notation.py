"""The notation of the frames that sentences of our own are made from: ``spoken_frames``, ``chinese_frames``, ``calls``.

``(a|b)`` is a choice, ``<name>`` a word drawn of that list, ``[..]`` a reparandum, ``{..}`` an interregnum; the marks
are the frame's own. Each maker fills a frame in its own way; what is filled is read here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from caesura.schemas.labels import Disfluency
from caesura.worker.core.language.normalisation import model_view

CHOICE = re.compile(r"\(([^()]*\|[^()]*)\)")
"""The innermost choice."""

_SPAN = re.compile(r"\[([^\]]*)\]|\{([^}]*)\}|([^\[{]+)")
_BEGINS = {1: Disfluency.B_RM, 2: Disfluency.B_IM, 3: Disfluency.O}
"""The tag of a span's first word, by the group of ``_SPAN`` that it is."""

_INSIDE = {Disfluency.B_RM: Disfluency.I_RM, Disfluency.B_IM: Disfluency.I_IM, Disfluency.O: Disfluency.O}
_BRACKETS = re.compile(r"[\[\]{}]")


def bare(sentence: str) -> str:
    """Return a filled frame without its brackets."""
    return _BRACKETS.sub("", sentence)


def labelled_spans(sentence: str) -> Iterator[tuple[str, Disfluency]]:
    """Yield each bracket's words, and those between brackets, with the tag that the first of them has."""
    for span in _SPAN.finditer(sentence):
        group = span.lastindex
        assert group is not None, "each way to match has a group"
        yield span[group], _BEGINS[group]


def tags_of(words: Sequence[object], begin: Disfluency) -> list[int]:
    """Return the tags of a span's words."""
    return [int(_INSIDE[begin] if place else begin) for place in range(len(words))]


def word_tags(sentence: str) -> list[int]:
    """Return a tag for each word of a filled frame that is more than marks, words set apart by white space."""
    tags: list[int] = []
    for span, begin in labelled_spans(sentence):
        tags += tags_of([word for word in span.split() if model_view(word)], begin)
    return tags
