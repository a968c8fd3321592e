"""The command ``caesura``, by its name or as ``python -m caesura``."""

from __future__ import annotations

from caesura.worker.cli import main

__all__ = ["main"]

if __name__ == "__main__":
    main()
