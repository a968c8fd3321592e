"""The commit protocol between two owners, its real code in memory: no drawn way breaks a promise.

And the drawing is worth something: with any one rule left out, a way to the loss is among them. What it has not drawn
it has not tried; ``test_small_ways`` goes one shape through to its end. COMMIT_WAYS sets how many are drawn.
"""

from __future__ import annotations

import os
from itertools import chain

import pytest

from caesura.worker.runtime.loop import checkpoint_cycle
from tests.crash.drawn_ways import explore
from tests.harness.flaws import FLAWS, LOSS_FLAWS, PART_FLAWS, REFUSAL_FLAWS, STRIKE_FLAWS

_WAYS = int(os.environ.get("COMMIT_WAYS", "500"))
_LONG = 200
_LOSING = pytest.mark.parametrize(
    ("losses", "in_part"),
    [(False, False), (True, False), (True, True)],
    ids=["redis stays", "redis is lost", "redis is lost in part"],
)
_MANY = 4000
_SHOWS = {
    "save_first": 0,
    "any_id": 4,
    "forget_unsaved": 126,
    "unstable_offsets": 5832,
    "no_seek_back": 8,
    "unknown_is_committed": 0,
    "no_reading_again": 0,
    "blames_any_record": 3,
    "no_follows": 89,
    "unseen_sessions": 20,
    "unsummed_ledger": 21,
}
"""The seed whose way shows what a rule prevents. All of them are among the ways that the whole code is tried with."""


@pytest.mark.timeout(120 + _WAYS)
@_LOSING
def test_no_random_fault_sequence_breaks_a_promise(losses: bool, in_part: bool) -> None:
    known = sorted(seed for seed in _SHOWS.values() if seed >= _WAYS)
    assert explore(chain(range(_WAYS), known), losses=losses, in_part=in_part) is None


@pytest.mark.timeout(120 + _WAYS)
@_LOSING
def test_no_long_random_sequence_breaks_a_promise(losses: bool, in_part: bool) -> None:
    assert explore(range(_WAYS // 10), length=_LONG, losses=losses, in_part=in_part) is None


@pytest.mark.timeout(120 + _WAYS)
def test_no_random_sequence_with_lost_ledger_records_breaks_a_promise() -> None:
    assert explore(range(_WAYS), strikes=True) is None


@pytest.mark.timeout(120 + _WAYS)
@pytest.mark.parametrize("in_part", [False, True], ids=["redis is lost", "redis is lost in part"])
def test_no_random_sequence_with_clock_changes_breaks_a_promise(in_part: bool) -> None:
    assert explore(range(_WAYS), losses=True, in_part=in_part, jumps=True) is None


@pytest.mark.timeout(120 + _WAYS)
@pytest.mark.parametrize("losses", [False, True], ids=["redis stays", "redis is lost"])
def test_no_random_sequence_with_refused_words_breaks_a_promise(*, losses: bool) -> None:
    assert explore(range(_WAYS), losses=losses, refusals=True) is None


@pytest.mark.timeout(120 + _WAYS)
@_LOSING
def test_no_random_sequence_with_late_saves_breaks_a_promise(losses: bool, in_part: bool) -> None:
    assert explore(range(_WAYS), losses=losses, in_part=in_part, late_saves=True) is None


@pytest.mark.timeout(600)
@pytest.mark.parametrize("flaw", [*FLAWS, *LOSS_FLAWS, *PART_FLAWS, *STRIKE_FLAWS, *REFUSAL_FLAWS])
def test_a_random_sequence_detects_each_planted_flaw(flaw: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint_cycle, "_OFFSETS_AFTER", 1)  # more commits a way: what is rare needs fewer ways
    (FLAWS | LOSS_FLAWS | PART_FLAWS | STRIKE_FLAWS | REFUSAL_FLAWS)[flaw](monkeypatch)
    strikes, in_part, refusals = flaw in STRIKE_FLAWS, flaw in PART_FLAWS, flaw in REFUSAL_FLAWS
    losses = flaw in LOSS_FLAWS or in_part
    kinds = {"losses": losses, "in_part": in_part, "strikes": strikes, "refusals": refusals}
    if explore([_SHOWS[flaw]], **kinds) is None:
        found = explore(range(_MANY), **kinds) or f"none of {_MANY} others either"
        pytest.fail(f"seed {_SHOWS[flaw]} shows {flaw} no longer: {found}")
