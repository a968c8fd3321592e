"""The pages about the library run: the Python of the one, and every cell of the notebook, top to bottom."""

from __future__ import annotations

import ast
import asyncio
import inspect
import json
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[3] / "docs"


def run_cell(source: str, namespace: dict[str, object]) -> object:
    """Run a cell as a notebook does, ``await`` and all; return the value of its last line, if that is an expression."""
    tree = ast.parse(source)
    last = tree.body[-1]
    if isinstance(last, ast.Expr):
        value = ast.copy_location(ast.Assign([ast.Name("_", ast.Store())], last.value), last)
        tree.body[-1] = ast.fix_missing_locations(value)
    code = compile(tree, "library.ipynb", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    namespace["_"] = None
    if code.co_flags & inspect.CO_COROUTINE:
        asyncio.run(eval(code, namespace))  # noqa: S307 - the notebook is the test
    else:
        exec(code, namespace)  # noqa: S102
    return namespace["_"]


def test_every_cell_of_the_notebook_runs(capsys: pytest.CaptureFixture[str]) -> None:
    notebook = json.loads((DOCS / "library.ipynb").read_text(encoding="utf-8"))
    cells = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert all(not cell.get("outputs") for cell in notebook["cells"])  # kept without, so that none can be stale
    namespace: dict[str, object] = {}
    values = [run_cell(cell, namespace) for cell in cells]
    assert values[0] == ["en", "zh"]
    assert "we should ship it on Friday" in capsys.readouterr().out
    assert values[2] is not None
    assert str(values[4]).endswith("。")
    assert values[-1] == [["Can you all hear me?"], ["Yes, we can hear you."]]


def test_the_python_of_the_page_runs(capsys: pytest.CaptureFixture[str]) -> None:
    page = (DOCS / "library.md").read_text(encoding="utf-8")
    namespace: dict[str, object] = {}
    for example in re.findall(r"```python\n(.*?)```", page, re.DOTALL):
        exec(compile(example, "library.md", "exec"), namespace)  # noqa: S102
    printed = capsys.readouterr().out
    assert printed.startswith("So I think we should ship it on Friday.\nCan you all hear me?\n{'call/")
    assert re.findall(r"^\[(\S+)\] ([\w ]+): ", printed, re.MULTILINE) == [
        ("00:00:00", "Speaker 0"),
        ("00:00:01", "Speaker 1"),
    ]
