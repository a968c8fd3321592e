"""Labels by a causal language model: ``python -m caesura.models label-unseeing``."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.progress import Progress

from caesura.models.commands.options import DATA, Corpus, Data, Vocabulary, asked_reader, packed_files
from caesura.models.data.packing import PackedText
from caesura.models.languages.registry import LANGUAGES
from caesura.models.networks.pieces import read_vocabulary
from caesura.schemas.labels import Casing, Disfluency


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("label-unseeing")(label_unseeing)


def label_unseeing(
    *,
    vocabulary: Vocabulary,
    reader: Annotated[Path, typer.Option(help="GGUF weights of a causal language model.", exists=True, dir_okay=False)],
    taught: Annotated[Path, typer.Option(help="Folder for the labels, a file a corpus; what is there is kept.")],
    data: Data = DATA,
    corpus: Corpus = None,
    max_words: Annotated[int, typer.Option(min=1, help="Words of each corpus that are read, from its beginning.")] = (
        20_000
    ),
) -> None:
    """Write down what a causal language model expects after each English word, for `train --taught-unseeing`."""
    from caesura.models.training.unseeing_labels import fitted, read_packed  # noqa: PLC0415 - the other commands run without torch

    pieces = read_vocabulary(vocabulary)
    packed = packed_files(data, corpus or list(LANGUAGES["en"].recipe.mix))
    classes = LANGUAGES["en"].model.punctuation_classes
    opened = asked_reader(reader)
    taught.mkdir(parents=True, exist_ok=True)
    with Progress() as bar:
        for name, path in packed.items():
            if (taught / f"{name}.npy").exists():
                continue
            text = PackedText.load(path)
            count = partial(bar.advance, bar.add_task(name, total=min(max_words, text.words)))
            said = read_packed(opened, text, pieces, words=max_words, progress=count)
            rows = np.zeros((text.words, classes + len(Disfluency) + len(Casing)), dtype=np.float16)
            rows[: len(said), :classes] = fitted(said, text.punctuation[: len(said)], classes)
            partial_file = taught / f"{name}.partial.npy"
            np.save(partial_file, rows)
            partial_file.replace(taught / f"{name}.npy")
