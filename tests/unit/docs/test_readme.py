"""The README holds: its Python runs, its links lead somewhere, its commands exist."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from tests.harness.places import PAGES, ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def test_the_library_example_runs(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(ROOT)
    (example,) = blocks("python")
    exec(compile(example, "README.md", "exec"), {})  # noqa: S102 - the example is the test
    printed = capsys.readouterr().out
    assert printed == "end So I think we should ship it on Friday.\n"
    assert f"# {printed.strip()}" in example


def test_the_first_lines_are_what_the_command_prints() -> None:
    found = re.search(r'\$ echo "(.+?)" \\\n +\| \.venv/bin/caesura (.+)\n(.+)\n', blocks("console")[0])
    assert found is not None
    done = subprocess.run(
        [sys.executable, "-m", "caesura", *found[2].split()],
        cwd=ROOT,
        input=found[1] + "\n",
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stdout == found[3] + "\n"


def test_links_lead_to_files_that_are_there() -> None:
    missing = []
    for page in PAGES:
        links = re.findall(r"\]\((?!https?://|#|mailto:)([^)#]+)", page.read_text(encoding="utf-8"))
        missing += [f"{page.name}: {link}" for link in links if not (page.parent / link).exists()]
    assert missing == []


def test_every_make_target_that_is_named_exists() -> None:
    targets = set(re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    named = set()
    for page in PAGES:
        named |= set(re.findall(r"(?:`|^)make ([a-z][a-z-]*)", page.read_text(encoding="utf-8"), re.MULTILINE))
    assert named - targets == set()


def test_no_placeholder_was_left() -> None:
    assert re.search(r"TRANSCRIPT|LOREM|\bTBD\b", README) is None
