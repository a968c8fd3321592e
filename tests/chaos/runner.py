"""One run: start a world, disturb it as the seed says while sessions are said, let it finish, check what came out."""

from __future__ import annotations

import statistics
import threading
import time
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from confluent_kafka import Consumer, KafkaException, TopicPartition
from typing_extensions import override

from caesura.schemas.codec import decode_segment
from caesura.worker.errors import CaesuraError
from caesura.worker.ports.records import Record
from tests.chaos.actions import Actions, Strike
from tests.chaos.changes import FIRST_VERSION, model_names
from tests.chaos.kept import Kept, check_kept
from tests.chaos.load import Load, all_sent
from tests.chaos.oracle import check_models, check_said
from tests.chaos.plan import Plan
from tests.chaos.said import Place, Said, said
from tests.chaos.samples import Samples
from tests.chaos.schedule import CHANGES, NEW, SPOILS, Fault, draw_faults
from tests.chaos.timed import TIMERS
from tests.chaos.world import DEPLOYMENT, WORKERS_AT_START, ChaosWorld
from tests.harness.background import BackgroundLoop
from tests.harness.checker import Adopted, Output, Violation, check
from tests.harness.producers import Sent
from tests.harness.reference import Origin, undisturbed


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """words: the input, partition by partition. kept: None where it could not be read."""

    words: Sequence[Record]
    output: Output
    kept: Kept | None

    @property
    def words_out(self) -> int:
        return sum(len(segment.words) for segment in self.output.segments)


def left_by(world: ChaosWorld, complaints: list[str]) -> Left | None:
    """Return what there is to check, None where the brokers do not tell; complain of what could not be read."""
    try:
        words, output = world.records("words"), world.output()
    except (KafkaException, CaesuraError) as error:
        complaints.append(f"the brokers do not tell what came out, so that nothing is checked: {error}")
        return None
    try:
        kept = world.kept()
    except (KafkaException, CaesuraError) as error:
        complaints.append(f"what is kept could not be read, and is not checked: {error}")
        kept = None
    return Left(words=words, output=output, kept=kept)


class Watch(BackgroundLoop):
    """Reads the segments topic with ``read_committed`` in a thread of its own; past the proxies."""

    def __init__(self, bootstrap: str, topic: str, partitions: int) -> None:
        super().__init__("watch")
        self._consumer = Consumer(
            {
                "bootstrap.servers": bootstrap,
                "group.id": f"{topic}-watch",
                "isolation.level": "read_committed",
                "enable.auto.commit": False,
                "fetch.wait.max.ms": 100,
                "log_level": 0,
            }
        )
        self._consumer.assign([TopicPartition(topic, partition, 0) for partition in range(partitions)])
        self._came: dict[int, list[tuple[int, float]]] = defaultdict(list)
        self._guard = threading.Lock()
        self.words = 0

    @override
    def close(self) -> None:
        super().close()
        self._consumer.close()

    def recovered_s(self, partition: int, wall_ms: int) -> float | None:
        """Return when (wall clock) something was read of a partition that was frozen at ``wall_ms`` or later."""
        with self._guard:
            came = self._came[partition]
            return next((at_s for frozen_ms, at_s in came[_first(came, wall_ms) :] if frozen_ms >= wall_ms), None)

    def all_recovered(self, partitions: Collection[int], wall_ms: int) -> bool:
        return all(self.recovered_s(partition, wall_ms) is not None for partition in partitions)

    @override
    def _run(self) -> None:
        while not self._closing.is_set():
            for message in self._consumer.consume(200, 0.1):
                if message.error() is not None:
                    continue
                segment = decode_segment(message.value() or b"")
                self.words += len(segment.words)
                with self._guard:
                    self._came[message.partition() or 0].append((segment.timing.frozen_ms, time.time()))


def _first(came: list[tuple[int, float]], wall_ms: int) -> int:
    """Return a place before which everything was read, so also frozen, before ``wall_ms``."""
    low, high = 0, len(came)
    while low < high:
        middle = (low + high) // 2
        if came[middle][1] * 1000 < wall_ms:
            low = middle + 1
        else:
            high = middle
    return low


_UP_WITHIN_S = 240.0
_RECOVERED_WITHIN_S = 12.0
_DRAINED_WITHIN_S = 240.0
_ENDED_WITHIN_S = 60.0
_COMMITTED_S = 5.0


@dataclass(slots=True, kw_only=True)
class Report:
    """What a run came to. complaints: whatever went wrong that is no violation of the output.

    happened: how often what happened in the workers. recoveries_s: by kind, each fault's time to the next output of the
    slowest partition that it hit; alone_s: of the faults that no other came on top of.
    """

    strikes: list[Strike]
    violations: list[Violation]
    complaints: list[str]
    ends: dict[str, int]
    happened: dict[str, int]
    events: int
    words: int
    sessions: int
    took_s: float
    recoveries_s: dict[str, list[float]] = field(default_factory=dict)
    alone_s: dict[str, list[float]] = field(default_factory=dict)
    growth: dict[str, float] = field(default_factory=dict)

    @property
    def unmeasured(self) -> int:
        """How many faults hit no partition, or partitions of which nothing more came out."""
        return len(self.strikes) - sum(map(len, self.recoveries_s.values()))

    def percentile_s(self, share: float) -> float | None:
        """Return a percentile of all recoveries."""
        return percentile([one for some in self.recoveries_s.values() for one in some], share)


def percentile(values: Iterable[float], share: float) -> float | None:
    """Return the value below which a share lies; None where there is none."""
    ordered = sorted(values)
    if len(ordered) < 2:
        return ordered[0] if ordered else None
    return statistics.quantiles(ordered, n=100, method="inclusive")[round(share * 100) - 1]


def run(plan: Plan) -> Report:
    """Run a plan to its end; bounded in time: what hangs is a complaint."""
    began_s = time.monotonic()
    without = (frozenset() if plan.changes else CHANGES) | (NEW if plan.before is not None else frozenset())
    static = plan.protocol == "classic"
    faults = draw_faults(plan.seed, plan.faults, static_members=static, without=without, only=plan.only)
    if plan.lasts_s is not None:
        faults = [replace(fault, lasts_s=plan.lasts_s) for fault in faults]
    with ChaosWorld(plan) as world:
        watch = Watch(world.kafka.bootstrap, f"{DEPLOYMENT}.segments", world.partitions)
        load = Load(
            world.kafka.bootstrap,
            f"{DEPLOYMENT}.words",
            seed=plan.seed,
            partitions=world.partitions,
            events_a_s=plan.events_a_s,
            crowd=plan.crowd * world.partitions,
            timed=plan.timed,
        )
        actions = Actions(world)
        complaints: list[str] = []
        samples = Samples(
            lambda: [one.pid for one in world.fleet.members if one.pid is not None],
            lambda: world.redis.addresses,
            None if plan.folder is None else plan.folder / "memory.csv",
        )
        watch.start()
        samples.start()
        try:
            plan.say(f"brokers, Redis and topics are up after {time.monotonic() - began_s:.0f} s")
            _disturb(plan, faults, world=world, load=load, watch=watch, actions=actions)
            complaints += actions.end(max((fault.lasts_s for fault in faults), default=0.0))
            plan.say("all faults are over; the last words are said")
            load.finish()
            if not world.fleet.await_(lambda: _drained(world), _DRAINED_WITHIN_S):
                complaints.append(f"not drained after {_DRAINED_WITHIN_S} s; {_ails(world)}")
            if any(strike.kind in SPOILS for strike in actions.strikes):  # what was spoilt last nobody may have met yet
                plan.say("every partition is claimed once more")
                if not world.fleet.claim_anew(world.partitions, _DRAINED_WITHIN_S):
                    complaints.append(f"not claimed anew after {_DRAINED_WITHIN_S} s; {_ails(world)}")
            complaints += world.fleet.stop(_ENDED_WITHIN_S)
        except (RuntimeError, KafkaException) as error:
            complaints.append(f"{error}; {_ails(world)}")
        finally:
            samples.close()
            watch.close()
        complaints += world.fleet.tails
        happened = world.fleet.happened()
        left = left_by(world, complaints)
    violations = [] if left is None else _check(plan, left, complaints, world=world, load=load, actions=actions)
    report = Report(
        strikes=actions.strikes,
        violations=violations,
        complaints=complaints,
        ends=dict(world.fleet.ends),
        happened=happened,
        events=0 if left is None else len(left.words),
        words=0 if left is None else left.words_out,
        sessions=load.sessions,
        took_s=time.monotonic() - began_s,
        growth=samples.growth,
    )
    _measure(report, watch)
    return report


def _disturb(plan: Plan, faults: list[Fault], *, world: ChaosWorld, load: Load, watch: Watch, actions: Actions) -> None:
    """Carry the schedule out. RuntimeError where a fault cannot be begun or does not end."""
    world.fleet.start(WORKERS_AT_START)
    load.start()
    everything = frozenset(range(world.partitions))
    if not world.fleet.await_(lambda: watch.all_recovered(everything, 0), _UP_WITHIN_S):
        raise RuntimeError("the workers did not bring anything out of every partition")
    began_s = time.monotonic()
    for number, fault in enumerate(faults):
        if plan.minutes is not None and time.monotonic() - began_s > plan.minutes * 60:
            plan.say(f"time is up after {number} faults")
            break
        strike = actions.begin(fault)
        plan.note(f"{strike.at_s:.3f} {strike.number} {strike.kind} {sorted(strike.affected)} {fault}")
        if not fault.overlaps:
            recovered = world.fleet.await_(
                lambda one=strike: watch.all_recovered(one.affected, one.at_ms),  # type: ignore[misc]
                _RECOVERED_WITHIN_S,
            )
            if not recovered:
                plan.say(f"fault {number} {strike.kind}: not recovered after {_RECOVERED_WITHIN_S} s, going on")
        if strike.error is not None:
            plan.say(f"fault {number} {strike.kind}: {strike.error}")
        if number % 10 == 9:
            plan.say(f"{number + 1} of {len(faults)} faults, {watch.words} words out")
        time.sleep(max(fault.pause_s, began_s + (number + 1) * plan.every_s - time.monotonic()))
        if load.error:
            raise RuntimeError(f"the load failed: {load.error}")


def _drained(world: ChaosWorld) -> bool:
    """Tell whether every record of the input is committed by the group. A fault of the asking is a no."""
    options = {
        "bootstrap.servers": world.kafka.bootstrap,
        "group.id": DEPLOYMENT,
        "isolation.level": "read_committed",
        "log_level": 0,
    }
    topic = f"{DEPLOYMENT}.words"
    consumer = Consumer(options)
    try:
        places = [TopicPartition(topic, partition) for partition in range(world.partitions)]
        return all(
            one.offset == consumer.get_watermark_offsets(one, timeout=_COMMITTED_S, cached=False)[1]
            for one in consumer.committed(places, _COMMITTED_S)
        )
    except KafkaException:
        return False
    finally:
        consumer.close()


def _ails(world: ChaosWorld) -> str:
    """Say what the workers' diaries end with."""
    tails = [f"--- member {member.ordinal}\n{member.log_tail()}" for member in world.fleet.members if member.wanted]
    return "\n".join(tails)


def _places(plan: Plan, sessions: int, partitions: int, more: Iterable[Sent]) -> dict[Place, str | None]:
    """Return all that was sent, as its producers wrote it down, and why it is to be refused where they know."""
    sent = all_sent(plan.seed, sessions, plan.crowd * partitions, partitions, timed=plan.timed)
    return {Place(one.partition, one.key, one.value): one.refused for one in (*sent, *more)}


def _check(
    plan: Plan, left: Left, complaints: list[str], *, world: ChaosWorld, load: Load, actions: Actions
) -> list[Violation]:
    """Return what the output and what is kept violate; complain where the input is not what was said."""
    words, output, adopted = left.words, left.output, actions.operator.adopted
    places = _places(plan, load.sessions, world.partitions, actions.sent)
    complaints += _check_load(words, places)
    said_ = _said(words, places, output, adopted)
    timers = TIMERS if plan.timed else None
    violations = check_said(said_, output, timers)
    if left.kept is not None:
        violations += check_kept(said_, output, left.kept, timers)
    violations += check_models(output, model_names(range(FIRST_VERSION, world.fleet.version + 1)))
    if not plan.timed and not plan.changes:
        set_aside: dict[Origin, str] = {
            Place(one.partition, one.key, one.value): one.refused for one in actions.sent if one.refused
        }
        violations += check(undisturbed(words, world.partitions, set_aside, adopted), output)
    return violations


def _check_load(words: Sequence[Record], places: Mapping[Place, str | None]) -> list[str]:
    """Check that the input topic holds what was said: else the reference would be run on something else.

    A record may stand there twice: a producer without transactions may repeat itself over the end of a broker, and
    repeats are what a worker drops.
    """
    held = {Place(record.partition, record.key, record.value) for record in words}
    missing, foreign = len(places.keys() - held), len(held - places.keys())
    if not missing and not foreign:
        return []
    return [f"the input topic is not what was said: {missing} records are missing, {foreign} are foreign"]


def _said(
    words: Sequence[Record], places: Mapping[Place, str | None], output: Output, adopted: Iterable[Adopted]
) -> Said:
    refused = {place: reason for place, reason in places.items() if reason is not None}
    return said(words, refused, {(one.session, one.since) for one in output.segments}, adopted)


def _measure(report: Report, watch: Watch) -> None:
    recoveries: dict[str, list[float]] = defaultdict(list)
    alone: dict[str, list[float]] = defaultdict(list)
    ends_s = [*(strike.at_ms / 1000 for strike in report.strikes[1:]), float("inf")]
    for strike, next_s in zip(report.strikes, ends_s, strict=False):
        times = [watch.recovered_s(partition, strike.at_ms) for partition in strike.affected]
        came = [at_s for at_s in times if at_s is not None]
        if not came:
            continue
        recoveries[strike.kind].append(max(came) - strike.at_ms / 1000)
        if max(came) < next_s:
            alone[strike.kind].append(max(came) - strike.at_ms / 1000)
    report.recoveries_s, report.alone_s = dict(recoveries), dict(alone)
