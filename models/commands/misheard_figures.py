"""``models misheard``: F1 of the marks as more and more words are misheard, of one model or several."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import Progress

from caesura.models.commands.label_figures import Threads
from caesura.models.commands.options import CORPORA, SHIPPED, Corpora, LanguageCode
from caesura.models.data.preparation import held_out
from caesura.models.decoding.labelled_stream import active_model
from caesura.models.evaluation.misheard import (
    MISHEARD_CORPORA,
    RATES,
    MisheardFigure,
    misheard,
    misheard_figure,
    misheard_table,
)
from caesura.models.export.starting_model import starting_model
from caesura.models.languages.english import ENGLISH
from caesura.models.languages.registry import LANGUAGES
from caesura.worker.adapters.onnx.engine import OnnxEngine


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("misheard")(score_misheard)


def score_misheard(
    *,
    models: Annotated[
        list[Path] | None,
        typer.Option(help="A models folder; may be repeated: each is compared with the first.", show_default="shipped"),
    ] = None,
    language: LanguageCode = ENGLISH.code,
    corpora: Corpora = CORPORA,
    corpus: Annotated[list[str] | None, typer.Option(help="A corpus's name; may be repeated.")] = None,
    max_words: Annotated[int, typer.Option(help="Held-out words a corpus.")] = 8_000,
    rate: Annotated[list[float] | None, typer.Option(help="Errors a word; may be repeated.", min=0, max=1)] = None,
    threads: Threads = None,
) -> None:
    """Print F1 of the marks as a stream, words misheard by rule: 0, 5, 10 and 20 of a hundred."""
    folders = models or [SHIPPED]
    spoken = LANGUAGES[language]
    alike = spoken.recipe.sounds_alike(corpora, starting_model(folders[0], language).vocabulary())
    usual = MISHEARD_CORPORA if spoken is ENGLISH else spoken.parity_corpora
    engines = [OnnxEngine(folder, threads=threads) for folder in folders]
    figures: list[MisheardFigure] = []
    with Progress() as bar:
        for text in corpus or usual:
            documents = held_out(spoken.recipe, corpora, text, max_words=max_words)
            for share in rate or RATES:
                heard = misheard(documents, alike, share)
                for engine in engines:
                    told = partial(bar.advance, bar.add_task(f"{text}, {100 * share:.0f} of 100: words", total=None))
                    name = active_model(engine, language)
                    figure = misheard_figure(
                        engine, heard, text=text, rate=share, model=name, language=language, progress=told
                    )
                    figures.append(figure)
    print(misheard_table(figures))
