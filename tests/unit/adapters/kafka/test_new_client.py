"""A client that cannot be made says which option is at fault, and quotes no value that may be a secret."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaException, Producer
from confluent_kafka.admin import AdminClient

from caesura.worker.adapters.kafka.end_probe import EndProbe
from caesura.worker.adapters.kafka.event_sender import KafkaSender
from caesura.worker.adapters.kafka.log_reader import KafkaLogReader
from caesura.worker.adapters.kafka.new_client import new_client
from caesura.worker.adapters.kafka.peer_transactions import KafkaPeerTransactions
from caesura.worker.adapters.kafka.producer_handle import ProducerHandle
from caesura.worker.adapters.kafka.publisher import KafkaPublisher
from caesura.worker.adapters.kafka.range_questions import RangeQuestions
from caesura.worker.adapters.kafka.settings import KafkaSettings
from caesura.worker.adapters.kafka.tentative_publisher import KafkaTentativePublisher
from caesura.worker.adapters.kafka.topic_reader import KafkaReader
from caesura.worker.adapters.kafka.topics import KafkaTopics
from caesura.worker.adapters.kafka.word_source import KafkaWordSource
from caesura.worker.errors import AbortableError, CaesuraError, FatalError
from caesura.worker.ports.records import OutMessage
from tests.harness.waiting import wait_until

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
    "peers' offsets": lambda: KafkaPeerTransactions(SETTINGS, "words").committed_offsets(1.0),
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


def test_a_value_refused_only_in_combination_is_not_quoted() -> None:
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
def test_a_reason_without_values_is_shown_unchanged(options: dict[str, Any], reason: str) -> None:
    assert reason in told(options)


def test_a_client_with_valid_options_is_made() -> None:
    client = new_client(Consumer, {"bootstrap.servers": "127.0.0.1:1", "group.id": "caesura", "log_level": 0})
    client.close()


TEXT = b"what was said"
PATIENCE_S = 20.0


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    """Nobody listens at the address: librdkafka says so, again and again."""
    logger = logging.getLogger("caesura.kafka")
    logger.disabled = True
    yield
    logger.disabled = False


def a_handle(queue_full_s: float = 0.2, **options: object) -> ProducerHandle:
    base: dict[str, object] = {"bootstrap.servers": "127.0.0.1:1", "logger": logging.getLogger("caesura.kafka")}
    return ProducerHandle(base | options, queue_full_s=queue_full_s)


def a_message() -> OutMessage:
    return OutMessage(topic="segments", partition=0, key=b"session", value=TEXT, headers=(("h", b"x"),))


def test_a_queue_that_stays_full_spoils_the_transaction_after_a_bounded_wait() -> None:
    handle = a_handle(**{"queue.buffering.max.messages": 1})
    handle.queue(a_message())
    with pytest.raises(AbortableError, match="segments: the local queue stays full") as refused:
        handle.queue(a_message())
    assert TEXT.decode() not in str(refused.value)
    handle.close()


def test_a_record_that_was_given_up_comes_back_from_the_next_call() -> None:
    handle = a_handle(**{"message.timeout.ms": 50})
    handle.queue(a_message())
    wait_until(lambda: handle.refused, within_s=PATIENCE_S, every_s=0, meanwhile=lambda: handle.live.poll(0.05))
    with pytest.raises(AbortableError, match="segments: _MSG_TIMED_OUT") as refused:
        handle.queue(a_message())
    assert TEXT.decode() not in str(refused.value)
    handle.forget_refused()
    handle.queue(a_message())
    handle.close()


def test_records_that_are_purged_were_not_refused() -> None:
    handle = a_handle()
    handle.queue(a_message())
    handle.live.purge()
    handle.live.poll(0.1)
    assert not handle.refused
    handle.close()


def test_a_producer_with_undeliverable_records_is_let_go_at_once() -> None:
    handle = a_handle()
    handle.queue(a_message())
    handle.close()
    handle.close()
    with pytest.raises(FatalError, match="closed"):
        handle.queue(a_message())


def test_a_producer_that_is_made_anew_takes_records_again() -> None:
    handle = a_handle(**{"queue.buffering.max.messages": 1})
    handle.queue(a_message())
    handle.remake()
    handle.queue(a_message())
    handle.close()


def test_options_that_librdkafka_refuses_are_fatal_and_named() -> None:
    with pytest.raises(FatalError, match=r"no\.such\.option"):
        a_handle(**{"no.such.option": 1})
