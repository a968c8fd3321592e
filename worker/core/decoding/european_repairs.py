"""German, Spanish and French: finds plain repetitions that a model does not tag.

Training text of these languages is edited speech with slips inserted by rule, so a network misses most slips of
everyday talk. Rules:

1. A filled pause goes, however it is spelled: "ähhh", "euuh", "emmm". German and Spanish "eh" may be a word.
2. Up to four words that are repeated after a filled pause go, unless they are doubled on purpose: "öffne äh öffne". So
   does the beginning of a word that follows whole after one: "sig äh signal".
3. If a word that no phrase has twice in a row is repeated, one copy goes: "im im", "pour pour". The same holds for two
   or three words, if the first begins a phrase and the last ends none: "in der in der". A mark between them keeps both.
4. An article or a possessive before another of its kind goes: "ein eine", "ma mon", "el la". So does a French word
   before its short form: "je j'aimerais".
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from caesura.schemas.labels import Disfluency
from caesura.worker.core.decoding.unfrozen_tags import IN_FILLER, OUT
from caesura.worker.core.language.normalisation import word_set

EMPHATIC: Mapping[str, frozenset[str]] = {
    "de": word_set("sehr ja nein doch nie immer viel gut bitte danke hallo lange weit"),
    "es": word_set("muy ya no sí bien nunca siempre mucho poco casi gracias hola lejos"),
    "fr": word_set("très oui non si jamais toujours bien trop merci allô loin"),
}
"""What may be said twice on purpose, and seldom is by mistake."""

_PAUSES: Mapping[str, re.Pattern[str]] = {
    "de": re.compile(r"[äö]+h+m*|[äö]+h*m+|e+h+m+|e+(?:h{2,}|m{2,})|[ua]u*h+m+"),
    "es": re.compile(r"e+h+m+|e+(?:h{2,}|m{2,})|[ua]u*h+m+"),
    "fr": re.compile(r"h?e+u+h+m*|he+u+|e+uu+|[ua]u*h+m+|u+m+h*|e+h+m+"),
}
_ONCE: Mapping[str, frozenset[str]] = {
    "de": word_set(
        """ein eine einen einem einer eines kein keine keinen keinem keiner mein meine meinen meinem meiner dein deine
        deinen deinem deiner seine seinen seinem seiner unser unsere unseren unserem unserer im am vom zum zur beim ins
        von für in dass weil wenn ich er wir man"""
    ),
    "es": word_set("el los las un una unos unas mi su mis tus sus del al de en con por se me te le lo a"),
    "fr": word_set(
        """un une des du au aux mon ma mes ton ta tes sa ses notre votre cet cette ces à de dans sur pour par avec sans
        mais je tu il on ils"""
    ),
}
_OPEN: Mapping[str, frozenset[str]] = {
    "de": _ONCE["de"] - word_set("ich er wir man") | word_set("der die das den dem des"),
    "es": _ONCE["es"] - word_set("se me te le lo") | word_set("la que"),
    "fr": _ONCE["fr"] - word_set("je tu il on ils") | word_set("le la les que"),
}
"""Words that end no phrase."""

_WHOLE: Mapping[str, frozenset[str]] = {
    "de": word_set("mit auf aus vor nach über unter was wer wie war ist hat nur aber als dann das da so an"),
    "es": word_set("para pero como más sin sobre entre que está si"),
    "fr": word_set("pas plus comme mais si en ça est"),
}
"""Words that are seldom the beginning of the next one, although it begins with them."""

_SHORT = {word: word[:-1] + "'" for word in ("je", "de", "que", "le", "la", "ce", "ne", "se", "me", "te")}
_KINDS: Mapping[str, Sequence[frozenset[str]]] = {
    "de": [
        word_set(" ".join(stem + ending for ending in ("", "e", "en", "em", "er", "es")))
        for stem in ("ein", "kein", "mein", "dein")
    ],
    "es": [word_set("un una unos unas"), word_set("el la los las"), word_set("mi mis"), word_set("su sus")],
    "fr": [
        word_set("un une"),
        word_set("mon ma mes"),
        word_set("ton ta tes"),
        word_set("sa ses"),
        word_set("le la les"),
    ],
}
ARTICLES = {language: frozenset().union(*kinds) for language, kinds in _KINDS.items()}
"""Articles and possessives; some of them are number words as well."""

_DEFINITE = word_set("der die das den dem")
_MOST_WORDS, _MOST_UNPAUSED, _LEAST_LETTERS, _MORE_LETTERS = 4, 3, 2, 2


def tag_european_repairs(
    words: Sequence[str], tags: bytearray, marks: Sequence[int], start: int, language: str
) -> None:
    """Tag filled pauses and what was said anew, from the word ``start`` on, in place.

    words: the model's view of each word of a buffer. tags, marks: of its first words, as a model gave them. language:
    one of ``european_numbers.EUROPEAN``.
    """
    pause = _PAUSES[language]
    for place in range(start, len(tags)):
        if tags[place] == OUT and pause.fullmatch(words[place]):
            tags[place] = Disfluency.B_IM
    for place in range(start, len(tags)):
        if tags[place] == OUT and (count := _said_anew(words, tags, marks, place, language)):
            tags[place : place + count] = bytes((Disfluency.B_RM, *(Disfluency.I_RM,) * (count - 1)))


def _said_anew(words: Sequence[str], tags: bytearray, marks: Sequence[int], place: int, language: str) -> int:
    """Return how many words from ``place`` on the speaker replaced by what follows; 0: none."""
    for count in range(1, _MOST_WORDS + 1):
        end = again = place + count
        if tags[end - 1 : end] != bytes((OUT,)):
            break
        while again < len(tags) and tags[again] in IN_FILLER:
            again += 1
        if again >= len(words):
            break
        said, paused = list(words[place:end]), again > end
        repeated = said == list(words[again : again + count])
        if paused and repeated:
            return 0 if EMPHATIC[language].issuperset(said) else count
        if not paused and marks[end - 1]:
            continue
        if repeated and count <= _MOST_UNPAUSED and _is_begun(said, language):
            return count
        if count == 1 and _is_replaced(words, place, again, paused=paused, language=language):
            return 1
    return 0


def _is_begun(said: Sequence[str], language: str) -> bool:
    """Tell whether words that are said twice begin a phrase and do not end it."""
    once, unended = _ONCE[language], _OPEN[language]
    return said[0] in once if len(said) == 1 else said[0] in once | unended and said[-1] in unended


def _is_replaced(words: Sequence[str], place: int, again: int, *, paused: bool, language: str) -> bool:
    """Tell whether a word is an article before another, or the beginning of the word that follows a pause."""
    word, behind = words[place], words[again]
    if word != behind and any(word in kind and behind in kind for kind in _KINDS[language]):
        return place == 0 or words[place - 1] not in _DEFINITE
    if language == "fr" and word in _SHORT and behind.startswith(_SHORT[word]):
        return True
    whole = paused and len(word) >= _LEAST_LETTERS and len(behind) - len(word) >= _MORE_LETTERS
    return whole and behind.startswith(word) and word not in _OPEN[language] | EMPHATIC[language] | _WHOLE[language]
