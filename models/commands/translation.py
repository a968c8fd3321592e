"""``python -m caesura.models evaluate-translation``: what each way to cut a stream is worth to a translator."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import Progress

from caesura.models.commands.options import CORPORA, SHIPPED, Corpora, Models
from caesura.models.evaluation.translation import (
    CutText,
    Dialogue,
    TranslationScore,
    Translator,
    cut_by_marks,
    cut_by_stream,
    cut_by_turns,
    cut_by_windows,
    emissions,
    read_dialogues,
    read_lines,
    score,
    translate,
)
from caesura.worker.adapters.onnx.engine import OnnxEngine
from caesura.worker.core.rendering.rendering import Style
from caesura.worker.option_groups import grouped

__all__ = ["register", "translation_table"]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("evaluate-translation")(evaluate_translation)


class TestSet(StrEnum):
    """A test set and its languages: DiaBLa (English to French), CoCoA-MT's telephone calls (English to Portuguese)."""

    DIABLA = "diabla"
    TELEPHONY = "telephony"


class Part(StrEnum):
    """Which dialogues: all, or the first or the second half. Choose by one half, report the other."""

    ALL = "all"
    FIRST = "first"
    SECOND = "second"


@dataclass(frozen=True, slots=True, kw_only=True)
class TranslationAsked:
    """What ``evaluate-translation`` is told."""

    translator: Annotated[
        Path | None,
        typer.Option(help="Folder of opus-mt in CTranslate2's form, source.spm and target.spm in it. None: Bergamot."),
    ] = None
    pieces: Annotated[Path | None, typer.Option(help="Folder of the two .spm files, where they lie apart.")] = None
    test_set: TestSet = TestSet.DIABLA
    part: Part = Part.ALL
    corpora: Corpora = CORPORA
    models: Models = SHIPPED
    small: Annotated[str, typer.Option(help="The small model, by id; empty: without it.")] = "en-ct-3x384"
    settled: Annotated[list[int] | None, typer.Option(help="Least words of `settled`; may be repeated.")] = None
    clause: Annotated[list[int] | None, typer.Option(help="Least words of `clause`; may be repeated.")] = None
    draws: Annotated[int, typer.Option(min=2, help="Draws of dialogues for the interval.")] = 1000


@grouped
def evaluate_translation(asked: TranslationAsked) -> None:
    """Print BLEU, chrF and delay in words for each way to cut the stream, each segment translated alone.

    Wants the extra `translation`. The text is bare: lower case, no marks, no pauses.
    """
    from caesura.models.evaluation.translators import BergamotTranslator, MarianTranslator  # noqa: PLC0415 - an extra

    dialogues = _dialogues(asked)
    translator: Translator = (
        BergamotTranslator() if asked.translator is None else MarianTranslator(asked.translator, asked.pieces)
    )
    scores: dict[str, TranslationScore] = {}
    ways = dict(_ways(asked, dialogues))
    with Progress() as bar:
        task = bar.add_task("ways to cut", total=len(ways))
        for name, cuts in ways.items():
            scores[name] = score(cuts, translate(translator, cuts), dialogues, draws=asked.draws)
            bar.advance(task)
    print(f"{len(dialogues)} dialogues, {sum(len(cut.delays) for cut in ways['windows of 10'])} words")
    print(translation_table(scores))


def _dialogues(asked: TranslationAsked) -> list[Dialogue]:
    if asked.test_set is TestSet.DIABLA:
        found = list(read_dialogues(asked.corpora / "parallel" / "diabla_en_fr.jsonl.xz"))
    else:
        folder = asked.corpora / "parallel" / "cocoa"
        found = list(read_lines(folder / "telephony.en", folder / "telephony.formal.pt"))
    middle = len(found) // 2
    return {Part.ALL: found, Part.FIRST: found[:middle], Part.SECOND: found[middle:]}[asked.part]


def _ways(asked: TranslationAsked, dialogues: list[Dialogue]) -> Iterator[tuple[str, list[CutText]]]:
    yield "windows of 10", [cut_by_windows(dialogue, 10) for dialogue in dialogues]
    yield "windows of 20", [cut_by_windows(dialogue, 20) for dialogue in dialogues]
    yield "people's turns, bare", [cut_by_turns(dialogue) for dialogue in dialogues]
    engine = OnnxEngine(asked.models, threads=1)
    for name, rules in emissions(settled=asked.settled or [1, 5], clause=asked.clause or [5]).items():
        yield name, [cut_by_stream(engine, dialogue, rules) for dialogue in dialogues]
    rules = emissions(settled=(), clause=())["sentence"]
    yield "sentence, verbatim", [cut_by_stream(engine, dialogue, rules, Style.VERBATIM) for dialogue in dialogues]
    if asked.small:
        engine = OnnxEngine(asked.models, active=(asked.small,), threads=1)
        yield "sentence, small model", [cut_by_stream(engine, dialogue, rules) for dialogue in dialogues]
    yield "people's marks", [cut_by_marks(dialogue) for dialogue in dialogues]


def translation_table(scores: dict[str, TranslationScore]) -> str:
    """Return the scores as a Markdown table, a line a way to cut."""
    lines = [
        "| cut by | words a segment | delay in words | BLEU | 95 % | bare BLEU | chrF |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, found in scores.items():
        interval = f"{found.low:.1f} to {found.high:.1f}"
        shown = f"{found.words_a_segment:.1f} | {found.delay_words:.1f} | {found.bleu:.1f} | {interval}"
        lines.append(f"| {name} | {shown} | {found.bare_bleu:.1f} | {found.chrf:.1f} |")
    return "\n".join(lines)
