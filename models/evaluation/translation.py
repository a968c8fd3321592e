"""Speech with its reference translation, cut into segments for a translator (``models evaluate-translation``).

A dialogue's words are cut; each segment is translated alone; the translations are joined and scored against the
dialogue's reference as one text (``translation_scores``). So another cut is no fault in itself. Typed dialogues are
spoken evenly, without pauses; heard ones have the words, times and pauses of a recogniser (``spoken_dialogues``).
"""

from __future__ import annotations

import itertools
import json
import lzma
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from caesura.models.data.recipes import is_held_out
from caesura.schemas.events import Emission, Word
from caesura.worker.core.language.rules import DecodingRules
from caesura.worker.core.rendering.rendering import Style, render_segment
from caesura.worker.core.session.stream import StreamingLabeller
from caesura.worker.ports.engine import Engine

PAUSE_MS = 800
"""A pause that ends a segment, as ``flush_after_ms`` by default."""

_WORD_MS = 375
"""How long a typed word is spoken: 160 words a minute."""

_APOSTROPHES = str.maketrans({"’": "'", "‘": "'", "ʼ": "'"})
_NO_WORD = re.compile(r"[^\w'\s]")
_SENTENCE = re.compile(r"(?<=[.?!])\s+")


@dataclass(frozen=True, slots=True)
class Dialogue:
    """One side of a dialogue.

    turns: as people wrote them, with marks. references: the translation of each. words: bare, or as a recogniser heard
    them, with start and end. times: from when to when each turn was spoken, in milliseconds.
    """

    name: str
    turns: tuple[str, ...]
    references: tuple[str, ...]
    words: tuple[Word, ...]
    times: tuple[tuple[int, int], ...]

    @property
    def reference(self) -> str:
        """The references as one text."""
        return " ".join(self.references)


@dataclass(frozen=True, slots=True)
class CutSegment:
    """A segment. end: the dialogue's words up to its end. heard, at_ms: words and audio heard when it went out."""

    text: str
    end: int
    heard: int
    at_ms: int


@dataclass(frozen=True, slots=True)
class CutText:
    """A dialogue cut into segments; a text is empty where all of its words are left out."""

    segments: tuple[CutSegment, ...]

    @property
    def texts(self) -> list[str]:
        """The texts that are translated."""
        return [segment.text for segment in self.segments if segment.text]

    @property
    def delays(self) -> list[int]:
        """How many further words each word waited for, in the order of the words."""
        starts = (0, *(segment.end for segment in self.segments))
        spans = zip(starts, self.segments, strict=False)
        return [segment.heard - place - 1 for start, segment in spans for place in range(start, segment.end)]


def plain_apostrophes(text: str) -> str:
    """Return the text with one kind of apostrophe."""
    return text.translate(_APOSTROPHES)


def bare_words(text: str) -> list[str]:
    """Return a text as a recogniser without marks gives it: lower-case words; apostrophes stay."""
    return _NO_WORD.sub(" ", plain_apostrophes(text)).lower().split()


def typed(name: str, turns: Sequence[str], references: Sequence[str]) -> Dialogue:
    """Return a dialogue whose turns were typed: the bare words, spoken evenly and without a pause."""
    words: list[Word] = []
    times: list[tuple[int, int]] = []
    for turn in turns:
        begin_ms = len(words) * _WORD_MS
        for text in bare_words(turn):
            words.append(Word(text=text, start_ms=len(words) * _WORD_MS, end_ms=(len(words) + 1) * _WORD_MS))
        times.append((begin_ms, len(words) * _WORD_MS))
    plain = tuple(map(plain_apostrophes, references))
    return Dialogue(name, tuple(turns), plain, tuple(words), tuple(times))


def read_dialogues(path: Path, *, target: str = "fr") -> Iterator[Dialogue]:
    """Yield dialogues from a file of one JSON object a line: ``id``, ``turns`` of ``en`` and the target language."""
    for row in _rows(path):
        turns = row["turns"]
        yield typed(row["id"], [turn["en"] for turn in turns], [turn[target] for turn in turns])


def read_lines(source: Path, reference: Path, *, lines_a_dialogue: int = 10) -> Iterator[Dialogue]:
    """Yield dialogues from two files of one segment a line; neighbouring lines are taken together.

    ValueError where the files have different numbers of lines.
    """
    pairs = list(zip(_lines(source), _lines(reference), strict=True))
    for first in range(0, len(pairs), lines_a_dialogue):
        spoken, translated = zip(*pairs[first : first + lines_a_dialogue], strict=True)
        yield typed(f"{source.stem}-{first}", spoken, translated)


def read_talks(path: Path, *, talks: int, words: int) -> Iterator[Dialogue]:
    """Yield the first held-out documents of a corpus, each its own reference, sentence by sentence.

    What they are worth to a translator is not said by that; how long their words wait is. words: of each, at most.
    """
    held_out = (row for row in _rows(path) if is_held_out(path.name.split(".")[0], row["id"]))
    for row in itertools.islice(held_out, talks):
        sentences: list[str] = []
        said = 0
        for sentence in _SENTENCE.split(" ".join(row["text"].split())):
            if said < words and (count := len(bare_words(sentence))):
                sentences.append(sentence)
                said += count
        yield typed(row["id"], sentences, sentences)


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def cut_by_windows(dialogue: Dialogue, words: int) -> CutText:
    """Cut the words after every so many."""
    count = len(dialogue.words)
    return _cut_at(dialogue, [*range(words, count, words), count])


def cut_by_turns(dialogue: Dialogue) -> CutText:
    """Cut the words where a person's turn ended."""
    ends = (end_ms for _, end_ms in dialogue.times)
    return _cut_at(dialogue, [sum(_end_ms(word) <= end_ms for word in dialogue.words) for end_ms in ends])


def cut_by_pauses(dialogue: Dialogue, pause_ms: int = PAUSE_MS) -> CutText:
    """Cut the words at silences alone, each known once it has lasted so long."""
    words = dialogue.words
    pauses = [place for place in range(1, len(words)) if _pause_ms(words, place) >= pause_ms]
    return _cut_at(dialogue, [*pauses, len(words)], wait_ms=pause_ms)


def _cut_at(dialogue: Dialogue, ends: Iterable[int], *, wait_ms: int = 0) -> CutText:
    words = dialogue.words
    places = [0, *dict.fromkeys(ends)]
    return CutText(
        tuple(
            CutSegment(" ".join(word.text for word in words[start:end]), end, end, _end_ms(words[end - 1]) + wait_ms)
            for start, end in itertools.pairwise(places)
            if end > start
        )
    )


def cut_by_marks(dialogue: Dialogue) -> CutText:
    """Cut the text with people's marks and capitals at their sentence ends: what a perfect labeller would give.

    Of typed dialogues: the words are the turns'.
    """
    segments: list[CutSegment] = []
    end = 0
    for turn in dialogue.turns:
        for sentence in _SENTENCE.split(turn):
            if count := len(bare_words(sentence)):
                end += count
                segments.append(CutSegment(sentence, end, end, _end_ms(dialogue.words[end - 1])))
    return CutText(tuple(segments))


def cut_by_stream(
    engine: Engine, dialogue: Dialogue, rules: DecodingRules, style: Style = Style.FLUENT, *, keep: bool = False
) -> CutText:
    """Cut the words as the worker does: one session, a word at a time, and its pauses.

    keep: with marks and capitals, and no word left out.
    """
    rules = replace(rules, utterance_end_offset=rules.silence_end_offset)  # what pauses here is silence
    labeller, words = StreamingLabeller(engine, "en", rules), dialogue.words
    segments: list[CutSegment] = []
    end = 0
    for place in range(len(words) + 1):
        last = place == len(words)
        frozen = []
        if not last and place and _pause_ms(words, place) >= rules.flush_after_ms:
            at_ms = _end_ms(words[place - 1]) + rules.flush_after_ms
            frozen += [(segment, place, at_ms) for segment in labeller.pause()]
        heard = min(place + 1, len(words))
        came = labeller.end() if last else labeller.add([words[place]])
        frozen += [(segment, heard, _end_ms(words[heard - 1])) for segment in came]
        for segment, known, at_ms in frozen:
            end += len(segment.words)
            text = render_segment(segment, style, keep_fillers=keep, keep_reparanda=keep).text
            segments.append(CutSegment(text, end, known, at_ms))
    return CutText(tuple(segments))


def _end_ms(word: Word) -> int:
    return word.end_ms or 0


def _pause_ms(words: Sequence[Word], place: int) -> int:
    return (words[place].start_ms or 0) - _end_ms(words[place - 1])


def emissions(*, settled: Sequence[int], clause: Sequence[int]) -> dict[str, DecodingRules]:
    """Return the decoding rules to compare, by name. settled, clause: least numbers of words to try."""
    rules = DecodingRules()
    named = {"sentence": rules}
    for words in settled:
        named[f"settled, at least {words}"] = replace(rules, emission=Emission.SETTLED, min_settled_words=words)
    for words in clause:
        named[f"clause, at least {words}"] = replace(rules, emission=Emission.CLAUSE, min_clause_words=words)
    return named
