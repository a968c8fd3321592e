"""``caesura train`` hands over to the training side where it is installed, and says what is missing where it is not."""

from __future__ import annotations

import json
import shutil
import subprocess
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path

import pytest

from caesura.worker.commands.check import _models
from caesura.worker.inference.network import int8_matmul
from caesura.worker.runtime.settings.settings import RuntimeSettings
from tests.harness.command import CAESURA
from tests.harness.places import SHIPPED
from tests.harness.terminal import Terminal

TRAINING_HAS_ITS_PARTS = find_spec("torch") is not None and find_spec("onnx") is not None


def test_without_the_extra_one_line_says_what_to_install(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    def found(name: str) -> ModuleSpec | None:
        return None if name == "torch" else ModuleSpec(name, None)

    monkeypatch.setattr("caesura.worker.commands.train.find_spec", found)
    done = terminal.run("train", "texts", "--language", "en")
    assert done.status == 1
    (line,) = done.err.splitlines()
    assert line.startswith("caesura: training needs torch, not installed here: pip install '.[train]' in a checkout")


@pytest.mark.parametrize("asked", ["--help", "-h"])
def test_without_the_extra_help_says_what_to_install(
    asked: str, terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "caesura.worker.commands.train.find_spec", lambda name: None if name == "torch" else ModuleSpec(name, None)
    )
    done = terminal.run("train", asked)
    assert (done.status, done.err) == (0, "")
    assert "caesura train FOLDER --language en" in done.out
    told = done.out.splitlines()[-1]
    assert told.startswith(
        "Its options are not listed here: torch is not installed. To have it: pip install '.[train]'"
    )


@pytest.mark.torch
@pytest.mark.skipif(not TRAINING_HAS_ITS_PARTS, reason="the train extra is not installed")
def test_with_the_extra_help_lists_the_options(terminal: Terminal) -> None:
    done = terminal.run("train", "texts", "--language", "en", "--help")
    assert (done.status, done.err) == (0, "")
    assert done.out.index("Usage: caesura train") < done.out.index(
        "Usage: python -m caesura.models tune [OPTIONS] {folder}"
    )
    for option in ("--language", "--out", "--models", "--epochs", "--kept"):
        assert option in done.out


@pytest.mark.torch
@pytest.mark.skipif(not TRAINING_HAS_ITS_PARTS, reason="the train extra is not installed")
def test_with_the_extra_the_arguments_reach_the_tune_as_they_are(tmp_path: Path) -> None:
    done = subprocess.run(
        [*CAESURA, "train", "no such folder", "--language", "en"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "tune: no such folder is not a folder\n")


def told(folder: Path) -> dict[str, str]:
    worker = RuntimeSettings(models_dir=str(folder))
    return {finding.subject.rpartition("@")[0].removeprefix("model "): finding.reason for finding in _models(worker)}


@pytest.fixture
def beside(tmp_path: Path) -> Path:
    """The shipped Chinese model, and the small English one as a network that cannot be run as a stream."""
    shutil.copytree(SHIPPED / "zh", tmp_path / "zh")
    shutil.copytree(SHIPPED / "en-small", tmp_path / "en")
    manifest = tmp_path / "en" / "manifest.json"
    fields = json.loads(manifest.read_text(encoding="utf-8"))
    manifest.write_text(json.dumps(fields | {"network": "full_transformer", "active": True}), encoding="utf-8")
    return tmp_path


def test_each_model_is_told_what_computes_it(beside: Path) -> None:
    reasons = told(beside)
    assert "whole buffers by ONNX Runtime" in reasons["en-ct-3x384"]
    if int8_matmul.KINDS:
        assert f"products compiled for {int8_matmul.KINDS[0]}" in reasons["zh-ct-6x768"]


def test_where_nothing_is_compiled_that_is_said(beside: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(int8_matmul, "KINDS", [])
    reasons = told(beside)
    assert "whole buffers by ONNX Runtime" in reasons["en-ct-3x384"]
    assert "products by ONNX Runtime, which is slower" in reasons["zh-ct-6x768"]
