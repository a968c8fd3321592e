"""How the lines of this folder are written: ``python -m tests.unit.core.overlays.figures`` prints a table."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterable

from tests.unit.core.overlays.generated_lines import generated
from tests.unit.core.overlays.number_lines import NumberLine, hand_written, written

_NAMES = {"en": "English", "zh": "Chinese", "de": "German", "es": "Spanish", "fr": "French"}


def figures(lines: Iterable[NumberLine]) -> str:
    """Return a table: lines by language and kind, and how many are written as expected or another number."""
    counts: dict[tuple[str, str], Counter[str]] = {}
    for line in lines:
        found, text = counts.setdefault((line.lang, line.kind), Counter()), written(line)
        digits, expected = re.findall(r"\d+", text), re.findall(r"\d+", line.expected)
        found["lines"] += 1
        found["exact"] += text == line.expected
        found["other"] += bool(digits) and digits != expected
        found["words"] += not digits and bool(expected)
    rows = [
        f"| {_NAMES[lang]} | {kind} | {found['lines']} | {found['exact']} | {found['words']} | {found['other']} |"
        for (lang, kind), found in sorted(counts.items())
    ]
    head = "| language | kind | lines | as expected | left in words | another number |\n|---|---|--:|--:|--:|--:|"
    return "\n".join([head, *rows])


if __name__ == "__main__":
    sys.stdout.write(figures([*(line for lang in _NAMES for line in hand_written(lang)), *generated()]) + "\n")
