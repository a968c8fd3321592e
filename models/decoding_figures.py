"""Commands that measure decoding: ``python -m models position-change | stability | sweep | chunks | look-ahead``."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import Progress

from models.data.prepare import held_out
from models.languages import LANGUAGES
from models.position_plot import drawn
from models.stability import DELAYS_WORDS, Detection, Stability, detections, growing_input, stabilities, streams_of
from models.streamed import WatchedEngine, active_model
from models.sweeps import (
    SWEEP_CORPORA,
    Decoding,
    GoldText,
    against_chunks,
    benchmark_text,
    decoded,
    figures_table,
    held_out_text,
    stream,
    sweep,
)
from schemas.events import Emission
from worker.adapters.onnxruntime_engine import OnnxEngine
from worker.core.rules import DecodingRules
from worker.ports import Engine

__all__ = ["register"]

Models = Annotated[Path, typer.Option(help="The models folder.")]
Corpora = Annotated[Path, typer.Option(envvar="CAESURA_CORPORA", help="Folder of the corpora (en/*.jsonl.xz …).")]
MaxWords = Annotated[int, typer.Option(help="Held-out words a corpus.")]
JsonFile = Annotated[Path | None, typer.Option(help="Also write the figures here.")]

_SHIPPED = Path("models/shipped")
_CORPORA = Path("../shared/corpora")


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("position-change")(position_change)
    app.command("stability")(stability)
    app.command("sweep")(sweep_decoding)
    app.command("chunks")(compare_chunks)
    app.command("look-ahead")(ablate_look_ahead)


def position_change(  # noqa: PLR0913 - a command's options
    *,
    models: Models = _SHIPPED,
    also: Annotated[
        list[str] | None, typer.Option(help="Another network to draw: NAME=CHECKPOINT (.pt); again and again.")
    ] = None,
    vocabulary: Annotated[Path, typer.Option(help="The word pieces of those.")] = Path("build/vocab.txt"),
    unmasked: Annotated[bool, typer.Option(help="Draw the model's weights with their mask taken away, too.")] = False,
    corpora: Corpora = _CORPORA,
    max_words: MaxWords = 1_500,
    text_words: Annotated[int, typer.Option(help="Words of one growing input.")] = 80,
    plot: Annotated[Path, typer.Option(help="Where the plot goes.")] = Path("docs/position-change.svg"),
    json_file: JsonFile = None,
) -> None:
    """Feed texts word by word, and draw how far back the raw marks still change (the paper's figure 2)."""
    documents = [document.words for name in SWEEP_CORPORA for document in held_out(corpora, name, max_words=max_words)]
    texts = [words[start : start + text_words] for words in documents for start in range(0, len(words), text_words)]
    by_word: dict[str, Counter[int]] = {}
    by_moment: dict[str, Counter[int]] = {}
    with Progress() as bar:
        for name, engine in _drawn_networks(models, also or [], vocabulary, unmasked=unmasked):
            task = bar.add_task(f"{name}: words", total=sum(map(len, texts)))
            by_word[name], by_moment[name] = growing_input(
                engine, active_model(engine, "en"), texts, progress=partial(bar.advance, task)
            )
            print(f"{name}: {', '.join(model.name for model in engine.models)}")
            for what, counts in (("words", by_word[name]), ("moments", by_moment[name])):
                print(f"{name}, {what}: {_described(counts)}")
    panels = {
        "Words whose mark changed after they were heard: where it last changed (per cent)": by_word,
        "Moments at which a mark changed: the farthest one (per cent)": by_moment,
    }
    plot.write_text(drawn(panels), encoding="utf-8")
    _write(json_file, {"by_word": by_word, "by_moment": by_moment})


def stability(
    *,
    models: Models = _SHIPPED,
    corpora: Corpora = _CORPORA,
    max_words: MaxWords = 3_000,
    json_file: JsonFile = None,
) -> None:
    """Print how stable and how late the labels are that are published, and that a screen would show."""
    documents = [document for name in SWEEP_CORPORA for document in held_out(corpora, name, max_words=max_words)]
    engine = OnnxEngine(models, threads=1)
    with Progress() as bar:
        task = bar.add_task("words", total=2 * sum(len(document.words) for document in documents))
        streams = streams_of(WatchedEngine(engine), documents, progress=partial(bar.advance, task))
    rows = list(stabilities(streams, documents))
    found = list(detections(streams, documents))
    print(f"{active_model(engine, 'en')}, {sum(len(document.words) for document in documents)} words\n")
    print(_stability_table(rows))
    print()
    print(_detection_table(found))
    _write(json_file, {"stability": [row.as_json() for row in rows], "detection": [row.as_json() for row in found]})


def sweep_decoding(
    *,
    models: Models = _SHIPPED,
    corpora: Corpora = _CORPORA,
    max_words: MaxWords = 4_000,
    json_file: JsonFile = None,
) -> None:
    """Print F1, delay and cost of the stream with F, T and the left context varied, on held-out open text."""
    texts = [held_out_text(corpora, max_words=max_words)]
    _measure(OnnxEngine(models, threads=1), texts, list(sweep()), json_file)


def compare_chunks(
    *,
    models: Models = _SHIPPED,
    corpora: Corpora = _CORPORA,
    max_words: MaxWords = 4_000,
    benchmark: Annotated[bool, typer.Option(help="Score IWSLT2011 REF and ASR too.")] = True,
    json_file: JsonFile = None,
) -> None:
    """Print F1, delay and cost of the stream beside those of overlapped chunks, split and merged."""
    texts = [held_out_text(corpora, max_words=max_words)]
    texts += [benchmark_text(corpora, name) for name in (("REF", "ASR") if benchmark else ())]
    _measure(OnnxEngine(models, threads=1), texts, list(against_chunks()), json_file)


def ablate_look_ahead(
    *,
    models: Models = _SHIPPED,
    corpora: Corpora = _CORPORA,
    max_words: MaxWords = 1_500,
    json_file: JsonFile = None,
) -> None:
    """Print F1 of the settled stream with the shipped weights under shorter masks, in PyTorch: no sweep of L."""
    from models.look_ahead_ablation import masked_otherwise, shortened  # noqa: PLC0415 - the rest runs without torch

    text, rows = held_out_text(corpora, max_words=max_words), []
    with Progress() as bar:
        for look_ahead in shortened(LANGUAGES["en"].look_ahead):
            name = f"settled, L = {sum(look_ahead)} ({','.join(map(str, look_ahead))})"
            task = bar.add_task(f"{name}: words", total=sum(map(len, text.texts)))
            engine = masked_otherwise(models, look_ahead)
            way = stream(name, DecodingRules(emission=Emission.SETTLED))
            rows.append(decoded(engine, text, way, progress=partial(bar.advance, task)))
    print(figures_table(rows))
    _write(json_file, [row.as_json() for row in rows])


def _measure(engine: OnnxEngine, texts: list[GoldText], ways: list[Decoding], json_file: Path | None) -> None:
    engine.warm_up()
    print(active_model(engine, "en"))
    measured = []
    with Progress() as bar:
        for text in texts:
            rows = []
            for way in ways:
                task = bar.add_task(f"{text.name}, {way.name}: words", total=sum(map(len, text.texts)))
                rows.append(decoded(engine, text, way, progress=partial(bar.advance, task)))
            bar.console.print(figures_table(rows), soft_wrap=True, markup=False, highlight=False)
            measured += rows
    _write(json_file, [row.as_json() for row in measured])


def _drawn_networks(
    models: Path, also: Sequence[str], vocabulary: Path, *, unmasked: bool
) -> Iterator[tuple[str, Engine]]:
    yield "CT-Transformer", OnnxEngine(models, threads=1)
    if unmasked:
        from models.look_ahead_ablation import masked_otherwise  # noqa: PLC0415 - the rest runs without torch

        yield "the same weights, no mask", masked_otherwise(models)
    for option in also:
        from models.checkpoint_engine import CheckpointEngine  # noqa: PLC0415

        name, _, checkpoint = option.partition("=")
        if not checkpoint:
            raise typer.BadParameter(f"{option!r} is not NAME=CHECKPOINT")
        yield name, CheckpointEngine.of(Path(checkpoint), vocabulary)


def _described(counts: Counter[int]) -> str:
    whole, changed = counts.total(), counts.total() - counts[0]
    far = sum(count for distance, count in counts.items() if distance > 9)
    spread = " ".join(f"{distance}:{counts[distance]}" for distance in sorted(counts))
    return f"{changed} of {whole} changed, {far} more than 9 words back, at most {max(counts)}; {spread}"


def _stability_table(rows: Sequence[Stability]) -> str:
    delayed = " / ".join(map(str, DELAYS_WORDS))
    lines = [
        f"| shown | normalised erasure | edit overhead | wait, words: mean / p50 / p95 | F1 after {delayed}, last |",
        "|---|---|---|---|---|",
    ]
    for row in rows:
        f1 = " / ".join(f"{one:.1f}" for one in (*row.delayed_f1, row.final_f1))
        lines.append(
            f"| {row.shown}, {row.kind} | {row.normalised_erasure:.3f} | {100 * row.edit_overhead:.1f} % "
            f"| {row.average_wait_words:.1f} / {row.wait_p50_words:.0f} / {row.wait_p95_words:.0f} | {f1} |"
        )
    return "\n".join(lines)


def _detection_table(rows: Sequence[Detection]) -> str:
    lines = ["| shown | label | gold | ever found | words until found: mean / p50 / p95 |", "|---|---|---|---|---|"]
    lines += [
        f"| {row.shown} | {row.label} | {row.runs} | {100 * row.detected / row.runs:.1f} % "
        f"| {row.mean_words:.1f} / {row.p50_words:.0f} / {row.p95_words:.0f} |"
        for row in rows
    ]
    return "\n".join(lines)


def _write(json_file: Path | None, figures: Any) -> None:  # noqa: ANN401 - any plain value
    if json_file is not None:
        json_file.parent.mkdir(parents=True, exist_ok=True)
        json_file.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
