"""``caesura version``, and ``caesura --version``."""

from __future__ import annotations

from caesura.worker.commands.terminal import echo


def version() -> None:
    """Print the version."""
    from importlib.metadata import version as installed  # noqa: PLC0415 - no other command needs it

    echo(f"caesura {installed('caesura')}")
