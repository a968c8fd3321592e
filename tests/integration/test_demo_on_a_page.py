"""``caesura demo --web``: the embedded parts on a page; SIGTERM ends it and all that it started."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from websockets.sync.client import connect

from tests.harness.command import left_running
from tests.harness.waiting import comes
from tests.harness.web_demo import web_demo


@pytest.mark.timeout(120)
def test_speakers_come_on_the_page_and_a_stop_leaves_nothing_behind(tmp_path: Path) -> None:
    with web_demo(tmp_path) as (process, address):
        with connect(address.replace("http", "ws", 1) + "v1/watch", proxy=None) as page:
            page.send("{}")
            messages: list[dict[str, Any]] = []
            while not any(one["type"] == "segment" for one in messages):
                messages.append(json.loads(page.recv(timeout=60)))
        process.terminate()
        _, errors = process.communicate(timeout=120)
    assert (process.returncode, "Traceback" in errors) == (0, False), errors
    assert messages[-1]["text"] == "Good morning, everybody."
    assert comes(lambda: left_running(tmp_path) == [], within_s=60), left_running(tmp_path)
