"""Sessions whose ledger records are gone, and that an operator gives up: the rest goes on, and no word comes twice."""

from __future__ import annotations

import pytest

from caesura.worker.errors import FatalError
from caesura.worker.runtime.ledger import ledger_check
from tests.harness.in_memory_world import World
from tests.harness.incomplete_ledger import PATIENT, give_up, parked_of, rebuilt, world_of_two
from tests.harness.speech import by_session, event, said
from tests.harness.struck_ledger import disagreement, strike


def test_a_session_that_an_operator_gives_up_begins_anew_after_what_was_committed() -> None:
    world = world_of_two()
    strike(world, "ann")
    worker = rebuilt(world)
    give_up(world, parked_of(worker).detail)
    world.release(0)
    worker.turn(400)
    assert worker.worker.unready() == ()
    world.send(event("ann", 3, "four", session_end=True), event("ben", 2, "there", session_end=True))
    worker.turn(200)
    found = by_session(world.segments())
    assert [(one.since, one.index, said([one])) for one in found["ann"]] == [
        (0, 0, ["one"]),
        (0, 1, ["two"]),
        (6, 0, ["four"]),
    ]
    assert said(found["ben"]) == ["who", "is", "there"]
    assert disagreement(world) is None
    rebuilt(world)
    assert len(world.segments()) == sum(map(len, found.values()))


def test_of_two_that_are_missing_both_have_to_be_given_up() -> None:
    world = world_of_two()
    strike(world, "ann")
    strike(world, "ben")
    worker = rebuilt(world)
    for name, other in (("ann", "ben"), ("ben", None)):
        parked = parked_of(worker)
        give_up(world, parked.detail, key=name.encode())
        world.release(0)
        worker.turn(400)
        assert (f"was committed: {other!r} since" in parked_of(worker).detail) if other else not worker.worker.unready()


def _came(world: World) -> dict[str, list[str]]:
    return {name: said(found) for name, found in by_session(world.segments()).items()}


def test_sessions_that_closed_and_are_given_up_without_being_named_come_once() -> None:
    """Each may have been forgotten long ago; where what they said is read again it stays what was published."""
    world = World(rules=PATIENT)
    first = world.worker()
    world.send(event("zoe", 0, "not"))
    world.send(*(event(name, 0, "good", "bye", session_end=True) for name in ("ann", "ben")))
    first.settle()
    first.worker.drain()
    for name in ("ann", "ben"):
        strike(world, name)
    worker = rebuilt(world)
    detail = parked_of(worker).detail
    assert "none that anything names any more" in detail
    give_up(world, detail, key=b"anybody")
    world.release(0)
    worker.turn(400)
    assert worker.worker.unready() == ()
    worker.worker.drain()
    worker = rebuilt(world)
    assert disagreement(world) is None
    world.send(event("zoe", 1, "yet", session_end=True))
    worker.turn(200)
    assert _came(world) == {"ann": ["good", "bye"], "ben": ["good", "bye"], "zoe": ["not", "yet"]}


def test_one_whose_last_segment_lies_too_far_back_to_be_named_comes_once_as_well(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = world_of_two()
    monkeypatch.setattr(ledger_check, "_MOST_SEGMENTS", 1)
    world.broker.delete_before("caesura.ledger", 0, world.broker.log("caesura.ledger", 0).end - 2)
    worker = rebuilt(world)
    detail = parked_of(worker).detail
    assert "none that anything names any more" in detail
    give_up(world, detail, key=b"anybody")
    world.release(0)
    worker.turn(400)
    assert worker.worker.unready() == ()
    worker.worker.drain()
    worker = rebuilt(world)
    world.send(event("ben", 2, "there", session_end=True))
    worker.turn(200)
    assert _came(world)["ben"] == ["who", "is", "there"]


def test_one_whose_record_is_older_than_a_segment_that_lies_too_far_back_has_to_be_given_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = world_of_two()
    worker = world.worker(1)
    world.send(event("zoe", 1, "yet", utterance_end=True))
    worker.settle()
    worker.worker.drain()
    monkeypatch.setattr(ledger_check, "_MOST_SEGMENTS", 1)
    strike(world, "ann", older=True)
    worker = rebuilt(world)
    detail = parked_of(worker).detail
    assert "none that anything names any more" in detail
    give_up(world, detail, key=b"anybody")
    world.release(0)
    worker.turn(400)
    assert "committed: 'ann' since 0 (2 segments, 2 words; ledger: 1 segments, 1 words); " in parked_of(worker).detail
    give_up(world, detail, key=b"ann")
    world.release(0)
    worker.turn(400)
    assert worker.worker.unready() == ()
    world.send(event("ann", 3, "four", session_end=True))
    worker.turn(200)
    assert _came(world)["ann"] == ["one", "two", "four"]


def test_nobody_is_given_up_where_the_segments_cannot_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    world = world_of_two()
    world.broker.delete_before("caesura.ledger", 0, world.broker.log("caesura.ledger", 0).end)
    worker = rebuilt(world)
    give_up(world, parked_of(worker).detail)
    honest = world.broker.log

    def log(topic: str, partition: int) -> object:
        if topic == "asr.segments":
            raise FatalError("not authorised")
        return honest(topic, partition)

    with monkeypatch.context() as patch:
        patch.setattr(world.broker, "log", log)
        world.release(0)
        worker.settle()
        worker.turn(400)
        assert "nobody knows, for the segments topic could not be read" in parked_of(worker).detail
    world.release(0)
    worker.turn(400)
    assert "was committed: 'ben' since 1" in parked_of(worker).detail


@pytest.mark.parametrize(
    ("through", "given_up"), [("4", None), ("99", None), ("-1", None), (None, "2.0123456789abcdef")]
)
def test_a_tombstone_that_gives_up_something_else_helps_nothing(through: str | None, given_up: str | None) -> None:
    world = world_of_two()
    strike(world, "ann")
    worker = rebuilt(world)
    give_up(world, parked_of(worker).detail, through=through, given_up=given_up)
    world.release(0)
    worker.turn(400)
    parked_of(worker)
