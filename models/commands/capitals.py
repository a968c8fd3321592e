"""``models casing``: how well words are written, class by class, beside two ways that need no network."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import Progress

from caesura.models.commands.label_figures import (
    JsonFile,
    OneCheckpoint,
    Pieces,
    Threads,
    names_of,
    opened_engine,
    scored_models,
)
from caesura.models.commands.options import CORPORA, SHIPPED, Corpora, LanguageCode, Models
from caesura.models.evaluation.capitals import CAPITAL_TEXTS, CapitalFigure, evaluate_capitals
from caesura.models.languages.english import ENGLISH
from caesura.models.languages.language import Language
from caesura.models.languages.registry import LANGUAGES
from caesura.worker.option_groups import grouped


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("casing")(casing)


@dataclass(frozen=True, slots=True, kw_only=True)
class CapitalsScored:
    """What ``casing`` is told. language: of the corpora; without one named, a few English ones or all edited ones."""

    language: LanguageCode = ENGLISH.code
    models: Models = SHIPPED
    corpora: Corpora = CORPORA
    corpus: Annotated[list[str] | None, typer.Option(help="A corpus's name; may be repeated.")] = None
    max_words: Annotated[int, typer.Option(help="Held-out words a corpus.")] = 20_000
    table_words: Annotated[
        int, typer.Option(help="Words of a corpus's training text that the likeliest forms are learnt from.")
    ] = 1_000_000
    by_document: Annotated[bool, typer.Option("--by-document", help="Each document's own rows besides.")] = False
    checkpoint: OneCheckpoint = None
    vocabulary: Pieces = Path("build/vocab.txt")
    threads: Threads = None
    json_file: JsonFile = None


@grouped
def casing(asked: CapitalsScored) -> None:
    """Print P, R and F1 of capitals inside sentences with 95 % intervals, names apart, streaming (F=3, T=6)."""
    language = LANGUAGES[asked.language]
    edited = (
        CAPITAL_TEXTS if language is ENGLISH else [name for name in language.recipe.mix if _is_edited(language, name)]
    )
    engine = opened_engine(asked.models, language.code, asked.checkpoint, asked.vocabulary, asked.threads)
    figures: list[CapitalFigure] = []
    with Progress() as bar:
        for name in asked.corpus or edited:
            told = partial(bar.advance, bar.add_task(f"{name}: words", total=None))
            figures += evaluate_capitals(
                engine,
                asked.corpora,
                name,
                language=language,
                limit=asked.max_words,
                table_words=asked.table_words,
                by_document=asked.by_document,
                progress=told,
            )
    print(asked.checkpoint or names_of(scored_models(engine.models, language.code)))
    print(capitals_table(figures))
    if asked.json_file is not None:
        asked.json_file.parent.mkdir(parents=True, exist_ok=True)
        asked.json_file.write_text(json.dumps([asdict(one) for one in figures], indent=2) + "\n", encoding="utf-8")


def _is_edited(language: Language, corpus: str) -> bool:
    return corpus in language.recipe.fluent and corpus in language.scored["open_text"]


def capitals_table(figures: Sequence[CapitalFigure]) -> str:
    """Return the rows as a Markdown table: a line a text, group and way, a column a class."""
    return "\n".join(_lines(figures))


def _lines(figures: Sequence[CapitalFigure]) -> Iterator[str]:
    rows: dict[tuple[str, str, str], dict[str, CapitalFigure]] = {}
    for one in figures:
        rows.setdefault((one.text, one.group, one.way), {})[one.label] = one
    yield "| text | words | way | capital first | all capitals | overall P / R / F1 (interval) | capitals |"
    yield "|---|---|---|---|---|---|---|"
    for (text, group, way), labels in rows.items():
        first, capitals = (
            f"{labels[name].score.f1:.1f}" if name in labels else "·" for name in ("capital_first", "all_capitals")
        )
        score = labels["overall"].score
        overall = f"{score.precision:.1f} / {score.recall:.1f} / {score}"
        yield f"| {text} | {group} | {way} | {first} | {capitals} | {overall} | {score.gold} |"
