"""What went wrong is told in a line, by every command alike."""

from __future__ import annotations

from pathlib import Path

from typer.testing import CliRunner

from caesura.models.__main__ import app


def test_an_error_of_ours_is_one_line_that_names_the_command(tmp_path: Path) -> None:
    missing = tmp_path / "missing"
    asked = ["--models", str(missing), "--language", "en", "--checkpoint", str(tmp_path / "start.pt")]
    done = CliRunner().invoke(app, ["restore", *asked])
    assert done.exit_code == 1
    assert done.output == f"restore: models folder {missing} is not a folder\n"
