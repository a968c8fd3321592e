"""What the loop asks the brokers does not wait behind the fetch that waits for words."""

from __future__ import annotations

from contextlib import ExitStack, closing
from dataclasses import replace

from caesura.worker.adapters.kafka.word_source import KafkaWordSource
from tests.harness.clusters import RealCluster
from tests.harness.group_member import Member, until
from tests.harness.parts.kafka_part import Kafka

_FETCH_WAIT_MS = 5_000
_PATIENCE_S = 2.5


def test_a_question_is_answered_while_a_fetch_waits_for_words(kafka: Kafka) -> None:
    with ExitStack() as clients:
        cluster = RealCluster(kafka, "classic", 1, clients, max_poll_interval_ms=60_000)
        cluster.append("0")
        settings = replace(cluster.settings(), fetch_wait_ms=_FETCH_WAIT_MS)
        source = clients.enter_context(closing(KafkaWordSource(settings, cluster.topic, cluster.claims)))
        member = Member(source)
        until(lambda: bool(member.records), member)  # the next fetch waits for the next word
        assert source.watermarks(0, _PATIENCE_S) == (0, 1)
        assert source.partition_count(_PATIENCE_S) == 1
