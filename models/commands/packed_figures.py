"""A checkpoint scored on packed held-out text, offline and in large batches: ``models score-packed``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from caesura.models.commands.options import CheckpointFile, Corpus, Vocabulary
from caesura.models.data.packing import PackedText
from caesura.models.evaluation.soft_label_f1 import packed_scores
from caesura.models.networks.pieces import LEADING, read_vocabulary


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("score-packed")(score_packed)


def score_packed(
    *,
    vocabulary: Vocabulary,
    checkpoint: CheckpointFile,
    data: Annotated[Path, typer.Option(help="Folder of held-out text, packed (prepare --held-out).")],
    corpus: Corpus = None,
    device: Annotated[str, typer.Option(help="cpu or cuda.")] = "cpu",
    windows: Annotated[int, typer.Option(help="Windows of 200 words a batch.")] = 16,
    json_file: Annotated[Path | None, typer.Option(help="Also write the figures here.")] = None,
) -> None:
    """Print F1 of a checkpoint on packed held-out text: marks, disfluencies and capitals.

    The words are read in the windows of offline decoding, under the network's own mask.
    """
    from caesura.models.networks.checkpoints import load_any_network  # noqa: PLC0415 - the other commands run without torch
    from caesura.models.training.soft_labelling import Teacher, all_rows  # noqa: PLC0415

    network = load_any_network(checkpoint)
    asked = Teacher(network=network, leading=read_vocabulary(vocabulary).index(LEADING), device=device, windows=windows)
    figures: dict[str, dict[str, float]] = {}
    for path in sorted(data.glob("*.npz")):
        if corpus and path.stem not in corpus:
            continue
        text = PackedText.load(path)
        if not text.words:
            print(f"{path.stem} holds no words", flush=True)
            continue
        figures[path.stem] = dict(packed_scores(text, all_rows(asked, text)))
        print(path.stem, " ".join(f"{name} {f1:.1f}" for name, f1 in figures[path.stem].items()), flush=True)
    if json_file is not None:
        json_file.parent.mkdir(parents=True, exist_ok=True)
        json_file.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
