"""What every finder of a real part needs."""

from __future__ import annotations

import functools
import os
import subprocess
from typing import NoReturn

import pytest


class NotFound(Exception):  # noqa: N818  # it reads as the sentence it stands for
    """A real part is not at hand; the text says what would bring it."""


@functools.cache
def docker_answers() -> bool:
    """Whether a Docker engine answers here; a client alone is none."""
    try:
        seen = subprocess.run(["docker", "version"], capture_output=True, check=False, timeout=10)  # noqa: S607
    except (FileNotFoundError, subprocess.TimeoutExpired):
        return False
    return seen.returncode == 0


def in_ci() -> bool:
    """Whether this run must have every real part."""
    return os.environ.get("CI", "").lower() in {"1", "true", "yes"}


def missing(reason: str, *, promised: bool | None = None) -> NoReturn:
    """Skip the running test for want of a real part; fail it where the part was promised, which CI does by default."""
    if in_ci() if promised is None else promised:
        pytest.fail(f"a real part was promised: {reason}", pytrace=False)
    pytest.skip(reason)
