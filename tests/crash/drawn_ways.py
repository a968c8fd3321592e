"""Ways drawn at random, a seed each: as many as one likes, and never all of them."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from functools import partial

from tests.crash.exploration import OWNERS, broken

_SESSIONS = ("a", "b", "d")
"""The last is another partition's where there are two."""
_WEIGHTS = {
    "advance {owner} 1": 30,
    "advance {owner} 4": 30,
    "advance {owner} 12": 20,
    "say {session}": 14,
    "time 0.4": 4,
    "time 9": 1,
    "crash {owner}": 4,
    "expel {owner}": 4,
    "expire {owner}": 2,
    "save {owner} LANDS": 2,
    "save {owner} LANDS_LATER": 3,
    "save {owner} NEVER": 1,
    "claim {owner} LANDS_LATER": 1,
    "land": 3,
    "away": 2,
    "commit {owner} unknown happened": 2,
    "commit {owner} unknown": 2,
    "commit {owner} retriable happened": 1,
    "commit {owner} aborted": 2,
    "offsets {owner} aborted": 1,
}
_LOSSES = {"lose": 3, "copy": 3, "fail_over": 2}
_JUMPS = {"jump 0.9": 2, "jump -0.9": 2, "jump 3": 2, "jump -3": 2, "jump 3600": 1, "jump -3600": 1, "time 0.1": 12}
_STRIKES = {"strike {session}": 8, "strike {session} older": 4, "lose": 4}
_REFUSALS = {"say {session} refused": 3, "say {session} ends": 3}
_LATE_SAVES = {"defer {owner}": 5, "finish {owner} {number}": 10}
_LOSSES_IN_PART = {"spoil {partition} {number}": 8, "miss {session}": 2}


_KINDS = {
    "losses": _LOSSES,
    "in_part": _LOSSES_IN_PART,
    "strikes": _STRIKES,
    "jumps": _JUMPS,
    "refusals": _REFUSALS,
    "late_saves": _LATE_SAVES,
}
"""What else may happen. strikes: an operator strikes records from the ledger. refusals: brokers refuse some words.

late_saves: saves finish late, out of turn, or never.
"""


def draw(seed: int, length: int, **kinds: bool) -> list[str]:
    """Draw a way. kinds: those of ``_KINDS`` that are in it."""
    drawn = random.Random(seed)
    weights = dict(_WEIGHTS)
    for kind, more in _KINDS.items():
        weights |= more if kinds.get(kind) else {}
    in_part, late_saves = kinds.get("in_part"), kinds.get("late_saves")
    lines = drawn.choices(list(weights), list(weights.values()), k=length)
    return [
        line.format(
            owner=drawn.choice(OWNERS),
            session=drawn.choice(_SESSIONS),
            partition=drawn.randrange(2) if in_part else 0,
            number=drawn.randrange(1000) if in_part or late_saves else 0,
        )
        for line in lines
    ]


def explore(seeds: Iterable[int], *, length: int = 60, **kinds: bool) -> str | None:
    """Go the ways of these seeds; None where every promise held, else what broke and the shortest way there."""
    for seed in seeds:
        way = draw(seed, length, **kinds)
        ends = partial(broken, partitions=1 + seed % 2)
        if ends(way):
            shortest = shorten(way, ends)
            return f"{ends(shortest)} (seed {seed})\n  " + "\n  ".join(shortest)
    return None


def shorten(way: Sequence[str], ends: Callable[[Sequence[str]], object]) -> list[str]:
    """Leave out whatever is not needed for it to break still."""
    kept = list(way)
    size = len(kept) // 2
    while size:
        start = 0
        while start < len(kept):
            shorter = kept[:start] + kept[start + size :]
            if ends(shorter):
                kept = shorter
            else:
                start += size
        size //= 2
    return kept
