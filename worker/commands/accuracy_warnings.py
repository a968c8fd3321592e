"""Warnings about models whose labels are wrong on this processor."""

from __future__ import annotations

from collections.abc import Mapping

from caesura.worker.commands.terminal import echo


def print_accuracy_warnings(doubts: Mapping[str, str]) -> None:
    """Say on stderr what is doubtful of each model."""
    for model, doubt in doubts.items():
        echo(f"caesura: model {model}: {doubt}", err=True)
