"""FunASR's side, run by a Python that has ``funasr-onnx`` and nothing of ours: a file of texts in, figures out.

    FUNASR_PYTHON bench/funasr/their_side.py MODEL_FOLDER TEXTS.json

Each text is a session of its own, delivered some words at a time with the cache handed on, as FunASR's real-time
service does it. Prints a line of JSON: processor seconds, words, and the segments' lengths, by precision and words a
time.
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
    """Measure every precision and delivery."""
    from funasr_onnx import CT_Transformer_VadRealtime  # noqa: PLC0415 - of another environment

    folder, given = sys.argv[1], json.loads(Path(sys.argv[2]).read_text(encoding="utf-8"))
    figures = []
    for precision, quantised in (("fp32", False), ("int8", True)):
        model = CT_Transformer_VadRealtime(folder, quantize=quantised, intra_op_num_threads=1)
        decoded(model, given["texts"][0][:60], 3)
        for a_time in given["a_time"]:
            texts = given["texts"][: given["sessions"]]
            began_s = time.process_time()
            lengths = [decoded(model, text, a_time) for text in texts]
            spent_s, words = time.process_time() - began_s, sum(map(len, texts))
            figures.append(
                {
                    "precision": precision,
                    "words_a_time": a_time,
                    "words": words,
                    "words_a_cpu_second": round(words / spent_s, 1),
                    "segment_lengths": lengths,
                }
            )
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
