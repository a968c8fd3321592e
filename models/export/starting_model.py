"""The stored model that a tune begins at."""

from __future__ import annotations

from pathlib import Path

from caesura.models.networks.pieces import LEADING, MAX_PIECES, UNKNOWN_PIECE
from caesura.worker.errors import FatalError
from caesura.worker.inference.model.model_folder import StoredModel, read_models_folder
from caesura.worker.inference.model.wordpiece import WordPiece


def starting_model(models: Path, language: str) -> StoredModel:
    """Return the active model of a language in a models folder; FatalError where there is none."""
    found = read_models_folder(models)
    for stored in found:
        if language in stored.manifest.languages and stored.manifest.active:
            pieces = stored.manifest.wordpiece
            if (pieces.leading, pieces.unknown, pieces.max_pieces) != (LEADING, UNKNOWN_PIECE, MAX_PIECES):
                raise FatalError(f"model {stored.manifest.name} cuts words into pieces in a way that is not ours")
            return stored
    languages = ", ".join(
        sorted({one for stored in found if stored.manifest.active for one in stored.manifest.languages})
    )
    raise FatalError(f"there is no model for language {language} in {models}; there are {languages}")


def wordpiece_of(stored: StoredModel) -> WordPiece:
    """Return what cuts words into the pieces of a stored model."""
    settings = stored.manifest.wordpiece
    return WordPiece(stored.vocabulary(), max_pieces=settings.max_pieces, unknown=settings.unknown)
