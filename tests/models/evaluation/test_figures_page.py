from __future__ import annotations

from pathlib import Path

import pytest

from caesura.models.evaluation.figures_page import put

PAGE = "# Figures\n\n<!-- sweep -->\nold\n<!-- end of sweep -->\n\nProse.\n<!-- chunks -->\n<!-- end of chunks -->\n"


def page(folder: Path) -> Path:
    path = folder / "page.md"
    path.write_text(PAGE, encoding="utf-8")
    return path


def test_a_table_replaces_what_stood_in_its_place_and_nothing_else(tmp_path: Path) -> None:
    path = page(tmp_path)
    put(path, "sweep", "a table", max_words=9)
    put(path, "sweep", "a newer table", max_words=9)
    text = path.read_text(encoding="utf-8")
    assert "with `--max-words 9`: a newer table" in text
    assert "old" not in text
    assert "a table" not in text
    assert text.startswith("# Figures\n")
    assert text.endswith("\nProse.\n<!-- chunks -->\n<!-- end of chunks -->\n")


def test_a_page_without_a_place_is_an_error_and_stays(tmp_path: Path) -> None:
    path = page(tmp_path)
    with pytest.raises(ValueError, match="no place for stability"):
        put(path, "stability", "a table", max_words=9)
    assert path.read_text(encoding="utf-8") == PAGE


def test_without_a_page_a_table_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    put(None, "sweep", "a table", max_words=9)
    assert capsys.readouterr().out == "a table\n"
