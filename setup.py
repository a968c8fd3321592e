"""How the parts of this repository become one package: in a wheel, ``worker`` is ``caesura.worker`` (ADR 0032).

A wheel installs ``caesura`` and nothing beside it: three packages of such common names would get into others' way, and
theirs into ours. Their imports of one another are rewritten as they are copied. An editable installation, which is for
those who work on this project, has them as they lie here.

The engine's attention, products and plans are compiled (docs/engine.md) where there is a C compiler; where
there is none NumPy attends, ONNX Runtime multiplies and Python plans.
"""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path

from setuptools import Extension, find_packages, setup
from setuptools.command.build_py import build_py

OWN = "caesura"
INNER = ("models", "schemas", "worker")
DATA = {
    "caesura": ["py.typed"],
    "models": ["data/calls/*.txt", "shipped/**/*"],
    "schemas": ["json/*.json", "py.typed"],
    "worker": ["adapters/onnx/*.pyi", "adapters/redis/lua/*.lua", "py.typed", "service/page/*.html"],
}
HEADERS = sorted(str(path) for path in Path("worker/adapters/onnx").glob("row_*.h"))
EDITABLE = "editable_wheel" in sys.argv

_IMPORT = re.compile(rf"^(?P<head>\s*(?:from|import) )(?P<package>{'|'.join(INNER)})(?P<tail>[. \n])", re.MULTILINE)
_BARE = re.compile(rf"^\s*import (?:{'|'.join(INNER)})(?!.* as )", re.MULTILINE)


def moved(source: str) -> str:
    """Return a module's text with its imports of our packages as they are called in a wheel."""
    if _BARE.search(source):
        raise ValueError("a bare import of a package that moves cannot be rewritten: say what it is imported as")
    return _IMPORT.sub(rf"\g<head>{OWN}.\g<package>\g<tail>", source)


class OnePackage(build_py):
    """Copies modules under their new name, their imports rewritten."""

    def build_module(self, module: str, module_file: str, package: str) -> tuple[str, bool]:
        """Copy one module into the build folder."""
        target, copied = super().build_module(module, module_file, package)
        if not EDITABLE:
            written = Path(target)
            written.write_text(moved(written.read_text(encoding="utf-8")), encoding="utf-8")
        return target, copied


def name(package: str) -> str:
    """Return what a package of this repository is called once it is installed."""
    return package if EDITABLE or package.partition(".")[0] == OWN else f"{OWN}.{package}"


COMPILED = ("attention_kernels", "schedule_kernels", "int8_kernels", "waiting_kernels")
"""For the limited interface of Python 3.11: one wheel serves every later version."""

OPTIONS = ["-O3", "-fno-fast-math", "-fno-unsafe-math-optimizations"]
"""Behind the builder's own, to link as well: for ``-Ofast`` GCC 12 links in what makes the smallest numbers 0."""

BUILD = tempfile.TemporaryDirectory(prefix="caesura-build-")
"""A wheel takes in whatever lies in its build folder: nothing of an earlier one may."""

setup(
    packages=[
        name(package)
        for package in find_packages(include=[f"{one}{rest}" for one in (OWN, *INNER) for rest in ("", ".*")])
    ],
    package_dir={} if EDITABLE else {OWN: OWN, **{f"{OWN}.{inner}": inner for inner in INNER}},
    package_data={name(package): patterns for package, patterns in DATA.items()},
    ext_modules=[
        Extension(
            f"{'' if EDITABLE else OWN + '.'}caesura.worker.adapters.onnx.{module}",
            [f"worker/adapters/onnx/{module}.c"],
            depends=HEADERS,
            extra_compile_args=["-Wno-psabi", *OPTIONS],
            extra_link_args=OPTIONS,
            py_limited_api=True,
            optional=True,
        )
        for module in COMPILED
    ],
    cmdclass={"build_py": OnePackage},
    options={"bdist_wheel": {"py_limited_api": "cp311"}} | ({} if EDITABLE else {"build": {"build_base": BUILD.name}}),
)
