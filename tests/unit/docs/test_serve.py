"""The page about the service holds: its Python client runs, its tables name every field, message and close code."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest

from caesura.worker.feeds.recognisers.catalogue import RecogniserName
from caesura.worker.service.server.messages import CloseCode, Opening, RefusalReason, ServerMessage
from tests.harness.service import serving

PAGE = (Path(__file__).parents[3] / "docs" / "serve.md").read_text(encoding="utf-8")


def test_the_python_client_runs_in_ten_lines(capsys: pytest.CaptureFixture[str]) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert len([line for line in example.splitlines() if line.strip()]) <= 11
    with serving() as served:
        exec(compile(example.replace("ws://127.0.0.1:8765/v1/words", served.words), "serve.md", "exec"), {})  # noqa: S102
    assert capsys.readouterr().out == "So I think we should we should ship it on friday.\n"


def test_the_tables_name_every_field_message_and_code() -> None:
    cells = set(re.findall(r"^\| (?:`)?([\w]+)(?:`)? \|", PAGE, re.MULTILINE))
    kinds = {str(kind.__struct_config__.tag) for kind in ServerMessage.__args__}
    fields = {field.name for field in msgspec.structs.fields(Opening)}
    codes = {str(code) for name, code in vars(CloseCode).items() if name.isupper() and name != "NORMAL"}
    assert fields | kinds | codes <= cells


def test_the_page_lists_the_formats_as_the_refusal_of_another_says() -> None:
    (row,) = re.findall(r"^\| `format` \|.*$", PAGE, re.MULTILINE)
    assert set(RecogniserName) <= set(re.findall(r"`([\w-]+)`", row))


def test_the_page_names_every_reason_for_which_the_service_refuses() -> None:
    assert set(RefusalReason) <= set(re.findall(r"`(\w+)`", PAGE))
