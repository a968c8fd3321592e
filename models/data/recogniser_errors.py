"""A recogniser's errors drawn by rule: words taken for others that sound alike, swallowed, or heard twice over.

Training text is what people wrote down; what a worker reads is what a recogniser heard. Nothing here is learnt from the
benchmark's pair of a reference and its recognised text. The rates are those of a fair recogniser on talks (about one
word in ten); of ten errors six take another word, three swallow a short one, one hears a short one that was not said.

What sounds alike is told by a key: a word's consonants, voiced and unvoiced ones alike, behind a mark for a vowel at
its beginning. So "there" meets "their", "two" meets "too", and "walked" meets "walk" by the shortened key. For Chinese
there is no rule: that wants a dictionary of readings.
"""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Sequence

from caesura.models.data.aligned_words import UNKNOWN, AlignedDocument
from caesura.schemas.labels import Disfluency, Punctuation

ERROR_RATE = 0.1
_SWALLOWED, _HEARD = 0.3, 0.1
_SHORT = 4
_ADDED = ("a", "the", "and", "in", "to", "of", "is", "it", "i", "that")
_WHOLE_WORD = re.compile(r"[a-z]{2,}")
_SAME = (("ph", "f"), ("ght", "t"), ("kn", "n"), ("wr", "r"), ("ck", "k"), ("qu", "k"), ("tion", "sn"), ("x", "ks"))
_VOICED = str.maketrans("bdgvzcqj", "ptkfskkk")
_BEGUN = {int(Disfluency.I_RM): int(Disfluency.B_RM), int(Disfluency.I_IM): int(Disfluency.B_IM)}


def sound_key(word: str) -> str:
    """Return what a word shares with those that sound like it."""
    for spelled, sounded in _SAME:
        word = word.replace(spelled, sounded)
    consonants = re.sub(r"[^a-z]|[aeiouywh]", "", word.translate(_VOICED))
    return ("a" if word[:1] in "aeiou" else "") + re.sub(r"(.)\1+", r"\1", consonants)


class MisheardWords:
    """What each word may be taken for: those words of a vocabulary with its key, or with its key but for the end."""

    def __init__(self, vocabulary: Sequence[str]) -> None:
        """Take whole words from ``vocabulary``; pieces of words and names of pieces are passed over."""
        self._alike: defaultdict[str, list[str]] = defaultdict(list)
        for word in filter(_WHOLE_WORD.fullmatch, vocabulary):
            self._alike[sound_key(word)].append(word)

    def taken_for(self, word: str, rng: random.Random) -> str:
        """Draw another word that sounds like it; the word itself where there is none."""
        key = sound_key(word)
        for at in filter(None, (key, key[:-1])):
            if alike := [other for other in self._alike.get(at, ()) if other != word]:
                return rng.choice(alike)
        return word

    def heard(self, document: AlignedDocument, rng: random.Random, *, rate: float = ERROR_RATE) -> AlignedDocument:
        """Return a copy as a recogniser may have heard it; ``rate``: errors a word.

        The mark of a word that was swallowed goes to the word before it, unless that has one; a word that was added has
        neither mark nor tag. A turn's last word is never swallowed.
        """
        out = AlignedDocument(document.corpus, document.name)
        labels = zip(document.words, document.punctuation, document.disfluency, document.casing, strict=True)
        begins = False
        for place, (word, mark, tag, casing) in enumerate(labels):
            kind = rng.random() if rng.random() < rate else 1.0
            ends_turn = place in document.turn_ends
            if kind < _SWALLOWED and len(word) <= _SHORT and not ends_turn and out.words:
                begins = begins or tag in _BEGUN.values()
                if out.punctuation[-1] == Punctuation.NONE and mark != UNKNOWN:
                    out.punctuation[-1] = mark
                continue
            said = self.taken_for(word, rng) if _SWALLOWED + _HEARD <= kind < 1 else word
            out.add(said, mark, _BEGUN.get(tag, tag) if begins else tag, casing if said == word else UNKNOWN)
            begins = False
            if ends_turn:
                out.turn_ends.add(len(out.words) - 1)
            elif _SWALLOWED <= kind < _SWALLOWED + _HEARD and mark == Punctuation.NONE and tag == Disfluency.O:
                out.add(rng.choice(_ADDED), Punctuation.NONE, Disfluency.O)
        return out
