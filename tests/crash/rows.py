"""The rows of the table in docs/exactly-once.md: where a worker crashes, and what led there."""

from __future__ import annotations

from dataclasses import dataclass

from worker.ports.seam_events import SeamStep

__all__ = ["ROWS", "Fall"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fall:
    """A worker that dies at a step, after it has passed it so many times."""

    at: SeamStep
    passes: int = 0


ROWS: dict[SeamStep, tuple[Fall, ...]] = {
    SeamStep.STAGED: (Fall(at=SeamStep.STAGED, passes=2),),
    SeamStep.BEGUN: (Fall(at=SeamStep.BEGUN, passes=2),),
    SeamStep.PUBLISHED: (Fall(at=SeamStep.PUBLISHED, passes=2),),
    SeamStep.OFFSETS_SENT: (Fall(at=SeamStep.OFFSETS_SENT, passes=2),),
    SeamStep.COMMITTED: (Fall(at=SeamStep.COMMITTED, passes=2),),
    SeamStep.ADOPTED: (Fall(at=SeamStep.ADOPTED, passes=2),),
    SeamStep.SAVED: (Fall(at=SeamStep.SAVED, passes=2),),
    SeamStep.CLAIM_OFFSET_READ: (Fall(at=SeamStep.SAVED, passes=2), Fall(at=SeamStep.CLAIM_OFFSET_READ)),
    SeamStep.CLAIM_LOADED: (Fall(at=SeamStep.SAVED, passes=2), Fall(at=SeamStep.CLAIM_LOADED)),
}
"""Each step of the seam: the workers that die one after another, the last of them at the step itself."""
