"""What a run is to do: the faults, the parts, the fleet."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path

from tests.chaos.schedule import FaultKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What to run.

    minutes: after so long no more faults are begun. folder: where the workers' diaries are kept; None: nowhere.
    before: commit or tag of another release, which every other worker runs; None: all run this one. only: kinds of
    fault; none: all of them. timed: timers fire, and what they change is not compared. crowd: sessions of each
    partition that stay open all the while. every_s: so long from one fault to the next at least. lasts_s: how long
    each fault lasts; None: as drawn. changes: rules and
    models change, and labels are not compared.
    """

    seed: int
    faults: int
    protocol: str = "classic"
    redis: str = "pair"
    events_a_s: float = 40.0
    minutes: float | None = None
    folder: Path | None = None
    before: str | None = None
    only: Collection[FaultKind] = ()
    timed: bool = False
    crowd: int = 0
    every_s: float = 0.0
    lasts_s: float | None = None
    changes: bool = False
    say: Callable[[str], None] = lambda _: None

    def note(self, line: str) -> None:
        """Write a line beside the diaries, where they are kept; times are theirs."""
        if self.folder is not None:
            with (self.folder / "faults.log").open("a") as notes:
                notes.write(line + "\n")
