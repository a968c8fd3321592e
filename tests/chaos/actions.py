"""Carries faults out, each in a thread of its own; what it hits is locked, so that one at a time hits it."""

from __future__ import annotations

import contextlib
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from confluent_kafka import ElectionType, TopicPartition

from tests.chaos.changes import RULE_SETS
from tests.chaos.engine_process import HANG, KILL, RAISE
from tests.chaos.fleet_member import Member
from tests.chaos.operator_at_work import OperatorAtWork
from tests.chaos.poison import SKIPPED, poisoned_records
from tests.chaos.schedule import ALONE, Fault, FaultKind
from tests.chaos.world import ChaosWorld
from tests.harness.damages import CONTROL_DAMAGES, DAMAGES, SESSION_DAMAGES, Damage
from tests.harness.parts.kafka_cluster import KafkaCluster
from tests.harness.parts.proxy import Link
from tests.harness.producers import Sent
from tests.harness.waiting import comes

_IN_SYNC_WITHIN_S = 60.0


class BrokerFaults:
    """Strikes a cluster. Every call blocks."""

    def __init__(self, kafka: KafkaCluster) -> None:
        self._kafka = kafka

    def strike(self, kind: FaultKind, node: int, lasts_s: float) -> None:
        """Do it, and wait until all replicas are in sync again; RuntimeError where they never are."""
        struck = self._kafka.nodes[node]

        def restart(end: Callable[[], None]) -> None:
            end()
            time.sleep(lasts_s)
            struck.launch()
            struck.await_answer()

        def pause() -> None:
            struck.signal(signal.SIGSTOP)
            try:
                time.sleep(lasts_s)
            finally:
                struck.signal(signal.SIGCONT)

        actions: dict[FaultKind, Callable[[], None]] = {
            FaultKind.BROKER_KILL: lambda: restart(struck.kill),
            FaultKind.BROKER_RESTART: lambda: restart(struck.stop),
            FaultKind.BROKER_PAUSE: pause,
            FaultKind.LEADER_MOVE: self._elect,
        }
        actions[kind]()
        self._await_in_sync()

    def led_by_others(self) -> bool:
        """Tell whether any partition is led by another broker than the one that should."""
        topics = self._kafka.admin.list_topics(timeout=10).topics.values()
        return any(one.leader != one.replicas[0] for topic in topics for one in topic.partitions.values())

    def _elect(self) -> None:
        """Have the preferred replicas lead. Those that cannot yet say so, and stay with whom they are."""
        topics = self._kafka.admin.list_topics(timeout=10).topics
        places = [TopicPartition(name, partition) for name, topic in topics.items() for partition in topic.partitions]
        self._kafka.admin.elect_leaders(ElectionType.PREFERRED, places).result(15)

    def _await_in_sync(self) -> None:
        def in_sync() -> bool:
            with contextlib.suppress(Exception):
                topics = self._kafka.admin.list_topics(timeout=5).topics.values()
                return all(len(one.isrs) == len(one.replicas) for topic in topics for one in topic.partitions.values())
            return False

        if not comes(in_sync, within_s=_IN_SYNC_WITHIN_S, every_s=0.2):
            raise RuntimeError("the brokers did not become in sync")


def disturb(link: Link, fault: Fault) -> None:
    """Disturb a link; blocks for as long as that lasts."""
    how = fault.kind.rpartition("_")[2]
    if how == "cut":
        link.cut()
        return
    with _stalled(link) if how == "stall" else _slowed(link, 0.02 + 0.2 * fault.where):
        time.sleep(fault.lasts_s)


@contextlib.contextmanager
def _stalled(link: Link) -> Iterator[None]:
    link.stall(on=True)
    try:
        yield
    finally:
        link.stall(on=False)


def _away(links: Sequence[Link], lasts_s: float) -> None:
    """Let no byte over any of the links; blocks for as long as that lasts."""
    with contextlib.ExitStack() as stalled:
        for link in links:
            stalled.enter_context(_stalled(link))
        time.sleep(lasts_s)


@contextlib.contextmanager
def _slowed(link: Link, delay_s: float) -> Iterator[None]:
    link.slow(delay_s)
    try:
        yield
    finally:
        link.slow(0.0)


_WHOLE_WITHIN_S = 60.0
_LEAST_WORKERS = 2
_MEMBER_WITHIN_S = 30.0
_POISON_WITHIN_S = 300.0
_KEEPS_FORMER = 0.5


@dataclass(slots=True, kw_only=True)
class Strike:
    """A fault that was begun; at_ms by the wall clock, at_s by the monotonic one.

    kind: what it came to be (who cannot leave joins). affected: partitions that it hit.
    """

    number: int
    kind: FaultKind
    at_ms: int
    affected: frozenset[int]
    at_s: float
    thread: threading.Thread | None = None
    error: str | None = None

    @property
    def over(self) -> bool:
        return self.thread is None or not self.thread.is_alive()


@dataclass(slots=True)
class Actions:
    """Does to a world what a fault says. sent: what was sent to the input topic beside the load."""

    world: ChaosWorld
    strikes: list[Strike] = field(default_factory=list)
    sent: list[Sent] = field(default_factory=list)
    operator: OperatorAtWork = field(init=False)
    _redis: threading.Lock = field(default_factory=threading.Lock)
    _brokers: threading.Lock = field(default_factory=threading.Lock)
    _links: dict[int, threading.Lock] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.operator = OperatorAtWork(self.world)

    def begin(self, fault: Fault) -> Strike:
        """Begin a fault as soon as what it hits is free; return without waiting for its end."""
        area = fault.kind.partition("_")[0]
        begin = {"worker": self._worker, "inference": self._inference, "broker": self._broker, "leader": self._broker}
        strike = self._steps(fault) if fault.kind in ALONE else begin.get(area, self._redis_or_link)(fault)
        self.strikes.append(strike)
        return strike

    def end(self, longest_s: float) -> list[str]:
        """Wait until every fault is over and everything is back; return a complaint for each that is not."""
        for strike in self.strikes:
            if strike.thread is not None:
                strike.thread.join(longest_s + _WHOLE_WITHIN_S * 2)
        return [
            f"fault {strike.number} ({strike.kind}) did not end well: {strike.error or 'it hangs'}"
            for strike in self.strikes
            if strike.error or not strike.over
        ]

    def _strike(
        self, kind: FaultKind, affected: frozenset[int], lock: threading.Lock, action: Callable[[], None]
    ) -> Strike:
        """Run an action in a thread; the lock is held already and is let go at its end."""
        strike = Strike(
            number=len(self.strikes),
            kind=kind,
            at_ms=round(time.time() * 1000),
            at_s=time.monotonic(),
            affected=affected,
        )

        def run() -> None:
            try:
                action()
            except Exception as error:  # noqa: BLE001 (whatever it is, the runner must say it and not hang)
                strike.error = f"{type(error).__name__}: {error}"
            finally:
                lock.release()

        strike.thread = threading.Thread(target=run, name=f"fault-{strike.number}", daemon=True)
        strike.thread.start()
        return strike

    # workers

    def _worker(self, fault: Fault) -> Strike:
        kind = fault.kind
        fleet = self.world.fleet
        wanted = [member for member in fleet.members if member.wanted]
        idle = [member for member in fleet.members if not member.wanted]
        if kind is FaultKind.WORKER_LEAVE and len(wanted) <= _LEAST_WORKERS:
            kind = FaultKind.WORKER_JOIN
        if kind is FaultKind.WORKER_JOIN and not idle:
            kind = FaultKind.WORKER_LEAVE
        if kind is FaultKind.WORKER_JOIN:
            member = idle[int(fault.where * len(idle))]
            member.busy.acquire()
            return self._strike(kind, frozenset(range(self.world.partitions)), member.busy, lambda: _join(member))
        may_be = fleet.members
        if kind is FaultKind.WORKER_KILL_STATIC:
            may_be = fleet.members[:1]
        elif kind is FaultKind.WORKER_LEAVE and self.world.protocol == "classic":
            may_be = fleet.members[1:]  # the static one never leaves
        member = self._a_worker(fault, may_be)
        actions: dict[FaultKind, Callable[[], None]] = {
            FaultKind.WORKER_KILL: lambda: member.crash(fault.lasts_s),
            FaultKind.WORKER_KILL_STATIC: lambda: member.crash(0.0),
            FaultKind.WORKER_PAUSE: lambda: member.pause(fault.lasts_s * 1.5),
            FaultKind.WORKER_STOP: lambda: member.stop(leaves=False),
            FaultKind.WORKER_LEAVE: lambda: member.stop(leaves=True),
        }
        return self._strike(kind, member.held(), member.busy, actions[kind])

    def _inference(self, fault: Fault) -> Strike:
        member = self._a_worker(fault, self.world.fleet.members)
        numbers = {FaultKind.INFERENCE_RAISE: RAISE, FaultKind.INFERENCE_HANG: HANG, FaultKind.INFERENCE_KILL: KILL}
        return self._strike(fault.kind, member.held(), member.busy, lambda: member.signal(numbers[fault.kind]))

    def _a_worker(self, fault: Fault, may_be: list[Member]) -> Member:
        """Return a worker that lives, one that works on partitions if there is one, and lock it."""

        def locked() -> Member | None:
            living = [member for member in may_be if member.wanted and member.lives and not member.busy.locked()]
            found = [member for member in living if member.held()]
            if found and (member := found[int(fault.where * len(found))]).busy.acquire(blocking=False):
                return member
            return None

        if (member := comes(locked, within_s=_MEMBER_WITHIN_S, every_s=0.05)) is None:
            raise RuntimeError("no worker works on any partition")
        return member

    # brokers

    def _broker(self, fault: Fault) -> Strike:
        kind = fault.kind
        self._brokers.acquire()
        brokers = BrokerFaults(self.world.kafka)
        if kind is FaultKind.LEADER_MOVE and not brokers.led_by_others():
            kind = FaultKind.BROKER_RESTART
        action = partial(brokers.strike, kind, int(fault.where * 3), fault.lasts_s)
        return self._strike(kind, frozenset(range(self.world.partitions)), self._brokers, action)

    # what is done in several steps, and fixed

    def _steps(self, fault: Fault) -> Strike:
        partition = int(fault.where * self.world.partitions)
        operator, fleet = self.operator, self.world.fleet
        actions: dict[FaultKind, Callable[[], None]] = {
            FaultKind.OFFSETS_DELETED: operator.delete_offsets,
            FaultKind.OFFSET_SET: lambda: operator.set_offset(
                partition, fault.lasts_s % 1, keeps_metadata=round(fault.lasts_s * 100) % 2 == 0
            ),
            FaultKind.OFFSET_ADOPTED: lambda: operator.adopt_offset(partition, round(fault.lasts_s * 10) % 20),
            FaultKind.LEDGER_SPOIL: lambda: operator.spoil_ledger(partition, fault.lasts_s % 1),
            FaultKind.POISON_AND_FLUSH: lambda: self._poison(partition),
            FaultKind.SKIP: lambda: self._skip(partition),
            FaultKind.RULES_CHANGE: lambda: fleet.change_rules(int(fault.where * len(RULE_SETS))),
            FaultKind.MODEL_CHANGE: lambda: fleet.change_model(keeps_former=fault.where < _KEEPS_FORMER),
        }
        self._redis.acquire()
        everything = frozenset(range(self.world.partitions))
        strike = self._strike(fault.kind, everything, self._redis, actions[fault.kind])
        assert strike.thread is not None
        strike.thread.join()
        strike.at_ms, strike.at_s = round(time.time() * 1000), time.monotonic()
        return strike

    def _poison(self, partition: int) -> None:
        """Send a session with a poisonous record, wait for its dead letter, lose Redis, and let the session go on."""
        number = len(self.strikes)
        before, after = poisoned_records(number, partition, self.world.partitions)
        self.sent += [*before, *after]
        try:
            self.world.send(before)
            if not comes(
                lambda: any(one.key == before[0].key for one in self.world.records("dead")),
                within_s=_POISON_WITHIN_S,
                every_s=1.0,
            ):
                raise RuntimeError(f"a poisonous record was not given up within {_POISON_WITHIN_S} s")
            self.world.redis.flush_all()
        finally:
            self.world.send(after)

    def _skip(self, partition: int) -> None:
        """Send a session with a record that parks its partition, have it skipped, and let the session go on."""
        before, after = poisoned_records(len(self.strikes), partition, self.world.partitions, reason=SKIPPED)
        self.sent += [*before, *after]
        try:
            self.world.send(before)
            self.operator.skip(partition, before[-1])
        finally:
            self.world.send(after)

    # Redis and links

    def _spoil_and_kill(self, fault: Fault) -> None:
        """Spoil what is stored, kill an owner that has to rebuild it then, and kill another soon after."""
        self.world.redis.spoil(_one_of(DAMAGES, fault))
        for _ in range(2):
            member = self._a_worker(fault, self.world.fleet.members)
            try:
                member.crash(0.0)
                time.sleep(fault.lasts_s * fault.where)
            finally:
                member.busy.release()

    def _redis_or_link(self, fault: Fault) -> Strike:
        redis = self.world.redis
        links = redis.links if fault.kind.startswith("redis") else self.world.broker_links
        link = links[int(fault.where * len(links))]
        whole: dict[FaultKind, Callable[[], None]] = {
            FaultKind.REDIS_KILL: lambda: redis.kill(fault.lasts_s),
            FaultKind.REDIS_FAIL_OVER: lambda: redis.fail_over(0.0),
            FaultKind.REDIS_FAIL_OVER_STALE: lambda: redis.fail_over(fault.lasts_s),
            FaultKind.REDIS_PAUSE: lambda: redis.pause(fault.lasts_s),
            FaultKind.REDIS_AWAY: lambda: _away(redis.links, fault.lasts_s),
            FaultKind.REDIS_FLUSH: redis.flush,
            FaultKind.REDIS_SPOIL_SESSION: lambda: redis.spoil(_one_of(SESSION_DAMAGES, fault)),
            FaultKind.REDIS_SPOIL_CONTROL: lambda: redis.spoil(_one_of(CONTROL_DAMAGES, fault)),
            FaultKind.REDIS_SPOIL_AND_KILL: lambda: self._spoil_and_kill(fault),
        }
        lock = self._redis if fault.kind in whole else self._links.setdefault(link.port, threading.Lock())
        lock.acquire()
        action = whole.get(fault.kind) or (lambda: disturb(link, fault))
        return self._strike(fault.kind, frozenset(range(self.world.partitions)), lock, action)


def _one_of(damages: Mapping[str, Damage], fault: Fault) -> Damage:
    return list(damages.values())[int(fault.where * len(damages))]


def _join(member: Member) -> None:
    member.wanted = True
