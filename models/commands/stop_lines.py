"""Checkpoints compared by their false stops where each has as many true ends: ``python -m models stop-line``."""

from __future__ import annotations

import random
from functools import partial
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.progress import Progress

from models.commands.options import CORPORA, Corpora, LanguageCode, Vocabulary
from models.data.preparation import held_out
from models.evaluation.false_stops import FlushPoint, flush_points
from models.evaluation.stop_line import StopLine, stop_line
from models.languages.registry import LANGUAGES
from models.networks.pieces import LEADING, MAX_PIECES, UNKNOWN_PIECE, read_vocabulary
from worker.adapters.onnx.wordpiece import WordPiece

__all__ = ["register"]

_LONGEST_WORDS = 40  # a sentence's, by which a corpus's words are counted


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("stop-line")(print_stop_lines)


def print_stop_lines(
    *,
    vocabulary: Vocabulary,
    checkpoint: Annotated[list[Path], typer.Option(help="A checkpoint; may be repeated.", exists=True, dir_okay=False)],
    language: LanguageCode = "en",
    corpora: Corpora = CORPORA,
    sentences: Annotated[int, typer.Option(min=1, help="Held-out sentences a corpus.")] = 300,
    ends: Annotated[float, typer.Option(min=0, max=100, help="The share of true ends to compare at, in %.")] = 88.0,
    device: Annotated[str, typer.Option(help="cpu or cuda.")] = "cpu",
) -> None:
    """Print the false stops that each checkpoint has where that share of true ends gets a mark, by a constant.

    Each flush is one pass over the words before it, in PyTorch; `false-stops` has the shares as a stream.
    """
    from models.evaluation.flush_scores import flush_scores  # noqa: PLC0415 - the other commands run without torch
    from models.networks.checkpoints import load_any_network  # noqa: PLC0415

    pieces = read_vocabulary(vocabulary)
    tokenizer = WordPiece(pieces, max_pieces=MAX_PIECES, unknown=UNKNOWN_PIECE)
    points: list[FlushPoint] = []
    for corpus in LANGUAGES[language].scored["open_text"]:
        documents = held_out(LANGUAGES[language].recipe, corpora, corpus, max_words=_LONGEST_WORDS * sentences)
        points += flush_points(documents, random.Random(1), sentences=sentences)
    marks = np.array([point.mark for point in points], dtype=np.int8)
    lines: list[str] = []
    with Progress() as bar:
        for path in checkpoint:
            count = partial(bar.advance, bar.add_task(str(path), total=len(points)))
            network = load_any_network(path)
            said = flush_scores(network, points, tokenizer, pieces.index(LEADING), device=device, progress=count)
            try:
                lines.append(f"{path}: {_told(stop_line(said, marks), ends)}")
            except ValueError as error:
                raise SystemExit(f"stop-line: {path}: {error}") from error
    print("\n".join(lines))


def _told(line: StopLine, ends: float) -> str:
    now, place = line.as_it_is, line.where(ends)
    return (
        f"{now.false:.1f} % false stops at {now.ends:.1f} % of the true ends; at {ends:.1f} % "
        f"{place.false:.1f} % (constant {place.constant:+.2f})"
    )
