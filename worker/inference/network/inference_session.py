"""Opens graphs on ONNX Runtime the way a worker runs them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import onnxruntime

from caesura.worker.errors import FatalError


def open_graph(model: str, graph: Path | bytes, threads: int) -> Any:  # noqa: ANN401 - onnxruntime ships without types
    """Return a session of a graph, a file or its bytes; FatalError, naming the model, where it cannot be opened.

    Threads sleep between two runs (no spinning): what they would burn is another session's time.
    """
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
    options.log_severity_level = 3
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    source = graph if isinstance(graph, bytes) else str(graph)
    try:
        return onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # the runtime's errors have no common class of their own
        named = "a graph cut from its weights" if isinstance(graph, bytes) else graph
        raise FatalError(f"model {model}: {named} cannot be loaded: {error}") from error
