"""A claim's verdict: every row of the table at the head of ``worker/runtime/verdict.py``."""

from __future__ import annotations

import pytest

from schemas.checkpoint import CheckpointId, Manifest
from worker.ports.reasons import ClaimVerdict
from worker.runtime.verdict import judge

_OURS = CheckpointId(3, 7, "0123456789abcdef")
_NEXT = CheckpointId(3, 8, "0123456789abcdef")
_ROLLED_BACK = CheckpointId(2, 0, "0123456789abcdef")
_OTHER = CheckpointId(2, 9, "fedcba9876543210")


def _manifest(checkpoint: CheckpointId, follows: CheckpointId | None, *, digest: int | None = 5) -> Manifest:
    return Manifest(
        version="1.0",
        id=str(checkpoint),
        follows=str(follows) if follows else None,
        touched=(),
        sessions=0,
        sessions_before=0,
        digest=digest,
        digest_before=digest,
    )


@pytest.mark.parametrize(
    ("offset_known", "committed", "manifest", "verdict"),
    [
        (False, None, None, ClaimVerdict.FIRST_START),
        (False, None, _manifest(_OURS, None), ClaimVerdict.IN_DOUBT),
        (False, None, _manifest(_NEXT, _OURS), ClaimVerdict.FOREIGN),
        (False, None, _manifest(_ROLLED_BACK, None), ClaimVerdict.IN_DOUBT),
        (False, None, _manifest(_OURS, _ROLLED_BACK), ClaimVerdict.IN_DOUBT),
        (True, None, None, ClaimVerdict.FOREIGN),
        (True, None, _manifest(_NEXT, _OURS), ClaimVerdict.FOREIGN),
        (True, _OURS, _manifest(_OURS, _OTHER), ClaimVerdict.GOOD),
        (True, _OURS, _manifest(_OURS, _OURS), ClaimVerdict.GOOD),
        (True, _OURS, _manifest(_NEXT, _OURS), ClaimVerdict.IN_DOUBT),
        (True, _OURS, _manifest(_NEXT, _OURS, digest=None), ClaimVerdict.BEHIND),
        (True, _OURS, _manifest(_NEXT, _NEXT), ClaimVerdict.BEHIND),
        (True, _OURS, _manifest(_OTHER, None), ClaimVerdict.BEHIND),
        (True, _NEXT, _manifest(_OURS, _OTHER), ClaimVerdict.BEHIND),
        (True, _OURS, None, ClaimVerdict.BEHIND),
    ],
)
def test_what_a_claim_finds_decides_what_the_state_is_worth(
    offset_known: bool,
    committed: CheckpointId | None,
    manifest: Manifest | None,
    verdict: ClaimVerdict,
) -> None:
    assert judge(offset_known=offset_known, committed=committed, manifest=manifest) is verdict


def test_an_id_with_the_same_numbers_but_another_nonce_is_another_checkpoint() -> None:
    twin = CheckpointId(_OURS.token, _OURS.n, "aaaaaaaaaaaaaaaa")
    assert judge(offset_known=True, committed=twin, manifest=_manifest(_OURS, _OTHER)) is ClaimVerdict.BEHIND
