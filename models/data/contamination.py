"""The contamination check: no document that shares text with a test set is trained on.

A document that shares more than ``MAX_SHARED`` distinct 12-grams of words with a test set is dropped; shorter
overlaps are counted and reported.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

__all__ = ["MAX_SHARED", "SharedText", "ngrams"]

MAX_SHARED = 3
_N = 12


def ngrams(words: Sequence[str]) -> set[int]:
    """Return the hashes of the distinct 12-grams of ``words``."""
    return {hash(tuple(words[i : i + _N])) for i in range(len(words) - _N + 1)}


class SharedText:
    """The 12-grams of the test sets."""

    def __init__(self, tests: Iterable[Sequence[str]]) -> None:
        """Take the words of each test set, in the form that the training words have."""
        self._tests: set[int] = set()
        for words in tests:
            self._tests |= ngrams(words)

    def shared(self, words: Sequence[str]) -> int:
        """Return how many distinct 12-grams of ``words`` stand in a test set."""
        return len(ngrams(words) & self._tests)
