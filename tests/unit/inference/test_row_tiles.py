"""Tiles belong to a thread, and other libraries use them, too; the system need not lend them."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from caesura.worker.inference.network.graph_file import GraphWriter
from caesura.worker.inference.network.inference_session import open_graph
from caesura.worker.inference.network.int8_matmul import KINDS, _most, _packed
from tests.harness.places import ROOT

pytestmark = pytest.mark.skipif("amx-int8" not in KINDS, reason="this processor has no tiles, or the system lends none")


def test_concurrent_int8_matmul_equals_a_single_thread() -> None:
    from caesura.worker.inference.native.int8_kernels import plain  # noqa: PLC0415 - not everywhere

    rng, graph = np.random.default_rng(1), GraphWriter()
    whole = rng.integers(-63, 64, (384, 128)).astype(np.int8)
    graph.add("MatMulInteger", "a", graph.constant("whole", whole), graph.constant("zero", np.uint8(128)), output="o")
    model = graph.model({"a": (np.uint8, ("N", 384))}, {"o": (np.int32, ("N", 128))})
    theirs = open_graph("none", model, 1)
    packed, most, one = _packed(whole), _most(whole), np.ones(128, np.float32)

    def differ(seed: int) -> int:
        own, wrong = np.random.default_rng(seed), 0
        rows = own.integers(-127, 128, (5 + 9 * seed, 384)).astype(np.float32)
        rows[:, 0] = 127
        made = np.empty((len(rows), 128), np.float32)
        unsigned = (rows + 128).astype(np.uint8)
        for _ in range(100):
            plain(rows, packed, most, one, 0 * one, made)
            (other,) = theirs.run(None, {"a": unsigned})
            wrong += int((made != rows @ whole.astype(np.float32)).any() or (other != made).any())
        return wrong

    with ThreadPoolExecutor(6) as threads:
        assert list(threads.map(differ, range(6))) == [0] * 6


def test_without_amx_tiles_vector_kernels_multiply() -> None:
    """It lends none to a process in which a thread has too little room for a signal with them."""
    script = """
import ctypes
class Stack(ctypes.Structure):
    _fields_ = [("first", ctypes.c_void_p), ("flags", ctypes.c_int), ("size", ctypes.c_size_t)]
room = ctypes.create_string_buffer(4096)
assert ctypes.CDLL(None).sigaltstack(ctypes.byref(Stack(ctypes.addressof(room), 0, 4096)), None) == 0
from caesura.worker.inference.native import int8_kernels
print(int8_kernels.kinds())
"""
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.stdout, done.returncode) == ("['avx512-vnni', 'avx2']\n", 0), done.stderr
