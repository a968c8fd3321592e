"""A model's words as the numbers of their pieces: its vocabulary, and the pieces that stand for something else."""

from __future__ import annotations

from caesura.worker.inference.model.model_folder import StoredModel
from caesura.worker.inference.model.wordpiece import WordPiece

__all__ = ["PieceReader"]


class PieceReader:
    """Reads words for one model. leading: the piece that every buffer begins with. count: of pieces there are."""

    def __init__(self, stored: StoredModel) -> None:
        """Read the vocabulary. KeyError where it lacks a piece that the manifest names; FatalError: it is no text."""
        settings, vocabulary = stored.manifest.wordpiece, stored.vocabulary()
        self.count = len(vocabulary)
        tokenizer = WordPiece(vocabulary, max_pieces=settings.max_pieces, unknown=settings.unknown)
        self.leading = tokenizer.number(settings.leading)
        self.pieces = tokenizer.pieces
