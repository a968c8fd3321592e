"""Runs side by side, each in a process of its own, until a plan has none left or the time for beginning one is over."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass
from typing import Any, TypeAlias

from caesura.models.evaluation.papers.plans import PLANS, PaperRun, Scope
from caesura.models.evaluation.papers.runs import Workplace, carry_out, facts_of

Facts: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunBudget:
    """How fast, and for how long. processes: runs at a time; begin_s: seconds after which no further run begins.

    only: a part of the names of the runs that are wanted.
    """

    processes: int = 1
    begin_s: float = float("inf")
    only: str = ""


def planned(plans: Sequence[str], done: Mapping[str, Facts], scope: Scope, only: str = "") -> list[PaperRun]:
    """Return the wanted runs that can be named so far: teachers, their students, the others by seed."""
    tuning = {name: facts["tuning"] for name, facts in done.items() if facts["tuning"] is not None}
    runs = [run for plan in plans for run in PLANS[plan](tuning, scope) if only in run.name]
    return sorted(runs, key=lambda run: (not run.teaches, not run.needs, run.seed, -run.max_words))


def work_through(
    plans: Sequence[str], scope: Scope, place: Workplace, budget: RunBudget, *, tell: Callable[[str], None] = print
) -> dict[str, Facts]:
    """Carry out the plans' runs, and return the facts of those that are done; one that fails is told, and left out."""
    began = time.monotonic()
    done: dict[str, Facts] = {}
    failed: set[str] = set()
    running: dict[Future[Facts], PaperRun] = {}
    with ProcessPoolExecutor(budget.processes, mp_context=multiprocessing.get_context("spawn")) as pool:
        while True:
            every = _named(plans, done, scope, place, budget.only)
            begun = {run.name for run in running.values()} | failed | set(done)
            waiting = [run for run in every if run.name not in begun and set(run.needs) <= set(done)]
            if time.monotonic() - began < budget.begin_s:
                for run in waiting[: budget.processes - len(running)]:
                    running[pool.submit(carry_out, run, place)] = run
            if not running:
                return done
            finished, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in finished:
                name = running.pop(future).name
                if (error := future.exception()) is not None:
                    failed.add(name)
                    tell(f"{name}: {type(error).__name__}: {error}")
                    continue
                done[name] = future.result()
                tell(f"{time.monotonic() - began:.0f} s {name}: {done[name]['whole_s']} s, {done[name]['tuning']}")


def _named(plans: Sequence[str], done: dict[str, Facts], scope: Scope, place: Workplace, only: str) -> list[PaperRun]:
    """Return every run that can be named, and put into ``done`` those that are: each may name further ones."""
    while True:
        every = planned(plans, done, scope, only)
        facts = {run.name: facts_of(run.name, place.out) for run in every if run.name not in done}
        found = {name: told for name, told in facts.items() if told is not None}
        if not found:
            return every
        done |= found
