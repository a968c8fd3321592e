"""The commit protocol between two owners, its real code on the twins: of all ways of one shape none breaks a promise.

And the shape is worth something: with a rule left out, a way to the loss is among them. Four rules need more than the
shape holds, and are left to the drawn ways: a first commit of unknown outcome, a word that a broker refuses, a record
that is struck from the ledger, and an unanswered save that is forgotten.
"""

from __future__ import annotations

import pytest

from tests.crash.exploration import broken
from tests.crash.small_ways import (
    DAMAGES_BEFORE,
    FAULTS,
    HAND_OVERS,
    OTHER_HAND_OVERS,
    QUARTERS,
    REDIS,
    every_rebuild,
    every_way,
)
from tests.harness.flaws import FLAWS, LOSS_FLAWS, PART_FLAWS

_GIVEN_UP = ("expel 0", 1)
_SHOWN_WITH = {
    "save_first": ("nothing", _GIVEN_UP, "nothing"),
    "any_id": ("nothing", _GIVEN_UP, "nothing"),
    "unstable_offsets": ("nothing", _GIVEN_UP, "nothing"),
    "no_seek_back": ("offsets 0 aborted", ("nothing", 0), "nothing"),
    "no_follows": ("nothing", ("nothing", 0), "fail_over"),
}
"""Among which ways a rule that is left out shows."""
_SHOWN_IN_A_REBUILD = {"unseen_sessions": "a session lost"}
"""After which loss in part the same is shown by a rebuild."""
_BY_DAY, *_BY_NIGHT = QUARTERS
_EACH_QUARTER = pytest.mark.parametrize(
    "quarter", [_BY_DAY, *(pytest.param(quarter, marks=pytest.mark.long) for quarter in _BY_NIGHT)]
)


@pytest.mark.timeout(300)
@_EACH_QUARTER
@pytest.mark.parametrize(
    ("hand_over", "following"), [*HAND_OVERS, *(pytest.param(*one, marks=pytest.mark.long) for one in OTHER_HAND_OVERS)]
)
@pytest.mark.parametrize(
    ("fault", "redis"),
    [*((fault, "nothing") for fault in FAULTS), *(("nothing", redis) for redis in REDIS if redis != "nothing")],
)
def test_no_enumerated_fault_sequence_breaks_a_promise(
    fault: str, redis: str, hand_over: str, following: int, quarter: int
) -> None:
    for way in every_way(fault, hand_over, following, redis, quarter):
        assert broken(way) is None, way


@pytest.mark.timeout(300)
@_EACH_QUARTER
@pytest.mark.parametrize("hand_over", ["crash 1", pytest.param("expel 1", marks=pytest.mark.long)])
@pytest.mark.parametrize("following", [0, 2])
@pytest.mark.parametrize("damage", DAMAGES_BEFORE)
def test_no_enumerated_rebuild_sequence_breaks_a_promise(
    damage: str, hand_over: str, following: int, quarter: int
) -> None:
    for way in every_rebuild(damage, hand_over, following, quarter):
        assert broken(way) is None, way


@pytest.mark.timeout(300)
@pytest.mark.parametrize(("flaw", "damage"), _SHOWN_IN_A_REBUILD.items())
def test_an_enumerated_rebuild_detects_each_planted_flaw(
    flaw: str, damage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    PART_FLAWS[flaw](monkeypatch)
    assert any(broken(way) for way in every_rebuild(damage, "crash 1", 2, _BY_DAY))


@pytest.mark.timeout(300)
@pytest.mark.parametrize("flaw", _SHOWN_WITH)
def test_an_enumerated_sequence_detects_each_planted_flaw(flaw: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (FLAWS | LOSS_FLAWS)[flaw](monkeypatch)
    fault, (hand_over, following), redis = _SHOWN_WITH[flaw]
    assert any(broken(way) for way in every_way(fault, hand_over, following, redis, _BY_DAY))
