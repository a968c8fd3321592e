"""What the fluent text changes of what was said: ``models harm``, ``models numbers``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import Progress

from caesura.models.commands.label_figures import OneLanguage, Threads, scored_models
from caesura.models.commands.options import CORPORA, SHIPPED, ActiveModels, Corpora, Models
from caesura.models.data.preparation import held_out
from caesura.models.data.swda import read_swda_test
from caesura.models.decoding.labelling_runs import published_words
from caesura.models.evaluation.harm import LEVELS, Harm, HarmRow, SaidSession, harm_table, harms
from caesura.models.evaluation.number_sentences import NUMBER_LANGUAGES, number_faults, number_sessions
from caesura.models.evaluation.said_sessions import childes_sessions, document_sessions, line_sessions
from caesura.models.evaluation.switchboard import INTERREGNA, gold_tags
from caesura.models.languages.registry import LANGUAGES
from caesura.worker.adapters.onnx.engine import OnnxEngine
from caesura.worker.core.rendering.cleaning import CleaningLevel
from caesura.worker.option_groups import grouped
from caesura.worker.ports.engine import Engine

_AROUND = 6


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("harm")(measure_harm)
    app.command("numbers")(check_numbers)


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredHarm:
    """What ``harm`` is told: the models, the texts, how much of them."""

    models: Models = SHIPPED
    active: ActiveModels = None
    language: OneLanguage = None
    corpora: Corpora = CORPORA
    lines: Annotated[
        list[Path] | None,
        typer.Option(help="A file of labelled lines (JSON: lang, input, accept); may be repeated.", exists=True),
    ] = None
    text: Annotated[list[str] | None, typer.Option(help="One text alone; may be repeated.")] = None
    max_words: Annotated[int, typer.Option(help="Words of a text; Chinese characters likewise.")] = 40_000
    seed: Annotated[int, typer.Option(help="Draws the sentences with numbers.")] = 11
    left_out: Annotated[
        Path | None,
        typer.Option(help="Write each content word left out at the full level here, with the words around it."),
    ] = None
    threads: Threads = None


@grouped
def measure_harm(asked: MeasuredHarm) -> None:
    """Print content words left out, numbers changed, corrections lost and sessions without a mark, level by level."""
    engine = OnnxEngine(asked.models, active=asked.active or (), threads=asked.threads)
    engine.warm_up()
    served = {model.language: model.name for model in engine.models if model.active}
    rows: list[HarmRow] = []
    places: list[str] = []
    with Progress() as bar:
        for name, read in _texts(asked):
            by_language: dict[str, list[SaidSession]] = {}
            for session in read():
                if session.language in served and asked.language in (None, session.language):
                    by_language.setdefault(session.language, []).append(session)
            for language, sessions in by_language.items():
                count = partial(bar.advance, bar.add_task(f"{name}: words", total=None))
                found = _measured(engine, _first(sessions, asked.max_words), language, count)
                rows += [HarmRow(model=served[language], text=name, level=level, harm=harm) for level, harm, _ in found]
                places += [
                    f"{name}\t{place}" for level, _, said in found if level is CleaningLevel.FULL for place in said
                ]
    print(harm_table(rows))
    if asked.left_out is not None:
        asked.left_out.write_text("".join(f"{place}\n" for place in places), encoding="utf-8")


def check_numbers(
    *,
    models: Models = SHIPPED,
    active: ActiveModels = None,
    language: OneLanguage = None,
    seed: Annotated[int, typer.Option(help="Draws the sentences.")] = 11,
    each: Annotated[int, typer.Option(help="Sentences of a frame.", min=1)] = 20,
    threads: Threads = None,
) -> None:
    """Say sentences with sums and dates; fail where a word of one is left out or a sentence end cuts one in two."""
    engine = OnnxEngine(models, active=active or (), threads=threads)
    engine.warm_up()
    wrong = False
    if language not in (None, *NUMBER_LANGUAGES):
        raise typer.BadParameter(f"one of {', '.join(NUMBER_LANGUAGES)}", param_hint="--language")
    for model in scored_models(engine.models, language):
        if model.language not in NUMBER_LANGUAGES:
            continue
        sessions = list(number_sessions(model.language, each=each, seed=seed))
        words = published_words(engine, [said.words for said in sessions], language=model.language)
        found = number_faults(sessions, words)
        wrong = wrong or bool(found.lost or found.cut)
        for kind, texts in (("words left out", found.lost), ("cut in two", found.cut)):
            print(f"{model.name}: {kind} in {len(texts)} of {found.sentences} sentences")
            for text in texts:
                print(f"  {text}")
    raise typer.Exit(code=int(wrong))


def _measured(
    engine: Engine, sessions: Sequence[SaidSession], language: str, count: Callable[[int], None]
) -> list[tuple[CleaningLevel, Harm, list[str]]]:
    published = published_words(engine, [said.words for said in sessions], language=language, progress=count)
    found = [(level, harms(sessions, published, level)) for level in LEVELS]
    return [(level, harm, [_shown(sessions[k].words, at) for k, at in harm.left_out_places]) for level, harm in found]


def _shown(words: Sequence[str], place: int) -> str:
    before, after = words[max(place - _AROUND, 0) : place], words[place + 1 : place + 1 + _AROUND]
    return " ".join([*before, f"[{words[place]}]", *after])


def _first(sessions: Sequence[SaidSession], max_words: int) -> list[SaidSession]:
    kept: list[SaidSession] = []
    for session in sessions:
        if max_words <= 0:
            break
        kept.append(session)
        max_words -= len(session.words)
    return kept


def _texts(asked: MeasuredHarm) -> Iterator[tuple[str, Callable[[], Iterator[SaidSession]]]]:
    """Yield the name of each text and what reads its sessions."""
    texts: dict[str, Callable[[], Iterator[SaidSession]]] = {}
    for path in asked.lines or ():
        texts[path.stem] = partial(line_sessions, path)
    texts["numbers"] = lambda: chain.from_iterable(
        number_sessions(language, seed=asked.seed) for language in NUMBER_LANGUAGES
    )
    texts["CHILDES"] = partial(childes_sessions, asked.corpora)
    texts["Switchboard"] = partial(_switchboard, asked.corpora)
    for language in LANGUAGES.values():
        fluent = [corpus for corpus in language.scored["open_text"] if corpus in language.recipe.fluent]
        texts[f"edited text, {language.code}"] = partial(_held_out, asked, language.code, fluent)
    texts["rev16"] = partial(_held_out, asked, "en", ["rev16"])
    texts["cs2w"] = partial(_held_out, asked, "zh", ["cs2w"])
    for name in asked.text or texts:
        if name not in texts:
            raise typer.BadParameter(f"there is no text {name!r}; there are {', '.join(texts)}", param_hint="--text")
        yield name, texts[name]


def _switchboard(corpora: Path) -> Iterator[SaidSession]:
    for side in read_swda_test(corpora):
        yield SaidSession(language="en", words=tuple(side.words), tags=tuple(gold_tags(side, INTERREGNA)))


def _held_out(asked: MeasuredHarm, language: str, corpora: Sequence[str]) -> Iterator[SaidSession]:
    recipe, each = LANGUAGES[language].recipe, asked.max_words // max(len(corpora), 1)
    for corpus in corpora:
        documents = held_out(recipe, asked.corpora, corpus, max_words=each)
        yield from document_sessions(islice(documents, None), language)
