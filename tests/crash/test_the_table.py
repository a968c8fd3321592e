"""The table of docs/exactly-once.md: it names every step, and tests that exist."""

from __future__ import annotations

import re

from caesura.worker.ports.commit_steps import CommitStep
from tests.harness.places import ROOT

_PAGE = (ROOT / "docs" / "exactly-once.md").read_text()


def test_the_table_has_a_row_for_every_commit_step_and_no_other() -> None:
    assert re.findall(r"^\| \d+ \| `([a-z0-9_]+)` \|", _PAGE, re.MULTILINE) == [step.value for step in CommitStep]


def test_the_rows_are_numbered_without_a_hole() -> None:
    numbers = [int(number) for number in re.findall(r"^\| (\d+) \|", _PAGE, re.MULTILINE)]
    assert numbers == list(range(1, len(numbers) + 1))


def test_every_test_that_the_page_names_exists() -> None:
    named = re.findall(r"`(tests/[a-z_/0-9]+\.py)::(test_[a-z_0-9]+)`", _PAGE)
    assert len(named) > 20
    missing = [name for path, name in named if f"\ndef {name}(" not in (ROOT / path).read_text()]
    assert missing == []
