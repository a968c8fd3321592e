"""A topic to publish to that somebody deletes under a running worker: named, and no event is blamed for it."""

from __future__ import annotations

from itertools import chain, repeat

import pytest

from caesura.worker.adapters.kafka.publisher import KafkaPublisher
from caesura.worker.adapters.kafka.settings import KafkaSettings
from caesura.worker.errors import AbortableError, BrokerError, FatalError
from caesura.worker.ports.records import OutMessage
from tests.harness.parts.kafka_part import Kafka, unique
from tests.harness.waiting import retried

_PATIENCE_S = 30.0


def test_after_a_refused_record_the_producer_checks_every_topic(kafka: Kafka) -> None:
    words, kept, going = (kafka.create_topic(name) for name in ("words", "kept", "going"))
    settings = KafkaSettings(bootstrap_servers=kafka.bootstrap, group_id=unique("group"))
    publisher = KafkaPublisher(settings, unique("worker"), words, outputs=(kept, going))
    publisher.init_transactions(_PATIENCE_S)
    try:
        _refused(publisher, kept)
        publisher.abort(_PATIENCE_S)
        kafka.admin.delete_topics([going])[going].result(30)
        _refused(publisher, kept)
        with pytest.raises(FatalError, match=going):
            _aborted(publisher)
    finally:
        publisher.close()


def _refused(publisher: KafkaPublisher, topic: str) -> None:
    """Publish what the broker does not take; the commit tells."""
    publisher.begin()
    publisher.publish(OutMessage(topic=topic, partition=0, key=b"key", value=b"x" * 2_000_000))
    with pytest.raises(AbortableError):
        publisher.commit(_PATIENCE_S)


def _aborted(publisher: KafkaPublisher) -> None:
    """Abort as the worker does: a producer that cannot be aborted is made anew, as long as brokers fail."""
    tries = chain([publisher.abort], repeat(publisher.rebuild))
    retried(lambda: next(tries)(_PATIENCE_S), despite=BrokerError, within_s=_PATIENCE_S, every_s=0.2)
