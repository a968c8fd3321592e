"""Commands that measure decoding: position-change, stability, sweep, chunks, look-ahead and spread."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import Progress

from caesura.models.commands.options import CORPORA, SHIPPED, Corpora, Models
from caesura.models.data.preparation import held_out
from caesura.models.decoding.labelled_stream import WatchedEngine, active_model
from caesura.models.evaluation.decoding_tables import (
    changes_table,
    decodings_tables,
    detections_table,
    revisions_table,
    stability_table,
)
from caesura.models.evaluation.position_plot import drawn
from caesura.models.evaluation.stability import detections, growing_input, revisions, stabilities, streams_of
from caesura.models.evaluation.sweeps import (
    SWEEP_CORPORA,
    DecodingWay,
    GoldText,
    against_chunks,
    benchmark_text,
    decoded,
    held_out_text,
    stream,
    sweep,
)
from caesura.models.languages.english import ENGLISH
from caesura.models.networks.pieces import read_vocabulary
from caesura.schemas.events import Emission
from caesura.worker.adapters.onnx.engine import OnnxEngine
from caesura.worker.core.language.rules import DecodingRules
from caesura.worker.option_groups import grouped
from caesura.worker.ports.engine import Engine


def put(page: Path | None, name: str, text: str, *, max_words: int) -> None:
    """Print a text, and put it in the place that ``page`` has for it; ValueError where it has none.

    max_words: how much text the command was told to read, which the page says.
    """
    print(text)
    if page is None:
        return
    before, begins, rest = page.read_text(encoding="utf-8").partition(f"<!-- {name} -->\n")
    _, ends, after = rest.partition(f"<!-- end of {name} -->\n")
    if not begins or not ends:
        raise ValueError(f"{page} has no place for {name}")
    today = dt.datetime.now(tz=dt.UTC).date().isoformat()
    page.write_text(
        f"{before}{begins}\nMeasured {today} with `--max-words {max_words}`: {text}\n\n{ends}{after}", encoding="utf-8"
    )


MaxWords = Annotated[int, typer.Option(help="Held-out words a corpus.")]
Page = Annotated[Path | None, typer.Option(help="Also put the tables on this page (docs/decoding-figures.md).")]

Ways = list[tuple[DecodingWay, Engine]]
"""How a text is decoded, and by what."""


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("position-change")(position_change)
    app.command("stability")(stability)
    app.command("sweep")(sweep_decoding)
    app.command("chunks")(compare_chunks)
    app.command("look-ahead")(ablate_look_ahead)
    app.command("spread")(compare_spreads)


@dataclass(frozen=True, slots=True, kw_only=True)
class GrowingInput:
    """What ``position-change`` is told."""

    models: Models = SHIPPED
    also: Annotated[
        list[str] | None, typer.Option(help="Another network to draw: NAME=CHECKPOINT (.pt); may be repeated.")
    ] = None
    vocabulary: Annotated[Path, typer.Option(help="WordPiece vocabulary of those.")] = Path("build/vocab.txt")
    unmasked: Annotated[bool, typer.Option(help="Draw the model's weights with their mask taken away, too.")] = False
    corpora: Corpora = CORPORA
    max_words: MaxWords = 1_500
    text_words: Annotated[int, typer.Option(help="Words of one growing input.")] = 80
    plot: Annotated[Path, typer.Option(help="Where the plot goes.")] = Path("docs/position-change.svg")
    page: Page = None


@grouped
def position_change(asked: GrowingInput) -> None:
    """Feed texts word by word, and draw how far back the raw marks still change (the paper's figure 2)."""
    documents = [
        document.words
        for name in SWEEP_CORPORA
        for document in held_out(ENGLISH.recipe, asked.corpora, name, max_words=asked.max_words)
    ]
    texts = [
        words[start : start + asked.text_words]
        for words in documents
        for start in range(0, len(words), asked.text_words)
    ]
    total = sum(map(len, texts))
    by_word: dict[str, Counter[int]] = {}
    by_moment: dict[str, Counter[int]] = {}
    drawn_models: list[str] = []
    with Progress() as bar:
        for name, engine in _drawn_networks(asked.models, asked.also or [], asked.vocabulary, unmasked=asked.unmasked):
            drawn_models.append(active_model(engine, ENGLISH.code))
            advance = partial(bar.advance, bar.add_task(f"{name}: words", total=total))
            by_word[name], by_moment[name] = growing_input(engine, drawn_models[-1], texts, progress=advance)
    panels = {
        "Words whose mark changed after they were heard: where it last changed (per cent)": by_word,
        "Moments at which a mark changed: the farthest one (per cent)": by_moment,
    }
    asked.plot.write_text(drawn(panels), encoding="utf-8")
    put(
        asked.page,
        "position-change",
        changes_table(drawn_models[0], total, by_word, by_moment),
        max_words=asked.max_words,
    )


def stability(
    *, models: Models = SHIPPED, corpora: Corpora = CORPORA, max_words: MaxWords = 3_000, page: Page = None
) -> None:
    """Print how stable and how late the labels are that are published, and that a screen would show."""
    documents = [
        document for name in SWEEP_CORPORA for document in held_out(ENGLISH.recipe, corpora, name, max_words=max_words)
    ]
    words = sum(len(document.words) for document in documents)
    engine = OnnxEngine(models, threads=1)
    with Progress() as bar:
        advance = partial(bar.advance, bar.add_task("words", total=2 * words))
        streams = streams_of(WatchedEngine(engine), documents, progress=advance)
    rows, found = list(stabilities(streams, documents)), list(detections(streams, documents))
    model = active_model(engine, ENGLISH.code)
    put(page, "stability", stability_table(model, words, rows), max_words=max_words)
    print(f"Time to detection, {detections_table(model, words, found)}")
    put(page, "revisions", revisions_table(model, words, list(revisions(streams, documents))), max_words=max_words)


def sweep_decoding(
    *, models: Models = SHIPPED, corpora: Corpora = CORPORA, max_words: MaxWords = 3_000, page: Page = None
) -> None:
    """Print F1, delay and cost of the stream with F, T and the left context varied, on held-out open text."""
    text, engine = held_out_text(ENGLISH.recipe, corpora, max_words=max_words), OnnxEngine(models, threads=1)
    _measure(page, max_words, "sweep", active_model(engine, ENGLISH.code), [(text, [(way, engine) for way in sweep()])])


def compare_chunks(
    *,
    models: Models = SHIPPED,
    corpora: Corpora = CORPORA,
    max_words: MaxWords = 3_000,
    benchmark: Annotated[bool, typer.Option(help="Score IWSLT2011 REF and ASR too.")] = True,
    page: Page = None,
) -> None:
    """Print F1, delay and cost of the stream beside those of overlapped chunks, split and merged."""
    engine = OnnxEngine(models, threads=1)
    ways: Ways = [(way, engine) for way in against_chunks()]
    texts = [(held_out_text(ENGLISH.recipe, corpora, max_words=max_words), ways)]
    texts += [(benchmark_text(corpora, name), [ways[0], ways[-1]]) for name in (("REF", "ASR") if benchmark else ())]
    _measure(page, max_words, "chunks", active_model(engine, ENGLISH.code), texts)


def ablate_look_ahead(
    *, models: Models = SHIPPED, corpora: Corpora = CORPORA, max_words: MaxWords = 400, page: Page = None
) -> None:
    """Print F1 of the settled stream with the shipped weights under shorter masks, in PyTorch: no sweep of L."""
    from caesura.models.evaluation import look_ahead_ablation as ablation  # noqa: PLC0415 - the rest runs without torch

    ways: Ways = []
    for look_ahead in ablation.shortened(ablation.trained_look_ahead(models)):
        ways.append((_settled(look_ahead), ablation.masked_otherwise(models, look_ahead)))
    model = active_model(OnnxEngine(models, threads=1), ENGLISH.code)
    _measure(
        page, max_words, "look-ahead", model, [(held_out_text(ENGLISH.recipe, corpora, max_words=max_words), ways)]
    )


def compare_spreads(
    *,
    checkpoint: Annotated[
        list[Path] | None, typer.Option(help="A CT-Transformer trained for its own L; repeated.")
    ] = None,
    exported: Annotated[
        list[Path] | None, typer.Option(help="A models folder of one, instead: on the engine, sentences, T=6 and T=9.")
    ] = None,
    vocabulary: Annotated[Path, typer.Option(help="WordPiece vocabulary of all of them.")] = Path("build/vocab.txt"),
    corpora: Corpora = CORPORA,
    max_words: MaxWords = 1_500,
    page: Page = None,
) -> None:
    """Print F1, delay and cost of the stream for networks that differ in L or in how it is spread."""
    if not exported and not checkpoint:
        raise typer.BadParameter("name a network: --checkpoint or --exported")
    text = held_out_text(ENGLISH.recipe, corpora, max_words=max_words)
    if exported:
        ways: Ways = [way for folder in exported for way in _with_tails(folder)]
    else:
        ways = _settled_checkpoints(checkpoint or [], vocabulary)
    _measure(page, max_words, "spread", "each trained for its L", [(text, ways)])


def _with_tails(models: Path) -> Iterator[tuple[DecodingWay, Engine]]:
    engine = OnnxEngine(models, threads=1)
    (model,) = engine.models
    for words in (6, 9):
        name = f"sentence, L = {model.look_ahead_words}, T = {words}"
        yield stream(name, DecodingRules(look_ahead_words=words)), engine


def _settled_checkpoints(checkpoints: Sequence[Path], vocabulary: Path) -> Ways:
    from caesura.models.decoding.checkpoint_engine import CheckpointEngine  # noqa: PLC0415 - the rest runs without torch
    from caesura.models.networks.checkpoints import load_network  # noqa: PLC0415

    pieces = read_vocabulary(vocabulary)
    networks = sorted(map(load_network, checkpoints), key=lambda network: sum(network.config.look_ahead))
    return [(_settled(network.config.look_ahead), CheckpointEngine(network, pieces, threads=1)) for network in networks]


def _settled(look_ahead: tuple[int, ...]) -> DecodingWay:
    name = f"settled, L = {sum(look_ahead)} ({','.join(map(str, look_ahead))})"
    return stream(name, DecodingRules(emission=Emission.SETTLED))


def _measure(
    page: Path | None,
    max_words: int,
    name: str,
    model: str,
    texts: Sequence[tuple[GoldText, Ways]],
) -> None:
    """Decode every text every way, and put a table a text on the page."""
    tables = []
    with Progress() as bar:
        for text, ways in texts:
            rows = []
            for _, engine in ways:
                engine.warm_up()
            for way, engine in ways:
                task = bar.add_task(f"{text.name}, {way.name}: words", total=sum(map(len, text.texts)))
                rows.append(decoded(engine, text, way, progress=partial(bar.advance, task)))
            tables.append(rows)
    put(page, name, decodings_tables(model, tables), max_words=max_words)


def _drawn_networks(
    models: Path, also: Sequence[str], vocabulary: Path, *, unmasked: bool
) -> Iterator[tuple[str, Engine]]:
    yield "CT-Transformer", OnnxEngine(models, threads=1)
    if unmasked:
        from caesura.models.evaluation.look_ahead_ablation import masked_otherwise  # noqa: PLC0415 - the rest runs without torch

        yield "the same weights, no mask", masked_otherwise(models)
    for option in also:
        from caesura.models.decoding.checkpoint_engine import CheckpointEngine  # noqa: PLC0415

        name, _, checkpoint = option.partition("=")
        if not checkpoint:
            raise typer.BadParameter(f"{option!r} is not NAME=CHECKPOINT")
        yield name, CheckpointEngine.of(Path(checkpoint), vocabulary)
