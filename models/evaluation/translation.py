"""What segments are worth to a translator that gets them one at a time (``models evaluate-translation``).

A dialogue's bare words are cut into segments; each segment is translated alone; the translations are joined and scored
against the dialogue's reference as one text. So another cut is no fault in itself. BLEU and chrF are sacrebleu's; the
intervals are drawn over dialogues.
"""

from __future__ import annotations

import json
import lzma
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from caesura.schemas.events import Emission
from caesura.worker.core.language.rules import DecodingRules
from caesura.worker.core.rendering.rendering import Style, render_segment
from caesura.worker.core.session.stream import StreamingLabeller
from caesura.worker.ports.engine import Engine

__all__ = [
    "CutText",
    "Dialogue",
    "TranslationScore",
    "Translator",
    "bare_words",
    "cut_by_marks",
    "cut_by_stream",
    "cut_by_turns",
    "cut_by_windows",
    "emissions",
    "read_dialogues",
    "read_lines",
    "score",
    "translate",
]

_APOSTROPHES = str.maketrans({"’": "'", "‘": "'", "ʼ": "'"})
_NO_WORD = re.compile(r"[^\w'\s]")
_SENTENCE = re.compile(r"(?<=[.?!])\s+")


@dataclass(frozen=True, slots=True)
class Dialogue:
    """One side of a dialogue. turns: as people wrote them, with marks. reference: its translation, as one text."""

    name: str
    turns: tuple[str, ...]
    reference: str


@dataclass(frozen=True, slots=True)
class CutText:
    """A dialogue cut into segments. delays: how many further words each word waited for, in the order of the words."""

    segments: tuple[str, ...]
    delays: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TranslationScore:
    """Scores of all dialogues together, 0 to 100, and what they cost in delay.

    bleu, low, high: BLEU and its 95 % interval by drawing dialogues. bare_bleu: without marks and case. chrf: chrF2.
    words_a_segment, delay_words: means, over segments and over words.
    """

    bleu: float
    low: float
    high: float
    bare_bleu: float
    chrf: float
    words_a_segment: float
    delay_words: float


class Translator(Protocol):
    """Translates texts, each on its own."""

    def translate(self, texts: Sequence[str]) -> list[str]:
        """Return the translation of each text, in order."""
        ...


def bare_words(text: str) -> list[str]:
    """Return a text as a recogniser without marks gives it: lower-case words; apostrophes stay."""
    return _NO_WORD.sub(" ", text.translate(_APOSTROPHES)).lower().split()


def read_dialogues(path: Path, *, target: str = "fr") -> Iterator[Dialogue]:
    """Yield dialogues from a file of one JSON object a line: ``id``, ``turns`` of ``en`` and the target language."""
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            turns = row["turns"]
            reference = " ".join(turn[target] for turn in turns).translate(_APOSTROPHES)
            yield Dialogue(row["id"], tuple(turn["en"] for turn in turns), reference)


def read_lines(source: Path, reference: Path, *, lines_a_dialogue: int = 10) -> Iterator[Dialogue]:
    """Yield dialogues from two files of one segment a line; neighbouring lines are taken together.

    ValueError where the files have different numbers of lines.
    """
    pairs = list(zip(_lines(source), _lines(reference), strict=True))
    for first in range(0, len(pairs), lines_a_dialogue):
        part = pairs[first : first + lines_a_dialogue]
        spoken, translated = zip(*part, strict=True)
        yield Dialogue(f"{source.stem}-{first}", spoken, " ".join(translated).translate(_APOSTROPHES))


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def cut_by_windows(dialogue: Dialogue, words: int) -> CutText:
    """Cut the bare words after every so many."""
    spoken = bare_words(" ".join(dialogue.turns))
    parts = [spoken[first : first + words] for first in range(0, len(spoken), words)]
    return _cut_before_hand(parts)


def cut_by_turns(dialogue: Dialogue) -> CutText:
    """Cut the bare words where a person's turn ended."""
    return _cut_before_hand([bare_words(turn) for turn in dialogue.turns])


def _cut_before_hand(parts: Sequence[Sequence[str]]) -> CutText:
    delays = [len(part) - place - 1 for part in parts for place in range(len(part))]
    return CutText(tuple(" ".join(part) for part in parts if part), tuple(delays))


def cut_by_marks(dialogue: Dialogue) -> CutText:
    """Cut the text with people's marks and capitals at their sentence ends: what a perfect labeller would give."""
    sentences = [sentence for turn in dialogue.turns for sentence in _SENTENCE.split(turn) if sentence.strip()]
    delays = [delay for sentence in sentences for delay in reversed(range(len(bare_words(sentence))))]
    return CutText(tuple(sentences), tuple(delays))


def cut_by_stream(engine: Engine, dialogue: Dialogue, rules: DecodingRules, style: Style = Style.FLUENT) -> CutText:
    """Cut the bare words as the worker does: one session, a word at a time, no pause."""
    labeller, spoken = StreamingLabeller(engine, "en", rules), bare_words(" ".join(dialogue.turns))
    segments: list[str] = []
    delays: list[int] = []
    for heard in range(1, len(spoken) + 2):
        for segment in labeller.end() if heard > len(spoken) else labeller.add([spoken[heard - 1]]):
            delays += [min(heard, len(spoken)) - len(delays) - place - 1 for place in range(len(segment.words))]
            if text := render_segment(segment, style).text:
                segments.append(text)
    return CutText(tuple(segments), tuple(delays))


def emissions(*, settled: Sequence[int], clause: Sequence[int]) -> dict[str, DecodingRules]:
    """Return the decoding rules to compare, by name. settled, clause: least numbers of words to try."""
    rules = DecodingRules()
    named = {"sentence": rules}
    for words in settled:
        named[f"settled, at least {words}"] = replace(rules, emission=Emission.SETTLED, min_settled_words=words)
    for words in clause:
        named[f"clause, at least {words}"] = replace(rules, emission=Emission.CLAUSE, min_clause_words=words)
    return named


def translate(translator: Translator, cuts: Sequence[CutText]) -> list[str]:
    """Translate each segment alone and return each dialogue's translations, joined."""
    translated = iter(translator.translate([segment for cut in cuts for segment in cut.segments]))
    return [" ".join(next(translated) for _ in cut.segments).translate(_APOSTROPHES) for cut in cuts]


def score(
    cuts: Sequence[CutText],
    translations: Sequence[str],
    dialogues: Sequence[Dialogue],
    *,
    draws: int = 1000,
) -> TranslationScore:
    """Score the translations of some dialogues. draws: how often dialogues are drawn for the interval."""
    from sacrebleu.metrics.bleu import BLEU  # noqa: PLC0415 - an extra of its own
    from sacrebleu.metrics.chrf import CHRF  # noqa: PLC0415

    references = [[dialogue.reference for dialogue in dialogues]]
    drawn = BLEU().corpus_score(translations, references, n_bootstrap=draws)
    bare = BLEU().corpus_score([_bare(text) for text in translations], [[_bare(text) for text in references[0]]])
    chrf = CHRF().corpus_score(translations, references)
    segments = sum(len(cut.segments) for cut in cuts)
    delays = [delay for cut in cuts for delay in cut.delays]
    return TranslationScore(
        bleu=drawn.score,
        low=drawn._mean - drawn._ci,  # noqa: SLF001 - sacrebleu keeps its interval there
        high=drawn._mean + drawn._ci,  # noqa: SLF001
        bare_bleu=bare.score,
        chrf=chrf.score,
        words_a_segment=len(delays) / max(segments, 1),
        delay_words=sum(delays) / max(len(delays), 1),
    )


def _bare(text: str) -> str:
    return " ".join(bare_words(text))
