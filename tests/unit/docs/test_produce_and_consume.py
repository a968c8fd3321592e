"""The pages for producers and consumers: their Python runs, and their tables are complete."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest

from caesura.schemas.dead_letters import UNREADABLE, DeadLetterReason
from caesura.schemas.events import SessionOptions, WordsEvent
from caesura.schemas.segments import Cause, Segment
from caesura.schemas.tentative import Tentative
from caesura.schemas.versions import EVENT_VERSION
from tests.harness.places import ROOT

REPOSITORY = ROOT
PAGES = ("docs/produce.md", "docs/consume.md")
PYTHON = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FIRST_CELL = re.compile(r"^\| ([^|]+) \|", re.MULTILINE)


def page(name: str) -> str:
    return (REPOSITORY / name).read_text(encoding="utf-8")


def named_in_tables(name: str) -> set[str]:
    """Return what stands in code marks in the first cell of any table's row."""
    return {code for cell in FIRST_CELL.findall(page(name)) for code in re.findall("`([^`]+)`", cell)}


@pytest.mark.parametrize("name", PAGES)
def test_the_python_of_a_page_runs_from_top_to_bottom(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(REPOSITORY)
    text = page(name)
    examples = list(PYTHON.finditer(text))
    assert len(examples) > 3
    namespace: dict[str, object] = {"__name__": Path(name).stem}
    for example in examples:
        blank_lines = "\n" * text.count("\n", 0, example.start(1))  # so that a traceback names the page's line
        exec(compile(blank_lines + example.group(1), name, "exec"), namespace)  # noqa: S102


def test_the_producers_page_names_every_field_option_and_reason() -> None:
    fields = {field.name for struct in (WordsEvent, SessionOptions) for field in msgspec.structs.fields(struct)}
    reasons = {
        *UNREADABLE,
        *DeadLetterReason,
        DeadLetterReason.POISON,
        DeadLetterReason.WRONG_PARTITION,
        "key_mismatch",
    }
    assert fields | reasons <= named_in_tables("docs/produce.md")
    assert f"`major.minor`, now `{EVENT_VERSION}`" in (ROOT / "docs/produce.md").read_text(encoding="utf-8")


def test_the_consumers_page_names_every_field_and_cause() -> None:
    fields = {field.name for field in msgspec.structs.fields(Segment)}
    assert fields | set(Cause) <= named_in_tables("docs/consume.md")


def test_the_consumers_page_names_every_field_of_unfrozen_words() -> None:
    assert {field.name for field in msgspec.structs.fields(Tentative)} <= named_in_tables("docs/consume.md")


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
