"""``python -m caesura.models tune``: a folder of one's own text in, a models folder for the worker out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from caesura.models.commands.options import SHIPPED
from caesura.models.export.starting_model import starting_model
from caesura.models.languages.registry import LANGUAGES
from caesura.models.tuning.own_text import OwnFile, read_folder, session_of, unmarked_lines
from caesura.models.tuning.text_split import TextParts, split
from caesura.worker.errors import FatalError
from caesura.worker.inference.model.model_folder import StoredModel
from caesura.worker.option_groups import grouped

_NEEDED = ("torch", "onnx", "safetensors")
_WRAPPED_SHARE = 0.5


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("tune")(tune)


@dataclass(frozen=True, slots=True, kw_only=True)
class TuneSettings:
    """What ``tune`` is told."""

    folder: Annotated[Path, typer.Argument(help="Folder of plain punctuated text: .txt files, UTF-8.")]
    language: Annotated[
        str, typer.Option("--language", "--lang", help=f"Language of the text: {' or '.join(LANGUAGES)}.")
    ]
    out: Annotated[Path, typer.Option(help="Folder of the tune; one that was stopped goes on there.")] = Path("tuned")
    model_id: Annotated[str | None, typer.Option("--id", help="The new model's id, else the start's and -own.")] = None
    version: Annotated[str, typer.Option(help="The new model's version.")] = "1"
    models: Annotated[Path, typer.Option(help="Models folder to begin at.", show_default="shipped")] = SHIPPED
    wrapped: Annotated[bool, typer.Option("--wrapped", help="Only blank lines end a paragraph.")] = False
    fluent: Annotated[
        bool, typer.Option("--fluent", help="The text has no fillers and repairs: put some in, to keep them known.")
    ] = False
    epochs: Annotated[int, typer.Option(min=1, help="Passes over the text at most.")] = 4
    patience: Annotated[
        int, typer.Option(min=1, help="Looks at the watched text, two a pass, without a gain: training ends.")
    ] = 4
    max_minutes: Annotated[float, typer.Option(min=0.01, help="Minutes of training at most.")] = 60.0
    learning_rate: Annotated[float, typer.Option(min=1e-7, max=0.1)] = 1e-4
    kept: Annotated[
        float, typer.Option(min=0.0, max=0.9, help="Share of the shipped weights in those exported: forgets less.")
    ] = 0.0
    threads: Annotated[int, typer.Option(min=1)] = 2
    seed: int = 1


@grouped
def tune(asked: TuneSettings) -> None:
    """Train the shipped model further on text of your own, compare before and after, and export what came of it."""
    start, parts = _prepared(asked)
    from caesura.models.tuning import tuning  # noqa: PLC0415 - text is read, and refused, without torch
    from caesura.models.tuning.report import report  # noqa: PLC0415

    plan = tuning.TuningPlan(
        language=asked.language,
        epochs=asked.epochs,
        patience=asked.patience,
        learning_rate=asked.learning_rate,
        max_minutes=asked.max_minutes,
        fluent=asked.fluent,
        threads=asked.threads,
        seed=asked.seed,
        kept=asked.kept,
    )
    card = tuning.card_of(start, asked.language, asked.model_id or f"{start.manifest.id}-own", asked.version)
    print(report(tuning.tune(parts, start, card, plan, asked.out), asked.out))


def _prepared(asked: TuneSettings) -> tuple[StoredModel, TextParts]:
    """Return where to begin and the parts of the text, and print what was read."""
    language = asked.language
    if language not in LANGUAGES:
        raise FatalError(f"language {language} is none of {', '.join(LANGUAGES)}")
    start = starting_model(asked.models, language)
    files = read_folder(asked.folder, language, wrapped=asked.wrapped)
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        raise FatalError(
            f"training needs {', '.join(missing)}: pip install '.[train]' in a checkout, or make setup-train"
        )
    parts = split(files)
    _print_what_was_read(files, parts, language, wrapped=asked.wrapped)
    return start, parts


def _print_what_was_read(files: Sequence[OwnFile], parts: TextParts, language: str, *, wrapped: bool) -> None:
    marks, unit = LANGUAGES[language].marks, LANGUAGES[language].own_text.unit
    whole = "files" if parts.whole_files else "stretches"
    print(f"| part | {whole} | {unit} | {' | '.join(mark.published for mark in marks)} |")
    print("|---" * (3 + len(marks)) + "|")
    for name, part in (("training", parts.training), ("watched", parts.watched), ("scored", parts.scored)):
        found = Counter(mark for file in part for mark in session_of(file, language).marks)
        print(f"| {name} | {len(part)} | {found.total()} | {' | '.join(str(found[mark]) for mark in marks)} |")
    unmarked = [file.name for file in files if unmarked_lines(file, language) > _WRAPPED_SHARE]
    if unmarked and not wrapped:
        print(
            f"In {', '.join(unmarked[:3])}{' and others' * (len(unmarked) > 3)} most lines end without a mark. "
            "If they are wrapped, give --wrapped."
        )
