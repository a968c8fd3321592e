"""The image's recipe, read; what it makes is run in ``test_image_assembly``."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib

import pytest

from tests.harness.deploy_tools import tool
from tests.harness.parts.lookup import in_ci
from tests.harness.places import DEPLOY, ROOT

_IMAGE = DEPLOY / "image"
_RECIPE = _IMAGE / "Containerfile"
_IGNORED = _IMAGE / "Containerfile.dockerignore"


def instructions(of_stage: int) -> list[str]:
    text = re.sub(r"\\\n", " ", re.sub(r"^#.*\n", "", _RECIPE.read_text(), flags=re.MULTILINE))
    stages = re.split(r"^(?=FROM )", text, flags=re.MULTILINE)[1:]
    return [line for line in stages[of_stage].splitlines() if line]


def test_the_images_python_is_the_one_that_is_tested() -> None:
    image = re.search(r"python:(\d+\.\d+)-", _RECIPE.read_text())
    makefile = (ROOT / "Makefile").read_text()
    chosen = re.search(r"PYTHON:-python(\d+\.\d+) ", makefile)
    locked = re.search(r"--python-version (\d+\.\d+) ", makefile)
    typed = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["mypy"]["python_version"]
    assert image is not None
    assert chosen is not None
    assert locked is not None
    assert image[1] == chosen[1] == locked[1] == typed
    if in_ci():
        assert image[1] == ".".join(map(str, sys.version_info[:2]))


def test_the_last_stage_runs_as_somebody_without_rights_and_by_number() -> None:
    users = [line for line in instructions(-1) if line.startswith("USER ")]
    assert users == ["USER 10001:10001"]
    assert instructions(-1).index(users[0]) > max(
        number for number, line in enumerate(instructions(-1)) if line.startswith(("RUN ", "COPY "))
    )


def test_the_last_stage_takes_what_was_assembled_and_nothing_else() -> None:
    assert [line for line in instructions(-1) if line.startswith(("COPY ", "ADD "))] == [
        "COPY --from=build /opt/caesura /opt/caesura"
    ]


def test_the_last_stage_installs_nothing() -> None:
    for line in instructions(-1):
        assert not re.search(r"\b(apt|apt-get|pip install|curl|wget|gcc)\b", line), line


def test_what_is_copied_into_the_build_is_there_and_is_let_through() -> None:
    allowed = {line[1:] for line in _IGNORED.read_text().splitlines() if line.startswith("!")}
    for line in instructions(0):
        if line.startswith("COPY "):
            for source in line.split()[1:-1]:
                assert (ROOT / source).exists(), source
                assert any(source == one or source.startswith(f"{one}/") for one in allowed), source


def test_every_word_of_the_labels_is_one_that_registries_know() -> None:
    labels = re.findall(r"(org\.opencontainers\.image\.\w+)=", _RECIPE.read_text())
    assert {label.rpartition(".")[2] for label in labels} >= {"title", "version", "revision", "licenses", "created"}


@pytest.mark.parametrize("script", ["fetch.sh", "assemble.sh"])
def test_a_step_is_a_script_that_a_plain_shell_reads_and_that_stops_at_the_first_fault(script: str) -> None:
    text = (_IMAGE / script).read_text()
    assert "\nset -eu\n" in text
    subprocess.run(["sh", "-n", _IMAGE / script], check=True, timeout=10)  # noqa: S607
    assert (_IMAGE / script).stat().st_mode & 0o111


def test_hadolint_has_nothing_to_say() -> None:
    done = subprocess.run([tool("hadolint"), _RECIPE], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stdout
