"""Made-up talks for the measures of decoding, which need no network."""

from __future__ import annotations

import random

from caesura.models.data.aligned_words import AlignedDocument


def talk(words: int, *, seed: int) -> AlignedDocument:
    """Return words of one document, about every eighth with a full stop; the tags are unknown."""
    rng = random.Random(seed)
    document = AlignedDocument("made up", f"talk {seed}")
    for number in range(words):
        document.add(f"w{rng.randint(0, 99)}", 2 if number % 8 == 7 else 0, -1)
    return document
