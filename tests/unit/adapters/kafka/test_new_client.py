"""A client that cannot be made says which option is at fault, and quotes no value that may be a secret."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaException, Producer
from confluent_kafka.admin import AdminClient

from caesura.worker.adapters.kafka.end_probe import EndProbe
from caesura.worker.adapters.kafka.event_sender import KafkaSender
from caesura.worker.adapters.kafka.log_reader import KafkaLogReader
from caesura.worker.adapters.kafka.new_client import new_client
from caesura.worker.adapters.kafka.peer_transactions import KafkaPeerTransactions
from caesura.worker.adapters.kafka.publisher import KafkaPublisher
from caesura.worker.adapters.kafka.range_questions import RangeQuestions
from caesura.worker.adapters.kafka.settings import KafkaSettings
from caesura.worker.adapters.kafka.tentative_publisher import KafkaTentativePublisher
from caesura.worker.adapters.kafka.topic_reader import KafkaReader
from caesura.worker.adapters.kafka.topics import KafkaTopics
from caesura.worker.adapters.kafka.word_source import KafkaWordSource
from caesura.worker.errors import CaesuraError
from caesura.worker.ports.records import OutMessage

SECRET = "hunter2secret"
SETTINGS = KafkaSettings(bootstrap_servers="127.0.0.1:1", extra={"debug": SECRET})
MESSAGE = OutMessage(topic="words", partition=0, key=None, value=None)

CLIENTS: dict[str, Callable[[], object]] = {
    "administrator": lambda: KafkaTopics(SETTINGS),
    "group member": lambda: KafkaWordSource(SETTINGS, "words", "claims"),
    "transactional producer": lambda: KafkaPublisher(SETTINGS, "worker-0", "words"),
    "producer of unfrozen words": lambda: KafkaTentativePublisher(SETTINGS, "tentative"),
    "reader": lambda: KafkaReader(SETTINGS, "words"),
    "sender": lambda: KafkaSender(SETTINGS, "words", lambda key, count: len(key) % count),
    "log reader": lambda: list(KafkaLogReader(SETTINGS).read("ledger", 0, 0, 1, 1.0)),
    "probe": lambda: EndProbe(SETTINGS).write(MESSAGE, 1.0),
    "questions": lambda: RangeQuestions(SETTINGS, "read_committed").bounds("words", 0, 1.0, "asking"),
    "peers' offsets": lambda: KafkaPeerTransactions(SETTINGS, "words").committed_metadata(1.0),
}


def told(options: dict[str, Any], kind: Callable[[dict[str, Any]], object] = Consumer) -> str:
    with pytest.raises(KafkaException) as refused:
        new_client(kind, {"bootstrap.servers": "127.0.0.1:1", "group.id": "caesura", "log_level": 0} | options)
    assert refused.value.__context__ is None
    return str(refused.value.args[0].str())


@pytest.mark.parametrize("name", CLIENTS)
def test_no_part_of_the_worker_quotes_a_value_of_the_further_options(name: str) -> None:
    with pytest.raises(CaesuraError) as refused:
        CLIENTS[name]()
    assert "debug of kafka.extra" in str(refused.value)
    error: BaseException | None = refused.value
    while error is not None:
        assert SECRET not in str(error)
        error = error.__cause__ or error.__context__


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("client.dns.lookup", SECRET),
        ("debug", f"all,{SECRET} and more"),
        ("debug", SECRET * 50),
        ("plugin.library.paths", f"/lib/{SECRET}"),
        ("plugin.library.paths", SECRET * 50),
        ("topic.blacklist", f"^{SECRET}(,^b"),
    ],
)
@pytest.mark.parametrize("kind", [Consumer, Producer, AdminClient])
def test_a_value_that_librdkafka_quotes_is_replaced_by_the_options_name(
    kind: Callable[[dict[str, Any]], object], option: str, value: str
) -> None:
    said = told({option: value, "client.rack": "a rack that is not at fault"}, kind)
    assert f"cannot use {option} of kafka.extra" in said
    assert SECRET not in said


def test_a_value_that_is_refused_only_when_all_is_put_together_is_not_quoted_either() -> None:
    said = told({"security.protocol": "SSL", "ssl.providers": SECRET})
    assert "cannot use ssl.providers of kafka.extra" in said
    assert SECRET not in said


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"no.such.option": SECRET}, 'No such configuration property: "no.such.option"'),
        ({"statistics.interval.ms": "-5"}, 'property "statistics.interval.ms" value -5 is outside allowed range'),
        ({"socket.keepalive.enable": SECRET}, 'Expected bool value for "socket.keepalive.enable": true or false'),
        ({"socket.keepalive.enable": "x", "enable.random.seed": "true"}, "true or false"),
        ({"security.protocol": "SSL", "ssl.ca.location": "/no/such.pem", "client.rack": "0"}, "ssl.ca.location"),
    ],
)
def test_a_reason_that_quotes_none_is_said_as_it_is(options: dict[str, Any], reason: str) -> None:
    assert reason in told(options)


def test_a_client_that_can_be_made_is() -> None:
    client = new_client(Consumer, {"bootstrap.servers": "127.0.0.1:1", "group.id": "caesura", "log_level": 0})
    client.close()
