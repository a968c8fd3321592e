"""A partition's phases: every way that is in the table can be gone, no other one, and the page shows the table."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest

from caesura.worker.errors import FatalError
from caesura.worker.ports.observer import PhaseEntered, SilentObserver
from caesura.worker.ports.reasons import ParkReason, PhaseName
from caesura.worker.runtime.loop.phase_table import with_table
from caesura.worker.runtime.loop.phases import (
    PHASE_NAMES,
    TRANSITIONS,
    Claiming,
    IllegalTransitionError,
    Loaded,
    Phase,
    PhaseEvent,
    Phases,
    Rebuilding,
)
from caesura.worker.runtime.retries.parking import Parked
from tests.harness.heard import Heard

_PAGE = Path(__file__).parents[3] / "docs" / "exactly-once.md"
_NOTHING: Any = None  # what belongs to a phase is not looked at here
_EXAMPLES: dict[type[Phase] | None, Phase | None] = {
    None: None,
    Claiming: Claiming(_NOTHING),
    Rebuilding: Rebuilding(_NOTHING, _NOTHING),
    Loaded: Loaded(_NOTHING),
    Parked: Parked(partition=0, reason=ParkReason.NEWER_EVENT, detail=""),
}
_WAYS = {(one.before, one.event): one.after for one in TRANSITIONS}
_WAY_TO: dict[type[Phase] | None, list[tuple[PhaseEvent, type[Phase]]]] = {
    None: [],
    Claiming: [(PhaseEvent.ASSIGNED, Claiming)],
    Rebuilding: [(PhaseEvent.ASSIGNED, Claiming), (PhaseEvent.SESSIONS_LOST, Rebuilding)],
    Loaded: [(PhaseEvent.ASSIGNED, Claiming), (PhaseEvent.READY, Loaded)],
    Parked: [(PhaseEvent.ASSIGNED, Claiming), (PhaseEvent.OPERATOR_NEEDED, Parked)],
}


def _in(phase: type[Phase] | None, heard: SilentObserver | None = None) -> Phases:
    phases = Phases(heard or SilentObserver())
    for event, after in _WAY_TO[phase]:
        phases.move(0, event, _EXAMPLES[after])
    return phases


def test_the_phases_allow_exactly_the_transitions_of_the_table() -> None:
    for before, event, after in itertools.product(_EXAMPLES, PhaseEvent, _EXAMPLES):
        phases = _in(before)
        if (before, event) in _WAYS and _WAYS[before, event] is after:
            assert phases.move(0, event, _EXAMPLES[after]) is _EXAMPLES[before]
            assert (0 in phases) is (after is not None)
        else:
            with pytest.raises(IllegalTransitionError):
                phases.move(0, event, _EXAMPLES[after])


def test_an_illegal_transition_is_fatal() -> None:
    assert issubclass(IllegalTransitionError, FatalError)


def test_every_phase_can_be_reached_and_left() -> None:
    assert {before for before, event in _WAYS if event is PhaseEvent.LET_GO} == set(_EXAMPLES) - {None}
    assert set(_WAYS.values()) == set(_EXAMPLES)


def test_each_transition_reports_its_phase_and_release_reports_no_phase() -> None:
    for phase, name in PHASE_NAMES.items():
        heard = Heard(PhaseEntered)
        phases = _in(phase, heard)
        assert [one.phase for one in heard.events] == [PHASE_NAMES[way] for _, way in _WAY_TO[phase]]
        assert heard.events[-1].phase is name
        told = len(heard.events)
        phases.move(0, PhaseEvent.LET_GO, None)
        assert len(heard.events) == told


def test_each_phase_has_one_name_and_each_name_one_phase() -> None:
    assert set(PHASE_NAMES) == set(_EXAMPLES) - {None}
    assert sorted(PHASE_NAMES.values()) == sorted(PhaseName)


def test_each_phase_is_seen_where_it_belongs() -> None:
    loaded = _in(Loaded)
    assert [list(one) for one in (loaded.loaded, loaded.coming, loaded.parked)] == [[0], [], []]
    assert list(_in(Parked).parked) == [0]
    assert [list(_in(one).coming) for one in (Claiming, Rebuilding)] == [[0], [0]]


def test_no_two_lines_of_the_table_begin_alike() -> None:
    assert len(_WAYS) == len(TRANSITIONS)


def test_the_page_shows_the_table_as_it_is() -> None:
    page = _PAGE.read_text(encoding="utf-8")
    assert with_table(page) == page, "run python -m caesura.worker.runtime.loop.phase_table"
