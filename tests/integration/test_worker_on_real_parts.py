"""The worker on a real Apache Kafka and a real Redis."""

from __future__ import annotations

import pytest

from tests.harness.parts.kafka_part import Kafka
from tests.harness.real_world import RealWorld
from tests.harness.speech import check_every_word_once, event, speech


@pytest.mark.parametrize("group_protocol", ["classic", "consumer"])
def test_words_come_out_once_and_in_order(kafka: Kafka, redis_url: str, deployment: str, group_protocol: str) -> None:
    world = RealWorld(kafka, redis_url, deployment, group_protocol=group_protocol)
    events = [one for name in ("ann", "ben", "cy") for one in speech(name, 40)]
    world.send(*events)
    worker = world.worker()
    worker.turn_until(lambda: len(world.segments()) > 0 and sum(one.session_end for one in world.segments()) == 3)
    worker.worker.drain()
    check_every_word_once(events, world.segments())


def test_silence_freezes_without_new_input(kafka: Kafka, redis_url: str, deployment: str) -> None:
    world = RealWorld(kafka, redis_url, deployment)
    world.send(event("ann", 0, "we", "wait"))
    worker = world.worker()
    worker.turn_until(lambda: bool(world.segments()))
    assert [one.cause for one in world.segments()] == ["silence"]
    worker.worker.drain()
