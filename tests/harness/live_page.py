"""The live page of a service in a browser: shown, spoken to, read, played a file."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from caesura.worker.adapters.onnx.engine import OnnxEngine
from caesura.worker.core.language.rules import DecodingRules
from caesura.worker.settings.serving import ServeSettings
from tests.harness.parts.chromium import Browser, Page
from tests.harness.service import serving

__all__ = ["CONNECTED", "picture", "play", "say", "shown", "text"]

CONNECTED = "document.getElementById('state').classList.contains('on')"
FOLDER = os.environ.get("PICTURES")
"""Where pictures go that somebody wants to look at; none are made without it."""


@contextmanager
def shown(
    browser: Browser, *, engine: OnnxEngine | None = None, settings: ServeSettings | None = None, fragment: str = ""
) -> Iterator[Page]:
    rules = DecodingRules(flush_after_ms=800, stall_after_ms=800) if engine is not None else None
    with serving(settings, engine=engine, rules=rules) as served, browser.page() as page:
        page.resize(1280, 800)
        page.prefer("dark")
        page.open(served.url + fragment)
        yield page


def say(page: Page, **event: object) -> None:
    page.value(f"send({json.dumps(event)})")


def text(page: Page, selector: str) -> str:
    chosen = f"[...document.querySelectorAll({json.dumps(selector)})]"
    return str(page.value(f"{chosen}.map((one) => one.textContent).join('|')"))


def picture(page: Page, name: str) -> None:
    if FOLDER:
        page.screenshot(Path(FOLDER) / f"{name}.png")


def play(page: Page, name: str, content: str, *, dropped: bool = False) -> None:
    """Give the page a file at once, chosen or dropped."""
    file = f"d.items.add(new File([{json.dumps(content)}], {json.dumps(name)}))"
    field = "const file = document.getElementById('file')"
    change = f"{field}; file.files = d.files; file.dispatchEvent(new Event('change'))"
    drop = "dispatchEvent(new DragEvent('drop', {dataTransfer: d, cancelable: true}))"
    page.value("document.getElementById('speed').value = '0'")
    page.value(f"(() => {{ const d = new DataTransfer(); {file}; {drop if dropped else change}; }})()")
