"""The commit protocol's real code between two owners: what may happen to them, and what must hold whatever happens.

A way is a list of actions, each a line of text; an action that cannot happen now does nothing. So a way can be drawn at
random (``drawn_ways``), be one of all of a shape (``small_ways``), be run again, and be shortened.
"""

from __future__ import annotations

import contextlib
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence

import msgspec
import pytest

from caesura.schemas.checkpoint import OffsetMetadata
from caesura.schemas.segments import Segment
from caesura.worker.adapters.memory.engine import ScriptedEngine
from caesura.worker.adapters.memory.session_store import StoreFault
from caesura.worker.core.language.rules import DecodingRules
from caesura.worker.core.partition.partitioning import murmur2_partition
from caesura.worker.errors import AbortableError, BrokerError, ContentRefusedError, FatalError, OutcomeUnknownError
from caesura.worker.ports.observer import Observer
from caesura.worker.ports.publisher import Publisher
from caesura.worker.ports.reasons import ParkReason
from caesura.worker.ports.records import NextOffset, OutMessage
from caesura.worker.ports.session_store import StoredHead
from caesura.worker.ports.word_source import GroupMembership
from caesura.worker.runtime.checkpoint import saves
from caesura.worker.runtime.checkpoint.redis_sessions import RedisManifest
from tests.harness.damages import DAMAGES
from tests.harness.executors import DeferredExecutor
from tests.harness.in_memory_world import InMemoryWorker, World
from tests.harness.incomplete_ledger import disagreement, strike, write_again
from tests.harness.speech import event
from tests.harness.stepping import SteppedWorker
from tests.harness.unsure import UnsurePublisher

_RULES = DecodingRules(
    step_words=1,
    look_ahead_words=0,
    max_buffer_words=2,
    flush_after_ms=300,
    stall_after_ms=300,
    idle_after_ms=10_000,
    forget_after_ms=8_000,
)
OWNERS = (0, 1, 2)
_ORDINALS = 2
"""Owners 0 and 2 have the same ordinal, as a process has that was given up and lives on."""

_ROUNDS, _MOST_ROUNDS = 12, 120  # that the last worker is let work, at least and at most


class Violation(Exception):  # noqa: N818  # what it is, not what failed
    """A promise was broken."""


class Exploration:
    """One way through the commit protocol, over so many partitions."""

    def __init__(self, partitions: int = 1) -> None:
        self.world = World(partitions=partitions, rules=_RULES)
        self._owners: dict[int, SteppedWorker] = {}
        self._said: dict[str, list[str]] = defaultdict(list)
        self._places: dict[tuple[int, int], str] = {}
        self._ends: Counter[int] = Counter()
        self._seqs: Counter[str] = Counter()
        self._replica = self.world.redis.copy()
        self._seen = 0
        self._struck = False
        self._committed_ids: set[str] = set()
        self._refused: set[str] = set()
        self._choking = True
        self._saving = [DeferredExecutor(is_deferring=False) for _ in OWNERS]

    def run(self, way: Sequence[str]) -> None:
        """Go a way to its end, then let a fresh worker finish. Violation."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(saves, "wait", lambda _, left_s: self.world.clock.pass_s(left_s))
            try:
                for line in way:
                    self.act(line)
                    self.check()
                self.finish()
            finally:
                for owner in OWNERS:
                    self.act(f"crash {owner}")

    def act(self, line: str) -> None:
        """Let one thing happen."""
        name, *rest = line.split()
        getattr(self, f"_{name}")(*rest)

    def check(self) -> None:
        """Compare what is committed with what was said: a prefix, once, in order, numbered without a hole.

        And with what is committed of the ledger, whatever was struck from it.
        """
        if wrong := disagreement(self.world):
            raise Violation(wrong)
        self._check_stored()
        records = self.world.records("asr.segments")
        if len(records) == self._seen:
            return
        self._seen = len(records)
        words: dict[str, list[str]] = defaultdict(list)
        last: dict[tuple[str, int], Segment] = {}
        for segment in self.world.segments():
            before = last.get((segment.session, segment.since))
            if segment.index != (0 if before is None else before.index + 1):
                raise Violation(f"segment {segment.index} of {segment.session} after {before and before.index}")
            last[segment.session, segment.since] = segment
            words[segment.session] += [word.text for word in segment.words]
        given_up = self._given_up()
        for session, out in words.items():
            expected = [word for word in self._said[session] if word not in given_up]
            if out != expected[: len(out)]:
                raise Violation(f"{session} said {expected}, published is {out}")

    def _check_stored(self) -> None:
        """Compare what Redis holds with what was committed: nothing stands there that was never committed."""
        for partition in range(self.world.partitions):
            committed = self.world.broker.last_committed("caesura", "asr.words", partition)
            metadata = None if committed is None else OffsetMetadata.decode(committed.metadata)
            if metadata is not None:
                self._committed_ids.add(str(metadata.id))
            stored = self.world.redis.partition(partition)
            found = RedisManifest.of(StoredHead(manifest=stored.manifest, id=stored.id))
            if found.id is not None and str(found.id) not in self._committed_ids:
                raise Violation(f"Redis holds {found.id} of partition {partition}, which was never committed")

    def _given_up(self) -> set[str]:
        """Return the words that were set aside. Violation where one is among them that no broker refuses."""
        letters = self.world.records("asr.words.dead")
        words = {self._places[one.partition, int(dict(one.headers)["caesura.offset"] or b"")] for one in letters}
        if not words <= self._refused:
            raise Violation(f"good records were set aside: {words - self._refused}")
        return words

    def finish(self) -> None:
        """Let everything end that is under way; then every word must come out. Violation."""
        for owner in OWNERS:
            self.act(f"crash {owner}")
            self.act(f"expire {owner}")
        self.act("land")
        self.world.redis.away = False
        last = self._world_worker(_ORDINALS, ScriptedEngine(look_ahead_words=1))
        self._go_on(last)
        parked = last.worker.assignment.parked
        if parked and {one.reason for one in parked.values()} <= self._parks_for():
            self._choking = False
            if self._struck:
                write_again(self.world)
            for partition in list(parked):
                self.world.release(partition)
            last.turn(400)
            self._go_on(last)
        last.turn()
        if last.worker.unready():
            raise Violation(f"the last worker does not work: {last.worker.unready()}")
        if lost := self._lost():
            raise Violation(f"never published: {lost}")

    def _parks_for(self) -> set[ParkReason]:
        """Return what a partition may be parked for after what has happened: an operator mends it, and releases."""
        refused = bool(self._refused)
        happened = {
            ParkReason.LEDGER_INCOMPLETE: self._struck,
            ParkReason.FLUSH_FAILS: refused,
            ParkReason.REBUILD_FAILS: refused,
        }
        return {reason for reason, may_be in happened.items() if may_be}

    def _lost(self) -> list[str]:
        """Return the words that were neither published nor set aside, so far."""
        out = {word.text for segment in self.world.segments() for word in segment.words}
        return [word for word in self._places.values() if word not in out and word not in self._given_up()]

    def _go_on(self, last: InMemoryWorker) -> None:
        """Let it work for a while, and on while words are missing: of a long way it has much to read again."""
        for done in range(_MOST_ROUNDS):
            if done >= _ROUNDS and not self._lost():
                break
            last.turn(4)
            self.world.clock.pass_s(0.4)
        self.check()

    def _worker(self, ordinal: int) -> Callable[[Observer], InMemoryWorker]:
        def make(observer: Observer) -> InMemoryWorker:
            engine = ScriptedEngine(look_ahead_words=1)
            return self._world_worker(ordinal % _ORDINALS, engine, observer, self._saving[ordinal])

        return make

    def _world_worker(
        self,
        ordinal: int,
        engine: ScriptedEngine,
        observer: Observer | None = None,
        saving: DeferredExecutor | None = None,
    ) -> InMemoryWorker:
        return self.world.worker(
            ordinal,
            observer=observer,
            engine=engine,
            around=self._publisher,
            saving=saving,
            asking=saving,
            commit_interval_ms=10,
            save_interval_ms=300 * (ordinal % 2),
        )

    def _publisher(self, sure: Publisher) -> Publisher:
        return _Refusing(sure, self._refuses)

    def _refuses(self, message: OutMessage) -> bool:
        value = message.value or b""
        return (
            self._choking and message.topic == "asr.segments" and any(word.encode() in value for word in self._refused)
        )

    def _advance(self, owner: str, times: str) -> None:
        number = int(owner)
        if (before := self._owners.get(number)) is None or before.ended:
            self._leave(before)
            self._owners[number] = SteppedWorker(self._worker(number))
        stepped = self._owners[number]
        for _ in range(int(times)):
            stepped.advance()
            self._check_stored()
        if stepped.error is not None and "keeps using the transactional id" not in str(stepped.error):
            if isinstance(stepped.error, Violation | FatalError):
                raise Violation(f"owner {owner} ended: {stepped.error!r}")
            raise stepped.error

    def _say(self, session: str, refused: str = "") -> None:
        """Say a word, perhaps one that no broker takes; "ends": it is flushed at once."""
        seq = self._seqs[session]
        self._seqs[session] += 1
        word = f"{session}{seq}" + ("!" if refused else "")
        self._said[session].append(word)
        if refused:
            self._refused.add(word)
        partition = murmur2_partition(session.encode(), self.world.partitions)
        self._places[partition, self._ends[partition]] = word
        self._ends[partition] += 1
        self.world.send(event(session, seq, word, utterance_end=refused == "ends"))

    def _time(self, seconds: str) -> None:
        self.world.clock.pass_s(float(seconds))

    def _jump(self, seconds: str) -> None:
        """Set the wall clock, which stamps the records, so far ahead or back."""
        self.world.clock.wall_offset_ms += round(float(seconds) * 1000)

    def _twin(self, owner: str) -> InMemoryWorker | None:
        stepped = self._owners.get(int(owner))
        return None if stepped is None or stepped.ended else stepped.twin

    def _crash(self, owner: str) -> None:
        stepped = self._owners.pop(int(owner), None)
        if stepped is not None:
            stepped.crash()
            self._leave(stepped)

    def _leave(self, stepped: SteppedWorker | None) -> None:
        """Let the group notice that an owner is no more: what a process held, no later one gets else."""
        if stepped is not None and stepped.twin is not None:
            self.world.broker.expel("caesura", "asr.words", stepped.twin.source.member_id)

    def _expel(self, owner: str) -> None:
        if (twin := self._twin(owner)) is not None:
            self.world.broker.expel("caesura", "asr.words", twin.source.member_id)

    def _expire(self, owner: str) -> None:
        if self.world.broker.transaction_open(_transactional_id(owner)):
            self.world.broker.expire_transaction(_transactional_id(owner))

    def _save(self, owner: str, fault: str) -> None:
        if (twin := self._twin(owner)) is not None:
            twin.store.fail_next("write", StoreFault[fault])

    def _claim(self, owner: str, fault: str) -> None:
        if (twin := self._twin(owner)) is not None:
            twin.store.fail_next("head", StoreFault[fault])

    def _defer(self, owner: str) -> None:
        """From here on have an owner's saves wait until they are finished; or no longer."""
        saving = self._saving[int(owner)]
        saving.is_deferring = not saving.is_deferring

    def _finish(self, owner: str, number: str) -> None:
        """Have one of an owner's saves finish that wait, whatever became of its process; any of them."""
        waiting = self._saving[int(owner)].waiting
        if waiting:
            waiting.pop(int(number) % len(waiting))()

    def _land(self) -> None:
        self.world.redis.land_late()

    def _away(self) -> None:
        self.world.redis.away = not self.world.redis.away

    def _commit(self, owner: str, what: str, happened: str = "") -> None:
        errors = {"unknown": OutcomeUnknownError, "retriable": BrokerError, "aborted": AbortableError}
        error = errors[what]("as planned")
        self.world.broker.fail("commit", error, happened=bool(happened), of=_transactional_id(owner))

    def _offsets(self, owner: str, what: str) -> None:
        self.world.broker.fail("send_offsets", AbortableError(what), of=_transactional_id(owner))

    def _lose(self) -> None:
        self.world.redis.lose_everything()

    def _spoil(self, partition: str, number: str) -> None:
        """Spoil a partition's hash; before its first commit only an operator could say what it is worth."""
        place = int(partition) % self.world.partitions
        if self.world.broker.last_committed("caesura", "asr.words", place) is not None:
            with contextlib.suppress(LookupError, ValueError, msgspec.DecodeError):  # there is no such thing to spoil
                self.world.redis.spoil(place, list(DAMAGES.values())[int(number) % len(DAMAGES)])

    def _strike(self, session: str, older: str = "") -> None:
        self._struck |= strike(self.world, session, older=bool(older))

    def _miss(self, session: str) -> None:
        self.world.redis.unseen = {session}

    def _copy(self) -> None:
        self._replica = self.world.redis.copy()

    def _fail_over(self) -> None:
        self.world.redis.fail_over_to(self._replica)


class _Refusing(UnsurePublisher):
    """Refuses some messages."""

    def __init__(self, sure: Publisher, refuses: Callable[[OutMessage], bool]) -> None:
        super().__init__(sure)
        self._refuses = refuses
        self._refused: OutMessage | None = None

    def begin(self) -> None:
        self._refused = None
        super().begin()

    def publish(self, message: OutMessage) -> None:
        if self._refused is None and self._refuses(message):
            self._refused = message
        super().publish(message)

    def send_offsets(self, offsets: Mapping[int, NextOffset], membership: GroupMembership, timeout_s: float) -> None:
        if self._refused is not None:
            place = {"topic": self._refused.topic, "partition": self._refused.partition, "value": self._refused.value}
            raise ContentRefusedError("as planned", **place)  # type: ignore[arg-type]
        super().send_offsets(offsets, membership, timeout_s)


def _transactional_id(owner: str) -> str:
    return f"caesura-{int(owner) % _ORDINALS}"


def broken(way: Sequence[str], *, partitions: int = 1) -> str | None:
    """Go a way; None where every promise held, else what broke."""
    try:
        Exploration(partitions).run(way)
    except Violation as violation:
        return str(violation)
    return None
