"""The page of ``caesura demo --web`` in a real Chromium: it watches a cluster's topics, and nobody can speak on it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.harness.parts.chromium import chromium, find_chromium
from tests.harness.parts.lookup import missing
from tests.harness.web_demo import web_demo


@pytest.mark.timeout(180)
def test_words_of_a_cluster_freeze_on_a_page_that_cannot_be_spoken_on(tmp_path: Path) -> None:
    path = find_chromium()
    if path is None:
        missing("no Chromium on the PATH to open the page in (Debian: apt-get install chromium)")
    with web_demo(tmp_path) as (demo, address):
        with chromium(path) as browser, browser.page() as page:
            page.open(address)
            page.wait_for("document.querySelectorAll('main .w.frozen').length", 60)
            assert page.value("document.getElementById('speak').hidden")
            assert page.value("getComputedStyle(document.getElementById('speak')).display") == "none"
            assert page.value("document.getElementById('state').classList.contains('on')")
            page.wait_for("document.querySelectorAll('#log p').length", 60)
            assert page.value("document.querySelectorAll('article h2').length") > 0
            assert page.complaints == []
        demo.terminate()
        demo.communicate(timeout=120)
