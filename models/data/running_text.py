"""Running text with punctuation and case as aligned documents, in a language that parts its words with spaces.

A line of a text is a turn. What a language writes in its own way stands in ``RunningText``: its corpora, its
abbreviations, the signs of a slip, and what its text abbreviates that a speaker says in full.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from caesura.models.data.aligned_words import UNKNOWN, AlignedDocument, move_marks
from caesura.models.data.corpora import CorpusRules, marked_well, read_in_order
from caesura.models.data.derived_tags import ENGLISH_SIGNS, SlipSigns, derive_tags
from caesura.models.data.marks import ENGLISH_WRITING, Writing, read_marks


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningText:
    """A language's text. spelled_out: patterns of abbreviations and the words that are said for them, in order."""

    language: str
    corpora: Mapping[str, CorpusRules]
    writing: Writing = ENGLISH_WRITING
    signs: SlipSigns = ENGLISH_SIGNS
    spelled_out: tuple[tuple[str, str], ...] = ()

    def read(self, corpora: Path, name: str, keep: Callable[[str], bool]) -> Iterator[AlignedDocument]:
        """Yield the documents of one corpus whose name is to be kept, with marks and the tags that the text shows.

        They come in an order of their own, the same every time, so that any first part is a fair sample.
        """
        rules = self.corpora[name]
        for document_name, text in read_in_order(corpora, self.language, name, keep):
            document = self._document(name, document_name, text, rules)
            if marked_well(document, rules):
                yield document

    def _document(self, corpus: str, name: str, text: str, rules: CorpusRules) -> AlignedDocument:
        drop, drop_lines = re.compile(rules.drop), re.compile(rules.drop_lines)
        lines = [line for line in text.splitlines() if line.strip() and not drop_lines.search(line)]
        if rules.one_turn:
            lines = [" ".join(lines)]
        document = AlignedDocument(corpus, name)
        for line in lines:
            self.add_line(document, drop.sub(" ", line), verbatim=rules.verbatim)
        move_marks(document)
        return document

    def add_line(self, document: AlignedDocument, line: str, *, verbatim: bool) -> None:
        """Append the words of a line, which ends a turn, with its marks and the tags that it shows."""
        for pattern, said in self.spelled_out:
            line = re.sub(pattern, said, line)
        words = read_marks(line, self.writing)
        for word, tag in zip(words, derive_tags(words, verbatim=verbatim, signs=self.signs), strict=True):
            mark = UNKNOWN if word.fragment and word.mark == 0 else word.mark
            document.add(word.view, mark, tag, word.casing)
        if words:
            document.turn_ends.add(len(document.words) - 1)
