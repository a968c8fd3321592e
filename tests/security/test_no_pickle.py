"""No file that is read can bring code with it: nothing unpickles, neither serving nor training."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from tests.harness.places import ROOT

PACKAGES = ("schemas", "worker", "models", "bench", "deploy")
UNPICKLING = {"pickle", "cPickle", "_pickle", "dill", "cloudpickle", "joblib", "marshal", "shelve"}


def faults(source: str) -> Iterator[str]:
    """Yield what of a module could run the code in a file."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names if one.name.partition(".")[0] in UNPICKLING)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] in UNPICKLING:
            yield node.module or ""
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == "torch.load":
            given = {one.arg: ast.unparse(one.value) for one in node.keywords}
            if given.get("weights_only") != "True":
                yield "torch.load"
        elif isinstance(node, ast.keyword) and node.arg == "allow_pickle" and ast.unparse(node.value) != "False":
            yield "allow_pickle"


@pytest.mark.parametrize("package", PACKAGES)
def test_no_module_reads_what_may_hold_code(package: str) -> None:
    found = {str(path): list(faults(path.read_text(encoding="utf-8"))) for path in (ROOT / package).rglob("*.py")}
    assert found, "there are modules"
    assert {path: what for path, what in found.items() if what} == {}


@pytest.mark.parametrize(
    "source",
    [
        "import pickle",
        "import os, joblib",
        "from shelve import open",
        "import torch\ntorch.load(path)",
        "import torch\ntorch.load(path, weights_only=False)",
        "import numpy\nnumpy.load(path, allow_pickle=True)",
    ],
)
def test_a_module_that_does_is_found(source: str) -> None:
    assert list(faults(source))
