"""What a person is told of models whose labels are wrong on this processor."""

from __future__ import annotations

import typer

from worker.adapters.onnx.engine import OnnxEngine

__all__ = ["tell_doubts"]


def tell_doubts(engine: OnnxEngine) -> None:
    """Say on stderr what is doubtful of each model."""
    for model, doubt in engine.doubts.items():
        typer.echo(f"caesura: model {model}: {doubt}", err=True)
