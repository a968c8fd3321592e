"""What a language says of itself; ``english`` and ``chinese`` are the two there are, ``registry`` has them by code."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from caesura.models.data.aligned_words import AlignedDocument
from caesura.models.data.recipes import Recipe
from caesura.models.evaluation.figures import Evaluation, GoldSession
from caesura.schemas.labels import Punctuation


@dataclass(frozen=True, slots=True, kw_only=True)
class LanguageModel:
    """What ``train`` builds and ``export`` names.

    look_ahead: L_i of each layer, in words. languages: those of one network, where they are several. dictionary: words
    are cut by the packaged dictionary.
    """

    id: str
    width: int
    heads: int
    inner_width: int
    look_ahead: tuple[int, ...]
    positions: str
    punctuation_classes: int
    licence: str = "CC-BY-SA-4.0"
    languages: tuple[str, ...] = ()
    dictionary: bool = False


class OwnDocument(Protocol):
    """Makes a document of paragraphs with their marks; every tag is O where the text is said to be fluent."""

    def __call__(self, name: str, paragraphs: Sequence[str], *, fluent: bool) -> AlignedDocument:
        """Return the document."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnText:
    """How a user's own text is read for a tune.

    joiner: stands between the lines of a wrapped paragraph. han_share: least and most of its letters that are Chinese
    characters. unit: what a text is counted in. marks: a paragraph's marks, one a word. document: paragraphs
    with their marks. session: paragraphs as a recogniser would send them.
    """

    joiner: str
    han_share: tuple[float, float]
    unit: str
    marks: Callable[[str], list[int]]
    document: OwnDocument
    session: Callable[[Sequence[str]], GoldSession]


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """One language. marks: those that text has, in the order of a table; mark_classes: what is scored, by name.

    parity_corpora: whose held-out text an export is checked on. scored: by group (``benchmark``, ``switchboard``,
    ``open_text``) the texts that ``evaluate`` scores and what scores each; scored_by_name: those that are asked for by
    name alone.
    """

    code: str
    model: LanguageModel
    recipe: Recipe
    own_text: OwnText
    marks: tuple[Punctuation, ...]
    mark_classes: Mapping[str, frozenset[int]]
    parity_corpora: tuple[str, ...]
    scored: Mapping[str, Mapping[str, Evaluation]]
    scored_by_name: Mapping[str, Evaluation]
