"""Dialogues spoken: fillers and repairs put in, Piper's voice, pauses; and Whisper's words, or the words as spoken.

The references stay those of the fluent turns. Fillers and repairs are put in by the rules of training
(``disfluencies``), whose shares are those of conversation; pauses between turns are drawn log-normally, with a median
of 0.7 s.
"""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from caesura.models.data.aligned_words import AlignedDocument
from caesura.models.data.disfluencies import insert_disfluencies
from caesura.models.evaluation.speech_parts import WhisperBase, spoken_turns
from caesura.models.evaluation.translation import Dialogue, bare_words
from caesura.schemas.events import Word
from caesura.schemas.labels import Disfluency, Punctuation

_MARKS = {",": Punctuation.COMMA, ".": Punctuation.PERIOD, "!": Punctuation.PERIOD, "?": Punctuation.QUESTION}
_SIGNS = {Punctuation.COMMA: ",", Punctuation.PERIOD: ".", Punctuation.QUESTION: "?"}
_PAUSE_MEDIAN_MS, _PAUSE_SPREAD = 700, 0.6

_LETTERS_A_WORD, _LETTERS_A_MARK = 2, 5
"""How long a word takes besides its letters, and how long the voice pauses at a mark, in letters.

Against the voice's own durations of phonemes, ends of words are 0.15 s off on average (23 sentences of talks).
"""


class HeardDialogue(msgspec.Struct, frozen=True, kw_only=True):
    """A line of the file: a dialogue with the turns as they were spoken and the words as they were heard."""

    name: str
    turns: tuple[str, ...]
    references: tuple[str, ...]
    spoken: tuple[str, ...]
    times: tuple[tuple[int, int], ...]
    words: tuple[Word, ...]


def read_heard(path: Path) -> Iterator[Dialogue]:
    """Yield the dialogues of a file."""
    for line in path.read_bytes().splitlines():
        found = msgspec.json.decode(line, type=HeardDialogue)
        yield Dialogue(found.name, found.turns, found.references, found.words, found.times)


def disfluent(turns: tuple[str, ...], rng: random.Random) -> tuple[str, ...]:
    """Return the turns with fillers and repairs put in, written as they are spoken."""
    document = AlignedDocument("spoken", "")
    for turn in turns:
        for token in turn.split():
            for word in bare_words(token):
                document.add(word, Punctuation.NONE, Disfluency.O)
            if (mark := _MARKS.get(re.sub(r"\W*$", "", token) and token[-1:])) and document.words:
                document.punctuation[-1] = mark
        if document.words:
            document.turn_ends.add(len(document.words) - 1)
    said = insert_disfluencies(document, rng, share=1.0)
    spoken: list[str] = []
    written: list[str] = []
    for place, word in enumerate(said.words):
        last = place + 1 == len(said.words)
        ends_tag = said.disfluency[place] and (last or not said.disfluency[place + 1])
        sign = _SIGNS.get(Punctuation(said.punctuation[place]), "," if ends_tag else "")
        written.append(word + sign)
        if place in said.turn_ends:
            spoken.append(" ".join(written))
            written = []
    return tuple(spoken)


def spoken_words(turns: Sequence[str], times: Sequence[tuple[int, int]]) -> Iterator[Word]:
    """Yield the bare words of spoken turns, each turn's time shared out by letters."""
    for turn, (start_ms, end_ms) in zip(turns, times, strict=True):
        tokens = [token for token in turn.split() if bare_words(token)]
        lengths = [
            sum(map(str.isalnum, token)) + _LETTERS_A_WORD + (token[-1] in _MARKS) * _LETTERS_A_MARK for token in tokens
        ]
        ends = list(itertools.accumulate(lengths, initial=0))
        at_ms = [start_ms + (end_ms - start_ms) * end // ends[-1] for end in ends]
        for token, (start, end) in zip(tokens, itertools.pairwise(at_ms), strict=True):
            yield Word(text=" ".join(bare_words(token)), start_ms=start, end_ms=end)


def hear(dialogue: Dialogue, recogniser: WhisperBase | None, rng: random.Random) -> HeardDialogue:
    """Speak a dialogue and hear it. recogniser: None for the words as spoken."""
    kept = [place for place, turn in enumerate(dialogue.turns) if bare_words(turn)]
    turns = tuple(dialogue.turns[place] for place in kept)
    spoken = disfluent(turns, rng)
    pauses_ms = [round(_PAUSE_MEDIAN_MS * rng.lognormvariate(0, _PAUSE_SPREAD)) for _ in spoken]
    sound, times = spoken_turns(spoken, pauses_ms)
    words = spoken_words(spoken, times) if recogniser is None else recogniser.hear(sound)
    return HeardDialogue(
        name=dialogue.name,
        turns=turns,
        references=tuple(dialogue.references[place] for place in kept),
        spoken=spoken,
        times=tuple(times),
        words=tuple(words),
    )
