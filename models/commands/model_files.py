"""Commands from one file of weights to another: ``python -m caesura.models dequantise | fold | average | export``."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from caesura.models.commands.options import (
    CHECKPOINT,
    CORPORA,
    SHIPPED,
    CheckpointFile,
    Corpora,
    LanguageCode,
    Vocabulary,
)
from caesura.models.data.preparation import held_out
from caesura.models.languages.registry import LANGUAGES
from caesura.models.networks.pieces import LEADING, MAX_PIECES, UNKNOWN_PIECE, read_vocabulary
from caesura.models.training.averaging import write_average
from caesura.worker.inference.model.wordpiece import WordPiece


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("dequantise")(dequantise_start)
    app.command("fold")(fold_start)
    app.command("average")(average_checkpoints)
    app.command("export")(export_network)


def dequantise_start(
    *,
    source: Annotated[Path, typer.Option(help="int8 ONNX of a BERT.", exists=True, dir_okay=False)],
    tokenizer: Annotated[Path, typer.Option(help="Its tokenizer.json.", exists=True, dir_okay=False)],
    weights: Annotated[Path, typer.Option(help="Where the safetensors go.")],
    vocabulary: Annotated[Path, typer.Option(help="Where the vocabulary goes.")],
    whole: Annotated[bool, typer.Option("--whole", help="Keep the pieces that no word is cut into.")] = False,
) -> None:
    """Make a start for training from a BERT that is to be had as ONNX only, in int8 or fp32."""
    from caesura.models.networks.dequantisation import write_dequantised  # noqa: PLC0415 - the other commands run without torch

    print(f"{write_dequantised(source, tokenizer, weights, vocabulary, whole=whole)} pieces")


def fold_start(
    *,
    encoder: Annotated[Path, typer.Option(help="safetensors of a cased BERT.", exists=True, dir_okay=False)],
    tokenizer: Annotated[Path, typer.Option(help="Its tokenizer.json, a Unigram's.", exists=True, dir_okay=False)],
    language: Annotated[list[str], typer.Option(help="A language whose text it is cut to; may be repeated.")],
    weights: Annotated[Path, typer.Option(help="Where the safetensors go.")],
    vocabulary: Annotated[Path, typer.Option(help="Where the vocabulary goes.")],
    corpora: Corpora = CORPORA,
) -> None:
    """Make a start for bare, lower-case words from a cased encoder of many languages."""
    from caesura.models.networks.folded_vocabulary import write_folded  # noqa: PLC0415 - the other commands run without torch

    words: Counter[str] = Counter()
    for code in language:
        recipe = LANGUAGES[code].recipe
        for corpus in recipe.mix:
            for document in recipe.documents(corpora, corpus, training=True):
                words.update(document.words)
    print(f"{write_folded(encoder, tokenizer, words, weights, vocabulary)} pieces")


def average_checkpoints(
    *,
    of: Annotated[
        list[Path],
        typer.Option("--of", help="A checkpoint; twice at least, and of one shape.", exists=True, dir_okay=False),
    ],
    checkpoint: Annotated[Path, typer.Option(help="The file to write.")],
) -> None:
    """Write the mean of the weights of checkpoints, a network like them, to begin at or to export."""
    try:
        write_average(of, checkpoint)
    except ValueError as error:
        raise SystemExit(f"average: {error}") from error
    print(f"{', '.join(map(str, of))} -> {checkpoint}")


def export_network(  # noqa: PLR0913 - a command's options
    *,
    vocabulary: Vocabulary,
    version: Annotated[str, typer.Option(help="The model's version.")],
    language: LanguageCode = "en",
    checkpoint: CheckpointFile = CHECKPOINT,
    corpora: Corpora = CORPORA,
    shipped: Annotated[Path, typer.Option(help="The models folder to write to.")] = SHIPPED,
    fp32: Annotated[Path, typer.Option(help="Where the fp32 model goes, for comparison.")] = Path("build/fp32"),
    benchmark: Annotated[
        bool, typer.Option("--benchmark", help="It may have learnt from what no shipped model may: for figures only.")
    ] = False,
    small: Annotated[
        bool,
        typer.Option("--small", help="Beside the language's model, for more sessions; a worker's setting chooses it."),
    ] = False,
) -> None:
    """Export a checkpoint to int8 ONNX, and refuse it where torch, fp32 and int8 do not agree on held-out text."""
    from caesura.models.export.folder import ModelCard, export  # noqa: PLC0415
    from caesura.models.export.parity import check_parity  # noqa: PLC0415
    from caesura.models.networks.checkpoints import learnt_from, load_network  # noqa: PLC0415 - the other commands run without torch

    pieces = read_vocabulary(vocabulary)
    network = load_network(checkpoint)
    model = LANGUAGES[language].model
    first, *also = model.languages or (language,)
    mix = [corpus for code in (first, *also) for corpus in LANGUAGES[code].recipe.mix]
    learnt = learnt_from(checkpoint) or tuple(mix)
    if (closed := [corpus for corpus in learnt if corpus not in mix]) and not benchmark:
        raise SystemExit(f"{checkpoint} learnt from {', '.join(closed)}, which no shipped model may: --benchmark")
    name, place = model.id, model.id.partition("-")[0]
    if small:
        name = f"{place}-ct-{len(network.config.look_ahead)}x{network.config.width}"
    card = ModelCard(
        id=f"{name}-benchmark" if benchmark else name,
        version=version,
        language=first,
        also=tuple(also),
        licence=model.licence,
        trained_on=learnt,
        dictionary=model.dictionary,
        active=not small,
    )
    folder = f"{place}-small" if small else place
    int8_manifest = export(network, pieces, shipped / folder, card, int8=True)
    fp32_manifest = export(network, pieces, fp32 / folder, card, int8=False)
    tokenizer = WordPiece(pieces, max_pieces=MAX_PIECES, unknown=UNKNOWN_PIECE)
    parity = check_parity(
        network,
        fp32 / folder / fp32_manifest.weights,
        shipped / folder / int8_manifest.weights,
        [buffer for code in (first, *also) for buffer in _parity_buffers(corpora, code)],
        tokenizer,
        tokenizer.number(LEADING),
    )
    print(parity)
    if parity.failures:
        raise SystemExit("the parity gate is shut: " + "; ".join(parity.failures))


def _parity_buffers(corpora: Path, language: str) -> list[list[str]]:
    """Return held-out buffers of 3 to 150 words, about 12,000 words in all."""
    from caesura.models.export.parity import mixed_buffers  # noqa: PLC0415 - the other commands run without torch

    buffers: list[list[str]] = []
    for corpus in LANGUAGES[language].parity_corpora:
        documents = held_out(LANGUAGES[language].recipe, corpora, corpus, max_words=4000)
        buffers += mixed_buffers([word for document in documents for word in document.words][:4000])
    return buffers
