"""Checkpoints compared by their false stops where each has as many true ends: ``models stop-line``."""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from numpy.typing import NDArray
from rich.progress import Progress

from caesura.models.commands.options import CORPORA, Corpora, LanguageCode, Vocabulary, asked_reader
from caesura.models.data.preparation import held_out
from caesura.models.evaluation.false_stops import WORDS_A_SENTENCE, FlushPoint, flush_points
from caesura.models.evaluation.stop_line import StopLine, stop_line
from caesura.models.languages.registry import LANGUAGES
from caesura.models.networks.pieces import LEADING, MAX_PIECES, UNKNOWN_PIECE, read_vocabulary
from caesura.worker.inference.model.wordpiece import WordPiece
from caesura.worker.option_groups import grouped


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("stop-line")(print_stop_lines)


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedLines:
    """What ``stop-line`` is told: the checkpoints, and which words they are asked of."""

    vocabulary: Vocabulary
    checkpoint: Annotated[list[Path], typer.Option(help="A checkpoint; may be repeated.", exists=True, dir_okay=False)]
    language: LanguageCode = "en"
    corpora: Corpora = CORPORA
    sentences: Annotated[int, typer.Option(min=1, help="Held-out sentences a corpus.")] = 300
    ends: Annotated[float, typer.Option(min=0, max=100, help="The share of true ends to compare at, in %.")] = 88.0
    reader: Annotated[
        Path | None,
        typer.Option(
            help="GGUF weights of a causal language model, to be asked too, with the marks of the first checkpoint.",
            exists=True,
            dir_okay=False,
        ),
    ] = None
    device: Annotated[str, typer.Option(help="cpu or cuda.")] = "cpu"


@grouped
def print_stop_lines(asked: ComparedLines) -> None:
    """Print the false stops that each checkpoint has where that share of true ends gets a mark, by a constant.

    Each flush is one pass over the words before it, in PyTorch; `false-stops` has the shares as a stream.
    """
    from caesura.models.decoding.checkpoint_engine import CheckpointEngine  # noqa: PLC0415 - the other commands run without torch
    from caesura.models.evaluation.flush_scores import flush_scores, reader_scores  # noqa: PLC0415
    from caesura.models.networks.checkpoints import load_any_network  # noqa: PLC0415

    if asked.reader is not None and asked.language != "en":
        raise typer.BadParameter("a reader reads English", param_hint="--reader")
    pieces = read_vocabulary(asked.vocabulary)
    tokenizer = WordPiece(pieces, max_pieces=MAX_PIECES, unknown=UNKNOWN_PIECE)
    points: list[FlushPoint] = []
    for corpus in LANGUAGES[asked.language].scored["open_text"]:
        documents = held_out(
            LANGUAGES[asked.language].recipe, asked.corpora, corpus, max_words=WORDS_A_SENTENCE * asked.sentences
        )
        points += flush_points(documents, random.Random(1), sentences=asked.sentences)
    marks = np.array([point.mark for point in points], dtype=np.int8)
    lines: list[str] = []
    with Progress() as bar:
        for path in asked.checkpoint:
            count = partial(bar.advance, bar.add_task(str(path), total=len(points)))
            network = load_any_network(path)
            said = flush_scores(network, points, tokenizer, pieces.index(LEADING), device=asked.device, progress=count)
            lines.append(_line(path, said, marks, asked.ends))
        if asked.reader is not None:
            count = partial(bar.advance, bar.add_task(str(asked.reader), total=len(points)))
            engine = CheckpointEngine.of(asked.checkpoint[0], asked.vocabulary, language=asked.language)
            said = reader_scores(asked_reader(asked.reader), points, engine, progress=count)
            lines.append(_line(asked.reader, said, marks, asked.ends))
    print("\n".join(lines))


def _line(path: Path, said: NDArray[np.float64], marks: NDArray[np.int8], ends: float) -> str:
    try:
        return f"{path}: {_told(stop_line(said, marks), ends)}"
    except ValueError as error:
        raise SystemExit(f"stop-line: {path}: {error}") from error


def _told(line: StopLine, ends: float) -> str:
    now, place = line.as_it_is, line.where(ends)
    return (
        f"{now.false:.1f} % false stops at {now.ends:.1f} % of the true ends; at {ends:.1f} % "
        f"{place.false:.1f} % (constant {place.constant:+.2f})"
    )
