"""The command that reads corpora into packed text: ``python -m caesura.models prepare``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer
from rich.progress import Progress

from caesura.models.commands.options import CORPORA, DATA, Corpora, Corpus, Data, LanguageCode, Vocabulary
from caesura.models.data.benchmark_corpora import BENCHMARK_MIX
from caesura.models.data.preparation import prepare, prepare_held_out
from caesura.models.data.recipes import Recipe
from caesura.models.data.recogniser_errors import ERROR_RATE, DocumentErrors
from caesura.models.languages.registry import LANGUAGES
from caesura.models.networks.pieces import MAX_PIECES, UNKNOWN_PIECE, read_vocabulary
from caesura.worker.inference.model.wordpiece import WordPiece
from caesura.worker.option_groups import grouped


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("prepare")(prepare_text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """What ``prepare`` is told."""

    vocabulary: Vocabulary
    language: LanguageCode = "en"
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
        float, typer.Option(help="Share of the documents that carry a recogniser's errors, simulated (not in Chinese).")
    ] = 0.0
    scale: float = 1.0
    seed: int = 1


@grouped
def prepare_text(asked: Prepared) -> None:
    """Read the open corpora of a language into packed training text, and print what was read and what was dropped.

    scale multiplies the number of words taken of each corpus. What is there already is kept.
    """
    tokenizer = WordPiece(read_vocabulary(asked.vocabulary), max_pieces=MAX_PIECES, unknown=UNKNOWN_PIECE)
    recipe, errors = LANGUAGES[asked.language].recipe, None
    if asked.errors:
        alike = recipe.sounds_alike(asked.corpora, tokenizer.vocabulary)
        errors = DocumentErrors(alike, asked.errors, asked.error_rate if asked.held_out else ERROR_RATE)
    (_prepare_held_out if asked.held_out else _prepare_training)(asked, recipe, tokenizer, errors)


def _prepare_held_out(asked: Prepared, recipe: Recipe, tokenizer: WordPiece, errors: DocumentErrors | None) -> None:
    for counts in prepare_held_out(
        recipe,
        asked.corpora,
        asked.data,
        tokenizer,
        asked.corpus or [*recipe.mix, *recipe.chooses],
        max_words=asked.max_words,
        errors=errors,
    ):
        print(f"{counts.corpus}: {counts.documents} documents, {counts.words} words")


def _prepare_training(asked: Prepared, recipe: Recipe, tokenizer: WordPiece, errors: DocumentErrors | None) -> None:
    taken = BENCHMARK_MIX if asked.benchmark else recipe.mix
    if unknown := set(asked.corpus or ()) - set(taken):
        raise typer.BadParameter(f"{', '.join(sorted(unknown))}: not among {', '.join(taken)}", param_hint="--corpus")
    mix = {name: int(words * asked.scale) for name, words in taken.items() if name in (asked.corpus or taken)}
    with Progress() as bar:
        task = bar.add_task("corpora", total=len(mix))
        for counts in prepare(recipe, asked.corpora, asked.data, tokenizer, mix, seed=asked.seed, errors=errors):
            bar.advance(task)
            bar.print(
                f"{counts.corpus}: {counts.documents} documents, {counts.words} words and {counts.inserted_words} "
                f"inserted; {counts.dropped} dropped and {counts.shared} kept with text of a test set"
            )
