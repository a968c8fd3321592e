"""The IWSLT2011 benchmark: its tokens and marks, and the words that a recogniser would have sent for them.

The benchmark splits clitics off ("do n't", "i 'm"), which no recogniser does. The model reads the words joined; the
mark of a joined word is scored on the word's last token, and its other tokens count as predicted without a mark. So
the score is on the benchmark's own tokens, all of them. A token without letters (``dev2012`` has ten) is joined too.
"""

from __future__ import annotations

import tarfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from caesura.schemas.labels import Punctuation

_CLITICS = frozenset(("n't", "'s", "'re", "'m", "'ll", "'ve", "'d"))
_MARKS = {
    "O": Punctuation.NONE,
    "COMMA": Punctuation.COMMA,
    "PERIOD": Punctuation.PERIOD,
    "QUESTION": Punctuation.QUESTION,
}


@dataclass(frozen=True, slots=True)
class BenchmarkText:
    """One test set. words: joined; last_tokens[k]: the number of the last token of word k; marks: one a token."""

    words: tuple[str, ...]
    last_tokens: tuple[int, ...]
    marks: tuple[int, ...]

    def spread(self, marks: Sequence[int]) -> list[int]:
        """Return one mark a token from one mark a word."""
        spread = [int(Punctuation.NONE)] * len(self.marks)
        for token, mark in zip(self.last_tokens, marks, strict=True):
            spread[token] = mark
        return spread

    def part(self, first: int, last: int) -> BenchmarkText:
        """Return the words from ``first`` up to ``last``, with their tokens."""
        before = self.last_tokens[first - 1] + 1 if first else 0
        tokens = tuple(token - before for token in self.last_tokens[first:last])
        return BenchmarkText(self.words[first:last], tokens, self.marks[before : before + tokens[-1] + 1])


def read_iwslt(corpora: Path, name: str) -> BenchmarkText:
    """Read ``test2011`` (REF), ``test2011asr`` (ASR) or ``dev2012``."""
    with tarfile.open(corpora / "labelled" / "iwslt2011.tar.xz") as archive:
        member = archive.extractfile(name)
        if member is None:
            raise ValueError(f"iwslt2011.tar.xz has no {name}")
        lines = member.read().decode("utf-8", errors="replace").splitlines()
    rows = [tuple(part.strip() for part in line.rsplit("\t", 1)) for line in lines if line.strip()]
    words: list[str] = []
    last_tokens: list[int] = []
    for number, (token, _) in enumerate(rows):
        if (token in _CLITICS or not token) and words:
            words[-1] += token
            last_tokens[-1] = number
        else:
            words.append(token)
            last_tokens.append(number)
    return BenchmarkText(tuple(words), tuple(last_tokens), tuple(int(_MARKS[mark]) for _, mark in rows))
