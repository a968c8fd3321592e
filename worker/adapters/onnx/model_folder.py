"""A models folder on disk: one sub-folder a model, each verified against its manifest before anything is loaded."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from schemas.model_manifest import MODEL_MANIFEST_VERSION, ModelManifest
from worker.core.dictionary import dictionary_sha256
from worker.errors import FatalError

__all__ = ["StoredModel", "languages_of", "read_models_folder"]

_MANIFEST = "manifest.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredModel:
    """A model whose files are there and are what the manifest says."""

    folder: Path
    manifest: ModelManifest

    @property
    def weights(self) -> Path:
        """The ONNX file."""
        return self.folder / self.manifest.weights

    def vocabulary(self) -> list[str]:
        """Return the pieces, a piece's number being its place."""
        text = (self.folder / self.manifest.wordpiece.vocabulary).read_text(encoding="utf-8")
        return text.rstrip("\n").split("\n")


def read_models_folder(folder: Path, *, active: Sequence[str] = ()) -> list[StoredModel]:
    """Return the models of a folder, by name; FatalError where there is none or one is not what it should be.

    active: ids of models that are active for their language instead of the one whose manifest says so.
    """
    if not folder.is_dir():
        raise FatalError(f"models folder {folder} is not a folder")
    models = [_read_model(path.parent) for path in sorted(folder.glob(f"*/{_MANIFEST}"))]
    if not models:
        raise FatalError(f"models folder {folder} holds no model (no <model>/{_MANIFEST})")
    models = _chosen(models, active)
    names: set[str] = set()
    taken: dict[str, str] = {}
    for model in models:
        name = model.manifest.name
        if name in names:
            raise FatalError(f"models folder {folder} holds {name} twice")
        names.add(name)
        language = model.manifest.language
        if model.manifest.active and language in taken:
            raise FatalError(f"two models are active for {language}: {taken[language]} and {name}")
        if model.manifest.active:
            taken[language] = name
    return models


def languages_of(folder: Path) -> list[str]:
    """Return the languages that a folder's manifests name, their files unread; none where it is no folder."""
    manifests = map(_read_manifest, sorted(folder.glob(f"*/{_MANIFEST}")))
    return [manifest.language for manifest in manifests if manifest.active]


def _chosen(models: list[StoredModel], ids: Sequence[str]) -> list[StoredModel]:
    """Return the models, those of the ids active, and no other of their languages."""
    there = {model.manifest.id for model in models}
    if unknown := [one for one in ids if one not in there]:
        raise FatalError(f"worker.active_models: no model {unknown[0]} is there, but {', '.join(sorted(there))}")
    languages = {model.manifest.language for model in models if model.manifest.id in ids}
    return [
        replace(model, manifest=msgspec.structs.replace(model.manifest, active=model.manifest.id in ids))
        if model.manifest.language in languages
        else model
        for model in models
    ]


def _read_manifest(path: Path) -> ModelManifest:
    try:
        return msgspec.json.decode(path.read_bytes(), type=ModelManifest)
    except (OSError, msgspec.MsgspecError) as error:
        raise FatalError(f"{path} is no model manifest: {error}") from error


def _read_model(folder: Path) -> StoredModel:
    path = folder / _MANIFEST
    manifest = _read_manifest(path)
    if manifest.manifest.split(".")[0] != MODEL_MANIFEST_VERSION.split(".")[0]:
        raise FatalError(f"{path} has manifest version {manifest.manifest}; this worker reads {MODEL_MANIFEST_VERSION}")
    listed = {file.name for file in manifest.files}
    for needed in (manifest.weights, manifest.wordpiece.vocabulary):
        if needed not in listed:
            raise FatalError(f"{path} lists no file {needed}")
    for file in manifest.files:
        if Path(file.name).name != file.name:
            raise FatalError(f"{path} lists {file.name!r}, which is not a plain file name")
        _verify(folder / file.name, file.bytes, file.sha256)
    wanted = manifest.dictionary_sha256
    if wanted is not None and wanted != dictionary_sha256():
        raise FatalError(f"{path}: the model was trained on words of another dictionary; install the pinned jieba")
    return StoredModel(folder=folder, manifest=manifest)


def _verify(path: Path, size: int, sha256: str) -> None:
    try:
        found = path.stat().st_size
        if found != size:
            raise FatalError(f"{path} has {found} bytes, its manifest says {size}: the file is cut or another one")
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise FatalError(f"{path}, listed in its manifest, cannot be read: {error.strerror}") from error
    if digest != sha256:
        raise FatalError(f"{path} has SHA-256 {digest}, its manifest says {sha256}")
