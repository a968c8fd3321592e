"""How sure a model is: ``models calibrate``, which fits it, and ``calibration``, which prints its figures."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich.progress import Progress

from caesura.models.commands.label_figures import OneLanguage, Threads
from caesura.models.commands.options import CORPORA, SHIPPED, Corpora, Models
from caesura.models.evaluation.calibrated_texts import CalibrationTexts, Sure
from caesura.models.languages.registry import LANGUAGES
from caesura.schemas.model_manifest import Calibration
from caesura.worker.adapters.onnx.engine import OnnxEngine
from caesura.worker.inference.model.model_folder import StoredModel, read_models_folder
from caesura.worker.option_groups import grouped
from caesura.worker.ports.engine import Engine

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("calibrate")(calibrate)
    app.command("calibration")(print_calibration)


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibratedText:
    """What both commands are told: the models, and how much of each text."""

    models: Models = SHIPPED
    active: Annotated[
        list[str] | None, typer.Option("--active", help="A model of the folder, by id; may be repeated.")
    ] = None
    language: OneLanguage = None
    corpora: Corpora = CORPORA
    max_words: Annotated[int, typer.Option(min=100, help="Words of a text, to fit to and to score on each.")] = 8_000
    sentences: Annotated[int, typer.Option(min=10, help="Sentences of a text that are flushed, twice each.")] = 150
    threads: Threads = None

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
            )
            return texts.measure(engine, count)


@grouped
def calibrate(asked: CalibratedText) -> None:
    """Fit what makes probabilities of scores, to one half of held-out text, and write it into the models' manifests."""
    for model in read_models_folder(asked.models, active=asked.active or ()):
        manifest = model.manifest
        if not manifest.active or asked.language not in (None, manifest.language):
            continue
        with tempfile.TemporaryDirectory() as folder:
            alone = Path(folder) / model.folder.name
            shutil.copytree(model.folder, alone)
            _write(alone, model, Calibration(), active=True)
            said = asked.measured(OnnxEngine(Path(folder), threads=asked.threads), manifest.language, fitted=True)
        fitted = said.calibration()
        _write(model.folder, model, fitted, active=None)
        print(f"{manifest.name}: {msgspec.json.encode(fitted).decode()}")


@grouped
def print_calibration(asked: CalibratedText) -> None:
    """Print how far the models' probabilities are from what is right, on the other half of held-out text."""
    engine = OnnxEngine(asked.models, active=asked.active or (), threads=asked.threads)
    for model in engine.models:
        if model.active and asked.language in (None, model.language):
            said = asked.measured(engine, model.language, fitted=False)
            print(f"{model.name}\n\n{said.table_of_words()}\n\n{said.table_of_turn_ends()}\n")


def _write(folder: Path, model: StoredModel, calibration: Calibration, *, active: bool | None) -> None:
    """Put a calibration into the manifest of a model's folder. active: None leaves what stands there."""
    path = folder / "manifest.json"
    manifest = msgspec.json.decode(path.read_bytes(), type=type(model.manifest))
    manifest = msgspec.structs.replace(
        manifest, calibration=calibration, active=manifest.active if active is None else active
    )
    path.write_bytes(msgspec.json.format(msgspec.json.encode(manifest), indent=2) + b"\n")
