"""Calls of our own making: short turns, greetings, numbers read out, repairs, words doubled in earnest.

What people say on the telephone hardly stands in edited text, so a network trained on it alone stops where a turn is
short, or reads a telephone number as sentences. Here calls are made by a grammar: ``frames.txt`` holds the sentences
by what they do, ``words.txt`` what is drawn into them, ``call_numbers`` numbers and addresses. The notation
is ``frame_notation``'s; a sentence begins small unless its first word is always a capital, so the
case of every word is known. ``kinds.txt`` holds what a labeller confuses (a sum and a repair, "you know" in a
relative clause, "uh huh", words doubled on purpose), each kind as often as another: the corpus ``kinds``.
No turn has a run of five words that stands in the regression list or in the demo's
script, which say whether what is learnt goes beyond the frames: ``kept_out.txt`` holds the hashes of those runs.
"""

from __future__ import annotations

import random
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import pairwise
from pathlib import Path

from caesura.models.data.aligned_words import UNKNOWN, AlignedDocument
from caesura.models.data.call_numbers import NUMBERS
from caesura.models.data.disfluencies import FUNCTION_WORDS
from caesura.models.data.frame_notation import CHOICE, bare, word_tags
from caesura.models.data.marks import read_marks
from caesura.schemas.labels import Disfluency, Punctuation
from caesura.worker.core.language.casing import casing_of
from caesura.worker.core.language.normalisation import model_view

KEPT_OUT = Path(__file__).parent / "kept_out.txt"
"""A CRC-32 a line, in hexadecimal: one of each run of five words that no call may hold."""

_LINES_KEPT_OUT = Path(__file__).parent / "kept_out_lines.txt"
"""The same of an evaluation set that is no part of this repository: of its runs, and of its lines that are shorter."""

_FOLDER = Path(__file__).parent
_SLOT = re.compile(r"<(\w+)(\.small)?>")
_ACTS = {"greet": 9, "answer": 26, "ask": 18, "tell": 22, "number": 14, "repair": 9, "earnest": 8}
_PAUSES = ("uh", "uh", "um", "um", "er", "erm", "you know", "i mean", "like", "well", "so")
_DISFLUENT_SHARE = 0.22
_SELDOM = 0.08
_RUN = 5
_CALLS = 4700  # about 1.5 million words


@dataclass(frozen=True, slots=True, kw_only=True)
class SaidWord:
    """A word in the model's view with its labels (numbers of ``labels``); casing None where none is known."""

    view: str
    mark: int
    tag: int
    casing: int | None


def frames() -> dict[str, list[str]]:
    """Return the frames of ``calls`` by what they do in a call."""
    return sections("frames.txt")


def kinds() -> dict[str, list[str]]:
    """Return the frames of ``kinds``, by kind."""
    return sections("kinds.txt")


@lru_cache
def sections(name: str) -> dict[str, list[str]]:
    """Return the lines of a file of this folder, by the heading that they stand under."""
    acts: dict[str, list[str]] = {}
    for line in _lines(name):
        if line.startswith("#"):
            act = acts.setdefault(line.strip("# "), [])
        else:
            act.append(line)
    return acts


@lru_cache(maxsize=1)
def _words() -> dict[str, list[str]]:
    return slot_words(line for line in _lines("words.txt") if not line.startswith("#"))


def slot_words(lines: Iterable[str]) -> dict[str, list[str]]:
    """Return the words of each slot, from lines such as ``day: Monday | Tuesday``."""
    slots = (line.split(":", 1) for line in lines)
    return {name: [word.strip() for word in words.split("|")] for name, words in slots}


def _lines(name: str) -> list[str]:
    return [line for line in (_FOLDER / name).read_text(encoding="utf-8").splitlines() if line.strip()]


@lru_cache(maxsize=1)
def _kept_out() -> frozenset[str]:
    return frozenset(word for path in (KEPT_OUT, _LINES_KEPT_OUT) for word in path.read_text(encoding="utf-8").split())


def run_hashes(words: Sequence[str]) -> set[str]:
    """Return the hashes of the runs of five words in ``words``, views each."""
    runs = (" ".join(words[start : start + _RUN]) for start in range(len(words) - _RUN + 1))
    return {f"{zlib.crc32(run.encode()):08x}" for run in runs}


def call_documents(*, documents: int = _CALLS) -> Iterator[AlignedDocument]:
    """Yield each call as a document; the same ones every time."""
    yield from _documents("calls", calls(documents))


def kind_documents(*, documents: int = _CALLS) -> Iterator[AlignedDocument]:
    """Yield documents of turns of one or two sentences of any kind; the same ones every time."""
    yield from _documents("kinds", _kind_turns(documents))


def _kind_turns(count: int) -> Iterator[list[list[SaidWord]]]:
    for number in range(count):
        rng = random.Random(f"kinds {number}")
        yield [_kept_in(rng, _drawn_kinds) for _ in range(rng.randint(12, 30))]


def _drawn_kinds(rng: random.Random) -> list[SaidWord]:
    drawn = (rng.choice(kinds()[rng.choice([*kinds()])]) for _ in range(rng.choice((1, 1, 1, 2))))
    return [word for frame in drawn for word in sentence(frame, rng, slips=_SELDOM)]


def _documents(corpus: str, calls: Iterator[list[list[SaidWord]]]) -> Iterator[AlignedDocument]:
    for number, call in enumerate(calls):
        document = AlignedDocument(corpus, f"{corpus}-{number}")
        for turn in call:
            for word in turn:
                document.add(word.view, word.mark, word.tag, UNKNOWN if word.casing is None else word.casing)
            document.turn_ends.add(len(document.words) - 1)
        yield document


def calls(count: int, *, first: int = 0) -> Iterator[list[list[SaidWord]]]:
    """Yield calls number ``first`` and on as lists of turns; a call is the same every time."""
    for number in range(first, first + count):
        rng = random.Random(f"call {number}")
        yield [_kept_in(rng, partial(_drawn, opening=place == 0)) for place in range(rng.randint(12, 30))]


def _kept_in(rng: random.Random, draw: Callable[[random.Random], list[SaidWord]]) -> list[SaidWord]:
    """Return one turn that holds nothing that is kept out."""
    while True:
        turn = draw(rng)
        if not run_hashes([word.view for word in turn]) & _kept_out() and not _short_hashes(turn) & _kept_out():
            return turn


def _short_hashes(turn: Sequence[SaidWord]) -> set[str]:
    """Return the hashes of the sentences of two to four words in ``turn``."""
    ends = [place for place, word in enumerate(turn) if Punctuation(word.mark).ends_sentence]
    sentences = [turn[end + 1 : stop + 1] for end, stop in pairwise([-1, *ends])]
    said = (" ".join(word.view for word in one) for one in sentences if 1 < len(one) < _RUN)
    return {f"{zlib.crc32(line.encode()):08x}" for line in said}


def _drawn(rng: random.Random, *, opening: bool) -> list[SaidWord]:
    """Return one to five sentences, each of its own kind."""
    turn: list[SaidWord] = []
    for place in range(rng.choice((1, 1, 1, 2, 2, 3, 3, 4, 5))):
        act = "greet" if opening and place == 0 else rng.choices([*_ACTS], [*_ACTS.values()])[0]
        turn += sentence(rng.choice(frames()[act]), rng)
    return turn


def sentence(frame: str, rng: random.Random, *, slips: float = _DISFLUENT_SHARE) -> list[SaidWord]:
    """Return what a frame says when its choices are made and its slots are filled; ``slips``: the share with slips."""
    filled = _filled(frame, rng)
    tokens = [token for token in bare(filled).split() if model_view(token)]
    read = zip(read_marks(" ".join(tokens)), word_tags(filled), tokens, strict=True)
    words = [SaidWord(view=word.view, mark=word.mark, tag=tag, casing=casing_of(token)) for word, tag, token in read]
    return _with_slips(words, rng) if rng.random() < slips else words


def _filled(frame: str, rng: random.Random) -> str:
    """Make the choices, fill the slots, and do so with what they held, until none is left; no word is drawn twice."""
    taken: set[str] = set()

    def drawn(slot: re.Match[str]) -> str:
        made = NUMBERS.get(slot[1])
        words = _words().get(slot[1], ())
        for _ in range(20):
            word = made(rng) if made else rng.choice(words)
            if word not in taken:
                break
        taken.add(word)
        return word.lower() if slot[2] else word

    while _SLOT.search(frame) or CHOICE.search(frame):
        frame = CHOICE.sub(lambda choice: rng.choice(choice[1].split("|")), frame, count=1)
        if not CHOICE.search(frame):
            frame = _SLOT.sub(drawn, frame)
    frame = re.sub(r"\{\s*\}", "", frame)
    frame = re.sub(r"\s+", " ", frame)
    return re.sub(r"([.?,])(?:\s*[.?,])+", r"\1", re.sub(r"\s([.?,])", r"\1", frame)).strip()


def _with_slips(words: list[SaidWord], rng: random.Random) -> list[SaidWord]:
    """Return the words with a filled pause, or with words said twice by mistake, before some of them."""
    out: list[SaidWord] = []
    for place, word in enumerate(words):
        if word.tag == Disfluency.O and rng.random() < (0.16 if place == 0 else 0.05):
            out += _slip(words[place : place + 3], rng)
        out.append(word)
    return out


def _slip(ahead: list[SaidWord], rng: random.Random) -> list[SaidWord]:
    said = ahead[: rng.choice((1, 1, 1, 2, 2, 3))]
    again = ahead[0].view in FUNCTION_WORDS and all(word.tag == 0 and word.mark == 0 for word in said)
    slip: list[SaidWord] = []
    if again and rng.random() < 0.55:
        slip = [_slipped(word.view, Disfluency.B_RM, place, word.casing) for place, word in enumerate(said)]
    if not slip or rng.random() < 0.25:
        slip += [_slipped(view, Disfluency.B_IM, place, 1) for place, view in enumerate(rng.choice(_PAUSES).split())]
    return slip


def _slipped(view: str, begin: Disfluency, place: int, casing: int | None) -> SaidWord:
    if view == "i":
        casing = 2
    return SaidWord(view=view, mark=Punctuation.NONE, tag=begin + (place > 0), casing=casing)
