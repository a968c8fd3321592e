"""What a consumer outside of the group is made of."""

from __future__ import annotations

from typing import Literal

import pytest
from confluent_kafka import Consumer

from caesura.worker.adapters.kafka.settings import KafkaSettings


@pytest.mark.parametrize("group_protocol", ["classic", "consumer"])
def test_a_reader_can_be_made_whatever_the_groups_times_are(group_protocol: Literal["classic", "consumer"]) -> None:
    settings = KafkaSettings(
        bootstrap_servers="127.0.0.1:1",
        group_id="g",
        group_protocol=group_protocol,
        session_timeout_ms=6_000,
        heartbeat_interval_ms=1_000,
        max_poll_interval_ms=7_000,
    )
    Consumer(settings.reader_options()).close()
