"""``python -m tests.harness.hanging``: the command ``caesura``, with inferences that never come back."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import pytest

from worker.adapters.onnx.engine import OnnxEngine
from worker.cli import main
from worker.core.labelling import LabelRequest, Labels

__all__: list[str] = []

_label = OnnxEngine.label


def _hang(engine: OnnxEngine, requests: Sequence[LabelRequest]) -> list[Labels]:
    """Label what warms the engine up, and nothing that anybody says."""
    if not all(one.session.startswith("warm-up") for one in requests):
        threading.Event().wait()
    return _label(engine, requests)


if __name__ == "__main__":
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(OnnxEngine, "label", _hang)
        main()
