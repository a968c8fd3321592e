"""The rows of the table in docs/exactly-once.md: where a worker crashes, and what led there."""

from __future__ import annotations

from dataclasses import dataclass

from caesura.worker.ports.commit_steps import CommitStep


@dataclass(frozen=True, slots=True, kw_only=True)
class Fall:
    """A worker that dies at a step, after it has passed it so many times."""

    at: CommitStep
    passes: int = 0


ROWS: dict[CommitStep, tuple[Fall, ...]] = {
    CommitStep.STAGED: (Fall(at=CommitStep.STAGED, passes=2),),
    CommitStep.BEGUN: (Fall(at=CommitStep.BEGUN, passes=2),),
    CommitStep.PUBLISHED: (Fall(at=CommitStep.PUBLISHED, passes=2),),
    CommitStep.OFFSETS_SENT: (Fall(at=CommitStep.OFFSETS_SENT, passes=2),),
    CommitStep.COMMITTED: (Fall(at=CommitStep.COMMITTED, passes=2),),
    CommitStep.ADOPTED: (Fall(at=CommitStep.ADOPTED, passes=2),),
    CommitStep.SAVED: (Fall(at=CommitStep.SAVED, passes=2),),
    CommitStep.CLAIM_OFFSET_READ: (Fall(at=CommitStep.SAVED, passes=2), Fall(at=CommitStep.CLAIM_OFFSET_READ)),
    CommitStep.CLAIM_LOADED: (Fall(at=CommitStep.SAVED, passes=2), Fall(at=CommitStep.CLAIM_LOADED)),
}
"""Each step of the commit protocol: the workers that die one after another, the last of them at the step itself."""
