"""The seam between two owners, its real code on the twins: no way that was tried breaks a promise.

And the trying is worth something: with any one rule left out, the way to the loss is found and printed. SEAM_WAYS sets
how many ways are tried; a minute each two thousand.
"""

from __future__ import annotations

import os

import pytest

from tests.crash.exploration import explore
from tests.crash.flaws import FLAWS, LOSS_FLAWS

_WAYS = int(os.environ.get("SEAM_WAYS", "500"))
_MANY = 4000
_BEGIN_AT = {"unstable_offsets": 1665}
"""Where to begin looking, so that what is rare is found at once; the rest follows if the code has changed."""


@pytest.mark.timeout(120 + _WAYS)
@pytest.mark.parametrize("losses", [False, True], ids=["redis stays", "redis is lost"])
def test_no_way_through_crashes_zombies_timers_and_late_saves_breaks_a_promise(losses: bool) -> None:
    assert explore(_WAYS, losses=losses) is None


@pytest.mark.timeout(600)
@pytest.mark.parametrize("flaw", FLAWS)
def test_the_exploration_finds_what_each_rule_prevents(flaw: str, monkeypatch: pytest.MonkeyPatch) -> None:
    FLAWS[flaw](monkeypatch)
    assert explore(_MANY, first=_BEGIN_AT.get(flaw, 0)) is not None, f"{_MANY} ways, and none shows what {flaw} does"


@pytest.mark.timeout(600)
@pytest.mark.parametrize("flaw", LOSS_FLAWS)
def test_the_exploration_finds_what_each_rule_prevents_where_redis_is_lost(
    flaw: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    LOSS_FLAWS[flaw](monkeypatch)
    assert explore(_MANY, losses=True) is not None, f"{_MANY} ways, and none shows what {flaw} does"
