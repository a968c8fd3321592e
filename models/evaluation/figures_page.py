"""Measured tables on a page of prose: a command puts its own between two comments, and leaves the rest as it is.

<!-- sweep -->
… what was measured last …
<!-- end of sweep -->
"""

from __future__ import annotations

import datetime as dt
from pathlib import Path

__all__ = ["put"]


def put(page: Path | None, name: str, text: str, *, max_words: int) -> None:
    """Print a text, and put it in the place that ``page`` has for it; ValueError where it has none.

    max_words: how much text the command was told to read, which the page says.
    """
    print(text)
    if page is None:
        return
    before, begins, rest = page.read_text(encoding="utf-8").partition(f"<!-- {name} -->\n")
    _, ends, after = rest.partition(f"<!-- end of {name} -->\n")
    if not begins or not ends:
        raise ValueError(f"{page} has no place for {name}")
    today = dt.datetime.now(tz=dt.UTC).date().isoformat()
    page.write_text(
        f"{before}{begins}\nMeasured {today} with `--max-words {max_words}`: {text}\n\n{ends}{after}", encoding="utf-8"
    )
