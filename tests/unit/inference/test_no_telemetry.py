"""ONNX Runtime writes nothing under the home and sends nothing: its telemetry is off (docs/privacy.md)."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

_LABEL = "import caesura; print(len(caesura.load('en').session().end()))"


def test_an_engine_leaves_nothing_in_the_home(tmp_path: Path) -> None:
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("ORT_", "XDG_"))}
    ended = subprocess.run(
        [sys.executable, "-c", _LABEL],
        env={**environment, "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert ended.returncode == 0, ended.stderr
    assert not [path for path in tmp_path.rglob("*") if "onnxruntime" in str(path)]
