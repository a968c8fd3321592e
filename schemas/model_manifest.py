"""A model's manifest: what stands in its folder, and what a worker must know to run it.

A models folder holds one sub-folder a model, each with ``manifest.json``. The worker verifies every file's size and
SHA-256 before it loads any.
"""

from __future__ import annotations

from typing import Annotated

import msgspec

MODEL_MANIFEST_VERSION = "4.0"
"""The latest that this release reads, and all before it."""


def manifest_version(*, look_back: int | None, closing: bool, accented: bool = False, also: bool = False) -> str:
    """Return what a manifest is written as: the first version whose workers label with such a network as it was made.

    A worker of before 2.0 does not know ``look_back``, one of before 3.0 would leave ``closing`` aside, one of before
    4.0 would take accents off, and label one language alone.
    """
    if accented or also:
        return "4.0"
    if closing:
        return "3.0"
    return "1.2" if look_back is None else "2.0"


class ModelFile(msgspec.Struct, frozen=True, kw_only=True):
    """One file of the model's folder."""

    name: str
    bytes: int
    sha256: str


class WordPieceSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How a word becomes pieces: the vocabulary's file, the most pieces a word may have, the special pieces."""

    vocabulary: str
    max_pieces: Annotated[int, msgspec.Meta(ge=1)]
    leading: str
    unknown: str


OddsLine = tuple[float, float]
"""Slope and shift of calibrated log odds over a model's own."""


class Calibration(msgspec.Struct, frozen=True, kw_only=True):
    """How a model's scores become probabilities that hold on text: log odds of what it chose, times slope, plus shift.

    punctuation: by mark; closing: the same of the head for a last word. disfluency: by what a tag makes of a word
    (``RM``, ``IM``; ``O`` is neither). turn_end: of a mark that ends a sentence, at a last word. A label that has no
    line is as probable as its model says.
    """

    punctuation: dict[str, OddsLine] = {}
    closing: dict[str, OddsLine] = {}
    disfluency: dict[str, OddsLine] = {}
    turn_end: OddsLine = (1.0, 0.0)


class ModelManifest(msgspec.Struct, frozen=True, kw_only=True):
    """A model.

    id, version: name it as ``id@version`` in segments and stored state. language: a primary subtag (``en``). also:
    further ones that it labels (since 4.0).
    active: whether new buffers of its language go to it; at most one model a language is active.
    network: the name of the network; weights: the ONNX file among ``files``. look_ahead: the paper's L_i, in words.
    positions: ``sinusoidal``, which have no end, or ``learned``, whose last stands for all after it.
    punctuation, disfluency: published names of the classes, in the order of the scores.
    trained_on: the corpora, all of a licence that allows the weights to be given away. dictionary_sha256: of the word
    list that its language is cut by (since 1.1); none where words are the recogniser's. casing: the classes of the
    third head (since 1.2); empty where the model does not say how words are written. look_back: the words before a
    word that each layer sees, and the leading piece (since 2.0); none where it sees all of them. closing: whether it
    has a head of its own for the marks of a word that none follows (since 3.0). calibration: what makes probabilities
    of its scores; a model without has none.
    """

    manifest: str
    id: str
    version: str
    language: str
    active: bool
    network: str
    weights: str
    files: tuple[ModelFile, ...]
    look_ahead: tuple[Annotated[int, msgspec.Meta(ge=0)], ...]
    positions: str
    punctuation: tuple[str, ...]
    disfluency: tuple[str, ...]
    wordpiece: WordPieceSettings
    licence: str
    trained_on: tuple[str, ...]
    dictionary_sha256: str | None = None
    casing: tuple[str, ...] = ()
    look_back: Annotated[int, msgspec.Meta(ge=1)] | None = None
    closing: bool = False
    calibration: Calibration | None = None
    also: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """``id@version``."""
        return f"{self.id}@{self.version}"

    @property
    def languages(self) -> tuple[str, ...]:
        """All that it labels."""
        return self.language, *self.also

    @property
    def look_ahead_words(self) -> int:
        """L: how many words ahead a label may depend on, the sum over the layers."""
        return sum(self.look_ahead)
