"""docs/settings.md is generated from the settings and current."""

from __future__ import annotations

from tests.harness.places import ROOT
from worker.commands.settings import settings_reference
from worker.settings.tree import open_settings


def test_the_documented_settings_are_the_settings() -> None:
    assert (ROOT / "docs" / "settings.md").read_text(encoding="utf-8") == settings_reference(), "run: make docs"


def test_every_setting_has_a_row() -> None:
    reference = settings_reference()
    assert all(f"| `{leaf.name}` |" in reference for leaf in open_settings())
