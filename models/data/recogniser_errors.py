"""A recogniser's errors drawn by rule: words taken for others that sound alike, swallowed, or heard twice over.

Training text is what people wrote down; what a worker reads is what a recogniser heard. Nothing here is learnt from the
benchmark's pair of a reference and its recognised text. The rates are those of a fair recogniser on talks (about one
word in ten); of ten errors six take another word, three swallow a short one, one hears a short one that was not said.

What sounds alike is told by a key: a word's consonants, voiced and unvoiced ones alike, behind a mark for a vowel at
its beginning. So "there" meets "their", "two" meets "too", and "walked" meets "walk" by the shortened key. How a
language's spelling sounds stands in its file (``Sounds``). For Chinese there is no rule: that wants a dictionary of
readings.
"""

from __future__ import annotations

import random
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from caesura.models.data.aligned_words import UNKNOWN, AlignedDocument
from caesura.schemas.labels import Disfluency, Punctuation

ERROR_RATE = 0.1
_SWALLOWED, _HEARD = 0.3, 0.1
_SHORT = 4
_VOICED = str.maketrans("bdgvzcqj", "ptkfskkk")
_BEGUN = {int(Disfluency.I_RM): int(Disfluency.B_RM), int(Disfluency.I_IM): int(Disfluency.B_IM)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Sounds:
    """How a language's spelling sounds.

    same: spellings, as patterns in order, and what is written for their sound. added: short words that a recogniser
    hears where nothing was said. word: what a whole word looks like.
    """

    same: tuple[tuple[str, str], ...] = ()
    added: tuple[str, ...]
    word: str = r"[^\W\d_]{2,}"


ENGLISH_SOUNDS = Sounds(
    same=(("ph", "f"), ("ght", "t"), ("kn", "n"), ("wr", "r"), ("ck", "k"), ("qu", "k"), ("tion", "sn"), ("x", "ks")),
    added=("a", "the", "and", "in", "to", "of", "is", "it", "i", "that"),
    word="[a-z]{2,}",
)


def sound_key(word: str, sounds: Sounds = ENGLISH_SOUNDS) -> str:
    """Return what a word shares with those that sound like it."""
    for spelled, sounded in sounds.same:
        word = re.sub(spelled, sounded, word)
    word = unicodedata.normalize("NFD", word)  # an accent is no letter
    consonants = re.sub(r"[^a-z]|[aeiouywh]", "", word.translate(_VOICED))
    return ("a" if word[:1] in "aeiou" else "") + re.sub(r"(.)\1+", r"\1", consonants)


class MisheardWords:
    """What each word may be taken for: those words of a vocabulary with its key, or with its key but for the end."""

    def __init__(self, vocabulary: Iterable[str], sounds: Sounds = ENGLISH_SOUNDS) -> None:
        """Take whole words from ``vocabulary``; pieces of words and names of pieces are passed over."""
        self._sounds = sounds
        self._alike: defaultdict[str, list[str]] = defaultdict(list)
        for word in filter(re.compile(sounds.word).fullmatch, vocabulary):
            self._alike[sound_key(word, sounds)].append(word)

    def taken_for(self, word: str, rng: random.Random) -> str:
        """Draw another word that sounds like it; the word itself where there is none."""
        key = sound_key(word, self._sounds)
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
                out.add(rng.choice(self._sounds.added), Punctuation.NONE, Disfluency.O)
        return out


@dataclass(frozen=True, slots=True)
class DocumentErrors:
    """A recogniser's errors in a share of some documents. rate: errors a word."""

    alike: MisheardWords
    share: float
    rate: float = ERROR_RATE

    def heard(self, documents: Iterable[AlignedDocument], *, seed: int) -> Iterator[AlignedDocument]:
        """Yield the documents, that share of them as a recogniser may have heard it; the same ones for a seed."""
        for document in documents:
            rng = random.Random(f"{seed} {document.name}")
            yield self.alike.heard(document, rng, rate=self.rate) if rng.random() < self.share else document
