"""``caesura demo --web``: the embedded parts on a page; SIGTERM ends it and all that it started."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from websockets.sync.client import connect

from tests.harness.command import CAESURA, left_running, started
from tests.harness.waiting import comes

COMMAND = [*CAESURA, "demo", "--web", "--port", "0", "--speed", "4"]


@pytest.mark.timeout(120)
def test_speakers_come_on_the_page_and_a_stop_leaves_nothing_behind(tmp_path: Path) -> None:
    with started(*COMMAND, environ=os.environ | {"TMPDIR": str(tmp_path)}, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        line = ""
        while "open http" not in line:
            line = process.stderr.readline()
            assert line, "the demo ended before it began"
        address = line.split()[1].replace("http", "ws", 1) + "v1/watch"
        with connect(address, proxy=None) as page:
            page.send("{}")
            messages: list[dict[str, Any]] = []
            while not any(one["type"] == "segment" for one in messages):
                messages.append(json.loads(page.recv(timeout=60)))
        process.terminate()
        _, errors = process.communicate(timeout=40)
    assert (process.returncode, "Traceback" in errors) == (0, False), errors
    assert messages[-1]["text"] == "Good morning, everybody."
    assert comes(lambda: left_running(tmp_path) == [], within_s=10), left_running(tmp_path)
