"""A models folder on disk: one sub-folder a model, each verified against its manifest before anything is loaded."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path

import msgspec

from caesura.schemas.model_manifest import MODEL_MANIFEST_VERSION, ModelManifest
from caesura.worker.core.language.dictionary import dictionary_sha256
from caesura.worker.errors import FatalError
from caesura.worker.inference.model.wordpiece import WordPiece

_MANIFEST = "manifest.json"
_READ_MAJORS = ("1", "2", "3", "4")
_SINCE = {"look_back": 2, "closing": 3, "also": 4}
"""Majors in which a field was new without which a model would be run wrongly."""


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
        """Return the pieces, a piece's number being its place. FatalError where the file is not UTF-8."""
        path = self.folder / self.manifest.wordpiece.vocabulary
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            raise FatalError(f"{path} is no vocabulary: it is not UTF-8 at byte {error.start}") from error
        return text.rstrip("\n").split("\n")


def read_models_folder(folder: Path, *, active: Sequence[str] = ()) -> list[StoredModel]:
    """Return the models of a folder, by name; FatalError where there is none or one is not what it should be.

    active: models that are active for their language instead of the one whose manifest says so, by id or name.
    """
    if not folder.is_dir():
        raise FatalError(f"models folder {folder} is not a folder")
    models = [_read_model(path.parent) for path in sorted(folder.glob(f"*/{_MANIFEST}"))]
    if not models:
        raise FatalError(f"models folder {folder} holds no model (no <model>/{_MANIFEST})")
    chosen = _chosen([model.manifest for model in models], active)
    models = [replace(model, manifest=manifest) for model, manifest in zip(models, chosen, strict=True)]
    names: set[str] = set()
    taken: dict[str, str] = {}
    for model in models:
        name = model.manifest.name
        if name in names:
            raise FatalError(f"models folder {folder} holds {name} twice")
        names.add(name)
        for language in model.manifest.languages if model.manifest.active else ():
            if language in taken:
                raise FatalError(f"two models are active for {language}: {taken[language]} and {name}")
            taken[language] = name
    return models


def languages_of(folder: Path, *, active: Sequence[str] = ()) -> list[str]:
    """Return the languages that a folder's models are active for, their files unread; none where it is no folder."""
    manifests = [_read_manifest(path) for path in sorted(folder.glob(f"*/{_MANIFEST}"))]
    chosen = _chosen(manifests, active if manifests else ())
    return [language for manifest in chosen if manifest.active for language in manifest.languages]


def _chosen(manifests: list[ModelManifest], wanted: Sequence[str]) -> list[ModelManifest]:
    """Return the manifests, those that are wanted active, and no other for their languages.

    A model of several languages stays active for those of them that no model is wanted for.
    wanted: ``id@version``, or an id: of several versions the one whose manifest is active.
    """
    names = {_wanted(one, manifests) for one in wanted}
    taken = {language for manifest in manifests if manifest.name in names for language in manifest.languages}
    return [
        msgspec.structs.replace(manifest, active=True) if manifest.name in names else without_languages(manifest, taken)
        for manifest in manifests
    ]


def without_languages(manifest: ModelManifest, taken: Collection[str]) -> ModelManifest:
    """Return a manifest without the languages that are taken; inactive, and whole, where none is left."""
    left = [language for language in manifest.languages if language not in taken]
    if not left:
        return msgspec.structs.replace(manifest, active=False)
    return msgspec.structs.replace(manifest, language=left[0], also=tuple(left[1:]))


def _wanted(asked: str, manifests: Sequence[ModelManifest]) -> str:
    found = [manifest for manifest in manifests if asked in (manifest.id, manifest.name)]
    if len(found) > 1:
        found = [manifest for manifest in found if manifest.active]
    if len(found) != 1:
        there = ", ".join(manifest.name for manifest in manifests)
        raise FatalError(f"worker.active_models: {asked} names no one model; there are {there}")
    return found[0].name


def _read_manifest(path: Path) -> ModelManifest:
    try:
        return msgspec.json.decode(path.read_bytes(), type=ModelManifest)
    except (OSError, msgspec.MsgspecError) as error:
        raise FatalError(f"{path} is no model manifest: {error}") from error


def _read_model(folder: Path) -> StoredModel:
    path = folder / _MANIFEST
    manifest = _read_manifest(path)
    major = manifest.manifest.split(".")[0]
    if major not in _READ_MAJORS:
        raise FatalError(
            f"{path} has manifest version {manifest.manifest}; this worker reads up to {MODEL_MANIFEST_VERSION}"
        )
    for field, since in _SINCE.items():
        if getattr(manifest, field) and int(major) < since:
            raise FatalError(
                f"{path} has {field}, and a version of before it, whose workers would run the model wrongly"
            )
    if manifest.closing and not any(manifest.look_ahead):
        raise FatalError(f"{path} has closing without look-ahead: what it says of a last word would stay in mid-text")
    listed = {file.name for file in manifest.files}
    for needed in (manifest.weights, manifest.wordpiece.vocabulary):
        if needed not in listed:
            raise FatalError(f"{path} lists no file {needed}")
    for file in manifest.files:
        if Path(file.name).name != file.name or "\0" in file.name:
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


_MODELS = "caesura.models"


def shipped_models() -> Path | None:
    """Return the folder of the models that are shipped; None where this installation has none."""
    spec = find_spec(_MODELS)
    for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
        return Path(folder) / "shipped"
    return None


class PieceReader:
    """Reads words for one model. leading: the piece that every buffer begins with. count: of pieces there are."""

    def __init__(self, stored: StoredModel) -> None:
        """Read the vocabulary. KeyError where it lacks a piece that the manifest names; FatalError: it is no text."""
        settings, vocabulary = stored.manifest.wordpiece, stored.vocabulary()
        self.count = len(vocabulary)
        tokenizer = WordPiece(vocabulary, max_pieces=settings.max_pieces, unknown=settings.unknown)
        self.leading = tokenizer.number(settings.leading)
        self.pieces = tokenizer.pieces
