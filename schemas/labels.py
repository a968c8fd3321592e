"""The label sets: what a word can carry, on the wire, in Redis and in a model's output; and ``Labels``, those of words.

The integer of a label is its class in the model's output layer (CT-Transformer, section 3.1) and its stored form;
its name is the published form. Numbers are never reused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import IntEnum

import msgspec
from msgspec.structs import astuple, replace


class Punctuation(IntEnum):
    """The mark after a word."""

    NONE = 0
    COMMA = 1
    PERIOD = 2
    QUESTION = 3
    ENUMERATION_COMMA = 4

    @property
    def ends_sentence(self) -> bool:
        """Tell whether a sentence ends at this mark (Algorithm 1: period or question mark)."""
        return self in (Punctuation.PERIOD, Punctuation.QUESTION)

    @property
    def published(self) -> str:
        """Return the published name, for example ``enumeration_comma``."""
        return self.name.lower()


SENTENCE_ENDS = frozenset(mark.value for mark in Punctuation if mark.ends_sentence)
COMMAS = frozenset((Punctuation.COMMA.value, Punctuation.ENUMERATION_COMMA.value))


class Disfluency(IntEnum):
    """The BIO tag of a word: RM is a reparandum, IM an interregnum (CT-Transformer, figure 1)."""

    O = 0  # noqa: E741 - the field's name of the tag
    B_RM = 1
    I_RM = 2
    B_IM = 3
    I_IM = 4

    @property
    def published(self) -> str:
        """Return the published name, for example ``B-RM``."""
        return self.name.replace("_", "-")

    @property
    def kind(self) -> str:
        """Return what a word is that has this tag: ``RM``, ``IM``, or nothing of either."""
        return kind_of(self.published)


def kind_of(published: str) -> str:
    """Return what a word is whose tag is published so: ``RM``, ``IM``, or nothing (``O``)."""
    return published.partition("-")[2]


class Casing(IntEnum):
    """How a word is written. It says nothing of a sentence's first word: that capital is rendering's."""

    AS_GIVEN = 0
    SMALL = 1
    CAPITAL_FIRST = 2
    ALL_CAPITALS = 3

    @property
    def published(self) -> str:
        """Return the published name, for example ``capital_first``."""
        return self.name.lower()


class Labels(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The labels of a run of words: a column a kind of label, in each column one byte a word, the label's number.

    An empty column says 0 of every word: nothing is known. ``punctuation`` has a byte a word, so it tells the length.
    A new kind is a column at the end, and its rule for words of several pieces in ``_OVER_PIECES``.

    punctuation_probability, disfluency_probability: how probably the word's mark, and what its tag makes of it (words
    taken back, filler, neither), are right. turn_end: how probably the speaker has finished, of a buffer's last word.
    Each in the form of ``probability_number``.
    """

    punctuation: bytes = b""
    disfluency: bytes = b""
    casing: bytes = b""
    punctuation_probability: bytes = b""
    disfluency_probability: bytes = b""
    turn_end: bytes = b""

    @classmethod
    def none(cls, words: int) -> Labels:
        """Return the labels of so many words of which nothing is known."""
        return cls(bytes(words))

    def __len__(self) -> int:
        return len(self.punctuation)

    def fit(self, words: int) -> bool:
        """Tell whether these are the labels of so many words."""
        return len(self.punctuation) == words and {0, words}.issuperset(map(len, astuple(self)))

    def part(self, start: int, end: int | None = None) -> Labels:
        """Return the labels of the words from ``start`` to ``end``."""
        return Labels(*[column[start:end] for column in astuple(self)])

    def __add__(self, behind: Labels) -> Labels:
        return self.continued(len(self.punctuation), behind)

    def continued(self, end: int, behind: Labels) -> Labels:
        """Return the labels of the words before ``end``, and others behind them."""
        more = len(behind.punctuation)
        return Labels(
            *[
                (first[:end] or bytes(end)) + (second or bytes(more)) if first or second else b""
                for first, second in zip(astuple(self), astuple(behind), strict=True)
            ]
        )

    def with_marks(self, marks: bytes) -> Labels:
        """Return the labels with the marks of a rule: how probable those are that it changed is not known."""
        known = _where_kept(self.punctuation_probability, self.punctuation, marks)
        return replace(self, punctuation=marks, punctuation_probability=known)

    def with_tags(self, tags: bytes) -> Labels:
        """Return the labels with the tags of a rule; of those that it took away the probability is not known.

        A tag that only begins what it went on with before, or the reverse, is as probable as it was.
        """
        known = self.disfluency_probability
        if known:
            known = _where_kept(known, self.disfluency.translate(_KINDS), tags.translate(_KINDS))
        return replace(self, disfluency=tags, disfluency_probability=known)

    def filled(self) -> Labels:
        """Return the same labels without an empty column."""
        return self if all(astuple(self)) else Labels(*[column or bytes(len(self)) for column in astuple(self)])

    def compact(self) -> Labels:
        """Return the same labels, as they are stored: a column that says 0 of every word is empty."""
        first, *others = astuple(self)
        if not first:
            return NO_LABELS
        return Labels(first, *[column if column.strip(b"\0") else b"" for column in others])

    def over_pieces(self, counts: Sequence[int]) -> Labels:
        """Return the labels of the words' pieces. counts: how many pieces each word has, one at least."""
        return Labels(
            *[b"".join(map(spread, column, counts)) for column, spread in zip(astuple(self), _OVER_PIECES, strict=True)]
        )


NO_LABELS = Labels()
"""Those of no words."""


def probability_number(percent: int) -> int:
    """Return how a probability stands in a column: 1 to 101 for 0 to 100 percent; 0: it is not known."""
    return percent + 1


def _where_kept(known: bytes, before: bytes, after: bytes) -> bytes:
    """Return the probabilities of those labels that are what they were before; 0 of the others."""
    if not known or before == after:
        return known
    return bytes([how * (old == new) for how, old, new in zip(known, before, after, strict=True)])


def _on_last(label: int, count: int) -> bytes:
    """Return a word's label on the last of its pieces, 0 on the others."""
    return bytes(count - 1) + bytes((label,))


def _from_first(label: int, count: int) -> bytes:
    """Return a word's label on the first of its pieces, and on the others what goes on from it."""
    return bytes((label,)) + bytes((_GOES_ON.get(label, label),)) * (count - 1)


def _on_all(label: int, count: int) -> bytes:
    """Return a word's label on each of its pieces."""
    return bytes((label,)) * count


def _first_capital(label: int, count: int) -> bytes:
    """Return a word's casing on its pieces: only the first one has the capital of a first letter."""
    return bytes((label,)) + bytes((Casing.SMALL if label == Casing.CAPITAL_FIRST else label,)) * (count - 1)


_GOES_ON = {Disfluency.B_RM.value: Disfluency.I_RM.value, Disfluency.B_IM.value: Disfluency.I_IM.value}
_KINDS = bytes((0, 1, 1, 2, 2)).ljust(256, b"\0")
"""Of each tag's number what it makes of a word: neither, taken back, filler."""

_OVER_PIECES: tuple[Callable[[int, int], bytes], ...] = (
    _on_last,
    _from_first,
    _first_capital,
    _on_last,
    _on_all,
    _on_last,
)
"""How each column spreads over a word's pieces, in the order of the columns."""
