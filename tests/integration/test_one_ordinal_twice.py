"""Two live workers of one ordinal on real parts: one stops within seconds and says why, the other goes on."""

from __future__ import annotations

import pytest

from caesura.schemas.events import WordsEvent
from tests.harness.parts.kafka_part import Kafka
from tests.harness.real_world import RealWorld
from tests.harness.speech import check_every_word_once, speech
from tests.harness.waiting import wait_until

pytestmark = pytest.mark.timeout(240)

_STOPS_WITHIN_S = 90.0
"""A few seconds, on a machine that does much else."""


def test_of_two_workers_with_one_ordinal_one_stops(kafka: Kafka, redis_url: str, deployment: str) -> None:
    world = RealWorld(kafka, redis_url, deployment)
    spoken: list[WordsEvent] = []

    def say() -> None:
        spoken.extend(speech(f"ann-{len(spoken)}", 12))
        world.send(*spoken[-4:])

    with world.process(0) as one, world.process(0) as other:
        wait_until(
            lambda: all("PartitionClaimed" in each.told for each in (one, other)), "they never met", meanwhile=say
        )
        wait_until(
            lambda: not (one.lives and other.lives),
            "both go on, and fence each other",
            within_s=_STOPS_WITHIN_S,
            meanwhile=say,
        )
        stopped = other if one.lives else one
        assert stopped.wait() != 0
        assert "worker.ordinal" in stopped.told
        words = sum(len(event.words) for event in spoken)
        segments = world.wait_for(lambda found: sum(len(segment.words) for segment in found) >= words)
        check_every_word_once(spoken, segments)
        assert one.lives or other.lives
