"""Prints the image's bill of materials (CycloneDX 1.6, JSON): every distribution and model of this environment.

Runs with the assembled environment's own Python. It has no time stamp and no random number: the same image, the same
bill.
"""

from __future__ import annotations

import importlib.metadata
import json
import platform
import sys
from collections.abc import Iterator
from typing import Any

from caesura.installed import installed_models


def _distributions() -> Iterator[dict[str, Any]]:
    for found in sorted(importlib.metadata.distributions(), key=lambda one: one.name.lower()):
        name = found.name.lower().replace("_", "-")
        if name == "caesura":
            continue
        component: dict[str, Any] = {
            "type": "library",
            "bom-ref": f"pkg:pypi/{name}@{found.version}",
            "name": found.name,
            "version": found.version,
            "purl": f"pkg:pypi/{name}@{found.version}",
        }
        if "License-Expression" in found.metadata:
            component["licenses"] = [{"expression": found.metadata["License-Expression"]}]
        yield component


def _models() -> Iterator[dict[str, Any]]:
    for model in installed_models():
        manifest = model.manifest
        weights = next(file for file in manifest.files if file.name == manifest.weights)
        yield {
            "type": "machine-learning-model",
            "bom-ref": f"model:{manifest.name}",
            "name": manifest.id,
            "version": manifest.version,
            "hashes": [{"alg": "SHA-256", "content": weights.sha256}],
            "licenses": [{"license": {"name": manifest.licence}}],
        }


def bill() -> dict[str, Any]:
    """Return the bill of materials."""
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": "caesura",
                "name": "caesura",
                "version": importlib.metadata.version("caesura"),
                "licenses": [{"license": {"id": "Apache-2.0"}}],
            }
        },
        "components": [
            {
                "type": "platform",
                "bom-ref": "python",
                "name": platform.python_implementation(),
                "version": platform.python_version(),
            },
            *_distributions(),
            *_models(),
        ],
    }


if __name__ == "__main__":
    json.dump(bill(), sys.stdout, indent=1)
    sys.stdout.write("\n")
