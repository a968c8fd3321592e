"""What every finder of a real part needs."""

from __future__ import annotations

import functools
import subprocess

__all__ = ["NotFound", "docker_answers"]


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
