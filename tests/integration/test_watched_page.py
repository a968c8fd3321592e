"""The page of ``caesura demo --web`` in a real Chromium: it watches a cluster's topics, and nobody can speak on it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.harness.command import CAESURA, started
from tests.harness.parts.chromium import chromium, find_chromium
from tests.harness.parts.lookup import missing

COMMAND = [*CAESURA, "demo", "--web", "--port", "0", "--speed", "4"]


@pytest.mark.timeout(180)
def test_words_of_a_cluster_freeze_on_a_page_that_cannot_be_spoken_on(tmp_path: Path) -> None:
    path = find_chromium()
    if path is None:
        missing("no Chromium on the PATH to open the page in (Debian: apt-get install chromium)")
    with started(*COMMAND, environ=os.environ | {"TMPDIR": str(tmp_path)}, stderr=subprocess.PIPE) as demo:
        assert demo.stderr is not None
        line = ""
        while "open http" not in line:
            line = demo.stderr.readline()
            assert line, "the demo ended before it began"
        with chromium(path) as browser, browser.page() as page:
            page.open(line.split()[1])
            page.wait_for("document.querySelectorAll('main .w.frozen').length", 60)
            assert page.value("document.getElementById('speak').hidden")
            assert page.value("getComputedStyle(document.getElementById('speak')).display") == "none"
            assert page.value("document.getElementById('state').classList.contains('on')")
            page.wait_for("document.querySelectorAll('#log p').length", 60)
            assert page.value("document.querySelectorAll('article h2').length") > 0
            assert page.complaints == []
        demo.terminate()
        demo.communicate(timeout=40)
