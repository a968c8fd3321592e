"""Disfluencies inserted by rule into fluent text (CT-Transformer, section 4.1): where real labels are too few.

Three kinds of reparandum, with the lengths that conversation shows (mostly one or two words):

- a repetition of the words that follow, at function words above all, now and then broken off; never one that would be
  meant ("hours and hours and"), seldom one other word alone ("really really", "five five");
- a repair: the words that follow with one of them replaced; a number never without a cue or a filler;
- a restart: the beginning of another sentence, given up.

And interregna: filled pauses and a few discourse markers, alone or between reparandum and repair. Inserted words carry
no mark, so the marks stay where the fluent sentence has them.
"""

# ruff: noqa: SIM905 - a list of words reads best as words
from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from caesura.models.data.aligned_words import UNKNOWN, AlignedDocument
from caesura.models.data.chinese_numbers import CHINESE_NUMBER_SIGNS
from caesura.schemas.labels import Disfluency, Punctuation

FILLED_PAUSES = frozenset("uh um er erm uhm hmm umm uhh".split())
ANSWERS = frozenset(("uh huh", "uh oh", "uh uh", "nuh uh", "mm hmm", "mhm hmm", "hmm mm", "unh unh", "mm mm"))
"""Two sounds that are an answer or a warning together, though each may be a filled pause alone."""
FUNCTION_WORDS = frozenset(
    "i you we he she it they the a an this that these those and but so or if because to of in on at for with from by "
    "is are was were be do does did have has had will would can could should my your our his her their its it's i'm "
    "we're you're they're that's there there's what when where how who which as not i've we've i'll we'll just".split()
)


NUMBER_WORDS = frozenset(
    "zero oh one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand "
    "million billion".split()
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeechHabits:
    """What speakers of a language put in. Each filler has a weight beside it.

    shortest_broken: how many letters or characters a word has at least that is broken off.
    kept_unsaid: how many of its last ones a broken word lacks at least.
    number_words: words that are said twice in earnest, as digits. conjunction: stands between what is ("hours and
    hours").
    """

    filled_pauses: frozenset[str]
    function_words: frozenset[str]
    fillers: tuple[tuple[tuple[str, ...], int], ...]
    corrections: tuple[tuple[str, ...], ...]
    shortest_broken: int
    kept_unsaid: int
    number_words: frozenset[str] = NUMBER_WORDS
    conjunction: str = "and"

    def filler(self, rng: random.Random) -> tuple[str, ...]:
        """Draw a filler by its weight."""
        words, weights = zip(*self.fillers, strict=True)
        return rng.choices(words, weights)[0]  # type: ignore[no-any-return]


ENGLISH_SPEECH = SpeechHabits(
    filled_pauses=FILLED_PAUSES,
    function_words=FUNCTION_WORDS,
    fillers=(
        (("uh",), 34),
        (("um",), 34),
        (("er",), 7),
        (("erm",), 4),
        (("hmm",), 3),
        (("you", "know"), 9),
        (("i", "mean"), 7),
        (("uh", "you", "know"), 2),
    ),
    corrections=(("i", "mean"), ("no",), ("sorry",), ("or", "rather"), ("no", "wait"), ("uh",), ("um",), ("well",)),
    shortest_broken=4,
    kept_unsaid=2,
)
_OTHER_WORD_ALONE = 0.25
"""The share kept of repetitions of one word that is no function word: slips are seldom of that kind."""
_LENGTHS = (1, 2, 3, 4)
_LENGTH_WEIGHTS = (58, 27, 11, 4)

_Tagged = list[tuple[str, int]]


def is_meant_said_again(span: Sequence[str], habits: SpeechHabits = ENGLISH_SPEECH) -> bool:
    """Tell whether a span that stands twice is meant so: "hours and hours and ...", "and on and on"."""
    if len(span) != 2 or habits.conjunction not in span:
        return False
    other = span[1] if span[0] == habits.conjunction else span[0]
    return other == "on" or (other != "then" and other not in habits.function_words)


def _is_number(word: str, habits: SpeechHabits) -> bool:
    return word in habits.number_words or word.isdigit() or set(word) <= CHINESE_NUMBER_SIGNS


def insert_disfluencies(
    document: AlignedDocument, rng: random.Random, *, share: float, habits: SpeechHabits = ENGLISH_SPEECH
) -> AlignedDocument:
    """Return a copy in which about ``share`` of the sentences carry one or more inserted disfluencies."""
    out = AlignedDocument(document.corpus, document.name)
    starts = [*document.sentence_starts(), len(document.words)]
    openings = [document.words[s : s + 4] for s, e in pairwise(starts) if e - s > 3]
    for start, end in pairwise(starts):
        chosen = rng.random() < share
        for i in range(start, end):
            if chosen:
                for word, tag in _before(document, i, start, end, openings, rng, habits):
                    out.add(word, Punctuation.NONE, tag)
            out.add(document.words[i], document.punctuation[i], document.disfluency[i], document.casing[i])
            if i in document.turn_ends:
                out.turn_ends.add(len(out.words) - 1)
    return out


def _before(
    document: AlignedDocument,
    i: int,
    start: int,
    end: int,
    openings: Sequence[list[str]],
    rng: random.Random,
    habits: SpeechHabits,
) -> _Tagged:
    """Return the disfluent words to be put before word ``i``, mostly none."""
    word = document.words[i]
    chance = rng.random()
    eager = 1.0 if word in habits.function_words else 0.3
    if document.disfluency[i] not in (Disfluency.O, UNKNOWN):
        return []
    if chance < 0.055 * eager:
        return _repetition(document, i, end, rng, habits)
    if chance < 0.08 * eager and end - i > 2:
        return _repair(document, i, end, rng, habits)
    if i == start and 0.5 < chance < 0.54 and openings:
        return _restart(openings, rng, habits)
    filler_rate = 0.08 if i == start else 0.055 if document.punctuation[i - 1] == Punctuation.COMMA else 0.035
    if chance > 1 - filler_rate:
        return _interregnum(habits.filler(rng))
    return []


def _ahead(document: AlignedDocument, i: int, end: int, rng: random.Random) -> list[str]:
    """Return the next one to four words, no further than the next mark."""
    span: list[str] = []
    for j in range(i, min(end, i + rng.choices(_LENGTHS, _LENGTH_WEIGHTS)[0])):
        span.append(document.words[j])
        if document.punctuation[j] != Punctuation.NONE:
            break
    return span


def _repetition(document: AlignedDocument, i: int, end: int, rng: random.Random, habits: SpeechHabits) -> _Tagged:
    span = _ahead(document, i, end, rng)
    if any(_is_number(word, habits) for word in span):  # "five five two" is a number: it has no slip without a cue
        return []
    if is_meant_said_again(span, habits):
        span.pop()
    if rng.random() < 0.15 and len(span[-1]) >= habits.shortest_broken:
        span[-1] = span[-1][: rng.randint(1, len(span[-1]) - habits.kept_unsaid)]
    elif len(span) == 1 and span[0] not in habits.function_words and rng.random() > _OTHER_WORD_ALONE:
        return []
    if rng.random() < 0.08 and len(span) == 1:
        span = span * 2
    return _reparandum(span) + (_interregnum(habits.filler(rng)) if rng.random() < 0.2 else [])


def _repair(document: AlignedDocument, i: int, end: int, rng: random.Random, habits: SpeechHabits) -> _Tagged:
    span = _ahead(document, i, end, rng)
    place = len(span) - 1 if rng.random() < 0.7 else rng.randrange(len(span))
    as_function_word = span[place] in habits.function_words
    for _ in range(20):
        other = rng.choice(document.words)
        if (
            other != span[place]
            and (other in habits.function_words) == as_function_word
            and other not in habits.filled_pauses
        ):
            span[place] = other
            break
    cued = any(_is_number(word, habits) for word in span) or rng.random() < 0.4
    return _reparandum(span) + (_interregnum(rng.choice(habits.corrections)) if cued else [])


def _restart(openings: Sequence[list[str]], rng: random.Random, habits: SpeechHabits) -> _Tagged:
    span = rng.choice(openings)[: rng.randint(1, 4)]
    return _reparandum(span) + (_interregnum(habits.filler(rng)) if rng.random() < 0.3 else [])


def _reparandum(words: Sequence[str]) -> _Tagged:
    return [(word, Disfluency.I_RM if k else Disfluency.B_RM) for k, word in enumerate(words)]


def _interregnum(words: Sequence[str]) -> _Tagged:
    return [(word, Disfluency.I_IM if k else Disfluency.B_IM) for k, word in enumerate(words)]
