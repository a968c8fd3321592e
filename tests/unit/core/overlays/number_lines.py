"""Lines with spoken numbers and how they are written: by hand (``english.tsv`` and so on), and generated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from caesura.schemas.segments import NumberForm, PunctuationName
from caesura.worker.core.language.normalisation import model_view
from caesura.worker.core.overlays.overlay import Overlay, Stretch
from caesura.worker.core.overlays.rules import OverlayRules
from caesura.worker.core.rendering.typography import typography_of

_DIGITS = OverlayRules(numbers=NumberForm.DIGITS)


@dataclass(frozen=True, slots=True)
class NumberLine:
    """What is said, in words, and how it is written with digits. kind: what the numbers are."""

    kind: str
    said: str
    expected: str
    lang: str = "en"


def hand_written(lang: str) -> list[NumberLine]:
    """Return the lines of a language that were written by hand."""
    name = {"en": "english", "zh": "chinese", "de": "german", "es": "spanish", "fr": "french"}[lang]
    text = (Path(__file__).parent / f"{name}.tsv").read_text(encoding="utf-8")
    rows = (line.split("\t") for line in text.splitlines())
    return [NumberLine(kind, said, expected, lang) for kind, said, expected in rows]


def overlays_of(words: Sequence[str], lang: str = "en", *, begins: bool = True, ends: bool = True) -> list[Overlay]:
    """Return the numbers of words without marks that are written with digits."""
    marks: list[PunctuationName] = ["none" for _ in words]
    stretch = Stretch(tuple(range(len(words))), tuple(map(model_view, words)), tuple(marks), begins=begins, ends=ends)
    return _DIGITS.over([stretch], lang)


def written(line: NumberLine) -> str:
    """Return how a line is written."""
    words = line.said.split()
    pieces: list[str] = []
    end = 0
    for overlay in overlays_of(words, line.lang):
        pieces += [*words[end : overlay.begin], overlay.text]
        end = overlay.end
    return (" " if typography_of(line.lang).spaced else "").join([*pieces, *words[end:]])
