"""A partition that cannot go on without an operator."""

from __future__ import annotations

from dataclasses import dataclass

from worker.ports.reasons import ParkReason

__all__ = ["Parked"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Parked:
    """A partition that needs an operator: the reason is a stable name, the detail says what to do."""

    partition: int
    reason: ParkReason
    detail: str
