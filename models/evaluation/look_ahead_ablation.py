"""What the shipped weights make of another mask than the one they were trained under: an ablation, not a sweep of L.

A network trained for a shorter look-ahead would do better than one from which it is taken, so this says what the stream
loses where look-ahead is missing, and not which L is best; nor does taking the mask away make a Full-Transformer.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from caesura.models.decoding.checkpoint_engine import CheckpointEngine
from caesura.models.export.starting_model import starting_model
from caesura.models.export.stored_network import read_network
from caesura.models.networks.ct_transformer import CTConfig
from caesura.models.networks.full_transformer import UNLIMITED
from caesura.models.training.shorter_look_ahead import shortened_to

_TOTALS = (9, 8, 6, 4, 3, 2, 0)


def shortened(look_ahead: tuple[int, ...], totals: tuple[int, ...] = _TOTALS) -> Iterator[tuple[int, ...]]:
    """Yield the L_i with each total that is no more than theirs; what is taken is taken from the top layers first."""
    for total in totals:
        if total <= sum(look_ahead):
            yield shortened_to(look_ahead, total)


def trained_look_ahead(models: Path, *, language: str = "en") -> tuple[int, ...]:
    """Return the L_i that the active model of a language was trained with."""
    return starting_model(models, language).manifest.look_ahead


def another_mask(config: CTConfig, look_ahead: tuple[int, ...] | None) -> CTConfig:
    """Return a shape with another L_i; None: with no mask at all, to the left neither."""
    if look_ahead is not None:
        return replace(config, look_ahead=look_ahead)
    return replace(config, look_ahead=(UNLIMITED,) * len(config.look_ahead), look_back=None)


def masked_otherwise(
    models: Path, look_ahead: tuple[int, ...] | None = None, *, language: str = "en"
) -> CheckpointEngine:
    """Return the active model of a language with another L_i; None: no mask at all. fp32, in PyTorch, one thread."""
    stored = starting_model(models, language)
    network = read_network(stored)
    network.config = another_mask(network.config, look_ahead)
    return CheckpointEngine(network, stored.vocabulary(), language=language, threads=1)
