"""A claim that finds an older checkpoint in Redis catches up by the log: what comes out is what one worker brings out.

Each rule of the catch-up that the drawn ways seldom need has its own test; ``tests.harness.flaws`` leaves rules out.
"""

from __future__ import annotations

import msgspec
import pytest

from caesura.schemas.checkpoint import Manifest
from caesura.worker.core.language.rules import DecodingRules
from caesura.worker.ports.records import NextOffset
from tests.harness.checker import check
from tests.harness.contexts import ContextsOnly
from tests.harness.heard import Rebuilds
from tests.harness.in_memory_world import InMemoryWorker, World
from tests.harness.producers import spoken
from tests.harness.reference import RULES, output_of, undisturbed
from tests.harness.speech import check_every_word_once, event, said

_SESSIONS = 6
_PATIENT = DecodingRules(flush_after_ms=60_000, stall_after_ms=60_000, idle_after_ms=600_000, forget_after_ms=3_600_000)


def _behind(rules: DecodingRules = _PATIENT) -> tuple[World, InMemoryWorker]:
    """Ann's first words are committed and saved; from here on Redis is away."""
    world = World(rules=rules)
    worker = world.worker(commit_interval_ms=10)
    world.send(event("ann", 0, "one", "two"))
    worker.settle()
    world.redis.away = True
    return world, worker


def _taken_over(world: World, worker: InMemoryWorker) -> tuple[InMemoryWorker, Rebuilds]:
    """Have another worker take the partition over, Redis being back."""
    world.broker.expel("caesura", "asr.words", worker.source.member_id)
    world.redis.away = False
    heard = Rebuilds()
    heir = world.worker(1, observer=heard, commit_interval_ms=10)
    heir.settle()
    return heir, heard


def _set_ledger_end(world: World, end: int) -> None:
    control = world.redis.partition(0).control
    control["m"] = msgspec.msgpack.encode(msgspec.structs.replace(Manifest.decode(control["m"]), ledger_end=end))


@pytest.mark.parametrize(("seed", "a_turn"), [(11, 5), (19, 9), (41, 14), (43, 23)])
def test_output_after_catch_ups_equals_a_single_workers_output(seed: int, a_turn: int) -> None:
    world = World(rules=DecodingRules(routes=frozenset({"de"}), **RULES))  # type: ignore[arg-type]
    heard = Rebuilds()

    def owner(ordinal: int) -> InMemoryWorker:
        return world.worker(ordinal, observer=heard, tracer=ContextsOnly(), commit_interval_ms=10)

    worker = owner(0)
    for number, record in enumerate(spoken(seed, _SESSIONS)):
        if number % a_turn == 0:
            world.broker.expel("caesura", "asr.words", worker.source.member_id)
            world.redis.away = False
            worker = owner(number // a_turn % 2)
            worker.turn(6)
        world.redis.away = number % a_turn > a_turn // 3
        world.broker.append("asr.words", 0, record.value, key=record.key)
        worker.turn(4)
    world.redis.away = False
    worker.settle()
    output = output_of(world.records("asr.segments"), world.records("translate.de"), world.records("asr.words.dead"))
    assert check(undisturbed(spoken(seed, _SESSIONS), 1), output) == []
    assert sum(one.ledger_records > 0 and one.input_records > 0 for one in heard.caught_up) >= 3
    assert heard.summaries == []


def test_a_repeat_of_what_the_snapshot_has_is_no_text_of_the_ledgers_record() -> None:
    world, worker = _behind()
    world.send(event("ann", 0, "one", "two"), event("ann", 1, "three", utterance_end=True), event("ann", 2, "four"))
    worker.settle()
    heir, heard = _taken_over(world, worker)
    assert [(one.ledger_records, one.input_records) for one in heard.caught_up] == [(1, 3)]
    world.send(event("ann", 3, "five", session_end=True))
    heir.settle()
    assert said(world.segments()) == ["one", "two", "three", "four", "five"]


def test_a_session_that_was_forgotten_meanwhile_begins_anew_under_its_name() -> None:
    rules = DecodingRules(flush_after_ms=500, stall_after_ms=500, idle_after_ms=10_000, forget_after_ms=11_000)
    world, worker = _behind(rules)
    for _ in range(80):
        worker.turn()
        world.clock.pass_s(0.5)
    world.send(event("ann", 0, "again", "here"))
    worker.turn(20)
    heir, heard = _taken_over(world, worker)
    assert len(heard.caught_up) == 1
    world.send(event("ann", 1, "now", session_end=True))
    heir.settle()
    assert said(world.segments()) == ["one", "two", "again", "here", "now"]


def test_what_an_operator_skipped_stays_skipped_whatever_redis_holds() -> None:
    """The offset was set and adopted while Redis was away: what it holds is of another history."""
    world, worker = _behind()
    world.send(event("ann", 1, "three", session_end=True), event("ben", 0, "skipped"))
    world.broker.expel("caesura", "asr.words", worker.source.member_id)
    world.broker.set_offset("caesura", "asr.words", 0, NextOffset(next_offset=3, metadata=""))
    adopting = world.worker(2, commit_interval_ms=10, adopt_foreign_offsets=True)
    for _ in range(200):
        adopting.turn()
        world.clock.pass_s(0.05)
    world.send(event("cy", 0, "heard", utterance_end=True))
    adopting.settle()
    heir, heard = _taken_over(world, adopting)
    assert heard.caught_up == []
    world.send(event("cy", 1, "on", session_end=True), event("ben", 1, "too", session_end=True))
    heir.settle()
    assert sorted(said(world.segments())) == ["heard", "on", "too"]


def test_where_retention_took_the_catch_up_the_partition_is_rebuilt() -> None:
    world, worker = _behind()
    world.send(event("ben", 0, "three"), event("ben", 1, "four"))
    worker.settle()
    world.broker.delete_before("asr.words", 0, 2)
    _, heard = _taken_over(world, worker)
    assert heard.caught_up == []
    assert [one.lost_offsets for one in heard.summaries] == [(0, 2)]


@pytest.mark.parametrize("end", [-1, 1_000_000])
def test_a_stored_end_outside_the_ledger_leads_to_a_rebuild(end: int) -> None:
    world, worker = _behind()
    events = [event("ann", 1, "three"), event("ann", 2, "four")]
    world.send(*events)
    worker.settle()
    _set_ledger_end(world, end)
    heir, heard = _taken_over(world, worker)
    assert (len(heard.caught_up), len(heard.summaries)) == (0, 1)
    world.send(event("ann", 3, "five", session_end=True))
    heir.settle()
    check_every_word_once([event("ann", 0, "one", "two"), *events, event("ann", 3, "five")], world.segments())


def test_records_of_the_ledger_from_before_the_snapshot_are_not_read() -> None:
    world = World(rules=_PATIENT)
    worker = world.worker(commit_interval_ms=10)
    world.send(event("ann", 0, "one", utterance_end=True))
    worker.settle()
    world.send(event("ann", 1, "two"))
    worker.settle()
    world.redis.away = True
    world.send(event("ben", 0, "so"))
    worker.settle()
    heir, heard = _taken_over(world, worker)
    assert [(one.ledger_records, one.input_records) for one in heard.caught_up] == [(0, 1)]
    world.send(event("ann", 1, "two"), event("ann", 2, "three", session_end=True), event("ben", 1, session_end=True))
    heir.settle()
    assert sorted(said(world.segments())) == ["one", "so", "three", "two"]


def test_stored_state_that_does_not_add_up_leads_to_a_rebuild() -> None:
    """A tombstone is gone, as after a long time: the session that it forgot stands in Redis still."""
    world, worker = _behind()
    world.send(event("ann", 1, "three", session_end=True))
    worker.settle()
    _set_ledger_end(world, world.broker.log("caesura.ledger", 0).end)
    _, heard = _taken_over(world, worker)
    assert (len(heard.caught_up), len(heard.summaries)) == (0, 1)
    assert said(world.segments()) == ["one", "two", "three"]


def test_an_old_record_written_again_replaces_no_newer_snapshot() -> None:
    """Ann has said more since that record, and that stands in the snapshot alone."""
    world = World(rules=_PATIENT)
    worker = world.worker(commit_interval_ms=10)
    world.send(event("ann", 0, "one", utterance_end=True))
    worker.settle()
    record = next(one for one in world.records("caesura.ledger") if one.key == b"ann")
    world.send(event("ann", 1, "two"))
    worker.settle()
    world.redis.away = True
    world.send(event("ben", 0, "so"))
    worker.settle()
    world.broker.append("caesura.ledger", 0, record.value, key=b"ann")
    heir, heard = _taken_over(world, worker)
    assert [(one.ledger_records, one.input_records) for one in heard.caught_up] == [(1, 1)]
    world.send(event("ann", 1, "two"), event("ann", 2, "three", session_end=True), event("ben", 1, session_end=True))
    heir.settle()
    assert sorted(said(world.segments())) == ["one", "so", "three", "two"]


def test_after_a_catch_up_only_changes_are_saved_and_load_again() -> None:
    world, worker = _behind()
    world.send(event("ben", 0, "so"))
    worker.settle()
    heir, heard = _taken_over(world, worker)
    assert len(heard.caught_up) == 1
    heir.settle()
    _, heard = _taken_over(world, heir)
    assert (heard.caught_up, heard.summaries) == ([], [])
