"""The label sets: what a word can carry, on the wire, in Redis and in a model's output.

The integer of a label is its class in the model's output layer (CT-Transformer, section 3.1) and its stored form;
its name is the published form. Numbers are never reused.
"""

from __future__ import annotations

from enum import IntEnum


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
