"""Imports point inwards only, and core stays pure: no I/O, no clock, no threads, no chance."""

from __future__ import annotations

import ast
import builtins
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

from tests.harness.places import ROOT

PURE = {
    "bisect",
    "caesura.schemas",
    "caesura.worker",
    "collections",
    "dataclasses",
    "enum",
    "functools",
    "hashlib",
    "heapq",
    "itertools",
    "json",
    "math",
    "msgspec",
    "operator",
    "re",
    "string",
    "typing",
    "unicodedata",
    "zlib",
    "__future__",
}
"""What core and the schemas may import: nothing here opens, waits, starts, draws or looks at a clock."""

ALLOWED = {
    "worker/core/language/dictionary.py": {"importlib", "io", "pathlib"},  # jieba's word list, a constant
    "worker/core/overlays/rules.py": {"logging"},  # a rule that raises: the result is as if it had found nothing
}

TOOLS = {"schemas/__main__.py", "schemas/json_schema.py"}
"""They write the JSON Schema files from the types; nothing that serves imports them."""

IMPURE_CALLS = {"open", "input", "print", "exec", "eval", "__import__", "breakpoint", "id", "hash"}
"""Built-ins that reach outside, or that differ from process to process."""


_IMPORT = re.compile(r"^\s*(?:from (\S+) import|import (\S+))", re.MULTILINE)


def pure_files() -> list[Path]:
    files = [*(ROOT / "worker" / "core").rglob("*.py"), *(ROOT / "schemas").rglob("*.py")]
    return sorted(file for file in files if str(file.relative_to(ROOT)) not in TOOLS)


def imported(file: Path) -> list[str]:
    """Return the modules that a file imports; the linter has each on a line of its own."""
    return [one or other for one, other in _IMPORT.findall(file.read_text(encoding="utf-8"))]


def root_of(module: str) -> str:
    """Return the first name of a foreign module, and the first two of one of ours."""
    names = module.split(".")
    return ".".join(names[: 2 if names[0] == "caesura" else 1])


def test_a_pure_module_imports_nothing_that_reaches_outside() -> None:
    wrong = {}
    for file in pure_files():
        name = str(file.relative_to(ROOT))
        wrong[name] = {root_of(module) for module in imported(file)} - PURE - ALLOWED.get(name, set())
    assert {name: roots for name, roots in wrong.items() if roots} == {}


def test_a_pure_module_calls_no_built_in_that_reaches_outside() -> None:
    wrong = {}
    for file in pure_files():
        nodes = ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        calls = [node.func for node in nodes if isinstance(node, ast.Call)]
        wrong[str(file)] = {call.id for call in calls if isinstance(call, ast.Name)} & IMPURE_CALLS
    assert {name: calls for name, calls in wrong.items() if calls} == {}


def test_serving_code_does_not_import_training_tools() -> None:
    tools = {f"caesura.{name.removesuffix('.py').replace('/', '.')}" for name in TOOLS}
    for file in [*(ROOT / "worker").rglob("*.py"), *pure_files()]:
        assert tools & set(imported(file)) == set()


def test_the_list_of_impure_calls_names_built_ins() -> None:
    assert {name for name in IMPURE_CALLS if not hasattr(builtins, name)} == set()


def test_imports_point_inwards_only() -> None:
    # In a process of its own: import-linter configures logging anew, which disables every logger of the one it runs in.
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command as lint; lint()", "--no-cache"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=100)
    assert done.returncode == 0, done.stdout + done.stderr
    assert ", 0 broken" in done.stdout


def contract(name: str) -> dict[str, list[str]]:
    """Return a contract of import-linter's, by its id."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (found,) = [one for one in settings["tool"]["importlinter"]["contracts"] if one["id"] == name]
    return dict(found)


def modules_in(folder: str) -> set[str]:
    inside = (ROOT / folder).iterdir()
    found = {one.stem for one in inside if one.suffix == ".py" or (one / "__init__.py").exists()} - {"__init__"}
    return {f"caesura.{folder.replace('/', '.')}.{name}" for name in found}


def test_the_training_contract_names_all_of_the_worker_but_the_allowed() -> None:
    allowed = {
        "caesura.worker.adapters",
        "caesura.worker.adapters.onnx",
        "caesura.worker.core",
        "caesura.worker.errors",
        "caesura.worker.inference",
        "caesura.worker.option_groups",
        "caesura.worker.ports",
    }
    assert (
        set(contract("training")["forbidden_modules"])
        == (modules_in("worker") | modules_in("worker/adapters")) - allowed
    )


def test_the_contract_of_the_adapters_names_every_one() -> None:
    assert set(contract("adapters")["modules"]) == modules_in("worker/adapters")


def test_every_module_of_the_worker_has_its_floor() -> None:
    floors = {name.strip("() ") for layer in contract("layers")["layers"] for name in layer.split("|")}
    assert {name for name in floors if name.startswith("caesura.worker.")} == modules_in("worker")


def test_a_module_has_one_name() -> None:
    """The links in ``caesura`` give every module its only name: in the tree, installed as editable, and in a wheel."""
    assert all((ROOT / "caesura" / name).resolve() == ROOT / name for name in ("models", "schemas", "worker"))
    folders = ("caesura", "schemas", "worker", "models", "tests", "bench", "deploy", ".ci")
    files = [file for folder in folders for file in (ROOT / folder).rglob("*.py")]
    assert len(files) > 1000
    wrong = {
        str(file.relative_to(ROOT))
        for file in files
        for name in imported(file)
        if name.partition(".")[0] in {"models", "schemas", "worker"}
    }
    assert wrong == set()


def test_code_shared_by_test_folders_stands_in_the_harness() -> None:
    """Tests import the harness, their own folder's modules, and no test; soaks are runs of the chaos fleet."""
    may_use = {("soak", "chaos")}
    wrong = []
    for file in sorted([*(ROOT / "tests").rglob("*.py"), *(ROOT / "bench").rglob("*.py")]):
        own = file.relative_to(ROOT).parts[:2][-1]
        for name in imported(file):
            parts = name.split(".")
            if parts[0] != "tests" or parts[1] == "harness":
                continue
            if parts[-1].startswith("test_") or (parts[1] != own and (own, parts[1]) not in may_use):
                wrong.append(f"{file.relative_to(ROOT)}: {name}")
    assert wrong == []


def classes(folder: str) -> Iterator[ast.ClassDef]:
    for file in sorted((ROOT / folder).rglob("*.py")):
        yield from (one for one in ast.parse(file.read_text(encoding="utf-8")).body if isinstance(one, ast.ClassDef))


def methods(one: ast.ClassDef) -> dict[str, ast.FunctionDef]:
    return {node.name: node for node in one.body if isinstance(node, ast.FunctionDef)}


def ancestors(name: str, bases: dict[str, list[str]]) -> set[str]:
    """Return the names of all classes above one, as far as ``bases`` has them."""
    return {above for base in bases.get(name, []) for above in (base, *ancestors(base, bases))}


def test_adapters_name_their_port_and_mark_its_methods() -> None:
    """So a method's contract stands once, on the port, and an implementation's docstring says what differs."""
    ports = {one.name: methods(one) for one in classes("worker/ports") if "Protocol" in map(ast.unparse, one.bases)}
    found, wrong = set(), []
    everything = [*classes("worker"), *classes("bench")]
    bases = {one.name: [ast.unparse(base) for base in one.bases] for one in everything}
    for one in everything:
        own, above = methods(one), ancestors(one.name, bases)
        if "Protocol" in bases[one.name]:
            continue
        for port, promised in ports.items():
            if not promised.keys() <= own.keys():
                continue
            found.add(port)
            unmarked = [name for name in promised if "override" not in map(ast.unparse, own[name].decorator_list)]
            if unmarked or port not in above:
                wrong.append((one.name, port, unmarked))
    assert wrong == []
    assert found == ports.keys()
