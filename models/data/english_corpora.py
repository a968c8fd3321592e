"""The open English corpora: one reader, and for each corpus what its text needs.

Only corpora whose licence allows a trained model to be given away stand here (``models/shipped/en/LICENSE.md``
lists the licences). Where they lie is settable: ``CAESURA_CORPORA`` or ``--corpora``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

from models.data.aligned_words import UNKNOWN, AlignedDocument, move_marks
from models.data.corpora import CorpusRules, marked_well, read_in_order
from models.data.derived_tags import derive_tags
from models.data.marks import read_marks

__all__ = ["ENGLISH_CORPORA", "add_line", "read_corpus"]


_MARKUP = r"\*\*|__|`|\[[^\]]*\]|<[^>]*>|https?://\S+"
_ASIDE = r"\([^)]*\)|\[[^\]]*\]"
_TITLED = r"Mr|Mrs|Ms|Dr|Senator|Speaker|Secretary|Chairman|Chairwoman|President|Governor|Representative|Congressman"
_SPEAKER = rf"^(?:(?:The )?(?:{_TITLED})\.? [A-Z][\w'-]+|The (?:President|Chairman|Chairwoman))\.\s+(?=[A-Z\"])"
_INQUIRY = _ASIDE + r"|\b[A-Z]{3,4}\d{6,}(?:[_/.]\d+)*\b"
_HEADING = r"^[^a-z]*$|^\W*\d[\d/. -]*-?$|/\d{4} -\s*$"
ENGLISH_CORPORA: dict[str, CorpusRules] = {
    "changelog": CorpusRules(drop=_MARKUP, drop_lines=r"^(#|\||!\[|<)"),
    "crd3": CorpusRules(verbatim=True, drop=r"\([^)]*\)|\[[^\]]*\]"),
    "cabnc": CorpusRules(verbatim=True, drop=r"\(\([^)]*\)\)|[&+<>\[\]]"),
    "earnings21": CorpusRules(verbatim=True, drop=r"<[^>]*>"),
    "earnings22": CorpusRules(verbatim=True, drop=r"<[^>]*>"),
    "ami": CorpusRules(verbatim=True, drop=r"<[^>]*>|_"),
    "bitcointranscripts": CorpusRules(
        drop=r"\[([^\]]*)\]\([^)]*\)|" + _MARKUP + r"|^(Q|A|[A-Z][\w. ]{0,30}):\s",
        drop_lines=r"^(#|\||!\[|<|[-*>]\s|\d+\.|Speaker|Slides|Video|Transcript|.{0,60}\d\d:\d\d|.{0,40}$)",
        marks_a_word=(0.08, 0.2),
    ),
    "eltec_novels_fifth": CorpusRules(one_turn=True, drop=r"_|\*", drop_lines=r"^[^a-z]*$"),
    "us_congress_hearings": CorpusRules(drop=_ASIDE + "|" + _SPEAKER, drop_lines=_HEADING),
    "whitehouse_briefings": CorpusRules(verbatim=True, drop=_ASIDE + "|" + _SPEAKER, drop_lines=_HEADING),
    "audreyt_english": CorpusRules(drop=_MARKUP + "|" + _ASIDE, drop_lines=_HEADING),
    "inquiry_covid": CorpusRules(verbatim=True, drop=_INQUIRY, drop_lines=_HEADING),
    "inquiry_pohi": CorpusRules(verbatim=True, drop=_INQUIRY, drop_lines=_HEADING),
    "inquiry_lampard": CorpusRules(verbatim=True, drop=_INQUIRY, drop_lines=_HEADING),
    "president_news_conferences": CorpusRules(verbatim=True, drop=_ASIDE + "|" + _SPEAKER, drop_lines=_HEADING),
    "president_speeches_miller": CorpusRules(drop=_ASIDE, drop_lines=_HEADING),
    "europarl_debates": CorpusRules(drop=_ASIDE, drop_lines=_HEADING),
    "un_general_debate": CorpusRules(drop=_ASIDE, drop_lines=_HEADING),
    "gutenberg_lectures": CorpusRules(drop=_ASIDE + r"|_|\*", drop_lines=_HEADING),
    "uk_commons_hansard": CorpusRules(drop=_ASIDE, drop_lines=_HEADING),
}


def read_corpus(corpora: Path, name: str, keep: Callable[[str], bool]) -> Iterator[AlignedDocument]:
    """Yield the documents of one open corpus whose name is to be kept, with marks and the tags that the text shows.

    They come in an order of their own, the same every time, so that any first part is a fair sample.
    """
    rules = ENGLISH_CORPORA[name]
    for document_name, text in read_in_order(corpora, "en", name, keep):
        document = _document(name, document_name, text, rules)
        if marked_well(document, rules):
            yield document


def _document(corpus: str, name: str, text: str, rules: CorpusRules) -> AlignedDocument:
    drop, drop_lines = re.compile(rules.drop), re.compile(rules.drop_lines)
    lines = [line for line in text.splitlines() if line.strip() and not drop_lines.search(line)]
    if rules.one_turn:
        lines = [" ".join(lines)]
    document = AlignedDocument(corpus, name)
    for line in lines:
        add_line(document, drop.sub(" ", line), verbatim=rules.verbatim)
    move_marks(document)
    return document


def add_line(document: AlignedDocument, line: str, *, verbatim: bool) -> None:
    """Append the words of a line, which ends a turn, with its marks and the tags that it shows."""
    words = read_marks(line)
    for word, tag in zip(words, derive_tags(words, verbatim=verbatim), strict=True):
        mark = UNKNOWN if word.fragment and word.mark == 0 else word.mark
        document.add(word.view, mark, tag, word.casing)
    if words:
        document.turn_ends.add(len(document.words) - 1)
