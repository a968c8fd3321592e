"""What a person is told of models whose labels are wrong on this processor."""

from __future__ import annotations

from collections.abc import Mapping

from worker.commands.terminal import echo

__all__ = ["tell_doubts"]


def tell_doubts(doubts: Mapping[str, str]) -> None:
    """Say on stderr what is doubtful of each model."""
    for model, doubt in doubts.items():
        echo(f"caesura: model {model}: {doubt}", err=True)
