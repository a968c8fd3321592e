"""The shipped models one by one: a test that asks one of them need not wait until all are read and verified."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from functools import cache
from pathlib import Path

from caesura.worker.inference.model.model_folder import read_models_folder
from tests.harness.places import SHIPPED

ENGLISH = "en-ct-12x384"


@cache
def one_model(name: str) -> Path:
    """Return a models folder that holds a shipped model alone. name: its id or its full name."""
    stored = next(found for found in read_models_folder(SHIPPED) if name in (found.manifest.id, found.manifest.name))
    folder = Path(tempfile.mkdtemp(prefix="caesura-model-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    (folder / stored.folder.name).symlink_to(stored.folder, target_is_directory=True)
    return folder
