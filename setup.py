"""What belongs to the package ``caesura``, and the C kernels of its inference (docs/engine.md).

``worker``, ``models`` and ``schemas`` are linked into ``caesura``, so a module has one name in the tree, in an editable
installation and in a wheel (ADR 0001). The kernels are compiled where there is a C compiler; without one NumPy attends,
ONNX Runtime multiplies and Python plans.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from setuptools import Extension, find_packages, setup

DATA = {
    "caesura": ["py.typed"],
    "caesura.models": ["data/calls/*.txt", "evaluation/everyday/*.txt", "evaluation/regression/*.txt", "shipped/**/*"],
    "caesura.schemas": ["json/*.json", "py.typed"],
    "caesura.worker": ["adapters/redis/lua/*.lua", "inference/native/*.pyi", "py.typed", "service/page/*.html"],
}
NATIVE = "caesura/worker/inference/native"
HEADERS = sorted(map(str, Path(NATIVE).glob("*.h")))
KERNELS = ("attention_kernels", "int8_kernels", "schedule_kernels", "waiting_kernels")
"""For the limited interface of Python 3.11: one wheel serves every later version."""

OPTIONS = ["-O3", "-fno-fast-math", "-fno-unsafe-math-optimizations"]
"""After the builder's own options, and for the linker too: with ``-Ofast`` GCC 12 links code that flushes denormals."""

BUILD = tempfile.TemporaryDirectory(prefix="caesura-build-")
"""A fresh build folder: a wheel takes every file that lies in it, also those of an earlier build."""

setup(
    packages=find_packages(include=["caesura", "caesura.*"]),
    package_data=DATA,
    ext_modules=[
        Extension(
            f"{NATIVE.replace('/', '.')}.{kernel}",
            [f"{NATIVE}/{kernel}.c"],
            depends=HEADERS,
            extra_compile_args=["-Wno-psabi", *OPTIONS],
            extra_link_args=OPTIONS,
            py_limited_api=True,
            optional=True,
        )
        for kernel in KERNELS
    ],
    options={"bdist_wheel": {"py_limited_api": "cp311"}}
    | ({} if "editable_wheel" in sys.argv else {"build": {"build_base": BUILD.name}}),
)
