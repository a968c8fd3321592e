"""How a text is labelled that is at hand as a whole: as a stream, or in chunks of it."""

from __future__ import annotations

from dataclasses import dataclass

from caesura.models.decoding.overlapping_chunks import Chunk, Cut, split

_WORDS_BEFORE = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoding:
    """One way, and how it cuts a text. Without a cut the text is a stream, labelled as the worker labels one."""

    name: str
    cut: Cut | None = None


def offline_chunks(words: int) -> list[Chunk]:
    """Return chunks of 200 words of a text of so many, in which the 35 before and the 15 after are context only."""
    return split(words, chunk=200, window=150, min_words_cut=15)


STREAMING = Decoding(name="streaming")
OFFLINE = Decoding(name="offline", cut=offline_chunks)


def ahead(known: int) -> Decoding:
    """Return the way that labels each word in a chunk of its own, with so many words known after it and 64 before.

    A network that sees all it is given so says what sight of that many words is worth, whatever network has it.
    """

    def cut(words: int) -> list[Chunk]:
        return [
            Chunk(start=max(place - _WORDS_BEFORE, 0), end=min(place + 1 + known, words), first=place, last=place + 1)
            for place in range(words)
        ]

    return Decoding(name=f"{known} ahead", cut=cut)
