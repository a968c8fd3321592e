"""The command that brings marks into balance: ``python -m caesura.models balance``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer

from caesura.models.commands.options import Vocabulary, mark_constants
from caesura.models.data.aligned_words import REPARANDUM, UNKNOWN
from caesura.models.data.packing import PackedText
from caesura.models.networks.pieces import LEADING, read_vocabulary
from caesura.models.training.balancing import ScoredMarks, balanced, mean_f1
from caesura.schemas.labels import Disfluency
from caesura.worker.option_groups import grouped

if TYPE_CHECKING:  # the other commands run without torch
    from caesura.models.networks.ct_transformer import CTTransformer


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("balance")(balance_checkpoint)


@dataclass(frozen=True, slots=True, kw_only=True)
class MarksToBalance:
    """What ``balance`` is told: the network, the text that the constants are chosen on, or the constants."""

    vocabulary: Vocabulary
    of: Annotated[Path, typer.Option(help="The checkpoint.", exists=True, dir_okay=False)]
    checkpoint: Annotated[Path, typer.Option(help="The file to write.")]
    data: Annotated[Path, typer.Option(help="Folder of held-out text, packed (prepare --held-out).")]
    corpus: Annotated[list[str], typer.Option(help="A corpus whose held-out text counts; may be repeated.")]
    constants: Annotated[
        str | None, typer.Option(help="Constants of the marks, 0.2,0.2,0.2, in place of those with the best mean F1.")
    ] = None
    reparandum: Annotated[float, typer.Option(help="Added to the scores of words taken back.")] = 0.0
    interregnum: Annotated[float, typer.Option(help="Added to the scores of fillers and editing terms.")] = 0.0
    threads: int = 2


@grouped
def balance_checkpoint(asked: MarksToBalance) -> None:
    """Write a checkpoint whose marks are in balance: constants of the best mean F1 over the corpora, or given ones.

    Those of the tags are given, by what evaluate says of labelled text that nothing learns from.
    """
    import torch  # noqa: PLC0415 - the other commands run without it

    from caesura.models.networks.checkpoints import learnt_from, load_network, write_checkpoint  # noqa: PLC0415

    if asked.checkpoint.exists():
        raise SystemExit(f"balance: {asked.checkpoint} is there already")
    torch.set_num_threads(asked.threads)
    network = load_network(asked.of)
    leading = read_vocabulary(asked.vocabulary).index(LEADING)
    texts = {name: _labelled(network, leading, asked.data / f"{name}.npz") for name in asked.corpus}
    given, marks = asked.constants, network.config.punctuation_classes
    chosen = balanced(texts) if given is None else mark_constants(given, marks)
    before = mean_f1(texts, np.zeros(len(chosen)))
    print(f"{chosen.tolist()}: mean F1 of the marks {before:.2f} -> {mean_f1(texts, chosen):.2f}")
    with torch.no_grad():
        network.punctuation.bias.add_(torch.from_numpy(chosen).float())
        network.disfluency.bias.add_(torch.tensor([_added(tag, asked) for tag in Disfluency]))
    write_checkpoint(asked.checkpoint, network, {"corpora": list(learnt_from(asked.of))})


def _added(tag: Disfluency, asked: MarksToBalance) -> float:
    if tag in REPARANDUM:
        return asked.reparandum
    return 0.0 if tag is Disfluency.O else asked.interregnum


def _labelled(network: CTTransformer, leading: int, path: Path) -> ScoredMarks:
    from caesura.models.training.soft_labelling import Teacher, all_rows  # noqa: PLC0415 - see above

    text = PackedText.load(path)
    if not text.words:
        raise SystemExit(f"balance: {path} holds no words")
    asked = Teacher(network=network, leading=leading, heads="punctuation")
    rows = all_rows(asked, text)
    known = text.punctuation != UNKNOWN
    said = rows[known, : network.config.punctuation_classes].astype(np.float64)
    return np.log(said + 1e-6), text.punctuation[known]
