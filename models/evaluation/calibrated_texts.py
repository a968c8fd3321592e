"""The texts that probabilities are fitted to and scored on, each in two halves: the first is fitted to.

Switchboard and CHILDES are scored only: nothing that is shipped learns from them.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any

import numpy as np
from msgspec.structs import replace

from caesura.models.data.aligned_words import UNKNOWN, AlignedDocument
from caesura.models.data.preparation import held_out
from caesura.models.data.recipes import Recipe
from caesura.models.data.swda import read_swda_test
from caesura.models.decoding.labelling_runs import Progress, published_segments
from caesura.models.evaluation.calibration import Answers, TurnEnds, fit_line, kinds_of, marks_of, turn_ends_of
from caesura.models.evaluation.chinese import characters
from caesura.models.evaluation.false_stops import FlushPoint, flush_points
from caesura.models.evaluation.figures import GoldSession
from caesura.models.evaluation.said_sessions import childes_sessions
from caesura.models.evaluation.switchboard import INTERREGNA, gold_tags
from caesura.schemas.labels import Punctuation
from caesura.schemas.model_manifest import Calibration
from caesura.worker.core.language.labelling import Probabilities
from caesura.worker.core.language.rules import DecodingRules
from caesura.worker.ports.engine import Engine

_RULES = DecodingRules(probabilities=Probabilities.WORDS)
_TAGGED = {"en": ("rev16", "disfl_qa"), "zh": ("cs2w",), "fr": ("parisstories",)}
"""Corpora whose tags people set, and that may be learnt from; fluent ones, where each tag is O, are scored only."""
_SPOKEN = {
    "en": ("earnings22", "cabnc", "ami"),
    "zh": ("audreyt_train", "kdconv"),
    "de": ("bundestag_fragen", "nationalrat_at"),
    "es": ("mananeras_mx", "discursos_ar"),
    "fr": ("fredsum_debats", "parisstories"),
}
"""Calls, everyday talk, meetings; questions and debates where there is no such text."""
CALIBRATED_LANGUAGES = tuple(_SPOKEN)
_SESSION_WORDS = 200
_ENDS = frozenset(int(mark) for mark in Punctuation if mark.ends_sentence)
_SWITCHBOARD, _CHILDES = "Switchboard, never fitted to", "CHILDES, never fitted to"


@dataclass(slots=True)
class Sure:
    """What a model says, by text. last_marks: of flushed last words."""

    marks: dict[str, Answers] = field(default_factory=dict)
    kinds: dict[str, Answers] = field(default_factory=dict)
    last_marks: dict[str, Answers] = field(default_factory=dict)
    turn_ends: dict[str, TurnEnds] = field(default_factory=dict)

    def __add__(self, other: Sure) -> Sure:
        return Sure(
            self.marks | other.marks,
            self.kinds | other.kinds,
            self.last_marks | other.last_marks,
            self.turn_ends | other.turn_ends,
        )

    def fitted(self, before: Calibration, parts: Iterable[str]) -> Calibration:
        """Return a calibration with these parts fitted to what was said without any; the others stay as before.

        Ends of turns are those of speech. A part of which the texts say nothing raises ValueError.
        """
        answers = {"punctuation": self.marks, "closing": self.last_marks, "disfluency": self.kinds}
        ends = [found for text, found in self.turn_ends.items() if any(text in spoken for spoken in _SPOKEN.values())]
        found: dict[str, Any] = {}
        for part in parts:
            said = ends if part == "turn_end" else answers[part].values()
            if not said:
                raise ValueError(f"{part}: no text to fit it to")
            if part == "turn_end":
                found[part] = fit_line(
                    np.concatenate([one.said for one in ends]), np.concatenate([one.finished for one in ends])
                )
            else:
                found[part] = reduce(add, answers[part].values()).lines()
        return replace(before, **found)

    def table_of_words(self) -> str:
        """Return a Markdown table of the words' marks and tags."""
        lines = ["| text | words | error of marks | tagged words | error of tags |", "|---|---|---|---|---|"]
        for text in dict.fromkeys((*self.marks, *self.kinds)):
            marks, kinds = self.marks.get(text), self.kinds.get(text)
            lines.append(f"| {text} | {_counted(marks)} | {_counted(kinds)} |")
        return "\n".join(lines)

    def table_of_turn_ends(self) -> str:
        """Return a Markdown table of flushed last words. of chance: the error where all is right."""
        lines = [
            "| text | points | error | of chance | precision at recall 0.9 | recall at precision 0.98 | last mark |",
            "|---|---|---|---|---|---|---|",
        ]
        for text, ends in self.turn_ends.items():
            lines.append(
                f"| {text} | {len(ends.said)} | {ends.error:.3f} | {ends.error_of_chance:.3f} "
                f"| {ends.precision_at(0.9):.3f} | {ends.recall_at(0.98):.3f} | {self.last_marks[text].error:.3f} |"
            )
        return "\n".join(lines)


def _counted(answers: Answers | None) -> str:
    return f"{len(answers.names)} | {answers.error:.3f}" if answers is not None else "– | –"


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationTexts:
    """The texts of a language.

    open_text: corpora of the recipe. max_words: of a text's half. sentences: of a text's half, each flushed once inside
    and once at its end. fitted: the halves that are fitted to; else the others, and the texts that are never. only:
    these texts, by the name before a comma; all, where it is empty.
    """

    corpora: Path
    language: str
    recipe: Recipe
    open_text: Sequence[str]
    max_words: int
    sentences: int
    fitted: bool
    only: frozenset[str] = frozenset()

    def measure(self, engine: Engine, progress: Progress = lambda _: None) -> Sure:
        """Return what the language's active model says of them."""
        sure = Sure()
        texts = [(text, _cut(sessions), tags) for text, sessions, tags in self._sessions() if sessions]
        published = iter(
            published_segments(
                engine,
                [session.units for _, sessions, _ in texts for session in sessions],
                language=self.language,
                rules=_RULES,
                progress=progress,
            )
        )
        for text, sessions, tags in texts:
            words = [[word for segment in next(published) for word in segment.words] for _ in sessions]
            marks = reduce(add, [marks_of(said, one.marks) for said, one in zip(words, sessions, strict=True)])
            if marks.names:
                sure.marks[text] = marks
            if tags:
                found = [kinds_of(said, one.tags) for said, one in zip(words, sessions, strict=True)]
                sure.kinds[text] = reduce(add, found)
        for text, points in self._flushes():
            _add_flushes(sure, engine, text, points, self.language, progress)
        return sure

    def _sessions(self) -> Iterator[tuple[str, Sequence[GoldSession], bool]]:
        """Yield a text's name and sessions, and whether their tags are known."""
        tagged = _TAGGED.get(self.language, ())
        for corpus in filter(self._wanted, dict.fromkeys((*self.open_text, *tagged))):
            documents = held_out(self.recipe, self.corpora, corpus, max_words=2 * self.max_words)
            halves = _halves([_session(document, self.language) for document in documents], self.max_words)
            fluent = corpus in self.recipe.fluent and not self.fitted
            yield corpus, halves[not self.fitted], corpus in tagged or fluent
        if self._scores_only(_SWITCHBOARD):
            sides = [_tagged(side.words, gold_tags(side, INTERREGNA)) for side in read_swda_test(self.corpora)]
            yield _SWITCHBOARD, _halves(sides, self.max_words)[0], True
        if self._scores_only(_CHILDES):
            utterances = [_tagged(said.words, said.tags) for said in childes_sessions(self.corpora)]
            yield _CHILDES, _halves(utterances, self.max_words)[0], True

    def _wanted(self, text: str) -> bool:
        return not self.only or text.partition(",")[0] in self.only

    def _scores_only(self, text: str) -> bool:
        return not self.fitted and self.language == "en" and self._wanted(text)

    def _flushes(self) -> Iterator[tuple[str, list[FlushPoint]]]:
        """Yield a text's name and its flushes."""
        for corpus in filter(self._wanted, self.open_text if self.fitted else _SPOKEN[self.language]):
            documents = held_out(self.recipe, self.corpora, corpus, max_words=5 * self.max_words)
            points = flush_points(documents, random.Random(1), sentences=2 * self.sentences)
            half = slice(None, len(points) // 2) if self.fitted else slice(len(points) // 2, None)
            if points[half]:
                yield corpus, points[half]
        if self._scores_only(_SWITCHBOARD):
            documents = [
                AlignedDocument("swda", str(number), list(side.words), list(side.marks), gold_tags(side, INTERREGNA))
                for number, side in enumerate(read_swda_test(self.corpora))
            ]
            yield _SWITCHBOARD, flush_points(documents, random.Random(1), sentences=2 * self.sentences)


def _tagged(words: Sequence[str], tags: Sequence[int]) -> GoldSession:
    return GoldSession(list(words), [UNKNOWN] * len(words), list(tags))


def _add_flushes(
    sure: Sure, engine: Engine, text: str, points: Sequence[FlushPoint], language: str, progress: Progress
) -> None:
    published = published_segments(
        engine,
        [_units(point.words, language) for point in points],
        language=language,
        rules=_RULES,
        session_end=False,
        progress=progress,
    )
    flushed = [(segments[-1], int(point.mark)) for segments, point in zip(published, points, strict=True)]
    sure.turn_ends[text] = turn_ends_of(flushed)
    sure.last_marks[text] = reduce(add, [marks_of(last.words[-1:], [mark]) for last, mark in flushed])


def _session(document: AlignedDocument, language: str) -> GoldSession:
    """Return a document as a session: of English words, of Chinese characters, the last of a word with its mark."""
    session = GoldSession([], [], [])
    for word, mark, tag in zip(document.words, document.punctuation, document.disfluency, strict=True):
        units = _units([word], language)
        session.units += units
        session.marks += [int(Punctuation.NONE) if mark != UNKNOWN else UNKNOWN] * (len(units) - 1) + [mark]
        session.tags += [tag] * len(units)
    return session


def _units(words: Sequence[str], language: str) -> list[str]:
    return [unit for word in words for unit in characters(word)] if language == "zh" else list(words)


def _halves(sessions: Sequence[GoldSession], words: int) -> tuple[list[GoldSession], list[GoldSession]]:
    """Return the first words, and as many of those behind them."""
    halves: tuple[list[GoldSession], list[GoldSession]] = ([], [])
    for session in sessions:
        start = 0
        for half in halves:
            free = words - sum(len(one.units) for one in half)
            end = min(start + free, len(session.units))
            if end > start:
                half.append(GoldSession(session.units[start:end], session.marks[start:end], session.tags[start:end]))
            start = max(start, end)
    return halves


def _cut(sessions: Sequence[GoldSession]) -> list[GoldSession]:
    """Return the same words in sessions of ``_SESSION_WORDS`` and up to a sentence's end, so that many go together."""
    cut: list[GoldSession] = []
    for session in sessions:
        start = 0
        for end, mark in enumerate(session.marks, start=1):
            if end == len(session.units) or (end - start >= _SESSION_WORDS and (mark == UNKNOWN or mark in _ENDS)):
                cut.append(GoldSession(session.units[start:end], session.marks[start:end], session.tags[start:end]))
                start = end
    return cut
