"""Where a benchmark's result is written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench import machine
from bench.machine import write_result


@pytest.fixture(autouse=True)
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "RESULTS", tmp_path / "results")
    monkeypatch.setattr(machine, "UNPUBLISHED", tmp_path / "build")


def test_a_result_replaces_what_the_same_command_told_before(tmp_path: Path) -> None:
    for cpu_s in (2.0, 1.0):
        file = write_result("delay", "python -m bench.delay", {"cpu_s": cpu_s})
    assert file == tmp_path / "results" / "delay.json"
    assert json.loads(file.read_text(encoding="utf-8"))["cpu_s"] == 1.0


def test_another_commands_result_is_not_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    published = write_result("delay", "python -m bench.delay", {"cpu_s": 2.0})
    file = write_result("delay", "python -m bench.delay --model small", {"cpu_s": 1.0})
    assert file == tmp_path / "build" / "delay.json"
    assert json.loads(published.read_text(encoding="utf-8"))["cpu_s"] == 2.0
    assert "delay.json is of another command and stays" in capsys.readouterr().out


def test_a_file_that_is_named_is_written_whatever_made_it(tmp_path: Path) -> None:
    for command in ("python -m bench.delay", "python -m bench.delay --model small"):
        assert write_result("delay", command, {}, out=tmp_path / "own.json") == tmp_path / "own.json"
    assert "--model small" in (tmp_path / "own.json").read_text(encoding="utf-8")
