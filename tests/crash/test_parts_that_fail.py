"""The commit protocol where a part fails and not the worker: a producer timed out, a Redis silent, late or robbed."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from caesura.worker.adapters.memory.session_store import StoreFault
from caesura.worker.embedded.embedded_redis import EmbeddedRedis, find_redis_server
from caesura.worker.ports.commit_steps import CommitStep
from tests.crash.stages import Player, RealStage, Stage
from tests.harness.crashing import Crash, CrashAt, Interrupted
from tests.harness.in_memory_world import World
from tests.harness.parts.kafka_part import Kafka, OwnKafka
from tests.harness.parts.lookup import missing
from tests.harness.speech import check_every_word_once, speech

pytestmark = pytest.mark.timeout(400)  # a slow machine is no failure

_EVENTS = speech("ann", 40)


@pytest.fixture(scope="module")
def own_redis() -> Iterator[EmbeddedRedis]:
    """A redis-server that may be stopped."""
    if find_redis_server() is None:
        missing("no redis-server on this machine to stop")
    with EmbeddedRedis() as server:
        yield server


def test_a_timed_out_producer_publishes_in_the_next_transaction(stage: Stage) -> None:
    held = Interrupted(CommitStep.OFFSETS_SENT, lambda: stage.outlive_transaction(0))
    player = stage.enter(0, observer=held)
    stage.send(*_EVENTS[:4])
    player.until(lambda: player.caught_up)
    held.armed = True
    stage.send(*_EVENTS[4:])
    player.until(lambda: player.caught_up and not held.armed)
    check_every_word_once(_EVENTS, stage.segments())


def test_sessions_that_the_manifest_counts_and_redis_lacks_are_rebuilt(stage: Stage) -> None:
    _robbed_between_two_owners(stage, stage.lose_a_session)


@pytest.mark.parametrize("step", [CommitStep.PUBLISHED, CommitStep.COMMITTED, CommitStep.ADOPTED])
def test_a_rebuild_that_dies_before_it_is_saved_is_made_again(stage: Stage, step: CommitStep) -> None:
    first = stage.enter(0)
    stage.send(*_EVENTS[:4])
    first.until(lambda: first.caught_up)
    first.worker.drain()
    stage.lose_a_session()
    second = stage.enter(0, observer=CrashAt(step))
    with pytest.raises(Crash):
        second.until(lambda: False)
    second.vanish()
    third = stage.enter(0)
    stage.send(*_EVENTS[4:])
    third.until(lambda: third.caught_up)
    check_every_word_once(_EVENTS, stage.segments())


def test_a_partition_that_redis_lost_is_rebuilt(stage: Stage) -> None:
    _robbed_between_two_owners(stage, stage.lose_redis)


def test_a_redis_lost_under_a_running_worker_is_rebuilt(stage: Stage) -> None:
    player = stage.enter(0)
    stage.send(*_EVENTS[:4])
    player.until(lambda: player.caught_up)
    stage.lose_redis()
    stage.send(*_EVENTS[4:])
    player.until(lambda: player.caught_up)
    check_every_word_once(_EVENTS, stage.segments())


@contextmanager
def _silent(server: EmbeddedRedis) -> Iterator[None]:
    server.signal(signal.SIGSTOP)
    try:
        yield
    finally:
        server.signal(signal.SIGCONT)


def _check_all_came(player: Player, stage: Stage) -> None:
    player.until(lambda: player.caught_up and player.worker.unready() == ())
    check_every_word_once(_EVENTS, stage.segments())


def test_a_silent_redis_at_assignment_costs_no_word_and_no_readiness(
    kafka: Kafka, own_redis: EmbeddedRedis, deployment: str
) -> None:
    stage = RealStage(kafka, own_redis.url, deployment)
    stage.send(*_EVENTS)
    with _silent(own_redis):
        player = stage.enter(0)
        _check_all_came(player, stage)
    _check_all_came(player, stage)


def test_a_redis_that_falls_silent_over_a_save_costs_no_word_and_no_readiness(
    kafka: Kafka, own_redis: EmbeddedRedis, deployment: str
) -> None:
    stage = RealStage(kafka, own_redis.url, deployment)
    player = stage.enter(0)
    stage.send(*_EVENTS[:4])
    player.until(lambda: player.caught_up)
    with _silent(own_redis):
        stage.send(*_EVENTS[4:])
        _check_all_came(player, stage)
    _check_all_came(player, stage)


@pytest.mark.parametrize("fault", list(StoreFault))
def test_a_save_without_an_answer_does_no_harm_whenever_it_lands(fault: StoreFault) -> None:
    world = World()
    twin = world.worker()
    world.send(*_EVENTS[:4])
    twin.settle()
    twin.store.fail_next("write", fault)
    world.send(*_EVENTS[4:])
    twin.settle()
    world.redis.land_late()
    twin.turn(60)
    check_every_word_once(_EVENTS, world.segments())


def test_a_commit_that_the_broker_does_not_answer_in_time_is_looked_up(
    own_kafka: OwnKafka, redis_url: str, deployment: str
) -> None:
    stage = RealStage(own_kafka, redis_url, deployment)
    awake = threading.Timer(4.0, own_kafka.process.signal, (signal.SIGCONT,))

    def fall_silent() -> None:
        own_kafka.process.signal(signal.SIGSTOP)
        awake.start()

    silenced = Interrupted(CommitStep.OFFSETS_SENT, fall_silent)
    player = stage.enter(0, observer=silenced, commit_timeout_s=1.0)
    stage.send(*_EVENTS[:4])
    player.until(lambda: player.caught_up)
    stage.send(*_EVENTS[4:])
    silenced.armed = True
    player.until(lambda: player.caught_up and not silenced.armed)
    awake.join()
    check_every_word_once(_EVENTS, stage.segments())


def _robbed_between_two_owners(stage: Stage, rob: Callable[[], None]) -> None:
    first = stage.enter(0)
    stage.send(*_EVENTS[:4])
    first.until(lambda: first.caught_up)
    first.worker.drain()
    rob()
    stage.send(*_EVENTS[4:])
    second = stage.enter(1)
    second.until(lambda: second.caught_up)
    check_every_word_once(_EVENTS, stage.segments())
