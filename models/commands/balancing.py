"""The command that brings marks into balance: ``python -m models balance``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer

from models.commands.options import Vocabulary, mark_constants
from models.data.aligned_words import UNKNOWN
from models.data.packing import PackedText
from models.networks.pieces import LEADING, read_vocabulary
from models.training.balancing import ScoredMarks, balanced, mean_f1

if TYPE_CHECKING:  # the other commands run without torch
    from models.networks.ct_transformer import CTTransformer

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("balance")(balance_checkpoint)


def balance_checkpoint(
    *,
    vocabulary: Vocabulary,
    of: Annotated[Path, typer.Option(help="The checkpoint.", exists=True, dir_okay=False)],
    checkpoint: Annotated[Path, typer.Option(help="The file to write.")],
    data: Annotated[Path, typer.Option(help="Folder of held-out text, packed (prepare --held-out).")],
    corpus: Annotated[list[str], typer.Option(help="A corpus whose held-out text counts; may be repeated.")],
    constants: Annotated[
        str | None, typer.Option(help="Constants of the marks, 0.2,0.2,0.2, in place of those with the best mean F1.")
    ] = None,
    threads: int = 2,
) -> None:
    """Write a checkpoint whose marks are in balance: constants of the best mean F1 over the corpora, or given ones."""
    import torch  # noqa: PLC0415 - the other commands run without it

    from models.networks.checkpoints import learnt_from, load_network, write_checkpoint  # noqa: PLC0415

    if checkpoint.exists():
        raise SystemExit(f"balance: {checkpoint} is there already")
    torch.set_num_threads(threads)
    network = load_network(of)
    leading = read_vocabulary(vocabulary).index(LEADING)
    texts = {name: _labelled(network, leading, data / f"{name}.npz") for name in corpus}
    chosen = balanced(texts) if constants is None else mark_constants(constants, network.config.punctuation_classes)
    before = mean_f1(texts, np.zeros(len(chosen)))
    print(f"{chosen.tolist()}: mean F1 of the marks {before:.2f} -> {mean_f1(texts, chosen):.2f}")
    with torch.no_grad():
        network.punctuation.bias.add_(torch.from_numpy(chosen).float())
    write_checkpoint(checkpoint, network, {"corpora": list(learnt_from(of))})


def _labelled(network: CTTransformer, leading: int, path: Path) -> ScoredMarks:
    from models.training.soft_labelling import Teacher, all_rows  # noqa: PLC0415 - see above

    text = PackedText.load(path)
    if not text.words:
        raise SystemExit(f"balance: {path} holds no words")
    asked = Teacher(network=network, leading=leading, heads="punctuation")
    rows = all_rows(asked, text)
    known = text.punctuation != UNKNOWN
    said = rows[known, : network.config.punctuation_classes].astype(np.float64)
    return np.log(said + 1e-6), text.punctuation[known]
