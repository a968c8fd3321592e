"""The Python on the pages of docs, run as a reader would run it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.harness.places import ROOT

TRANSLATION = ROOT / "docs" / "translation.md"

_PYTHON = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def python_blocks(page: Path) -> list[str]:
    """Return the blocks of Python on a page, in order."""
    return _PYTHON.findall(page.read_text(encoding="utf-8"))


def defined_by(page: Path, function: str, changes: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Run the one block that defines a function, and return all that it defines.

    changes: what to replace in it, for example the broker's address; each must be there.
    """
    (block,) = (block for block in python_blocks(page) if f"def {function}(" in block)
    for old, new in (changes or {}).items():
        assert old in block, f"{page.name} has no {old} to replace"
        block = block.replace(old, new)
    defined: dict[str, Any] = {}
    exec(compile(block, str(page), "exec"), defined)  # noqa: S102 - it is our page
    return defined
