"""The producer handle without any broker: a queue that stays full, a record that is given up, a producer let go."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest

from caesura.worker.adapters.kafka.producer_handle import ProducerHandle
from caesura.worker.errors import AbortableError, FatalError
from caesura.worker.ports.records import OutMessage
from tests.harness.waiting import wait_until

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


def test_a_producer_with_records_that_nobody_takes_is_let_go_at_once() -> None:
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
