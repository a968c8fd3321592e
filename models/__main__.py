"""Commands of the training side: ``python -m models prepare | train | export | evaluate``, and more."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import Progress

from models.commands import balancing, capitals, decoding_figures, label_figures, packed_figures, papers, training
from models.commands.option_groups import grouped
from models.commands.options import (
    CHECKPOINT,
    CORPORA,
    DATA,
    SHIPPED,
    Checkpoint,
    Corpora,
    Corpus,
    Data,
    Language,
    Vocabulary,
)
from models.commands.tuning import tune
from models.data.benchmark_corpora import BENCHMARK_MIX
from models.data.preparation import held_out as held_out_documents
from models.data.preparation import prepare, prepare_held_out
from models.data.recipes import DEV_TALKS
from models.data.recogniser_errors import ERROR_RATE
from models.languages.registry import LANGUAGES
from models.networks.pieces import LEADING, MAX_PIECES, UNKNOWN_PIECE, read_vocabulary
from models.training import averaging
from worker.adapters.onnx.wordpiece import WordPiece

app = typer.Typer(help=__doc__, no_args_is_help=True, pretty_exceptions_enable=False)
app.command("tune")(tune)
label_figures.register(app)
capitals.register(app)
decoding_figures.register(app)
training.register(app)
packed_figures.register(app)
papers.register(app)
averaging.register(app)
balancing.register(app)


@app.command("dequantise")
def dequantise_start(
    *,
    source: Annotated[Path, typer.Option(help="int8 ONNX of a BERT.", exists=True, dir_okay=False)],
    tokenizer: Annotated[Path, typer.Option(help="Its tokenizer.json.", exists=True, dir_okay=False)],
    weights: Annotated[Path, typer.Option(help="Where the safetensors go.")],
    vocabulary: Annotated[Path, typer.Option(help="Where the vocabulary goes.")],
    whole: Annotated[bool, typer.Option("--whole", help="Keep the pieces that no word is cut into.")] = False,
) -> None:
    """Make a start for training from a BERT that is to be had as ONNX only, in int8 or fp32."""
    from models.networks.dequantisation import write_dequantised  # noqa: PLC0415 - the other commands run without torch

    print(f"{write_dequantised(source, tokenizer, weights, vocabulary, whole=whole)} pieces")


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """What ``prepare`` is told."""

    vocabulary: Vocabulary
    language: Language = "en"
    corpora: Corpora = CORPORA
    data: Data = DATA
    corpus: Corpus = None
    benchmark: Annotated[
        bool, typer.Option("--benchmark", help="TED and Switchboard instead: for figures, never for what is shipped.")
    ] = False
    held_out: Annotated[
        bool, typer.Option("--held-out", help="The documents that nothing learns from, --max-words of each corpus.")
    ] = False
    max_words: Annotated[int, typer.Option(help="Held-out words a corpus.")] = 20_000
    error_rate: Annotated[float, typer.Option(help="A recogniser's errors a word, in held-out text.")] = ERROR_RATE
    errors: Annotated[
        float, typer.Option(help="Share of the documents that carry a recogniser's errors, simulated (English).")
    ] = 0.0
    scale: float = 1.0
    seed: int = 1


@app.command("prepare")
@grouped
def prepare_text(asked: Prepared) -> None:
    """Read the open corpora of a language into packed training text, and print what was read and what was dropped.

    scale multiplies the number of words taken of each corpus. What is there already is kept.
    """
    if asked.errors and not LANGUAGES[asked.language].misheard:
        raise typer.BadParameter(f"there are no rules of what sounds alike in {asked.language}", param_hint="--errors")
    tokenizer = WordPiece(read_vocabulary(asked.vocabulary), max_pieces=MAX_PIECES, unknown=UNKNOWN_PIECE)
    (_prepare_held_out if asked.held_out else _prepare_training)(asked, tokenizer)


def _prepare_held_out(asked: Prepared, tokenizer: WordPiece) -> None:
    recipe = LANGUAGES[asked.language].recipe
    for counts in prepare_held_out(
        recipe,
        asked.corpora,
        asked.data,
        tokenizer,
        asked.corpus or [*recipe.mix, DEV_TALKS],
        max_words=asked.max_words,
        errors=asked.errors,
        rate=asked.error_rate,
    ):
        print(f"{counts.corpus}: {counts.documents} documents, {counts.words} words")


def _prepare_training(asked: Prepared, tokenizer: WordPiece) -> None:
    recipe = LANGUAGES[asked.language].recipe
    taken = BENCHMARK_MIX if asked.benchmark else recipe.mix
    if unknown := set(asked.corpus or ()) - set(taken):
        raise typer.BadParameter(f"{', '.join(sorted(unknown))}: not among {', '.join(taken)}", param_hint="--corpus")
    mix = {name: int(words * asked.scale) for name, words in taken.items() if name in (asked.corpus or taken)}
    with Progress() as bar:
        task = bar.add_task("corpora", total=len(mix))
        for counts in prepare(recipe, asked.corpora, asked.data, tokenizer, mix, seed=asked.seed, errors=asked.errors):
            bar.advance(task)
            bar.print(
                f"{counts.corpus}: {counts.documents} documents, {counts.words} words and {counts.inserted_words} "
                f"inserted; {counts.dropped} dropped and {counts.shared} kept with text of a test set"
            )


@app.command("export")
def export_network(  # noqa: PLR0913 - a command's options
    *,
    vocabulary: Vocabulary,
    version: Annotated[str, typer.Option(help="The model's version.")],
    language: Language = "en",
    checkpoint: Checkpoint = CHECKPOINT,
    corpora: Corpora = CORPORA,
    shipped: Annotated[Path, typer.Option(help="The models folder to write to.")] = SHIPPED,
    fp32: Annotated[Path, typer.Option(help="Where the fp32 model goes, for comparison.")] = Path("build/fp32"),
    benchmark: Annotated[
        bool, typer.Option("--benchmark", help="It may have learnt from what no shipped model may: for figures only.")
    ] = False,
) -> None:
    """Export a checkpoint to int8 ONNX, and refuse it where torch, fp32 and int8 do not agree on held-out text."""
    from models.export.folder import ModelCard, export  # noqa: PLC0415
    from models.export.parity import check_parity  # noqa: PLC0415
    from models.networks.checkpoints import learnt_from, load_network  # noqa: PLC0415 - the other commands run without torch

    pieces = read_vocabulary(vocabulary)
    network = load_network(checkpoint)
    mix = LANGUAGES[language].recipe.mix
    learnt = learnt_from(checkpoint) or tuple(mix)
    if (closed := [corpus for corpus in learnt if corpus not in mix]) and not benchmark:
        raise SystemExit(f"{checkpoint} learnt from {', '.join(closed)}, which no shipped model may: --benchmark")
    card = ModelCard(
        id=f"{LANGUAGES[language].model.id}-benchmark" if benchmark else LANGUAGES[language].model.id,
        version=version,
        language=language,
        licence=LANGUAGES[language].model.licence,
        trained_on=learnt,
        dictionary=LANGUAGES[language].model.dictionary,
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
    from models.export.parity import mixed_buffers  # noqa: PLC0415 - the other commands run without torch

    buffers: list[list[str]] = []
    for corpus in LANGUAGES[language].parity_corpora:
        documents = held_out_documents(LANGUAGES[language].recipe, corpora, corpus, max_words=4000)
        buffers += mixed_buffers([word for document in documents for word in document.words][:4000])
    return buffers


if __name__ == "__main__":
    app()
