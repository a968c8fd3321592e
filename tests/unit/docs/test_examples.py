"""The pages for producers and consumers: their Python runs, and their tables are complete."""

from __future__ import annotations

import ast
import asyncio
import inspect
import json
import os
import re
import shutil
import subprocess
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from caesura.schemas.json_schema import FOLDER
from tests.harness.background import in_background
from tests.harness.places import DOCS, ROOT
from tests.harness.service import serving

PAGES = ("docs/produce.md", "docs/consume.md")
PYTHON = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def page(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", PAGES)
def test_the_python_of_a_page_runs_from_top_to_bottom(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    text = page(name)
    examples = list(PYTHON.finditer(text))
    assert len(examples) > 3
    namespace: dict[str, object] = {"__name__": Path(name).stem}
    for example in examples:
        blank_lines = "\n" * text.count("\n", 0, example.start(1))  # so that a traceback names the page's line
        exec(compile(blank_lines + example.group(1), name, "exec"), namespace)  # noqa: S102


def test_the_producers_page_sends_an_event_under_its_session() -> None:
    namespace: dict[str, object] = {}
    sent: list[tuple[str, bytes, bytes]] = []

    class Recorder:
        def produce(self, topic: str, *, key: bytes, value: bytes) -> None:
            sent.append((topic, key, value))

    for example in PYTHON.findall(page("docs/produce.md")):
        exec(example, namespace)  # noqa: S102
    send, event = namespace["send"], namespace["event"]
    assert callable(send)
    send(Recorder(), event)
    assert sent == [("asr.words", namespace["key"], namespace["value"])]


POSTED: dict[str, dict[str, str]] = {}


class Registry(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        assert self.headers["Content-Type"] == "application/vnd.schemaregistry.v1+json"
        POSTED[self.path] = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b'{"id": 1}')

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the standard library's name
        pass


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
@pytest.mark.slow
def test_the_documented_lines_register_every_topics_schema_under_its_subject() -> None:
    lines = re.search(r"```sh\n(for topic in .*?)```", (ROOT / "docs" / "consume.md").read_text(), re.DOTALL)
    assert lines is not None
    with HTTPServer(("127.0.0.1", 0), Registry) as registry, in_background(registry):
        variables = os.environ | {"REGISTRY": f"http://127.0.0.1:{registry.server_port}", "no_proxy": "*"}
        subprocess.run(["bash", "-ec", lines[1]], cwd=ROOT, env=variables, check=True, timeout=120)  # noqa: S607
    for topic in ("asr.words", "asr.segments", "asr.tentative"):
        told = POSTED[f"/subjects/{topic}-value/versions"]
        assert told == {"schemaType": "JSON", "schema": (FOLDER / f"{topic}.schema.json").read_text(encoding="utf-8")}


PAGE = (DOCS / "serve.md").read_text(encoding="utf-8")


def test_the_python_client_runs_in_ten_lines(capsys: pytest.CaptureFixture[str]) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert len([line for line in example.splitlines() if line.strip()]) <= 11
    with serving() as served:
        exec(compile(example.replace("ws://127.0.0.1:8765/v1/words", served.words), "serve.md", "exec"), {})  # noqa: S102
    assert capsys.readouterr().out == "So I think we should we should ship it on friday.\n"


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


@pytest.mark.slow
def test_every_cell_of_the_notebook_runs(capsys: pytest.CaptureFixture[str]) -> None:
    notebook = json.loads((DOCS / "library.ipynb").read_text(encoding="utf-8"))
    cells = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert all(not cell.get("outputs") for cell in notebook["cells"])  # kept without, so that none can be stale
    namespace: dict[str, object] = {}
    values = [run_cell(cell, namespace) for cell in cells]
    assert values[0] == ["de", "en", "es", "fr", "zh"]
    assert "we should ship it on Friday" in capsys.readouterr().out
    assert values[2] is not None
    assert str(values[4]).endswith("。")
    assert values[-1] == [["Can you all hear me?"], ["Yes, we can hear you."]]


@pytest.mark.slow
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
