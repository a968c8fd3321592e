"""Redis loses everything, or goes back in time, in mid-stream: on a real Kafka and a real Redis."""

from __future__ import annotations

from confluent_kafka import Producer

from caesura.worker.ports.reasons import ClaimWaitReason
from tests.harness.parts.kafka_part import Kafka
from tests.harness.parts.redis_part import RedisServer
from tests.harness.real_world import UNHURRIED, RealWorld
from tests.harness.rebuilds import Rebuilds
from tests.harness.speech import check_every_word_once, event, speech, untimed


def _world(kafka: Kafka, redis: RedisServer, deployment: str, *, partitions: int = 2) -> RealWorld:
    return RealWorld(kafka, redis.url, deployment, partitions=partitions, rules=UNHURRIED)


def _ends(world: RealWorld) -> int:
    return sum(one.session_end for one in world.segments())


def test_flushing_redis_in_mid_stream_loses_doubles_and_relabels_nothing(
    kafka: Kafka, redis_server: RedisServer, deployment: str
) -> None:
    names = ("ann", "ben", "cy", "dee")
    events = [one for turn in zip(*(speech(name, 60) for name in names), strict=True) for one in turn]
    half = len(events) // 2
    robbed = _world(kafka, redis_server, deployment)
    heard = Rebuilds()
    worker = robbed.worker(observer=heard)
    robbed.send(*events[:half])
    spoken_to = {robbed.partition_of(name) for name in names}
    worker.turn_until(lambda: len(robbed.segments()) > 0)
    worker.turn_until(lambda: all(worker.parts.store.head(number).manifest for number in spoken_to))
    redis_server.flush()
    robbed.send(*events[half : half + len(names)])
    worker.turn_until(lambda: len(heard.summaries) == len(spoken_to), timeout_s=60.0)
    robbed.send(*events[half + len(names) :])
    worker.turn_until(lambda: _ends(robbed) == len(names), timeout_s=60.0)
    worker.worker.drain()
    assert {one.lost_sessions for one in heard.summaries} == {0}
    check_every_word_once(events, robbed.segments())

    alone = _world(kafka, redis_server, f"{deployment}-alone")
    undisturbed = alone.worker()
    alone.send(*events)
    undisturbed.turn_until(lambda: _ends(alone) == len(names), timeout_s=60.0)
    undisturbed.worker.drain()
    assert _labels(robbed) == _labels(alone)


def test_a_rebuild_waits_for_a_commit_marker_of_the_ledger_that_is_held_back(
    kafka: Kafka, redis_server: RedisServer, deployment: str
) -> None:
    world = _world(kafka, redis_server, deployment, partitions=1)
    heard = Rebuilds()
    worker = world.worker(observer=heard, rebuild_stall_s=0.5)
    world.send(event("ann", 0, "one", "two", utterance_end=True))
    worker.turn_until(lambda: len(world.segments()) == 1)
    holder = Producer(
        {
            "bootstrap.servers": kafka.bootstrap,
            "transactional.id": f"{deployment}-holder",
            "transaction.timeout.ms": 60000,
        }
    )
    holder.init_transactions(10.0)
    holder.begin_transaction()
    holder.produce(f"{deployment}.ledger", key=b"nobody", value=b"held back", partition=0)
    holder.flush(10.0)
    redis_server.flush()
    worker.worker.assignment.claim_again(0, ClaimWaitReason.SAVE_REFUSED)
    world.send(event("ann", 1, "three", session_end=True))
    worker.turn_for(4.0)
    assert heard.summaries == []
    assert len(world.segments()) == 1
    holder.abort_transaction(10.0)
    worker.turn_until(lambda: _ends(world) == 1)
    worker.worker.drain()
    assert [one.ledger_records for one in heard.summaries] == [1]
    assert [[word.text for word in one.words] for one in world.segments()] == [["one", "two"], ["three"]]


def _labels(world: RealWorld) -> list[tuple[str, int, list[tuple[str, str, str]]]]:
    return sorted(
        (one.session, one.index, [(word.text, word.punctuation, word.disfluency) for word in one.words])
        for one in untimed(world.segments())
    )
