"""Joins a tag question to its statement: "it's cold, isn't it?", "you haven't seen it, have you?", "right?".

1. An auxiliary with "n't" and its pronoun, alone in a question, gets a comma before it if a statement comes before.
2. One without "n't" gets it if the statement has the same pronoun and "not", "never" or "nobody".
3. So does one word that asks for assent ("right?"), and "shall we" after "let's".
"""

from __future__ import annotations

from collections.abc import Sequence

from caesura.schemas.labels import COMMAS, SENTENCE_ENDS, Punctuation
from caesura.worker.core.language.normalisation import word_set

_AUXILIARIES = word_set("is are was were do does did have has had can could will would should must am shall")
_NEGATED = word_set(
    """isn't aren't wasn't weren't don't doesn't didn't haven't hasn't hadn't can't couldn't won't wouldn't shouldn't
    mustn't ain't"""
)
_PRONOUNS = word_set("i you he she it we they there")
_ASKS = _AUXILIARIES | _NEGATED | word_set("what when where who whom whose which why how what's where's who's how's")
_LINKS = _ASKS | word_set("and but or so if because that than well oh no yes yeah then to")
_NEGATIVE_WORDS = word_set("not never nobody none nothing hardly")
_ASSENT = word_set("right correct okay ok huh eh")
_MOST_WORDS = 24
"""So many words of a statement are read before a question behind it."""


def mark_tag_questions(words: Sequence[str], marks: bytearray, first: int) -> None:
    """Set a comma before each question that belongs to a statement, from the word ``first`` on, in place.

    words: the model's view of each word of a buffer. marks: of its first words.
    """
    for place in range(first + 1, len(marks)):
        if marks[place] != Punctuation.QUESTION:
            continue
        for before in (place - 1, place - 2):
            if before >= first and _belongs(words, marks, before, place):
                marks[before] = Punctuation.COMMA.value


def _belongs(words: Sequence[str], marks: bytearray, last: int, end: int) -> bool:
    """Tell whether the words behind ``last`` up to ``end`` ask about the statement that ends at ``last``."""
    asked = list(words[last + 1 : end + 1])
    if marks[last] in COMMAS or words[last] in _LINKS or any(marks[last + 1 : end]):
        return False
    begin = last
    while begin and last - begin < _MOST_WORDS and marks[begin - 1] not in SENTENCE_ENDS:
        begin -= 1
    statement = words[begin : last + 1]
    if len(statement) == 1 or statement[0] in _ASKS:
        return False
    if len(asked) == 1:
        return asked[0] in _ASSENT and marks[last] in SENTENCE_ENDS
    auxiliary, pronoun = asked
    if pronoun not in _PRONOUNS:
        return False
    if auxiliary in _NEGATED:
        return True
    denied = any(word in _NEGATIVE_WORDS or word in _NEGATED for word in statement)
    subject = statement[0].partition("'")[0]
    same = subject == pronoun or (subject == "nobody" and pronoun == "they") or subject in ("this", "that")
    return (auxiliary in _AUXILIARIES and denied and same) or (statement[0] == "let's" and auxiliary == "shall")
