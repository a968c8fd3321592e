"""Cuts a growing run of Chinese characters into words; a word comes out as soon as later characters cannot change it.

The words are those of the cheapest path through the dictionary, as in jieba without its hidden Markov model. The best
path to a position depends only on the characters before it. After n characters the final path goes either through n
itself, or through the start of a longer word that may extend beyond n. The words that the best paths to all these
positions have in common are settled: exactly these.

An open tail is limited: at ``max_held_characters`` the first word of the present best path is settled. Each rule is
applied character by character, so the grouping of the input has no effect.
"""

from __future__ import annotations

from caesura.worker.core.language.dictionary import LONGER, WORD, Dictionary

MAX_HELD_CHARACTERS = 32
"""Twice the longest word in jieba's dictionary, so that one such word is always found whole."""


class RunningCut:
    """One run of characters on its way into words; ``held`` is the tail that is still open."""

    __slots__ = ("_best", "_dictionary", "_max_held", "_open", "_start_of", "_tail")

    def __init__(self, dictionary: Dictionary, *, max_held_characters: int = MAX_HELD_CHARACTERS) -> None:
        self._dictionary = dictionary
        self._max_held = max_held_characters
        self._restart()

    @property
    def held(self) -> str:
        """Return the characters that are in no word yet."""
        return self._tail

    def add(self, character: str) -> list[str]:
        """Take one more character; return the words settled by it."""
        self._extend(character)
        words = self._settled(self._meeting_point())
        while len(self._tail) >= self._max_held:
            tail, first = self._tail, self._path(len(self._tail))[0]
            words.append(tail[:first])
            self._restart()
            for rest in tail[first:]:
                self._extend(rest)
            words += self._settled(self._meeting_point())
        return words

    def flush(self) -> list[str]:
        """End the run: settle the tail as it stands."""
        words = self._settled(len(self._tail))
        self._restart()
        return words

    def _restart(self) -> None:
        self._tail = ""
        self._best = [0]  # cost of the cheapest path to each position of the tail
        self._start_of = [0]  # where the last word of that path starts
        self._open: list[int] = []  # positions from which the tail is the beginning of a longer word

    def _extend(self, character: str) -> None:
        """Find the cheapest path to the new end; of paths that cost the same, the one with the longest last word."""
        entries_of = self._dictionary.entries_of
        self._tail += character
        end = len(self._tail)
        best, start = -1, end - 1
        still_open = []
        for position in (*self._open, end - 1):
            entry = entries_of(self._tail[position]).get(self._tail[position:], 0)
            if entry & LONGER:
                still_open.append(position)
            if entry & WORD or position == end - 1:
                cost = self._best[position] + (
                    Dictionary.cost(entry) if entry & WORD else self._dictionary.unknown_cost
                )
                if best < 0 or cost < best:
                    best, start = cost, position
        self._best.append(best)
        self._start_of.append(start)
        self._open = still_open

    def _meeting_point(self) -> int:
        """Return the last position that every path still possible comes through."""
        positions = {len(self._tail), *self._open}
        while len(positions) > 1:
            furthest = max(positions)
            positions.remove(furthest)
            positions.add(self._start_of[furthest])
        return positions.pop()

    def _path(self, end: int) -> list[int]:
        """Return the ends of the words on the best path to ``end``, in order."""
        ends = []
        while end > 0:
            ends.append(end)
            end = self._start_of[end]
        return ends[::-1]

    def _settled(self, end: int) -> list[str]:
        """Take the words up to ``end``, through which every path goes from now on, off the tail."""
        if end == 0:
            return []
        words, start = [], 0
        for word_end in self._path(end):
            words.append(self._tail[start:word_end])
            start = word_end
        self._tail = self._tail[end:]
        self._best = [cost - self._best[end] for cost in self._best[end:]]
        self._start_of = [max(0, position - end) for position in self._start_of[end:]]
        self._open = [position - end for position in self._open]
        return words
