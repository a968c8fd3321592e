"""The seam's real code between two owners: what may happen to them, and what must hold whatever happens.

A way is a list of actions, each a line of text; an action that cannot happen now does nothing. So a way
can be drawn at random, run again, and shortened until nothing can be left out.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from functools import partial

from schemas.segments import Segment
from tests.workers.speech import event
from tests.workers.stepping import SteppedWorker
from tests.workers.twin import TwinWorker, World
from worker.adapters.memory_engine import ScriptedEngine
from worker.adapters.memory_store import Fault
from worker.core.partitioning import murmur2_partition
from worker.core.rules import DecodingRules
from worker.errors import AbortableError, BrokerError, FatalError, OutcomeUnknownError
from worker.runtime.observer import Observer

__all__ = ["Exploration", "Violation", "draw", "explore", "shorten"]

_RULES = DecodingRules(
    step_words=1,
    look_ahead_words=0,
    max_buffer_words=2,
    flush_after_ms=300,
    stall_after_ms=300,
    idle_after_ms=10_000,
    forget_after_ms=8_000,
)
_OWNERS = (0, 1, 2)
_ORDINALS = 2
"""Owners 0 and 2 have the same ordinal, as a process has that was given up and lives on."""

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
    "commit {owner} unknown happened": 2,
    "commit {owner} unknown": 2,
    "commit {owner} retriable happened": 1,
    "commit {owner} aborted": 2,
    "offsets {owner} aborted": 1,
}
_LOSSES = {"lose": 3, "copy": 3, "fail_over": 2}


class Violation(Exception):  # noqa: N818  # what it is, not what failed
    """A promise was broken."""


class Exploration:
    """One way through the seam, over so many partitions."""

    def __init__(self, partitions: int = 1) -> None:
        self.world = World(partitions=partitions, rules=_RULES)
        self._owners: dict[int, SteppedWorker] = {}
        self._said: dict[str, list[str]] = defaultdict(list)
        self._places: dict[tuple[int, int], str] = {}
        self._ends: Counter[int] = Counter()
        self._seqs: Counter[str] = Counter()
        self._replica = self.world.redis.copy()
        self._seen = 0

    def run(self, way: Sequence[str]) -> None:
        """Go a way to its end, then let a fresh worker finish. Violation."""
        try:
            for line in way:
                self.act(line)
                self.check()
            self.finish()
        finally:
            for owner in _OWNERS:
                self.act(f"crash {owner}")

    def act(self, line: str) -> None:
        """Let one thing happen."""
        name, *rest = line.split()
        getattr(self, f"_{name}")(*rest)

    def check(self) -> None:
        """Compare what is committed with what was said: a prefix, once, in order, numbered without a hole."""
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

    def _given_up(self) -> set[str]:
        """Return the words that were set aside as never committing: a way may fail as often as that by itself."""
        letters = self.world.records("asr.words.dead")
        places = [(one.partition, int(dict(one.headers)["caesura.offset"] or b"")) for one in letters]
        return {self._places[place] for place in places}

    def finish(self) -> None:
        """Let everything end that is under way; then every word must come out. Violation."""
        for owner in _OWNERS:
            self._crash(str(owner))
            self._expire(str(owner))
        self._land()
        last = self.world.worker(_ORDINALS, engine=ScriptedEngine(look_ahead_words=1), commit_interval_ms=10)
        for _ in range(12):
            last.turn(4)
            self.world.clock.pass_s(0.4)
        self.check()
        last.turn()
        if last.worker.unready():
            raise Violation(f"the last worker does not work: {last.worker.unready()}")
        out = Counter(word.text for segment in self.world.segments() for word in segment.words)
        lost = [word for word in self._places.values() if word not in out and word not in self._given_up()]
        if lost:
            raise Violation(f"never published: {lost}")

    def _worker(self, ordinal: int) -> Callable[[Observer], TwinWorker]:
        def make(observer: Observer) -> TwinWorker:
            engine = ScriptedEngine(look_ahead_words=1)
            return self.world.worker(ordinal % _ORDINALS, observer=observer, engine=engine, commit_interval_ms=10)

        return make

    def _advance(self, owner: str, times: str) -> None:
        number = int(owner)
        if number not in self._owners or self._owners[number].ended:
            self._owners[number] = SteppedWorker(self._worker(number))
        stepped = self._owners[number]
        for _ in range(int(times)):
            stepped.advance()
        if stepped.error is not None and "keeps using the transactional id" not in str(stepped.error):
            if isinstance(stepped.error, Violation | FatalError):
                raise Violation(f"owner {owner} ended: {stepped.error!r}")
            raise stepped.error

    def _say(self, session: str) -> None:
        seq = self._seqs[session]
        self._seqs[session] += 1
        self._said[session].append(f"{session}{seq}")
        partition = murmur2_partition(session.encode(), self.world.partitions)
        self._places[partition, self._ends[partition]] = f"{session}{seq}"
        self._ends[partition] += 1
        self.world.send(event(session, seq, f"{session}{seq}"))

    def _time(self, seconds: str) -> None:
        self.world.clock.pass_s(float(seconds))

    def _twin(self, owner: str) -> TwinWorker | None:
        stepped = self._owners.get(int(owner))
        return None if stepped is None or stepped.ended else stepped.twin

    def _crash(self, owner: str) -> None:
        stepped = self._owners.pop(int(owner), None)
        if stepped is not None:
            twin = stepped.twin
            stepped.crash()
            if twin is not None:
                self.world.broker.expel("caesura", "asr.words", twin.source.member_id)

    def _expel(self, owner: str) -> None:
        if (twin := self._twin(owner)) is not None:
            self.world.broker.expel("caesura", "asr.words", twin.source.member_id)

    def _expire(self, owner: str) -> None:
        if self.world.broker.transaction_open(_transactional_id(owner)):
            self.world.broker.expire_transaction(_transactional_id(owner))

    def _save(self, owner: str, fault: str) -> None:
        if (twin := self._twin(owner)) is not None:
            twin.store.fail_next("write", Fault[fault])

    def _claim(self, owner: str, fault: str) -> None:
        if (twin := self._twin(owner)) is not None:
            twin.store.fail_next("claim", Fault[fault])

    def _land(self) -> None:
        self.world.redis.land_late()

    def _commit(self, owner: str, what: str, happened: str = "") -> None:
        errors = {"unknown": OutcomeUnknownError, "retriable": BrokerError, "aborted": AbortableError}
        error = errors[what]("as planned")
        self.world.broker.fail("commit", error, happened=bool(happened), of=_transactional_id(owner))

    def _offsets(self, owner: str, what: str) -> None:
        self.world.broker.fail("send_offsets", AbortableError(what), of=_transactional_id(owner))

    def _lose(self) -> None:
        self.world.redis.lose_everything()

    def _copy(self) -> None:
        self._replica = self.world.redis.copy()

    def _fail_over(self) -> None:
        self.world.redis.fail_over_to(self._replica)


def _transactional_id(owner: str) -> str:
    return f"caesura-{int(owner) % _ORDINALS}"


def draw(seed: int, length: int, *, losses: bool) -> list[str]:
    """Draw a way."""
    drawn = random.Random(seed)
    weights = _WEIGHTS | (_LOSSES if losses else {})
    lines = drawn.choices(list(weights), list(weights.values()), k=length)
    return [line.format(owner=drawn.choice(_OWNERS), session=drawn.choice(_SESSIONS)) for line in lines]


def explore(ways: int, *, first: int = 0, length: int = 60, losses: bool = False) -> str | None:
    """Go so many ways, a seed each; None where every promise held, else what broke and the shortest way there."""
    for seed in range(first, first + ways):
        way = draw(seed, length, losses=losses)
        broken = partial(_broken, partitions=1 + seed % 2)
        if broken(way):
            shortest = shorten(way, broken)
            return f"{broken(shortest)} (seed {seed})\n  " + "\n  ".join(shortest)
    return None


def shorten(way: Sequence[str], broken: Callable[[Sequence[str]], object]) -> list[str]:
    """Leave out whatever is not needed for it to break still."""
    kept = list(way)
    size = len(kept) // 2
    while size:
        start = 0
        while start < len(kept):
            shorter = kept[:start] + kept[start + size :]
            if broken(shorter):
                kept = shorter
            else:
                start += size
        size //= 2
    return kept


def _broken(way: Sequence[str], partitions: int) -> str | None:
    try:
        Exploration(partitions).run(way)
    except Violation as violation:
        return str(violation)
    return None
