"""Sentences of our own in a language, a paragraph a line, as documents to train on and as sessions to score."""

from __future__ import annotations

from collections.abc import Sequence

from caesura.models.data.aligned_words import UNKNOWN, AlignedDocument, move_marks
from caesura.models.data.running_text import RunningText
from caesura.models.evaluation.figures import GoldSession


def own_document(text: RunningText, name: str, paragraphs: Sequence[str], *, fluent: bool) -> AlignedDocument:
    """Return paragraphs as a document. fluent: they hold no hesitations."""
    document = AlignedDocument("own", name)
    for paragraph in paragraphs:
        text.add_line(document, paragraph, verbatim=not fluent)
    move_marks(document)
    return document


def own_session(text: RunningText, paragraphs: Sequence[str]) -> GoldSession:
    """Return paragraphs as a session whose marks are known and whose tags are not."""
    document = own_document(text, "session", paragraphs, fluent=False)
    return GoldSession(document.words, document.punctuation, [UNKNOWN] * len(document.words))
