"""How sure a model is: ``models calibrate``, which fits it, and ``calibration``, which prints its figures."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass
from enum import StrEnum
from functools import partial, reduce
from operator import add
from pathlib import Path
from typing import Annotated

import msgspec
import typer
from msgspec.structs import replace
from rich.progress import Progress

from caesura.models.commands.label_figures import OneLanguage, Threads
from caesura.models.commands.options import CORPORA, SHIPPED, ActiveModels, Corpora, Models
from caesura.models.evaluation.calibrated_texts import CALIBRATED_LANGUAGES, CalibrationTexts, Sure
from caesura.models.export.folder import write_manifest
from caesura.models.languages.registry import LANGUAGES
from caesura.schemas.model_manifest import Calibration, ModelManifest
from caesura.worker.adapters.onnx.engine import OnnxEngine
from caesura.worker.inference.model.model_folder import read_models_folder
from caesura.worker.option_groups import grouped
from caesura.worker.ports.engine import Engine


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("calibrate")(calibrate)
    app.command("calibration")(print_calibration)


class FittedPart(StrEnum):
    """What of a calibration is fitted: lines of marks, of the last word's marks, of tags, of ends of turns."""

    PUNCTUATION = "punctuation"
    CLOSING = "closing"
    DISFLUENCY = "disfluency"
    TURN_END = "turn_end"


_Parts = Annotated[
    list[FittedPart] | None, typer.Option("--part", help="A part to fit; may be repeated; all, if none is given.")
]


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibratedText:
    """What both commands are told: the models, and how much of each text."""

    models: Models = SHIPPED
    active: ActiveModels = None
    language: OneLanguage = None
    corpora: Corpora = CORPORA
    text: Annotated[
        list[str] | None, typer.Option(help="A text of the table; may be repeated; all, if none is given.")
    ] = None
    max_words: Annotated[int, typer.Option(min=100, help="Words of a text, to fit to and to score on each.")] = 8_000
    sentences: Annotated[int, typer.Option(min=10, help="Sentences of a text that are flushed, twice each.")] = 150
    threads: Threads = None

    def wants(self, language: str) -> bool:
        """Tell whether a language is asked for; BadParameter if one is that has no texts to calibrate on."""
        if self.language not in (None, *CALIBRATED_LANGUAGES):
            raise typer.BadParameter(f"one of {', '.join(CALIBRATED_LANGUAGES)}", param_hint="--language")
        return language in (CALIBRATED_LANGUAGES if self.language is None else (self.language,))

    def measured(self, engine: Engine, language: str, *, fitted: bool) -> Sure:
        """Return what the active model of a language says."""
        with Progress() as bar:
            count = partial(bar.advance, bar.add_task(f"{language}: words", total=None))
            texts = CalibrationTexts(
                corpora=self.corpora,
                language=language,
                recipe=LANGUAGES[language].recipe,
                open_text=list(LANGUAGES[language].scored["open_text"]),
                max_words=self.max_words,
                sentences=self.sentences,
                fitted=fitted,
                only=frozenset(self.text or ()),
            )
            return texts.measure(engine, count)


@grouped
def calibrate(asked: CalibratedText, part: _Parts = None) -> None:
    """Fit what makes probabilities of scores, to one half of held-out text, and write it into the models' manifests.

    Parts that are not asked for stay as they are.
    """
    for model in read_models_folder(asked.models, active=asked.active or ()):
        manifest = model.manifest
        languages = (manifest.language, *manifest.also)
        if not manifest.active or not any(map(asked.wants, languages)):
            continue
        with tempfile.TemporaryDirectory() as folder:
            alone = Path(folder) / model.folder.name
            shutil.copytree(model.folder, alone)
            write_manifest(alone, replace(manifest, calibration=Calibration()))
            engine = OnnxEngine(Path(folder), threads=asked.threads)
            said = [asked.measured(engine, language, fitted=True) for language in languages]
        stored = msgspec.json.decode((model.folder / "manifest.json").read_bytes(), type=ModelManifest)
        try:
            fitted = reduce(add, said).fitted(stored.calibration or Calibration(), part or FittedPart)
        except ValueError as error:
            raise typer.BadParameter(str(error), param_hint="--text") from error
        write_manifest(model.folder, replace(stored, calibration=fitted))
        print(f"{manifest.name}: {msgspec.json.encode(fitted).decode()}")


@grouped
def print_calibration(asked: CalibratedText) -> None:
    """Print how far the models' probabilities are from what is right, on the other half of held-out text."""
    engine = OnnxEngine(asked.models, active=asked.active or (), threads=asked.threads)
    for model in engine.models:
        if model.active and asked.wants(model.language):
            said = asked.measured(engine, model.language, fitted=False)
            print(f"{model.name}\n\n{said.table_of_words()}\n\n{said.table_of_turn_ends()}\n")
