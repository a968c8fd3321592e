"""Commands that measure the labels: ``python -m caesura.models evaluate | false-stops | regression | everyday``."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import Progress

from caesura.models.commands.options import CORPORA, SHIPPED, Corpora, LanguageCode, Models
from caesura.models.data.chinese_corpora import CHINESE_TEST
from caesura.models.data.preparation import held_out
from caesura.models.decoding.ways import OFFLINE, STREAMING, Decoding, ahead
from caesura.models.evaluation.everyday import everyday_table, read_everyday
from caesura.models.evaluation.false_stops import WORDS_A_SENTENCE, Stops, stops_on, stops_table
from caesura.models.evaluation.figures import (
    Evaluation,
    Figure,
    pairs,
    pairs_table,
    table,
)
from caesura.models.evaluation.regression.cases import LISTED_LANGUAGES, write_known_failures
from caesura.models.evaluation.regression.runs import report, run_list
from caesura.models.languages.registry import LANGUAGES
from caesura.worker.adapters.onnx.engine import OnnxEngine
from caesura.worker.option_groups import grouped
from caesura.worker.ports.engine import Engine, EngineModel

OneLanguage = Annotated[str | None, typer.Option(help="One language's model only.")]
OneCheckpoint = Annotated[
    Path | None,
    typer.Option(
        help="Score a checkpoint (.pt, fp32 in PyTorch) in place of a model folder.", exists=True, dir_okay=False
    ),
]
Pieces = Annotated[Path, typer.Option(help="WordPiece vocabulary of the checkpoint.")]
Threads = Annotated[int | None, typer.Option(help="Threads of one inference; what the cgroup allows if not given.")]
JsonFile = Annotated[Path | None, typer.Option(help="Also write the figures here.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("evaluate")(evaluate)
    app.command("false-stops")(false_stops)
    app.command("regression")(regression)
    app.command("everyday")(everyday)


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluated:
    """What ``evaluate`` is told: the model or a checkpoint, which texts, and how much of them."""

    models: Models = SHIPPED
    language: OneLanguage = None
    corpora: Corpora = CORPORA
    benchmark: Annotated[bool, typer.Option(help="Score IWSLT2011 REF and ASR, and the Chinese test sets.")] = True
    switchboard: Annotated[bool, typer.Option(help="Score disfluencies on Switchboard's test part.")] = True
    open_text: Annotated[bool, typer.Option(help="Score held-out documents of the open corpora.")] = True
    streaming: Annotated[bool, typer.Option(help="Score decoding as a stream, as the worker decodes.")] = True
    offline: Annotated[bool, typer.Option(help="Score offline decoding as well as streaming, and compare.")] = True
    ahead: Annotated[
        list[int] | None,
        typer.Option(min=0, help="Score also with so many words known after each word, no more; may be repeated."),
    ] = None
    max_words: Annotated[int, typer.Option(help="Held-out words a corpus; Chinese characters likewise.")] = 8_000
    max_test_characters: Annotated[int, typer.Option(help="Characters of the Chinese spoken test.")] = 30_000
    only: Annotated[list[str] | None, typer.Option("--text", help="Score this text alone; may be repeated.")] = None
    checkpoint: OneCheckpoint = None
    vocabulary: Pieces = Path("build/vocab.txt")
    quick: Annotated[
        bool, typer.Option("--quick", help="Compute a checkpoint in bfloat16 where this machine has it.")
    ] = False
    threads: Threads = None
    json_file: JsonFile = None

    @property
    def ways(self) -> list[Decoding]:
        """The ways to decode that are scored."""
        asked = ((STREAMING, self.streaming), (OFFLINE, self.offline))
        return [way for way, wanted in asked if wanted] + [ahead(words) for words in self.ahead or []]


@grouped
def evaluate(asked: Evaluated) -> None:
    """Print P, R and F1 with 95 % intervals: test sets and held-out open text, streaming (F=3, T=6) and offline.

    With --ahead a network that sees everything says what a sight of so many words is worth: each word is then
    labelled in a pass of its own.
    """
    if not asked.ways:
        raise typer.BadParameter("nothing is scored with --no-streaming and --no-offline: give --ahead")
    engine = opened_engine(
        asked.models, asked.language or "en", asked.checkpoint, asked.vocabulary, asked.threads, quick=asked.quick
    )
    figures: list[Figure] = []
    limits = {CHINESE_TEST: asked.max_test_characters}
    chosen = {"benchmark": asked.benchmark, "switchboard": asked.switchboard, "open_text": asked.open_text}
    texts = list(
        _texts(_served(engine, asked.language), {name for name, wanted in chosen.items() if wanted}, asked.only)
    )
    with Progress() as bar:
        for way in asked.ways:
            for name, language, score in texts:
                task = bar.add_task(f"{name}, {way.name}: words", total=None)
                limit = limits.get(name, asked.max_words)
                found = score(
                    engine,
                    asked.corpora,
                    name,
                    language=LANGUAGES[language],
                    decoding=way,
                    limit=limit,
                    progress=partial(bar.advance, task),
                )
                bar.print(_in_brief(found))  # a text may take half an hour, and nothing else is seen of it in a log
                figures += found
    print(asked.checkpoint or names_of(scored_models(engine.models, asked.language)))
    print(table(figures))
    if compared := pairs(figures):
        print("\nStreaming less offline, same weights and mask, paired bootstrap over blocks:\n")
        print(pairs_table(compared))
    if asked.json_file is not None:
        rows = {
            "figures": [one.as_json() for one in figures],
            "streaming_less_offline": [p.as_json() for p in compared],
        }
        asked.json_file.parent.mkdir(parents=True, exist_ok=True)
        asked.json_file.write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")


def _in_brief(figures: Sequence[Figure]) -> str:
    """Return one line of a text that was just scored: F1 of each class."""
    scores = ", ".join(f"{figure.label} {figure.score.f1:.1f}" for figure in figures)
    return f"{figures[0].text}, {figures[0].decoding}: {scores}"


def opened_engine(
    models: Path,
    language: str,
    checkpoint: Path | None,
    vocabulary: Path,
    threads: int | None,
    *,
    quick: bool = False,
) -> Engine:
    """Return an engine over a checkpoint, or one over a models folder, warmed up. quick: of a checkpoint's network."""
    if checkpoint is not None:
        if not vocabulary.is_file():
            raise typer.BadParameter(f"File '{vocabulary}' does not exist.", param_hint="'--vocabulary'")
        from caesura.models.decoding.checkpoint_engine import CheckpointEngine  # noqa: PLC0415 - a model folder is scored without torch

        return CheckpointEngine.of(checkpoint, vocabulary, language=language, threads=threads, quick=quick)
    engine = OnnxEngine(models, threads=threads)
    engine.warm_up()
    return engine


def scored_models(models: Iterable[EngineModel], language: str | None) -> list[EngineModel]:
    """Return the active ones, by language, or that of the language asked for; those beside them label nothing."""
    served = (model for model in models if model.active and language in (None, model.language))
    return sorted(served, key=lambda model: model.language)


def names_of(models: Sequence[EngineModel]) -> str:
    """Return the line that says whose figures follow."""
    return ", ".join(model.name for model in models)


def _served(engine: Engine, language: str | None) -> list[str]:
    return [model.language for model in scored_models(engine.models, language)]


def _texts(languages: list[str], chosen: set[str], only: list[str] | None) -> Iterator[tuple[str, str, Evaluation]]:
    """Yield the name of each text to be scored, its language, and what scores it; BadParameter where there is none."""
    texts = {name: (language, score) for name, language, score in _groups(languages, chosen)}
    if only is None:
        for name, (language, score) in texts.items():
            yield name, language, score
        return
    for language in languages:
        texts |= {name: (language, score) for name, score in LANGUAGES[language].scored_by_name.items()}
    for name in only:
        if name not in texts:
            raise typer.BadParameter(f"there is no text {name!r}; there are {', '.join(texts)}")
        yield name, *texts[name]


def _groups(languages: list[str], chosen: set[str]) -> Iterator[tuple[str, str, Evaluation]]:
    for language in languages:
        for group, texts in LANGUAGES[language].scored.items():
            if group in chosen:
                yield from ((name, language, score) for name, score in texts.items())


def false_stops(  # noqa: PLR0913 - a command's options
    *,
    models: Models = SHIPPED,
    language: OneLanguage = None,
    corpora: Corpora = CORPORA,
    sentences: Annotated[int, typer.Option(help="Held-out sentences a corpus.")] = 100,
    only: Annotated[list[str] | None, typer.Option("--text", help="Ask of this corpus alone; may be repeated.")] = None,
    end_offset: Annotated[float, typer.Option(help="Added to the scores of the last word's sentence marks.")] = 0.0,
    checkpoint: OneCheckpoint = None,
    vocabulary: Pieces = Path("build/vocab.txt"),
    threads: Threads = None,
) -> None:
    """Print how often a flush inside a sentence freezes a sentence mark, and how often one at its end does."""
    engine = opened_engine(models, language or "en", checkpoint, vocabulary, threads)
    rows: list[Stops] = []
    with Progress() as bar:
        for served in _served(engine, language):
            recipe = LANGUAGES[served].recipe
            for corpus in LANGUAGES[served].scored["open_text"]:
                if corpus not in (only or (corpus,)):
                    continue
                count = partial(bar.advance, bar.add_task(f"{corpus}: words", total=None))
                documents = held_out(recipe, corpora, corpus, max_words=WORDS_A_SENTENCE * sentences)
                stops = stops_on(
                    engine,
                    documents,
                    text=corpus,
                    language=served,
                    sentences=sentences,
                    end_offset=end_offset,
                    progress=count,
                )
                rows.append(stops)
    print(f"{checkpoint or names_of(scored_models(engine.models, language))}\n{stops_table(rows)}")


def regression(
    *,
    models: Models = SHIPPED,
    threads: Threads = None,
    write_known: Annotated[bool, typer.Option("--write-known", help="Write down what fails as known to fail.")] = False,
) -> None:
    """Label the regression list, print what fails, and how much of 300 fluent sentences would be deleted.

    After a new model: look at what fails, then run it with --write-known and commit the list of known failures.
    """
    engine = OnnxEngine(models, threads=threads)
    scored = [model for model in scored_models(engine.models, None) if model.language in LISTED_LANGUAGES]
    outcomes = [outcome for model in scored for outcome in run_list(engine, model.language)]
    print(f"{names_of(scored)}\n{report(outcomes)}")
    if write_known:
        failing = [outcome.case for outcome in outcomes if outcome.faults]
        write_known_failures(failing, [model.name for model in scored])


def everyday(
    *,
    language: LanguageCode,
    models: Models = SHIPPED,
    checkpoint: OneCheckpoint = None,
    vocabulary: Pieces = Path("build/vocab.txt"),
    threads: Threads = None,
) -> None:
    """Print by kind how a model labels calls and everyday talk of our own: German, Spanish or French."""
    engine = opened_engine(models, language, checkpoint, vocabulary, threads)
    print(everyday_table(engine, LANGUAGES[language], list(read_everyday(language))))
