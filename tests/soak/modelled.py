"""``python -m tests.soak.modelled CONFIG``: a worker of the soak with the models that are shipped."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from caesura.worker.adapters.onnx.engine import OnnxEngine
from tests.chaos.member import work
from tests.harness.places import SHIPPED

if __name__ == "__main__":
    engine = OnnxEngine(SHIPPED, threads=1)
    engine.warm_up()
    work(json.loads(Path(sys.argv[1]).read_text()), engine)
