"""Our own code raises what it never raises on purpose: that record or session pays, and nothing else does."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from caesura.schemas.codec import decode_event
from caesura.schemas.segments import Cause
from caesura.schemas.state import ModelWord
from caesura.worker.adapters.memory.engine import ScriptedEngine, marked_words
from caesura.worker.adapters.memory.session_store import MemorySessionStore
from caesura.worker.core.decoding import admission
from caesura.worker.core.decoding.decoding import Decoder
from caesura.worker.core.decoding.segment_writer import SegmentWriter
from caesura.worker.core.language.rules import DecodingRules
from caesura.worker.core.partition.partition import PartitionSessions
from caesura.worker.core.session.session import Session
from caesura.worker.errors import FatalError
from caesura.worker.ports.observer import PartitionClaimed
from caesura.worker.runtime.checkpoint import saves
from caesura.worker.runtime.checkpoint.saves import PartitionSaves
from caesura.worker.runtime.claim.rebuild import Rebuild
from caesura.worker.runtime.ledger.output_records import OutputRecords
from caesura.worker.runtime.partition import record_admission
from caesura.worker.runtime.partition.unfrozen_words import UnfrozenWords
from tests.harness.engines import DEADLY, DeadlyEngine
from tests.harness.executors import DeferredExecutor
from tests.harness.heard import Heard
from tests.harness.in_memory_world import InMemoryWorker, World
from tests.harness.speech import by_session, event, said

_PATIENT = DecodingRules(flush_after_ms=60_000, stall_after_ms=60_000, idle_after_ms=600_000)
_HASTY = DecodingRules(flush_after_ms=500, stall_after_ms=500)


_NAMES = [f"ann-{number}" for number in range(12)]


def _raising(
    patch: pytest.MonkeyPatch,
    owner: object,
    name: str,
    picks: Callable[..., bool],
    *,
    times: int = 10_000,
    error: type[Exception] = KeyError,
) -> None:
    """Have a function raise where its arguments are picked."""
    honest, left = getattr(owner, name), [times]

    def call(*args: object, **kwargs: object) -> object:
        if left[0] and picks(*args, **kwargs):
            left[0] -= 1
            raise error("a text that may be a word")
        return honest(*args, **kwargs)

    patch.setattr(owner, name, call)


def _spoken(rules: DecodingRules = _PATIENT, *, end: bool = True, turns: int = 600) -> tuple[World, InMemoryWorker]:
    """Have Ben say something among twelve others, in two partitions."""
    world = World(partitions=2, rules=rules)
    worker = world.worker(engine=ScriptedEngine(script=marked_words))
    world.send(*(event(name, 0, "We", "speak", session_end=True) for name in _NAMES[:6]))
    world.send(event("ben", 0, "Ben", "says", session_end=end))
    world.send(*(event(name, 0, "We", "speak", session_end=True) for name in _NAMES[6:]))
    worker.turn(turns)
    return world, worker


def _check_the_others(world: World) -> dict[str, list[str]]:
    """Check that all others came out labelled; return what Ben published."""
    found = by_session(world.segments())
    ben = found.pop("ben", [])
    assert {name: said(segments) for name, segments in found.items()} == {name: ["We", "speak"] for name in _NAMES}
    assert Cause.FALLBACK not in {one.cause for segments in found.values() for one in segments}
    return {"said": said(ben), "causes": [str(one.cause) for one in ben]}


def _check_letter(world: World) -> None:
    (letter,) = world.records("asr.words.dead")
    assert dict(letter.headers)["caesura.reason"] == b"poison"
    assert b"a text that may be a word" not in (dict(letter.headers)["caesura.detail"] or b"")
    assert decode_event(letter.value or b"").session == "ben"


def test_a_record_that_cannot_be_read_for_a_bug_is_a_dead_letter_in_place(monkeypatch: pytest.MonkeyPatch) -> None:
    _raising(monkeypatch, record_admission, "read_event", lambda record, **_: record.key == b"ben")
    world, worker = _spoken()
    assert _check_the_others(world)["said"] == []
    _check_letter(world)
    assert worker.worker.unready() == ()


def test_a_record_that_raises_where_it_is_applied_is_a_dead_letter(monkeypatch: pytest.MonkeyPatch) -> None:
    _raising(monkeypatch, Session, "offer", lambda _, one, __: one.session == "ben")
    world, worker = _spoken()
    assert _check_the_others(world)["said"] == []
    _check_letter(world)
    assert worker.worker.unready() == ()


def test_a_session_half_changed_by_a_record_that_raised_is_in_no_save(monkeypatch: pytest.MonkeyPatch) -> None:
    """A full save goes on in pieces meanwhile; if the worker then dies, the next one reads the record again."""
    world = World(rules=_PATIENT)
    worker = world.worker(engine=ScriptedEngine())
    world.send(event("ben", 0, "Ben", "says"), *(event(f"ann-{n}", 0, "x", session_end=True) for n in range(2000)))
    worker.turn(400)
    worker.settle()
    worker.worker.drain()
    world.redis.lose_everything()
    worker = world.worker(1, engine=ScriptedEngine())
    while not (loaded := worker.worker.assignment.loaded.get(0)) or loaded._state.saves._full is None:
        worker.turn()
    _raising(monkeypatch, admission, "listens_after", lambda one, **_: one.session == "ben" and one.seq == 1)
    world.send(event("ben", 1, "important", "words"))
    while 0 in worker.worker.assignment.loaded:
        worker.turn()
    worker.worker.drain()
    monkeypatch.undo()
    world.send(event("ben", 2, "end", session_end=True))
    world.worker(2, engine=ScriptedEngine()).turn(300)
    assert said(by_session(world.segments())["ben"]) == ["Ben", "says", "important", "words", "end"]


def test_a_session_that_raises_over_its_labels_goes_on_unlabelled(monkeypatch: pytest.MonkeyPatch) -> None:
    _raising(monkeypatch, Session, "resolve", lambda session, *_: session._writer.session == "ben")
    world, worker = _spoken()
    ben = _check_the_others(world)
    assert ben["said"] == ["Ben", "says"]
    assert "fallback" in ben["causes"]
    assert world.records("asr.words.dead") == []
    assert worker.worker.unready() == ()


@pytest.mark.parametrize("place", ["work", "render"])
def test_a_session_that_raises_without_labels_too_has_its_record_set_aside(
    monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    if place == "work":
        _raising(monkeypatch, Decoder, "_publish", lambda decoder, *_, **__: decoder.writer.session == "ben")
    else:
        _raising(monkeypatch, OutputRecords, "segment", lambda _, __, out, *___: out.segment.session == "ben")
    world, worker = _spoken()
    assert _check_the_others(world)["said"] == []
    _check_letter(world)
    assert worker.worker.unready() == ()


def _raise_over(patch: pytest.MonkeyPatch, place: str, text: str) -> None:
    """Have our code raise wherever a segment with this word is made, or rendered."""
    if place == "work":
        _raising(patch, SegmentWriter, "write", lambda _, frozen, **__: text in _texts(frozen.words))
    else:
        _raising(patch, OutputRecords, "segment", lambda _, __, out, *___: text in said([out.segment]))


def _texts(words: Sequence[ModelWord]) -> list[str]:
    return [piece.text for word in words for piece in word.pieces]


@pytest.mark.parametrize("place", ["work", "render"])
def test_words_committed_before_that_raise_park_and_set_no_later_record_aside(
    monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    world = World(rules=_PATIENT)
    worker = world.worker(engine=ScriptedEngine(script=marked_words))
    world.send(event("ben", 0, "Ben", "says"))
    worker.settle()
    with monkeypatch.context() as patch:
        _raise_over(patch, place, "Ben")
        world.send(event("ben", 1, "a"), event("ben", 2, "word", utterance_end=True), event("ben", 3, "more"))
        worker.turn(600)
        assert [one.reason for one in worker.worker.assignment.parked.values()] == ["flush_fails"]
    world.release(0)
    world.send(event("ben", 4, "now", session_end=True))
    worker.turn(600)
    assert said(world.segments()) == ["Ben", "says", "a", "word", "more", "now"]
    assert world.records("asr.words.dead") == []
    assert worker.worker.unready() == ()


@pytest.mark.parametrize("place", ["work", "render"])
def test_a_record_that_raises_alone_costs_its_own_words_and_no_earlier_ones(
    monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    world = World(rules=_PATIENT)
    worker = world.worker(engine=ScriptedEngine(script=marked_words))
    world.send(event("ben", 0, "Ben", "says"))
    worker.settle()
    _raise_over(monkeypatch, place, "a")
    world.send(event("ben", 1, "a", utterance_end=True), event("ben", 2, "word", session_end=True))
    worker.turn(600)
    assert said(world.segments()) == ["Ben", "says", "word"]
    _check_letter(world)
    assert worker.worker.unready() == ()


def test_a_session_that_raises_at_every_record_costs_its_later_records_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(partitions=2, rules=_HASTY)
    worker = world.worker(engine=ScriptedEngine(script=marked_words))
    world.send(event("ben", 0, "Ben", "says"))
    worker.turn(10)
    _raising(monkeypatch, Session, "offer", lambda _, one, __: one.session == "ben")
    for seq in range(1, 6):
        world.send(event("ben", seq, "more"), *(event(name, seq - 1, str(seq), utterance_end=True) for name in _NAMES))
        worker.turn(50)
    found = by_session(world.segments())
    assert said(found.pop("ben")) == ["Ben", "says"]
    assert {name: said(segments) for name, segments in found.items()} == {name: [*"12345"] for name in _NAMES}
    letters = world.records("asr.words.dead")
    assert [decode_event(one.value or b"").seq for one in letters] == [1, 2, 3, 4, 5]
    assert worker.worker.unready() == ()


def test_poison_records_without_end_park_the_partition_and_do_not_drain_it(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(rules=_PATIENT)
    world.send(*(event(f"ann-{number}", 0, "one", session_end=True) for number in range(9)))
    _raising(monkeypatch, Session, "offer", lambda *_: True)
    worker = world.worker(dead_letter_limit=3)
    worker.turn(900)
    assert [one.reason for one in worker.worker.assignment.parked.values()] == ["dead_letter_limit"]
    assert len(world.records("asr.words.dead")) == 4


def test_a_fault_waits_for_the_save_under_way_so_the_claim_loads(monkeypatch: pytest.MonkeyPatch) -> None:
    world, claims = World(rules=_PATIENT), Heard(PartitionClaimed)
    later = DeferredExecutor()
    monkeypatch.setattr(saves, "wait", lambda *_: later.run_all())
    worker = world.worker(engine=ScriptedEngine(script=marked_words), observer=claims, saving=later)
    world.send(event("ben", 0, "Ben", "says"))
    worker.turn(100)
    later.run_all()
    world.send(event("ben", 1, "a"))
    while not later.waiting:
        worker.turn()
    _raising(monkeypatch, Session, "offer", lambda *_: True, times=1)
    world.send(event("ben", 2, "word"), event("ben", 3, "now", session_end=True))
    worker.turn(100)
    assert [one.verdict for one in claims.events] == ["first_start", "good"]
    worker.turn(300)
    assert said(world.segments()) == ["Ben", "says", "a", "now"]
    _check_letter(world)


def test_a_transient_fault_loses_no_word_and_dead_letters_no_record(monkeypatch: pytest.MonkeyPatch) -> None:
    _raising(monkeypatch, OutputRecords, "segment", lambda *_: True, times=1)
    world, worker = _spoken()
    assert _check_the_others(world)["said"] == ["Ben", "says"]
    assert world.records("asr.words.dead") == []
    assert worker.worker.unready() == ()


def test_a_silence_that_raises_parks_its_partition_and_loses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        _raising(patch, OutputRecords, "segment", lambda _, __, out, *___: out.segment.session == "ben")
        world, worker = _spoken(_HASTY, end=False, turns=900)
        assert {one.reason for one in worker.worker.assignment.parked.values()} == {"flush_fails"}
        assert world.records("asr.words.dead") == []
    (parked,) = worker.worker.assignment.parked
    world.release(parked)
    worker.turn(600)
    assert _check_the_others(world)["said"] == ["Ben", "says"]
    assert worker.worker.unready() == ()


def test_a_rebuild_that_raises_parks_until_it_is_fixed_and_loses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(rules=_PATIENT)
    world.send(event("ben", 0, "Ben", "says"))
    first = world.worker()
    first.settle()
    first.worker.drain()
    world.redis.lose_everything()
    with monkeypatch.context() as patch:
        _raising(patch, Rebuild, "advance", lambda _: True)
        worker = world.worker(1)
        worker.settle()
        (parked,) = worker.worker.assignment.parked.values()
        assert parked.reason == "rebuild_fails"
        assert "KeyError" in parked.detail
        assert "word" not in parked.detail
    world.release(0)
    world.send(event("ben", 1, "more", session_end=True))
    worker.turn(400)
    assert said(world.segments()) == ["Ben", "says", "more"]


@pytest.mark.parametrize(
    ("owner", "name", "error"),
    [
        (PartitionSessions, "encoded", KeyError),
        (PartitionSaves, "_new_write", KeyError),
        (MemorySessionStore, "write", KeyError),
        (MemorySessionStore, "write", FatalError),
    ],
)
def test_a_save_that_raises_costs_no_word_and_is_made_up_for(
    monkeypatch: pytest.MonkeyPatch, owner: type, name: str, error: type[Exception]
) -> None:
    world, claims = World(rules=_PATIENT), Heard(PartitionClaimed)
    worker = world.worker(engine=ScriptedEngine(script=marked_words), observer=claims)
    with monkeypatch.context() as patch:
        _raising(patch, owner, name, lambda *_, **__: True, error=error)
        world.send(event("ben", 0, "Ben", "says", utterance_end=True))
        worker.turn(300)
        assert said(world.segments()) == ["Ben", "says"]
        assert worker.worker.unready() == ()
    world.clock.pass_s(6.0)
    worker.turn(300)
    worker.worker.drain()
    world.worker(1, observer=claims).settle()
    assert claims.events[-1].verdict == "good"
    assert world.records("asr.words.dead") == []


def test_a_look_at_unfrozen_words_that_raises_holds_nothing_up(monkeypatch: pytest.MonkeyPatch) -> None:
    _raising(monkeypatch, UnfrozenWords, "_look", lambda *_: True)
    world, worker = _spoken()
    assert _check_the_others(world)["said"] == ["Ben", "says"]
    assert worker.worker.unready() == ()


def test_a_word_that_ends_the_engines_process_costs_no_label_but_its_sessions() -> None:
    world = World(partitions=4, rules=_HASTY)
    world.send(event("ben", 0, "a", DEADLY, "word", session_end=True), event("cy", 0, "a", DEADLY))
    world.send(*(event(name, 0, "we", "wait") for name in _NAMES))
    worker = world.worker(engine=DeadlyEngine())
    worker.turn(600)
    found = by_session(world.segments())
    assert {name: said(found[name]) for name in found} == {
        "ben": ["a", DEADLY, "word"],
        "cy": ["a", DEADLY],
        **{name: ["we", "wait"] for name in _NAMES},
    }
    causes = {name: {one.cause for one in found[name]} for name in found}
    assert {name for name in found if Cause.FALLBACK in causes[name]} == {"ben", "cy"}
    assert worker.worker.unready() == ()


def test_a_want_of_memory_ends_the_worker_and_sets_no_record_aside(monkeypatch: pytest.MonkeyPatch) -> None:
    def starved(*_: object) -> object:
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr(Session, "offer", starved)
        with pytest.raises(MemoryError):
            _spoken()
