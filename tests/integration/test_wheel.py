"""The wheel in an environment of its own: one package, ``caesura``, that finds its models; nothing in others' way."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

from caesura.worker.inference.attention.compiled_attention import COMPILED
from tests.harness.places import ROOT

pytestmark = pytest.mark.timeout(400)  # the wheel packs a hundred megabytes of weights: a slow machine is no failure


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    stored = "--config-settings=--build-option=--compression=stored"  # weights hardly get smaller, and take long
    subprocess.run([*command, stored, "--wheel-dir", folder, ROOT], check=True, timeout=300)
    (made,) = folder.glob("*.whl")
    return made


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python that has the wheel, and what it depends on from here; nothing of this checkout."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=False, symlinks=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(packages)
    # As a path alone: the editable installation that lies there is not followed.
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    return folder / "bin" / "python"


def run(python: Path, *arguments: str, given: str = "") -> str:
    done = subprocess.run(
        [python, *arguments],
        input=given,
        cwd=python.parent,
        env={"PATH": "", "LANG": "C.UTF-8"},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_it_holds_one_package_and_every_import_of_ours_is_within_it(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        tops = {name.partition("/")[0] for name in names}
        (dist_info,) = tops - {"caesura"}
        assert dist_info.endswith(".dist-info")
        assert archive.read(f"{dist_info}/top_level.txt").decode().split() == ["caesura"]
        assert "caesura = caesura.__main__:main" in archive.read(f"{dist_info}/entry_points.txt").decode()
    assert {
        "caesura/py.typed",
        "caesura/models/evaluation/everyday/de.txt",
        "caesura/models/evaluation/regression/fluent_en.txt",
        "caesura/worker/service/page/live.html",
        "caesura/schemas/json/asr.words.schema.json",
    } < {*names}
    assert any(name.endswith(".lua") for name in names)
    products = importlib.util.find_spec("caesura.worker.inference.native.int8_kernels") is not None
    for module in ("attention_kernels", "schedule_kernels", "int8_kernels", "waiting_kernels"):
        there = products if module == "int8_kernels" else COMPILED
        compiled = [
            name for name in names if name.startswith(f"caesura/worker/inference/native/{module}.") and "so" in name
        ]
        assert bool(compiled) == there, "a wheel made here has what an installation here has"


def test_the_library_runs_and_takes_no_foreign_module_names(python: Path) -> None:
    script = """
import importlib.util, sys
import caesura
assert not [name for name in ("worker", "models", "schemas", "tests", "deploy") if importlib.util.find_spec(name)]
session = caesura.load("en", threads=1).session()
print(*(one.text for one in [*session.feed("so um can you hear me"), *session.end()]))
assert not {"torch", "starlette", "confluent_kafka", "redis"} & set(sys.modules), "a library loads what it needs"
assert str(caesura.models_folder()).startswith(sys.prefix)
"""
    assert run(python, "-c", script) == "So, can you hear me?\n"


def test_a_users_module_with_the_same_name_is_left_alone(python: Path, tmp_path: Path) -> None:
    (tmp_path / "models.py").write_text("MINE = True\n", encoding="utf-8")
    script = f"""
import sys
sys.path.insert(0, {str(tmp_path)!r})
import models, caesura
assert models.MINE
print(caesura.languages())
"""
    assert run(python, "-c", script) == "['de', 'en', 'es', 'fr', 'zh']\n"


def test_the_command_runs(python: Path) -> None:
    assert run(python, "-m", "caesura", "--version").startswith("caesura ")
    marked = run(python, "-m", "caesura", "punctuate", "--output", "marked", given="so um can you hear me\n")
    assert marked == "So, {um} can you hear me?\n"
    assert "worker.commit_interval_ms" in run(python, "-m", "caesura", "settings")


def test_every_module_can_be_imported_under_its_new_name(python: Path) -> None:
    script = """
import importlib, pkgutil
import caesura
found = [one.name for one in pkgutil.walk_packages(caesura.__path__, "caesura.")]
served = [name for name in found if not name.startswith("caesura.models.") and not name.endswith("__main__")]
for name in served:
    importlib.import_module(name)
print(len(served) > 150)
"""
    assert run(python, "-c", script) == "True\n"


def test_fast_math_builds_keep_subnormal_numbers(tmp_path: Path) -> None:
    place = str(tmp_path)
    command = [sys.executable, "setup.py", "--quiet", "build_ext", "--build-lib", place, "--build-temp", place]
    environment = os.environ | {"CFLAGS": "-Ofast", "PYTHONWARNINGS": "ignore"}
    subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=True, timeout=300)
    compiled = [str(one) for one in tmp_path.rglob("*_kernels*.so")]
    if not compiled:
        pytest.skip("no compiler is here that can")
    script = f"""
import importlib.util
from pathlib import Path
for path in {compiled}:
    spec = importlib.util.spec_from_file_location(Path(path).name.partition(".")[0], path)
    spec.loader.exec_module(importlib.util.module_from_spec(spec))
    assert 5e-324 * 1.0 > 0.0, path
"""
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)
