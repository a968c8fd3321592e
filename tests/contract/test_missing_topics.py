"""A topic that is missing is said to be, and does not come into being by the question."""

from __future__ import annotations

from contextlib import closing

import pytest
from confluent_kafka.admin import AdminClient

from caesura.worker.adapters.kafka.publisher import KafkaPublisher
from caesura.worker.adapters.kafka.settings import KafkaSettings
from caesura.worker.errors import BrokerError, FatalError
from tests.harness.group_member import PATIENCE_S
from tests.harness.parts.kafka_broker import KafkaProcess, require_jars
from tests.harness.parts.kafka_part import create_topics

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(240)]


def test_a_cluster_that_makes_topics_on_request_makes_none_of_ours() -> None:
    require_jars("a broker of our own")
    with closing(KafkaProcess(settings="auto.create.topics.enable=true\n")) as broker:
        broker.start()
        admin = AdminClient({"bootstrap.servers": broker.bootstrap})
        create_topics(admin, broker.bootstrap, {"words": {}}, 3, replicas=1)
        settings = KafkaSettings(bootstrap_servers=broker.bootstrap)
        with closing(KafkaPublisher(settings, "worker", "words", outputs=["nobody.made.it"])) as publisher:
            for _ in range(3):
                with pytest.raises((BrokerError, FatalError), match=r"there is no topic nobody\.made\.it"):
                    publisher.init_transactions(PATIENCE_S)
        assert "nobody.made.it" not in admin.list_topics(timeout=PATIENCE_S).topics
