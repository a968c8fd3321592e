"""The models that came with this installation, or that lie in a folder of one's own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from caesura.worker.core.language.rules import primary_language
from caesura.worker.errors import FatalError
from caesura.worker.inference.model.model_folder import StoredModel, read_models_folder, shipped_models

__all__ = ["as_names", "chosen_folder", "installed_models", "languages", "models_folder"]


def models_folder() -> Path:
    """Return the folder of the models that came with this installation. CaesuraError where there are none."""
    folder = shipped_models()
    if folder is None:
        raise FatalError("no models are shipped with this installation: name a folder of models")
    return folder


def chosen_folder(models: str | Path | None) -> Path:
    """Return a folder of models as a caller names it; None is the one of this installation. CaesuraError: none."""
    return models_folder() if models is None else Path(models)


def installed_models(models: str | Path | None = None, *, active_models: str | Sequence[str] = ()) -> list[StoredModel]:
    """Return the models of a folder, each verified. CaesuraError where one is not what it should be.

    active_models: those that are active for their language whatever the manifests say, by id or name.
    """
    return read_models_folder(chosen_folder(models), active=as_names(active_models))


def languages(models: str | Path | None = None, *, active_models: str | Sequence[str] = ()) -> list[str]:
    """Return the languages that there is an active model for. Arguments and errors as of ``installed_models``."""
    found = installed_models(models, active_models=active_models)
    return sorted(
        {primary_language(language) for one in found if one.manifest.active for language in one.manifest.languages}
    )


def as_names(active_models: str | Sequence[str]) -> Sequence[str]:
    """Return names of models, one alone being a list of one."""
    return (active_models,) if isinstance(active_models, str) else active_models
