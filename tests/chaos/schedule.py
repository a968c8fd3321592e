"""Which faults, in which order, how long, and how much later: all drawn from the seed, before anything runs."""

from __future__ import annotations

import random
from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum


class FaultKind(StrEnum):
    """What can happen."""

    WORKER_KILL = "worker_kill"
    WORKER_KILL_STATIC = "worker_kill_static"
    WORKER_PAUSE = "worker_pause"
    WORKER_STOP = "worker_stop"
    WORKER_JOIN = "worker_join"
    WORKER_LEAVE = "worker_leave"
    BROKER_KILL = "broker_kill"
    BROKER_PAUSE = "broker_pause"
    BROKER_RESTART = "broker_restart"
    LEADER_MOVE = "leader_move"
    REDIS_KILL = "redis_kill"
    REDIS_FAIL_OVER = "redis_fail_over"
    REDIS_FAIL_OVER_STALE = "redis_fail_over_stale"
    REDIS_PAUSE = "redis_pause"
    REDIS_AWAY = "redis_away"
    REDIS_FLUSH = "redis_flush"
    REDIS_SPOIL_SESSION = "redis_spoil_session"
    REDIS_SPOIL_CONTROL = "redis_spoil_control"
    REDIS_SPOIL_AND_KILL = "redis_spoil_and_kill"
    REDIS_CUT = "redis_cut"
    REDIS_STALL = "redis_stall"
    REDIS_SLOW = "redis_slow"
    KAFKA_CUT = "kafka_cut"
    KAFKA_STALL = "kafka_stall"
    KAFKA_SLOW = "kafka_slow"
    INFERENCE_RAISE = "inference_raise"
    INFERENCE_HANG = "inference_hang"
    INFERENCE_KILL = "inference_kill"
    OFFSETS_DELETED = "offsets_deleted"
    OFFSET_SET = "offset_set"
    OFFSET_ADOPTED = "offset_adopted"
    LEDGER_SPOIL = "ledger_spoil"
    POISON_AND_FLUSH = "poison_and_flush"
    SKIP = "skip"
    RULES_CHANGE = "rules_change"
    MODEL_CHANGE = "model_change"


CHANGES = frozenset({FaultKind.RULES_CHANGE, FaultKind.MODEL_CHANGE})
"""They change labels from then on: only where a run says that it has them, and compares none."""
SPOILS = frozenset({FaultKind.REDIS_SPOIL_SESSION, FaultKind.REDIS_SPOIL_CONTROL, FaultKind.REDIS_SPOIL_AND_KILL})
"""What leaves in Redis what only the next claim of a partition finds."""

ALONE = frozenset(
    {FaultKind.OFFSETS_DELETED, FaultKind.OFFSET_SET, FaultKind.OFFSET_ADOPTED, FaultKind.LEDGER_SPOIL}
    | {FaultKind.POISON_AND_FLUSH, FaultKind.SKIP}
    | CHANGES
)
"""Of several steps, whose end is awaited before anything else is done; recovery counts from there."""
NEW = (
    frozenset({FaultKind.LEDGER_SPOIL, FaultKind.POISON_AND_FLUSH, FaultKind.SKIP, FaultKind.INFERENCE_KILL}) | CHANGES
)
"""What a release before this one does not stand, or has no part for."""

_WEIGHTS = {
    FaultKind.WORKER_KILL: 12,
    FaultKind.WORKER_KILL_STATIC: 3,
    FaultKind.WORKER_PAUSE: 8,
    FaultKind.WORKER_STOP: 5,
    FaultKind.WORKER_JOIN: 4,
    FaultKind.WORKER_LEAVE: 4,
    FaultKind.BROKER_KILL: 4,
    FaultKind.BROKER_PAUSE: 3,
    FaultKind.BROKER_RESTART: 3,
    FaultKind.LEADER_MOVE: 3,
    FaultKind.REDIS_KILL: 5,
    FaultKind.REDIS_FAIL_OVER: 4,
    FaultKind.REDIS_FAIL_OVER_STALE: 4,
    FaultKind.REDIS_PAUSE: 4,
    FaultKind.REDIS_AWAY: 3,
    FaultKind.REDIS_FLUSH: 7,
    FaultKind.REDIS_SPOIL_SESSION: 5,
    FaultKind.REDIS_SPOIL_CONTROL: 5,
    FaultKind.REDIS_SPOIL_AND_KILL: 6,
    FaultKind.REDIS_CUT: 5,
    FaultKind.REDIS_STALL: 4,
    FaultKind.REDIS_SLOW: 3,
    FaultKind.KAFKA_CUT: 5,
    FaultKind.KAFKA_STALL: 4,
    FaultKind.KAFKA_SLOW: 3,
    FaultKind.INFERENCE_RAISE: 5,
    FaultKind.INFERENCE_HANG: 3,
    FaultKind.INFERENCE_KILL: 5,
    FaultKind.OFFSETS_DELETED: 1,
    FaultKind.OFFSET_SET: 2,
    FaultKind.OFFSET_ADOPTED: 3,
    FaultKind.LEDGER_SPOIL: 4,
    FaultKind.POISON_AND_FLUSH: 4,
    FaultKind.SKIP: 4,
    FaultKind.RULES_CHANGE: 6,
    FaultKind.MODEL_CHANGE: 6,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One fault. where: drawn from 0 to 1, chooses the worker, broker or link among those that there are then.

    lasts_s: how long what is away stays away. overlaps: the next one comes without waiting for recovery. pause_s: the
    time before the next one, after recovery or at once.
    """

    kind: FaultKind
    where: float
    lasts_s: float
    overlaps: bool
    pause_s: float


def draw_faults(
    seed: int,
    count: int,
    *,
    static_members: bool,
    without: Collection[FaultKind] = (),
    only: Collection[FaultKind] = (),
) -> list[Fault]:
    """Draw a schedule, ``only`` of some kinds where they are named; where there are enough faults every kind occurs.

    without: kinds that are not to occur.
    """
    drawn = random.Random(f"faults {seed}")
    left_out = {*without} if static_members else {*without, FaultKind.WORKER_KILL_STATIC}
    kinds = [kind for kind in _WEIGHTS if kind not in left_out]
    kinds = [kind for kind in _WEIGHTS if kind in only] if only else kinds
    weights = [_WEIGHTS[kind] for kind in kinds]
    chosen = kinds if count >= len(kinds) else drawn.sample(kinds, count)
    chosen = chosen + drawn.choices(kinds, weights, k=count - len(chosen))
    drawn.shuffle(chosen)
    return [
        Fault(
            kind=kind,
            where=drawn.random(),
            lasts_s=round(drawn.choice((0.2, 0.5, 1.0, 2.0, 4.0)) * drawn.uniform(0.7, 1.3), 2),
            overlaps=drawn.random() < 0.3,
            pause_s=round(drawn.uniform(0.05, 0.8), 2),
        )
        for kind in chosen
    ]
