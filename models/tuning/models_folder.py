"""A tuned network to a models folder that a worker can be pointed at: the new model beside those that it came from.

The tuned model is active for its language. The model that it began at stays beside it, inactive, so that sessions which
it labels go on and a way back is open; the models of other languages come along as they are.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from caesura.models.export.folder import ModelCard, export, write_manifest
from caesura.models.export.parity import Parity, check_parity, mixed_buffers
from caesura.models.export.starting_model import wordpiece_of
from caesura.models.networks.ct_transformer import CTTransformer
from caesura.schemas.model_manifest import ModelManifest
from caesura.worker.errors import FatalError
from caesura.worker.inference.model.model_folder import StoredModel, read_models_folder, without_languages

_LICENCE = "LICENSE.md"


def publish(
    network: CTTransformer, start: StoredModel, card: ModelCard, words: Sequence[str], out: Path
) -> tuple[ModelManifest, Parity]:
    """Export ``network`` to ``out/models`` through the parity gate on ``words``; FatalError where the gate is shut."""
    exported = out / "exported"
    shutil.rmtree(exported, ignore_errors=True)
    pieces = start.vocabulary()
    small = export(network, pieces, exported / "int8", card, int8=True)
    large = export(network, pieces, exported / "fp32", card, int8=False)
    tokenizer = wordpiece_of(start)
    parity = check_parity(
        network,
        exported / "fp32" / large.weights,
        exported / "int8" / small.weights,
        mixed_buffers(words),
        tokenizer,
        tokenizer.number(start.manifest.wordpiece.leading),
    )
    if parity.failures:
        raise FatalError("the parity gate is shut: " + "; ".join(parity.failures))
    models = out / "models"
    shutil.rmtree(models, ignore_errors=True)
    models.mkdir(parents=True)
    if (start.folder / _LICENCE).exists():
        shutil.copyfile(start.folder / _LICENCE, exported / "int8" / _LICENCE)
    (exported / "int8").rename(models / _folder_name(small))
    shutil.rmtree(exported)
    _add_others(start, small, models)
    return small, parity


def _add_others(start: StoredModel, tuned: ModelManifest, models: Path) -> None:
    """Copy the models that lie beside ``start``; they are no longer active for the tuned one's language."""
    for other in read_models_folder(start.folder.parent):
        manifest = other.manifest
        folder = models / _folder_name(manifest)
        shutil.copytree(other.folder, folder)
        left = without_languages(manifest, tuned.languages)
        if manifest.active and left != manifest:
            write_manifest(folder, left)


def _folder_name(manifest: ModelManifest) -> str:
    return f"{manifest.id}-{manifest.version}"
