"""What a claim staged is committed only while the partition is held under that very claim."""

from __future__ import annotations

import pytest

from caesura.worker.errors import FatalError
from caesura.worker.ports.commit_steps import CommitStep, CommitStepReached
from caesura.worker.ports.observer import Event, SilentObserver
from caesura.worker.ports.reasons import ClaimWaitReason
from tests.harness.in_memory_world import InMemoryWorker, World
from tests.harness.speech import event


class _AtPublished(SilentObserver):
    """Does something to the worker once what it staged is published, and not committed yet."""

    def __init__(self, *, claim_again: bool) -> None:
        self.worker: InMemoryWorker | None = None
        self._claim_again = claim_again

    def note(self, event: Event) -> None:
        if self.worker is None or not (isinstance(event, CommitStepReached) and event.step is CommitStep.PUBLISHED):
            return
        assignment, self.worker = self.worker.worker.assignment, None
        if self._claim_again:
            assignment.claim_again(0, ClaimWaitReason.SAVE_REFUSED)
        else:
            assignment.on_lost([0])


@pytest.mark.parametrize("claim_again", [False, True], ids=["let go", "claimed again"])
def test_a_partition_that_is_not_held_any_more_is_not_committed(*, claim_again: bool) -> None:
    world, observer = World(), _AtPublished(claim_again=claim_again)
    worker = world.worker(observer=observer)
    worker.settle()
    observer.worker = worker
    before = world.broker.last_committed("caesura", "asr.words", 0)
    world.send(event("ann", 0, "one", session_end=True))
    with pytest.raises(FatalError, match="partitions \\[0\\] were let go or claimed again"):
        worker.settle()
    assert world.broker.last_committed("caesura", "asr.words", 0) == before
    assert world.segments() == []
