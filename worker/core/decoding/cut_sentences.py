"""Joins a sentence that a model cuts in two: "she asked, where is it?", "sit down, everyone", "he left now".

Rules:

1. A pronoun with a verb of saying, alone in a sentence, gets a comma before the speech; "asked" before a question.
2. A lone word of address gets a comma before and after it, unless it answers a question.
3. A lone word for a time after a statement belongs to the statement.
4. "no idea" has no mark before the words that ask ("no idea who broke it").
5. "when I say X" has a comma before "I mean"; "by X" has none.
6. "why not", "so what" and the like are questions if they are a whole sentence.
"""

from __future__ import annotations

from collections.abc import Sequence

from caesura.schemas.labels import SENTENCE_ENDS, Punctuation
from caesura.worker.core.language.normalisation import word_set

_NONE, _COMMA = Punctuation.NONE.value, Punctuation.COMMA.value
_PERIOD, _QUESTION = Punctuation.PERIOD.value, Punctuation.QUESTION.value
_PRONOUNS, _OBJECTS = word_set("i he she we they"), word_set("me him her us them")
_SAYS, _ASKS = word_set("said says"), word_set("asked asks")
_ADDRESS = word_set("everyone everybody guys folks sir madam ma'am mom mum dad mommy mummy daddy grandma grandpa")
_TIMES = word_set("now today tonight tomorrow yesterday again")
_ASKING = word_set("who what where why how whose which")
_WHEN, _SAY, _MEAN = word_set("when if"), word_set("say said"), word_set("mean meant")
_ELLIPTICAL = frozenset(
    tuple(phrase.split())
    for phrase in ("why not", "and then", "so what", "now what", "then what", "what else", "who else", "oh really")
)
_MOST_WORDS = 24
"""So many words of a sentence are read at most."""
_DEFINED_WORDS = 4


def join_cut_sentences(words: Sequence[str], marks: bytearray, first: int) -> None:
    """Change the marks that cut a sentence in two, and of questions of two words, from the word ``first`` on, in place.

    words: the model's view of each word of a buffer. marks: of its first words.
    """
    begin = first
    while begin and first - begin < _MOST_WORDS and marks[begin - 1] not in SENTENCE_ENDS:
        begin -= 1
    for place in range(first, len(marks)):
        if words[place] in _MEAN and place - 2 >= first and words[place - 1] == "i":
            _mark_definition(words, marks, place - 2)
        if marks[place] not in SENTENCE_ENDS:
            continue
        sentence = tuple(words[begin : place + 1])
        if sentence in _ELLIPTICAL:
            marks[place] = _QUESTION
        elif marks[place] == _PERIOD:
            end = next((at for at in range(place + 1, len(marks)) if marks[at] in SENTENCE_ENDS), len(marks) - 1)
            answers = begin > 0 and marks[begin - 1] == _QUESTION
            marks[place] = _joint(sentence, words[place + 1 : end + 1], marks[end], answers=answers)
        if marks[place] in SENTENCE_ENDS:
            begin = place + 1


def _joint(sentence: Sequence[str], behind: Sequence[str], mark: int, *, answers: bool) -> int:
    """Return the mark between a statement and the sentence behind it, of which ``mark`` is the last mark."""
    if not behind:
        return _PERIOD
    verb = sentence[1:2] if sentence[2:] in ((), *((word,) for word in _OBJECTS)) else ()
    if sentence[0] in _PRONOUNS and verb and (verb[0] in _SAYS or (verb[0] in _ASKS and mark == _QUESTION)):
        return _COMMA
    lone = len(behind) == 1 and mark == _PERIOD and behind[0] not in sentence
    if (len(sentence) == 1 and sentence[0] in _ADDRESS and not answers) or (lone and behind[0] in _ADDRESS):
        return _COMMA
    belongs = lone and len(sentence) > 1 and behind[0] in _TIMES
    asks = tuple(sentence[-2:]) == ("no", "idea") and behind[0] in _ASKING and mark == _PERIOD
    return _NONE if belongs or asks else _PERIOD


def _mark_definition(words: Sequence[str], marks: bytearray, last: int) -> None:
    """Set the mark of the word ``last``, before "I mean", where it ends "when I say X" or "by X"."""
    begin = last
    while begin and last - begin < _DEFINED_WORDS and marks[begin - 1] not in SENTENCE_ENDS:
        begin -= 1
    if begin and marks[begin - 1] not in SENTENCE_ENDS:
        return
    if words[begin] == "by" and begin < last:
        marks[last] = _NONE
    elif words[begin] in _WHEN and words[begin + 1] == "i" and words[begin + 2] in _SAY and begin + 2 < last:
        marks[last] = _COMMA
