"""The seam between two owners, its real code on the twins: no way that was tried breaks a promise.

And the trying is worth something: with any one rule left out, the way to the loss is found and printed.
CAESURA_SEAM_WAYS sets how many ways are tried.
"""

from __future__ import annotations

import os

import pytest

from tests.crash.exploration import explore
from tests.crash.flaws import FLAWS

_WAYS = int(os.environ.get("CAESURA_SEAM_WAYS", "600"))
_FLAWED_WAYS = 3000


@pytest.mark.timeout(60 + _WAYS)
def test_no_way_through_crashes_zombies_timers_and_late_saves_breaks_a_promise() -> None:
    assert explore(_WAYS) is None


@pytest.mark.parametrize("flaw", FLAWS)
def test_the_exploration_finds_what_each_rule_prevents(flaw: str, monkeypatch: pytest.MonkeyPatch) -> None:
    FLAWS[flaw](monkeypatch)
    found = explore(_FLAWED_WAYS)
    assert found is not None, f"{_FLAWED_WAYS} ways, and none shows what {flaw} does"
