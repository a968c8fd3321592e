"""docs/settings.md is generated from the settings and current."""

from __future__ import annotations

from pathlib import Path

import pytest

from caesura.worker.commands.settings import settings, settings_reference
from caesura.worker.errors import FatalError
from caesura.worker.settings.tree import open_settings
from tests.harness.places import ROOT


def test_the_documented_settings_are_the_settings() -> None:
    assert (ROOT / "docs" / "settings.md").read_text(encoding="utf-8") == settings_reference(), "run: make docs"


def test_an_address_in_brackets_is_listed_with_them(capsys: pytest.CaptureFixture[str]) -> None:
    settings(assignments=["redis.addresses=[fd00::1]:6379"], markdown=False, write=None)
    assert "[fd00::1]:6379" in capsys.readouterr().out


def test_a_file_to_write_is_not_passed_over_where_there_is_nothing_to_write(tmp_path: Path) -> None:
    with pytest.raises(FatalError, match="give both"):
        settings(markdown=False, write=tmp_path / "settings.md")
    assert not (tmp_path / "settings.md").exists()


def test_every_setting_has_a_row() -> None:
    reference = settings_reference()
    assert all(f"| `{leaf.name}` |" in reference for leaf in open_settings())
