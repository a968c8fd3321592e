"""FunASR's side, run by a Python that has ``funasr-onnx`` and nothing of ours: a file of texts in, figures out.

    FUNASR_PYTHON bench/funasr/their_side.py MODEL_FOLDER TEXTS.json

Each text is a session of its own, delivered some words at a time with the cache handed on, as FunASR's real-time
service does it. Says which precisions there are, and then, for each line that names one and how many words a time,
processor seconds and the segments' lengths: JSON, a line each.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

ENDS = ("。", "？")


def decoded(model: Any, text: list[str], a_time: int) -> list[int]:  # noqa: ANN401 - a package without types
    """Decode one text; return its segments' lengths, in words."""
    handed_on: dict[str, list[str]] = {"cache": []}
    lengths, since = [], 0
    for start in range(0, len(text), a_time):
        given = text[start : start + a_time]
        before = len(handed_on["cache"])
        _, _, cache = model(" ".join(given), param_dict=handed_on)
        cut = before + len(given) - len(cache)
        since += len(given)
        if cut:
            lengths.append(since - len(cache))
            since = len(cache)
    return lengths


def main() -> None:
    """Measure what each line asks for, a precision and how many words a time, until there are no more."""
    from funasr_onnx import CT_Transformer_VadRealtime  # noqa: PLC0415 - of another environment

    folder, texts = sys.argv[1], json.loads(Path(sys.argv[2]).read_text(encoding="utf-8"))
    models = {
        precision: CT_Transformer_VadRealtime(folder, quantize=precision == "int8", intra_op_num_threads=1)
        for precision in ("fp32", "int8")
    }
    for model in models.values():
        decoded(model, texts[0][:60], 3)
    print(json.dumps(list(models)), flush=True)
    for line in sys.stdin:
        precision, a_time = json.loads(line)
        began_s = time.process_time()
        lengths = [decoded(models[precision], text, a_time) for text in texts]
        print(json.dumps([time.process_time() - began_s, lengths]), flush=True)


if __name__ == "__main__":
    main()
