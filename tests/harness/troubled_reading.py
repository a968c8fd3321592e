"""One partition read under whatever a test draws: slow clocks, slow fetches, leaders and replicas, new owners."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from caesura.schemas.codec import decode_event, encode_event
from caesura.worker.adapters.memory.engine import ScriptedEngine, marked_words
from caesura.worker.core.language.rules import DecodingRules
from caesura.worker.errors import BrokerError
from tests.harness.in_memory_world import InMemoryWorker, ManualClock, World
from tests.harness.speech import event

FLUSH_MS = 800
RULES = DecodingRules(flush_after_ms=FLUSH_MS, stall_after_ms=5_000, idle_after_ms=10_000_000)
NAMES = ("ann", "ben", "cat")
LONGEST_TURNS = 2_000
REPLICATION_MS = 200
TURN_MS = 60


def cuts_in_the_log(world: World) -> dict[str, list[list[str]]]:
    """Return what each session said between silences, by the timestamps of the log alone."""
    said: dict[str, list[list[str]]] = defaultdict(list)
    last_ms: dict[str, int] = {}
    for record in world.broker.records("asr.words"):
        spoken = decode_event(record.value or b"")
        if record.timestamp_ms - last_ms.get(spoken.session, -FLUSH_MS) >= FLUSH_MS:
            said[spoken.session].append([])
        said[spoken.session][-1] += [word.text for word in spoken.words]
        last_ms[spoken.session] = record.timestamp_ms
    return dict(said)


def cuts_that_came_out(world: World) -> dict[str, list[list[str]]]:
    said: dict[str, list[list[str]]] = defaultdict(list)
    for segment in world.segments():
        assert segment.cause in {"silence", "end"}
        said[segment.session].append([word.text for word in segment.words])
    return dict(said)


@dataclass
class OwnClock(ManualClock):
    """A worker's clock: as fast as the world's, and by some milliseconds beside it."""

    world: ManualClock = field(default_factory=ManualClock)
    beside_ms: int = 0

    def wall_ms(self) -> int:
        return self.world.wall_ms() + self.beside_ms

    def monotonic_s(self) -> float:
        return self.world.monotonic_s()

    def sleep_s(self, seconds: float) -> None:
        self.world.pass_s(seconds)


class Troubled:
    """One partition read by one worker after another, under whatever a test draws."""

    def __init__(self) -> None:
        self.world = World(rules=RULES)
        self.clock = OwnClock(world=self.world.clock)
        self._seqs = dict.fromkeys(NAMES, 0)
        self._workers = 0
        self._isolating = False
        self.worker = self._new_worker()
        self.worker.turn(3)

    def speak(self, name: str, after_ms: int, unseen_ms: int = 0, *, told: bool = False, ends: bool = False) -> None:
        """Have a word stamped so much later; the worker stands still meanwhile.

        unseen_ms: how long its replicas take to have it; the worker goes on meanwhile, and nobody sees it. told: a
        leader that is asked says that there is such a word. ends: it is the session's last.
        """
        self.wait(after_ms)
        log = self.world.broker.log("asr.words", 0)
        log.hides = told and unseen_ms > 0
        stamp_ms = self.world.clock.wall_ms()
        while (left_ms := unseen_ms - (self.world.clock.wall_ms() - stamp_ms)) > 0:
            if left_ms > TURN_MS:
                self.turn(1)
            else:
                self.wait(left_ms)
        spoken = event(name, self._seqs[name], f"{name}-{self._seqs[name]}", session_end=ends)
        log.append(name.encode(), encode_event(spoken), (), stamp_ms)
        log.hides = False
        self._seqs[name] += 1

    def wait(self, for_ms: int) -> None:
        self.world.clock.pass_s(for_ms / 1000)

    def turn(self, times: int) -> None:
        self.worker.turn(times)

    def fetch(self, *, held: bool) -> None:
        if held:
            self.worker.source.hold_fetches()
        else:
            self.worker.source.fetch_again()

    def leader(self, *, slow: bool) -> None:
        self.worker.source.slow_leaders = {0} if slow else set()

    def leader_fails(self) -> None:
        self.world.broker.fail("ask_ends", BrokerError("no answer in time"))

    def step_clock(self, by_ms: int) -> None:
        self.clock.beside_ms += by_ms

    def hand_over(self) -> None:
        """Have another worker take the partition, while this one is expelled without knowing.

        Not once steps are isolated: whoever vanished over a step again and again would have it set aside, as is right.
        """
        if self._isolating:
            return
        self.world.broker.expel("caesura", "asr.words", self.worker.source.member_id)
        beside_ms = self.clock.beside_ms
        self.clock = OwnClock(world=self.world.clock, beside_ms=-beside_ms)
        self.worker = self._new_worker()

    def claim_in_vain(self) -> None:
        """Have three owners claim and vanish, so that the next one reads on in isolation, record by record."""
        for _ in range(3):
            self.hand_over()
            self.turn(2)
        self.hand_over()
        self._isolating = True

    def finish(self) -> None:
        """Let everything be read, and fall silent."""
        self.fetch(held=False)
        self.leader(slow=False)
        for _ in range(LONGEST_TURNS):
            self.worker.turn()
            loaded = self.worker.worker.assignment.loaded.get(0)
            if loaded is not None and not loaded.changed and cuts_that_came_out(self.world) == self.cuts:
                break
        self.worker.turn(20)

    @property
    def cuts(self) -> dict[str, list[list[str]]]:
        return cuts_in_the_log(self.world)

    def _new_worker(self) -> InMemoryWorker:
        self._workers += 1
        engine = ScriptedEngine(script=marked_words)
        return self.world.worker(self._workers, clock=self.clock, engine=engine, replication_ms=REPLICATION_MS)
