"""Every way of one shape: a bound that can be gone through to its end, where drawn ways can only be many.

    one word is committed by the first owner; two more are said
    one thing is prepared to go wrong with the first owner's next save or commit, or nothing is
    the first owner goes on to any step of its next checkpoint
    it is given up and lives on, or it dies, or nothing happens to it; one more word is said
    the next owner, another one or the same one anew, goes on to any step of its claim and its first checkpoint
    what was on its way lands; Redis goes on, or is lost, or goes on from the copy taken when the first owner stopped
    one more word is said, and both go on, each past the end of a checkpoint

The steps are those at which the real code stops (``tests.harness.stepping``), so a hand-over lies at each of them.
The pairs of steps are dealt out along diagonals: each quarter has every step, and a neighbour of every other pair.
"""

from __future__ import annotations

from collections.abc import Iterator

from tests.harness.damages import DAMAGES

QUARTERS = (1, 0, 2, 3)
"""Of the pairs of steps. By day the first; the others are for the night. Each holds a way to the loss for each rule."""

_FIRST_STEPS = range(1, 11)
"""Stops of the first owner, from the words' arrival past the end of the checkpoint that takes them."""
_NEXT_STEPS = range(1, 16)
"""Stops of the next owner, from its start past the end of its first checkpoint."""

FAULTS = (
    "nothing",
    "save 0 LANDS",
    "save 0 LANDS_LATER",
    "commit 0 unknown happened",
    "commit 0 unknown",
    "commit 0 retriable happened",
    "offsets 0 aborted",
)
HAND_OVERS = (("expel 0", 1), ("crash 0", 2), ("nothing", 0))
"""What becomes of the first owner, and who is next; 2 has the first one's ordinal."""
OTHER_HAND_OVERS = (("crash 0", 1), ("expel 0", 2))
"""The same the other way round: what dies is followed by another ordinal, what lives on by its own. For the night."""

REDIS = ("nothing", "lose", "fail_over")
DAMAGES_BEFORE = ("a session lost", "a session overwritten by another", "a manifest of a newer release", "the id lost")
"""Of the kinds of a loss in part, one each of what leads to a rebuild in another way."""


def every_way(fault: str, hand_over: str, following: int, redis: str, quarter: int) -> Iterator[list[str]]:
    """Yield the ways, over every pair of steps of one quarter at which one stops and the other goes on."""
    # Where the first owner stays, it makes a difference at what step only if Redis does not.
    next_steps = _NEXT_STEPS[-1:] if hand_over == redis == "nothing" else _NEXT_STEPS
    for first, then in _quarter_of(_FIRST_STEPS, next_steps, quarter):
        yield [
            line
            for line in (
                "say a",
                "advance 0 14",
                "say a",
                "say b",
                fault,
                f"advance 0 {first}",
                "copy" if redis == "fail_over" else "nothing",
                hand_over,
                "say a",
                f"advance {following} {then}",
                "land",
                redis,
                "say b",
                "advance 0 12" if hand_over.startswith("expel") else "nothing",
                f"advance {following} 20",
            )
            if line != "nothing"
        ]


def every_rebuild(damage: str, hand_over: str, following: int, quarter: int) -> Iterator[list[str]]:
    """Yield the ways of a rebuild, over every pair of steps of one quarter at which one stops and the other goes on.

    Two sessions have words that wait when Redis loses something in part.
    """
    number = list(DAMAGES).index(damage)
    for first, then in _quarter_of(_NEXT_STEPS, _NEXT_STEPS, quarter):
        yield [
            "say a",
            "say b",
            "advance 0 16",
            "crash 0",
            f"spoil 0 {number}",
            "say a",
            f"advance 1 {first}",
            hand_over,
            f"advance {following} {then}",
            "crash 2" if following == 2 else "crash 0",
            "say b",
            "advance 1 30",
        ]


def _quarter_of(firsts: range, thens: range, quarter: int) -> Iterator[tuple[int, int]]:
    return ((first, then) for first in firsts for then in thens if (first + then) % len(QUARTERS) == quarter)
