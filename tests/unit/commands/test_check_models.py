"""What ``caesura check`` says of a model's arithmetic: of each model by itself."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from caesura.worker.commands.check import _models
from caesura.worker.inference.network import int8_matmul
from caesura.worker.runtime.settings.settings import RuntimeSettings
from tests.harness.places import SHIPPED


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
