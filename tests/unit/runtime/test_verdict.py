"""A claim's verdict: every row of the table at the head of ``worker/runtime/claim/verdict.py``."""

from __future__ import annotations

import pytest

from caesura.schemas.checkpoint import MANIFEST_VERSION, CheckpointId, Manifest
from caesura.worker.ports.reasons import ClaimVerdict
from caesura.worker.runtime.checkpoint.redis_sessions import RedisManifest
from caesura.worker.runtime.claim.verdict import judge

_OURS = CheckpointId(3, 7, "0123456789abcdef")
_NEXT = CheckpointId(3, 8, "0123456789abcdef")
_NOTHING = RedisManifest(manifest=None, anything=False)
_DAMAGED = RedisManifest(manifest=None, anything=True)


def _found(checkpoint: CheckpointId) -> RedisManifest:
    manifest = Manifest(
        version=MANIFEST_VERSION,
        id=str(checkpoint),
        sessions=0,
        digest=5,
        history="0" * 16,
        next_offset=0,
        ledger_end=0,
    )
    return RedisManifest(manifest=manifest, anything=True)


@pytest.mark.parametrize(
    ("offset_known", "committed", "found", "verdict"),
    [
        (False, None, _NOTHING, ClaimVerdict.FIRST_START),
        (False, None, _found(_OURS), ClaimVerdict.FOREIGN),
        (False, None, _DAMAGED, ClaimVerdict.FOREIGN),
        (True, None, _NOTHING, ClaimVerdict.FOREIGN),
        (True, None, _found(_OURS), ClaimVerdict.FOREIGN),
        (True, _OURS, _found(_OURS), ClaimVerdict.GOOD),
        (True, _OURS, _found(_NEXT), ClaimVerdict.BEHIND),
        (True, _NEXT, _found(_OURS), ClaimVerdict.BEHIND),
        (True, _OURS, _DAMAGED, ClaimVerdict.BEHIND),
        (True, _OURS, _NOTHING, ClaimVerdict.BEHIND),
    ],
)
def test_a_claims_findings_decide_the_verdict(
    offset_known: bool,
    committed: CheckpointId | None,
    found: RedisManifest,
    verdict: ClaimVerdict,
) -> None:
    assert judge(offset_known=offset_known, committed=committed, found=found) is verdict


def test_an_id_with_the_same_numbers_but_another_nonce_is_another_checkpoint() -> None:
    twin = CheckpointId(_OURS.token, _OURS.n, "aaaaaaaaaaaaaaaa")
    assert judge(offset_known=True, committed=twin, found=_found(_OURS)) is ClaimVerdict.BEHIND
