"""Commands of the training side: ``python -m models prepare | train | export | evaluate``, and more."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.progress import Progress

from models import decoding_figures, label_figures
from models.data.prepare import held_out, load, prepare
from models.data.recipes import RECIPES
from models.languages import LANGUAGES
from models.pieces import LEADING, MAX_PIECES, UNKNOWN_PIECE
from models.tuning.command import tune
from worker.adapters.wordpiece import WordPiece

app = typer.Typer(help=__doc__, no_args_is_help=True, pretty_exceptions_enable=False)
app.command("tune")(tune)
label_figures.register(app)
decoding_figures.register(app)

Corpora = Annotated[Path, typer.Option(envvar="CAESURA_CORPORA", help="Folder of the corpora (en/*.jsonl.xz …).")]
Vocabulary = Annotated[Path, typer.Option(help="WordPiece vocabulary, a piece a line.")]
Data = Annotated[Path, typer.Option(help="Folder of the packed text.")]
Language = Annotated[str, typer.Option(help=f"One of {', '.join(LANGUAGES)}.")]
Checkpoint = Annotated[Path, typer.Option(help="The checkpoint file; an existing one is gone on from.")]

_CORPORA = Path("../shared/corpora")
_DATA = Path("build/data")
_CHECKPOINT = Path("build/en/checkpoint.pt")
_SHIPPED = Path("models/shipped")
_PARITY_CORPORA = {"en": ("changelog", "earnings22", "ami"), "zh": ("audreyt_train", "kdconv", "cs2w")}


def _read_vocabulary(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").rstrip("\n").split("\n")


@app.command("dequantise")
def dequantise_start(
    *,
    source: Annotated[Path, typer.Option(help="int8 ONNX of a BERT.")],
    tokenizer: Annotated[Path, typer.Option(help="Its tokenizer.json.")],
    weights: Annotated[Path, typer.Option(help="Where the safetensors go.")],
    vocabulary: Annotated[Path, typer.Option(help="Where the vocabulary goes.")],
) -> None:
    """Make a start for training from a BERT that is to be had quantised only."""
    from models.dequantised import write_dequantised  # noqa: PLC0415 - the other commands run without torch

    print(f"{write_dequantised(source, tokenizer, weights, vocabulary)} pieces")


@app.command("prepare")
def prepare_text(
    vocabulary: Vocabulary,
    language: Language = "en",
    corpora: Corpora = _CORPORA,
    data: Data = _DATA,
    scale: float = 1.0,
    seed: int = 1,
) -> None:
    """Read the open corpora of a language into packed training text, and print what was read and what was dropped.

    scale multiplies the number of words taken of each corpus. What is there already is kept.
    """
    tokenizer = WordPiece(_read_vocabulary(vocabulary), max_pieces=MAX_PIECES, unknown=UNKNOWN_PIECE)
    mix = {corpus: int(words * scale) for corpus, words in RECIPES[language].mix.items()}
    with Progress() as bar:
        task = bar.add_task("corpora", total=len(mix))
        for counts in prepare(corpora, data, tokenizer, mix, seed=seed, language=language):
            bar.advance(task)
            bar.print(
                f"{counts.corpus}: {counts.documents} documents, {counts.words} words and {counts.inserted_words} "
                f"inserted; {counts.dropped} dropped and {counts.shared} kept with text of a test set"
            )


@app.command("train")
def train_network(  # noqa: PLR0913 - a command's options
    *,
    vocabulary: Vocabulary,
    start: Annotated[
        Path | None, typer.Option(help="safetensors of a BERT of the same shape to start from, or a checkpoint (.pt).")
    ] = None,
    data: Data = _DATA,
    checkpoint: Checkpoint = _CHECKPOINT,
    language: Language = "en",
    look_ahead: Annotated[str | None, typer.Option(help="L_i of each layer, in words, if not the usual.")] = None,
    positions: Annotated[str | None, typer.Option(help="sinusoidal or learned, if not the usual")] = None,
    max_words: Annotated[int, typer.Option(help="Words to train on.")] = 6_000_000,
    max_minutes: Annotated[float, typer.Option(help="Minutes of training, if they end sooner.")] = 600.0,
    learning_rate: float = 3e-4,
    threads: int = 2,
    seed: int = 1,
) -> None:
    """Train a CT-Transformer on the packed text; stop it and start it again as you like."""
    import torch  # noqa: PLC0415 - the other commands run without it

    from models.networks.ct_transformer import CTConfig, CTTransformer  # noqa: PLC0415
    from models.pretrained import start_from_bert, start_from_checkpoint  # noqa: PLC0415
    from models.training import TrainingPlan, train  # noqa: PLC0415

    pieces = _read_vocabulary(vocabulary)
    torch.manual_seed(seed)
    model = LANGUAGES[language]
    config = CTConfig(
        vocabulary_size=len(pieces),
        width=model.width,
        heads=model.heads,
        inner_width=model.inner_width,
        look_ahead=tuple(int(words) for words in look_ahead.split(",")) if look_ahead else model.look_ahead,
        positions=positions or model.positions,
        punctuation_classes=model.punctuation_classes,
    )
    network = CTTransformer(config)
    leading = pieces.index(LEADING)
    if start is not None and start.suffix == ".pt":
        start_from_checkpoint(network, start)
    elif start is not None:
        start_from_bert(network, start, leading)
    text = load(data, RECIPES[language].mix)
    print(f"{text.words} words, {len(text.pieces)} pieces")
    plan = TrainingPlan(
        max_words=max_words,
        max_s=max_minutes * 60,
        leading=leading,
        learning_rate=learning_rate,
        threads=threads,
        seed=seed,
    )
    train(network, text, plan, checkpoint)


@app.command("export")
def export_network(
    *,
    vocabulary: Vocabulary,
    version: Annotated[str, typer.Option(help="The model's version.")],
    language: Language = "en",
    checkpoint: Checkpoint = _CHECKPOINT,
    corpora: Corpora = _CORPORA,
    shipped: Annotated[Path, typer.Option(help="The models folder to write to.")] = _SHIPPED,
    fp32: Annotated[Path, typer.Option(help="Where the fp32 model goes, for comparison.")] = Path("build/fp32"),
) -> None:
    """Export a checkpoint to int8 ONNX, and refuse it where torch, fp32 and int8 do not agree on held-out text."""
    from models.export import ModelCard, export  # noqa: PLC0415 - the other commands run without torch
    from models.parity import check_parity  # noqa: PLC0415
    from models.training import load_network  # noqa: PLC0415

    pieces = _read_vocabulary(vocabulary)
    network = load_network(checkpoint)
    card = ModelCard(
        id=LANGUAGES[language].id,
        version=version,
        language=language,
        licence=LANGUAGES[language].licence,
        trained_on=tuple(RECIPES[language].mix),
    )
    small = export(network, pieces, shipped / language, card, int8=True)
    large = export(network, pieces, fp32 / language, card, int8=False)
    tokenizer = WordPiece(pieces, max_pieces=MAX_PIECES, unknown=UNKNOWN_PIECE)
    parity = check_parity(
        network,
        fp32 / language / large.weights,
        shipped / language / small.weights,
        _parity_buffers(corpora, language),
        tokenizer,
        tokenizer.number(LEADING),
    )
    print(parity)
    if parity.failures:
        raise SystemExit("the parity gate is shut: " + "; ".join(parity.failures))


def _parity_buffers(corpora: Path, language: str) -> list[list[str]]:
    """Return held-out buffers of 3 to 150 words, about 12,000 words in all."""
    from models.parity import mixed_buffers  # noqa: PLC0415 - the other commands run without torch

    buffers: list[list[str]] = []
    for corpus in _PARITY_CORPORA[language]:
        documents = held_out(corpora, corpus, max_words=4000, language=language)
        buffers += mixed_buffers([word for document in documents for word in document.words][:4000])
    return buffers


if __name__ == "__main__":
    app()
