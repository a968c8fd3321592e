"""The command that fits the head for a word that none follows: ``python -m caesura.models fit-closing``."""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer
from rich.progress import Progress

from caesura.models.commands.options import DATA, Corpus, Data, LanguageCode, Vocabulary, mark_constants, packed_files
from caesura.models.data.packing import PackedText
from caesura.models.languages.registry import LANGUAGES
from caesura.models.networks.pieces import LEADING, read_vocabulary
from caesura.worker.option_groups import grouped

if TYPE_CHECKING:  # the other commands run without torch
    from caesura.models.networks.ct_transformer import CTTransformer


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("fit-closing")(fit_closing_head)


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedClosing:
    """What ``fit-closing`` is told: the network, and the text whose flushes it learns from."""

    vocabulary: Vocabulary
    of: Annotated[Path, typer.Option(help="A checkpoint, or the folder of an exported model.", exists=True)]
    checkpoint: Annotated[Path, typer.Option(help="The file to write.")]
    language: LanguageCode = "en"
    data: Data = DATA
    corpus: Corpus = None
    sentences: Annotated[int, typer.Option(min=1, help="Sentences a corpus, two flushes each.")] = 2000
    constants: Annotated[
        str | None, typer.Option(help="Added to the scores of the marks after the fit: 0,-0.6,-0.1.")
    ] = None
    ridge: Annotated[
        float, typer.Option(min=0, help="How strongly the head is held to where it began; with few flushes, more.")
    ] = 1e-4
    seed: int = 1
    threads: int = 2
    device: Annotated[str, typer.Option(help="cpu or cuda.")] = "cpu"


@grouped
def fit_closing_head(asked: FittedClosing) -> None:
    """Write a checkpoint with a head of its own for the marks of a word that none follows; nothing else changes."""
    import torch  # noqa: PLC0415 - the other commands run without it

    from caesura.models.decoding.last_words import of_last_words  # noqa: PLC0415
    from caesura.models.networks.checkpoints import write_checkpoint  # noqa: PLC0415
    from caesura.models.training.closing_head import closing_flushes, fit_closing, with_closing  # noqa: PLC0415

    if asked.checkpoint.exists():
        raise SystemExit(f"fit-closing: {asked.checkpoint} is there already")
    mix = LANGUAGES[asked.language].recipe.mix
    files = packed_files(asked.data, asked.corpus or list(mix))
    torch.set_num_threads(asked.threads)
    begun, learnt = _network_of(asked.of)
    try:
        network = with_closing(begun).to(asked.device)
    except ValueError as error:
        raise SystemExit(f"fit-closing: {asked.of}: {error}") from error
    classes = network.config.punctuation_classes
    constants = np.zeros(classes) if asked.constants is None else mark_constants(asked.constants, classes)
    leading = read_vocabulary(asked.vocabulary).index(LEADING)
    rows, marks = [], []
    with Progress() as bar:
        for corpus, path in files.items():
            text = PackedText.load(path)
            flushes = closing_flushes(text, random.Random(asked.seed), sentences=asked.sentences)
            count = partial(bar.advance, bar.add_task(corpus, total=len(flushes)))
            if not flushes:  # marks that nobody knows
                continue
            rows.append(of_last_words(network.encode, text, flushes, leading, device=asked.device, progress=count))
            marks.append(text.punctuation[[stop - 1 for _, stop in flushes]])
    if not rows:
        raise SystemExit(f"fit-closing: no sentence of {', '.join(files)} ends with a mark that is known")
    known = np.concatenate(marks)
    network.cpu()
    loss = fit_closing(network, torch.cat(rows), known, ridge=asked.ridge, constants=constants)
    write_checkpoint(asked.checkpoint, network, {"corpora": list(dict.fromkeys((*learnt, *files)))})
    print(f"{len(known)} flushes of {len(files)} corpora, {loss:.4f} nats a flush -> {asked.checkpoint}")


def _network_of(path: Path) -> tuple[CTTransformer, tuple[str, ...]]:
    """Return the network of a checkpoint or a model folder, and the names of what it has learnt from."""
    from caesura.models.export.stored_network import read_network  # noqa: PLC0415 - see above
    from caesura.models.networks.checkpoints import learnt_from, load_network  # noqa: PLC0415
    from caesura.worker.inference.model.model_folder import read_models_folder  # noqa: PLC0415

    if path.is_file():
        return load_network(path), learnt_from(path)
    stored = next((one for one in read_models_folder(path.parent) if one.folder.samefile(path)), None)
    if stored is None:
        raise typer.BadParameter(f"{path} is no model's folder", param_hint="--of")
    return read_network(stored), stored.manifest.trained_on
