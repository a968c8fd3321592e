"""``python -m caesura.models evaluate-translation``: what each way to cut a stream is worth to a translator.

``hear-dialogues`` speaks the test set and hears it again, for the same measurement from sound.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich.progress import Progress

from caesura.models.commands.options import CORPORA, SHIPPED, Corpora, Models
from caesura.models.evaluation.speech_parts import WhisperBase
from caesura.models.evaluation.spoken_dialogues import hear, read_heard
from caesura.models.evaluation.translation import (
    CutText,
    Dialogue,
    cut_by_marks,
    cut_by_pauses,
    cut_by_stream,
    cut_by_turns,
    cut_by_windows,
    emissions,
    read_dialogues,
    read_lines,
    read_talks,
)
from caesura.models.evaluation.translation_scores import Interval, TranslationScore, joined, score
from caesura.models.evaluation.translators import (
    BergamotTranslator,
    KnownTranslations,
    MarianTranslator,
    Repeater,
    Translator,
)
from caesura.worker.adapters.onnx.engine import OnnxEngine
from caesura.worker.core.rendering.rendering import Style
from caesura.worker.option_groups import grouped

_COMPARED_WITH = "sentence"
_COLUMNS = (
    "cut by",
    "words a segment",
    "delay in words",
    "LongYAAL, s",
    "with the work, s",
    "BLEU",
    "95 %",
    "against `sentence`",
    "95 %",
    "bare BLEU",
    "chrF",
    "95 %",
)

Way = Callable[[Dialogue], CutText]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("evaluate-translation")(evaluate_translation)
    app.command("hear-dialogues")(hear_dialogues)


class TestSet(StrEnum):
    """What is translated.

    ``diabla``: English to French. ``telephony``, ``call_center``, ``topical_chat``: CoCoA-MT, English to Portuguese.
    ``talks``, ``interviews``: held-out speech without a translation, for its delay alone; with ``--translator`` the
    reference is its translation of people's sentences.
    """

    DIABLA = "diabla"
    TELEPHONY = "telephony"
    CALL_CENTER = "call_center"
    TOPICAL_CHAT = "topical_chat"
    TALKS = "talks"
    INTERVIEWS = "interviews"


_SPEECH = {TestSet.TALKS: "ted", TestSet.INTERVIEWS: "audreyt_english"}


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
    known: Annotated[
        Path | None, typer.Option(help="A file that keeps translations and their times from run to run.")
    ] = None
    test_set: TestSet = TestSet.DIABLA
    heard: Annotated[
        Path | None, typer.Option(help="The test set as it was spoken and heard, a file from `hear-dialogues`.")
    ] = None
    part: Part = Part.ALL
    corpora: Corpora = CORPORA
    models: Models = SHIPPED
    small: Annotated[str, typer.Option(help="The small model, by id; empty: without it.")] = "en-ct-3x384"
    settled: Annotated[list[int] | None, typer.Option(help="Least words of `settled`; may be repeated.")] = None
    clause: Annotated[list[int] | None, typer.Option(help="Least words of `clause`; may be repeated.")] = None
    draws: Annotated[int, typer.Option(min=2, help="Draws of dialogues for the intervals.")] = 1000
    seed: Annotated[int, typer.Option(min=0, help="Of those draws.")] = 1


@grouped
def evaluate_translation(asked: TranslationAsked) -> None:
    """Print BLEU, chrF and delay for each way to cut the stream, each segment translated alone.

    Wants the extra `translation`. Typed text is bare: lower case, no marks, no pauses, 160 words a minute.
    """
    dialogues = _dialogues(asked)
    known = KnownTranslations(_translator(asked), asked.known)
    if asked.test_set in _SPEECH:
        dialogues = [
            replace(dialogue, references=tuple(turn.text for turn in known.translate(dialogue.turns)))
            for dialogue in dialogues
        ]
    scores: dict[str, TranslationScore] = {}
    ways = dict(_ways(asked))
    with Progress() as bar:
        task = bar.add_task("ways to cut", total=len(ways))
        than: list[str] | None = None
        for name in sorted(ways, key=_COMPARED_WITH.__ne__):  # what the others are compared with comes first
            cuts = [ways[name](dialogue) for dialogue in dialogues]
            translated = [known.translate(cut.texts) for cut in cuts]
            if than is None:
                than = [joined(pieces)[-1] for pieces in translated]
            scores[name] = score(cuts, translated, dialogues, than=than, draws=asked.draws, seed=asked.seed)
            bar.advance(task)
    print(f"{len(dialogues)} dialogues, {sum(len(dialogue.words) for dialogue in dialogues)} words")
    print(translation_table({name: scores[name] for name in ways}))
    print(f"\nWords taken back a word (normalised erasure): {max(found.erasure for found in scores.values()):.2f}")


@dataclass(frozen=True, slots=True, kw_only=True)
class HearingAsked:
    """What ``hear-dialogues`` is told."""

    test_set: TestSet = TestSet.DIABLA
    first: Annotated[int, typer.Option(min=1, help="So many dialogues of the test set, or of the part.")] = 12
    part: Part = Part.ALL
    recogniser: Annotated[Path, typer.Option(help="Folder where Whisper's packages are joined.")] = Path(
        "build/whisper"
    )
    as_spoken: Annotated[bool, typer.Option("--as-spoken", help="The words as spoken, without a recogniser.")] = False
    corpora: Corpora = CORPORA
    seed: Annotated[int, typer.Option(min=0, help="Of fillers, repairs and pauses.")] = 1


@grouped
def hear_dialogues(
    into: Annotated[Path, typer.Argument(help="The file; what it holds is not heard again.")], *, asked: HearingAsked
) -> None:
    """Put fillers and repairs into dialogues, speak them with pauses, and write what a recogniser hears.

    Wants the extra `speech`: Piper's voice and Whisper base.
    """
    done = {dialogue.name for dialogue in read_heard(into)} if into.exists() else set()
    recogniser = None if asked.as_spoken else WhisperBase(asked.recogniser)
    dialogues = _part(_read(asked.test_set, asked.corpora), asked.part)
    for dialogue in dialogues[: asked.first]:
        if dialogue.name not in done:
            heard = hear(dialogue, recogniser, random.Random(f"{asked.seed} {dialogue.name}"))
            with into.open("ab") as lines:
                lines.write(msgspec.json.encode(heard) + b"\n")
            print(f"{heard.name}: {heard.times[-1][1] / 1000:.0f} s, {len(heard.words)} words heard")


def _translator(asked: TranslationAsked) -> Translator:
    if asked.translator is not None:
        return MarianTranslator(asked.translator, asked.pieces)
    return Repeater() if asked.test_set in _SPEECH else BergamotTranslator()


def _dialogues(asked: TranslationAsked) -> list[Dialogue]:
    heard = asked.heard
    return _part(_read(asked.test_set, asked.corpora) if heard is None else list(read_heard(heard)), asked.part)


def _read(test_set: TestSet, corpora: Path) -> list[Dialogue]:
    if test_set is TestSet.DIABLA:
        return list(read_dialogues(corpora / "parallel" / "diabla_en_fr.jsonl.xz"))
    if (name := _SPEECH.get(test_set)) is not None:
        return list(read_talks(corpora / "en" / f"{name}.jsonl.xz", talks=20, words=400))
    folder = corpora / "parallel" / "cocoa"
    return list(read_lines(folder / f"{test_set.value}.en", folder / f"{test_set.value}.formal.pt"))


def _part(found: list[Dialogue], part: Part) -> list[Dialogue]:
    middle = len(found) // 2
    return {Part.ALL: found, Part.FIRST: found[:middle], Part.SECOND: found[middle:]}[part]


def _ways(asked: TranslationAsked) -> Iterator[tuple[str, Way]]:
    yield "windows of 10", partial(cut_by_windows, words=10)
    yield "windows of 20", partial(cut_by_windows, words=20)
    if asked.heard is not None:
        yield "pauses of 0.8 s", cut_by_pauses
    else:
        yield "people's turns, bare", cut_by_turns
    large = OnnxEngine(asked.models, threads=1)
    rules = emissions(settled=asked.settled or [1, 5], clause=asked.clause or [7])
    for name, one in rules.items():
        yield name, partial(cut_by_stream, large, rules=one)
    best = {name: rules[name] for name in ("sentence", next(reversed(rules)))}
    for name, one in best.items():
        yield f"{name}, no word left out", partial(cut_by_stream, large, rules=one, keep=True)
        yield f"{name}, verbatim", partial(cut_by_stream, large, rules=one, style=Style.VERBATIM)
    if asked.small:
        small = OnnxEngine(asked.models, active=(asked.small,), threads=1)
        for name, one in best.items():
            yield f"{name}, small model", partial(cut_by_stream, small, rules=one)
    if asked.heard is None:
        yield "people's marks", cut_by_marks


def translation_table(scores: dict[str, TranslationScore]) -> str:
    """Return the scores as a Markdown table, a line a way to cut."""
    lines = ["| " + " | ".join(_COLUMNS) + " |", "|---" * len(_COLUMNS) + "|"]
    for name, found in scores.items():
        cells = (
            name,
            f"{found.words_a_segment:.1f}",
            f"{found.delay_words:.1f}",
            *("" if lag is None else f"{lag:.1f}" for lag in (found.unaware_s, found.aware_s)),
            *_cells(found.bleu),
            *_cells(found.more, sign="+"),
            f"{found.bare_bleu:.1f}",
            *_cells(found.chrf),
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _cells(interval: Interval, *, sign: str = "") -> tuple[str, str]:
    return f"{interval.value:{sign}.1f}", f"{interval.low:{sign}.1f} to {interval.high:{sign}.1f}"
