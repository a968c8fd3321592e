"""A partition that cannot go on without an operator."""

from __future__ import annotations

from dataclasses import dataclass

from caesura.worker.ports.reasons import ParkReason


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Parked:
    """A partition that needs an operator: the reason is a stable name, the detail says what to do.

    No two are equal: a partition that is parked again needs another release.
    """

    partition: int
    reason: ParkReason
    detail: str


def count_changed(before: int, now: int) -> tuple[ParkReason, str]:
    """Return reason and detail if the input's partition count has changed: sessions have moved."""
    return ParkReason.PARTITION_COUNT_CHANGED, f"{before} before, {now} now"
