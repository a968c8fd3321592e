"""Text to words and the runs of marks between them: joint punctuation (Wang et al. 2018, section IV-C).

A run is what stands between two words, at most ``MAX_RUN`` marks in the order of the text: those after the word, those
before the next one (an opening quotation mark), over the end of a line too. A run's class is its place in a table: the
empty run, comma, period and question as everywhere in the project, then the others by how often they occur. A run
that the table lacks counts as its longest beginning that it has.

Rules: quotation marks of either side and direction are one mark; a single one counts after another mark, or where it is
the opening one by its shape; dashes are ``--``, an em dash and a hyphen between spaces; two dots and more are an
ellipsis. Marks before the first word of a document are left out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from caesura.models.data.aligned_words import UNKNOWN, AlignedDocument
from caesura.models.data.corpora import read_in_order
from caesura.models.data.english_corpora import ENGLISH_CORPORA
from caesura.schemas.labels import Punctuation
from caesura.worker.core.language.normalisation import model_view

ATOMS = ("", ",", ".", "?", "!", ";", ":", '"', "--", "(", ")", "...")
"""The marks by number; 0 is none, and the first three are those of ``labels``."""

MAX_RUN = 4
"""How many marks may stand in a row: the paper has combinations of two to four."""

Run = tuple[int, ...]
MarkedText = tuple[str, list[str], list[Run]]
"""A document's name, its words in the model's view, and the run after each."""

_SINGLE = "\u2019'"
_NUMBERS = {mark: number for number, mark in enumerate(ATOMS) if mark} | {
    "\u201c": 7,
    "\u201d": 7,
    "\u2018": 7,
    "\u2014": 8,
    "\u2013": 8,
    "[": 9,
    "]": 10,
    "\u2026": 11,
}
_SPACED = (
    (re.compile(r"-{2,}|\u2014|(?<=\s)[-\u2013](?=\s)"), " \u2014 "),
    (re.compile(r"\.{2,}|\u2026"), " \u2026 "),
)
_ENDS = frozenset((2, 3, 4, 11))


def read_joint_text(corpora: Path, corpus: str, keep: Callable[[str], bool]) -> Iterator[MarkedText]:
    """Yield the documents of a corpus whose name is to be kept, in an order of their own."""
    rules = ENGLISH_CORPORA[corpus]
    drop_lines = re.compile(rules.drop_lines)
    for name, text in read_in_order(corpora, "en", corpus, keep):
        lines = [line for line in text.splitlines() if line.strip() and not drop_lines.search(line)]
        words, runs = read_runs(" ".join(lines))
        if words:
            yield name, words, runs


def read_runs(text: str) -> tuple[list[str], list[Run]]:
    """Return the words of a text and the run after each."""
    for pattern, spaced in _SPACED:
        text = pattern.sub(spaced, text)
    words: list[str] = []
    runs: list[list[int]] = []
    for token in text.split():
        first, last = _core(token)
        before, after = token[:first], token[last:]
        if runs:
            runs[-1] += _atoms(before, runs[-1])
        if view := model_view(token[first:last]) if first < last else "":
            words.append(view)
            runs.append([])
            runs[-1] += _atoms(after, runs[-1])
    return words, [tuple(run[:MAX_RUN]) for run in runs]


def _core(token: str) -> tuple[int, int]:
    """Return where a token's letters begin and end; both its length where it has none."""
    places = [place for place, character in enumerate(token) if character.isalnum()]
    return (places[0], places[-1] + 1) if places else (len(token), len(token))


def _atoms(marks: str, before: Sequence[int]) -> list[int]:
    found: list[int] = []
    for mark in marks:
        number = _NUMBERS.get(mark)
        if mark in _SINGLE and (found or before):
            number = _NUMBERS['"']
        if number is not None:
            found.append(number)
    return found


def run_table(texts: Iterable[MarkedText], *, classes: int) -> list[Run]:
    """Return the runs of a table: the empty one, the three single marks, and the most frequent others."""
    counts = Counter(run for _, _, runs in texts for run in runs)
    fixed: list[Run] = [(), (1,), (2,), (3,)]
    others = [run for run, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0])) if run not in fixed]
    return fixed + others[: classes - len(fixed)]


def as_documents(corpus: str, texts: Iterable[MarkedText], table: Sequence[Run]) -> Iterator[AlignedDocument]:
    """Yield the texts with classes of runs for marks; a sentence ends at a run with a mark that ends one."""
    numbers = {run: number for number, run in enumerate(table)}
    for name, words, runs in texts:
        document = AlignedDocument(corpus, name)
        for place, (word, run) in enumerate(zip(words, runs, strict=True)):
            document.add(word, class_of(run, numbers), UNKNOWN)
            if _ENDS.intersection(run):
                document.turn_ends.add(place)
        document.turn_ends.add(len(words) - 1)
        yield document


def class_of(run: Run, numbers: dict[Run, int]) -> int:
    """Return the class of a run, or of its longest beginning that has one."""
    return next((numbers[run[:n]] for n in range(len(run), 0, -1) if run[:n] in numbers), int(Punctuation.NONE))
