"""What unit tests share. No property is timed: a loaded machine must not make a property fail.

A property is tried with other examples in each run; ``--hypothesis-profile deep`` tries many in one.
"""

from __future__ import annotations

import pytest
from hypothesis import settings

from tests.harness.terminal import Terminal

settings.register_profile("untimed", deadline=None, max_examples=50)
settings.register_profile("deep", deadline=None, max_examples=400)
settings.load_profile("untimed")


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Terminal:
    return Terminal(monkeypatch, capsys)
