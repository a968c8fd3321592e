"""``python -m caesura.schemas``: the files as committed are current, and the command says so."""

from __future__ import annotations

from caesura.schemas.__main__ import main


def test_check_passes_on_the_files_as_committed() -> None:
    assert main(["--check"]) == 0
