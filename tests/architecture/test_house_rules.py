"""House rules that a machine can hold: names of files, marks left behind, what may not stand in the repository."""

from __future__ import annotations

import ast
import re
import subprocess
from collections import defaultdict
from pathlib import Path

import pytest

from tests.harness.places import ROOT

PACKAGES = ("caesura", "schemas", "worker", "models")
VAGUE = {"utils", "util", "helpers", "helper", "common", "manager", "managers", "base", "misc", "core_utils"}
LEFT_BEHIND = re.compile(r"\b(?:TODO|FIXME|XXX|NotImplementedError)\b")
FOREIGN_PATHS = re.compile(r"(?:^|[^A-Za-z0-9_.])/(?:work|farm|root|home)/")


def sources(*more: str) -> list[Path]:
    return sorted(file for package in (*PACKAGES, *more) for file in (ROOT / package).rglob("*.py"))


def tracked() -> list[Path]:
    done = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)  # noqa: S607
    if done.returncode != 0:
        pytest.skip("not a git checkout: what is tracked is unknown")
    return [ROOT / name for name in done.stdout.decode().split("\0") if name]


def name_of(file: Path) -> str:
    return str(file.relative_to(ROOT))


def test_a_module_is_a_noun_of_the_domain() -> None:
    assert [name_of(file) for file in sources("bench", "deploy") if file.stem in VAGUE] == []


def test_a_module_leaves_nothing_to_do() -> None:
    assert [name_of(file) for file in sources() if LEFT_BEHIND.search(file.read_text(encoding="utf-8"))] == []


def test_no_test_and_no_benchmark_uses_mocks() -> None:
    using = [
        name_of(file)
        for folder in ("tests", "bench")
        for file in (ROOT / folder).rglob("*.py")
        if file != Path(__file__)
        and re.search(r"unittest(?:\.| import )mock|MagicMock|mocker\b", file.read_text(encoding="utf-8"))
    ]
    assert using == []


def test_tracked_files_name_no_local_paths() -> None:
    found = []
    for file in tracked():
        if file == Path(__file__) or not file.is_file() or file.stat().st_size > 2_000_000:
            continue
        try:
            text = file.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        found += [f"{name_of(file)}: {match.group()}" for match in FOREIGN_PATHS.finditer(text)]
    assert found == []


def test_pinned_requirements_carry_hashes_and_no_addresses() -> None:
    pinned = sorted((ROOT / "requirements").glob("*.txt"))
    assert pinned
    for file in pinned:
        text = file.read_text(encoding="utf-8")
        assert "://" not in text
        assert "--index-url" not in text
        requirements = [line for line in text.splitlines() if re.match(r"[a-z0-9]", line)]
        assert requirements
        assert text.count("--hash=sha256:") >= len(requirements)
        assert all("==" in line for line in requirements)


def named(node: ast.stmt) -> list[str]:
    """Return the public classes, constants and type aliases that a statement of a module makes."""
    match node:
        case ast.ClassDef(name=name):
            names = [name]
        case ast.Assign(targets=targets):
            names = [target.id for target in targets if isinstance(target, ast.Name)]
        case ast.AnnAssign(target=ast.Name(id=name)):
            names = [name]
        case _:
            names = []
    return [name for name in names if name[0].isupper()]


@pytest.mark.slow
def test_a_name_of_a_class_a_constant_or_an_alias_has_one_meaning() -> None:
    """What users of the library import is named for them: their session and segment stand over the worker's."""
    files = defaultdict(list)
    for file in sources():
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            for name in named(node):
                files[name].append(name_of(file))
    twice = {name: found for name, found in files.items() if len(found) > 1}
    assert sorted(twice) == ["Segment", "Session"], twice
    assert all(any(one.startswith("caesura/") for one in found) for found in twice.values())
