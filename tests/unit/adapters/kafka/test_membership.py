"""When a commit in the name of a member would be fenced by the brokers, and when not."""

from __future__ import annotations

import struct
import threading
from dataclasses import dataclass

import pytest
from confluent_kafka import OFFSET_BEGINNING, OFFSET_END, Consumer, KafkaError, KafkaException, TopicPartition

from caesura.worker.adapters.kafka.end_questions import EndQuestions, HeardEnd
from caesura.worker.adapters.kafka.membership import KafkaMembership
from caesura.worker.adapters.kafka.producer_handle import returns_within
from caesura.worker.adapters.kafka.settings import KafkaSettings
from caesura.worker.errors import FatalError
from tests.harness.waiting import wait_until


def metadata(generation: int, member_id: str, *, magic: bytes = b"CGMDv2:") -> bytes:
    return magic + struct.pack("=i", generation) + b"group\0" + member_id.encode() + b"\0\1"


@pytest.mark.parametrize(
    ("generation", "member_id", "current"),
    [(1, "member", True), (0, "member", True), (-1, "member", False), (3, "", False), (-1, "", False)],
)
def test_a_member_is_current_with_a_generation_and_an_id(generation: int, member_id: str, *, current: bool) -> None:
    membership = KafkaMembership.parse(metadata(generation, member_id))
    assert (membership.generation, membership.member_id) == (generation, member_id)
    assert membership.current is current


def test_a_client_that_never_joined_is_not_current() -> None:
    assert not KafkaMembership.parse(None).current


def test_an_unknown_format_is_refused_and_not_taken_for_current() -> None:
    for unknown in (metadata(1, "member", magic=b"CGMDv3:"), b"", b"CGMDv2:"):
        with pytest.raises(FatalError, match="not known"):
            KafkaMembership.parse(unknown)


def test_the_installed_librdkafka_writes_the_parsed_format() -> None:
    consumer = Consumer({"bootstrap.servers": "127.0.0.1:1", "group.id": "a group", "log_level": 0})
    membership = KafkaMembership.parse(consumer.consumer_group_metadata())
    consumer.close()
    assert (membership.generation, membership.current) == (-1, False)


_WITHIN_S = 10.0


_END, _NEWEST, _START = OFFSET_END, -3, OFFSET_BEGINNING
_UNSUPPORTED = KafkaError(KafkaError.UNSUPPORTED_VERSION)
_MOVED = KafkaError(KafkaError.NOT_LEADER_FOR_PARTITION)


class _Client:
    """Raises what it is given, once; then it answers each kind of question as it is told, an offset or an error."""

    def __init__(self, *errors: Exception, answers: dict[int, int | KafkaError] | None = None) -> None:
        self.errors = list(errors)
        self.answers: dict[int, int | KafkaError] = {_END: 7, _NEWEST: 6, _START: 0, **(answers or {})}

    def offsets_for_times(self, places: list[TopicPartition], timeout_s: float) -> list[TopicPartition]:
        del timeout_s
        if self.errors:
            raise self.errors.pop()
        return [self._answered(one) for one in places]

    def _answered(self, asked: TopicPartition) -> TopicPartition:
        answer = self.answers[asked.offset]
        if isinstance(answer, int):
            return TopicPartition(asked.topic, asked.partition, answer)
        return _Refused(asked.partition, answer)  # type: ignore[return-value]


@dataclass
class _Refused:
    partition: int
    error: KafkaError
    offset: int = -1


def _heard(questions: EndQuestions) -> HeardEnd:
    return wait_until(questions.take, "nobody was asked", within_s=_WITHIN_S, every_s=0.01)[0]


@pytest.mark.parametrize(
    "error",
    [KafkaException(KafkaError(KafkaError._TIMED_OUT)), RuntimeError("Consumer closed"), MemoryError()],
    ids=["Kafka's", "a client that is closed", "no memory"],
)
def test_after_a_question_that_failed_in_any_way_the_leader_is_asked_again(
    monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    client = _Client(error)
    monkeypatch.setattr("caesura.worker.adapters.kafka.end_questions.Consumer", lambda _: client)
    questions = EndQuestions(KafkaSettings(bootstrap_servers="nobody:9"), "words")
    questions.ask({0: 5}, lambda _: 1, 0.1)
    first = _heard(questions)
    assert (first.end, bool(first.failure)) == (None, True)
    questions.ask({0: 5}, lambda _: 1, 0.1)
    assert _heard(questions).end == 7
    questions.close()


@pytest.mark.parametrize(
    ("answers", "end", "fails"),
    [
        ({_NEWEST: 6}, 7, False),
        ({_NEWEST: -1}, None, False),
        ({_NEWEST: 7}, None, False),
        ({_END: 0, _NEWEST: -1, _START: 0}, 0, False),
        ({_END: 7, _NEWEST: -1, _START: 7}, 7, False),
        ({_NEWEST: _UNSUPPORTED}, 7, False),
        ({_NEWEST: _MOVED}, None, True),
        ({_NEWEST: -1, _START: _MOVED}, None, False),
    ],
    ids=[
        "the newest is shown",
        "the newest is not shown yet",
        "more came between the questions",
        "a log that was always empty",
        "a log that retention emptied",
        "a broker that does not know the question",
        "a leader that moved between the questions",
        "a leader that moved before the last one",
    ],
)
def test_an_end_counts_where_the_newest_record_lies_before_it(
    monkeypatch: pytest.MonkeyPatch, answers: dict[int, int | KafkaError], end: int | None, *, fails: bool
) -> None:
    client = _Client(answers=answers)
    monkeypatch.setattr("caesura.worker.adapters.kafka.end_questions.Consumer", lambda _: client)
    questions = EndQuestions(KafkaSettings(bootstrap_servers="nobody:9"), "words")
    questions.ask({0: 5}, lambda _: 1, 0.1)
    heard = _heard(questions)
    assert (heard.end, bool(heard.failure)) == (end, fails)
    questions.close()


def test_a_call_that_returns_in_time_is_awaited() -> None:
    done: list[str] = []

    assert returns_within(30.0, lambda: done.append("done"))
    assert done == ["done"]


def test_a_calls_error_is_raised_to_its_waiter() -> None:
    def refuse() -> None:
        raise KeyError("refused")

    with pytest.raises(KeyError, match="refused"):
        returns_within(30.0, refuse)


def test_a_call_that_does_not_come_back_is_left_to_itself() -> None:
    may_end, has_ended = threading.Event(), threading.Event()

    def hang() -> None:
        may_end.wait()
        has_ended.set()

    assert not returns_within(0.01, hang)
    assert not has_ended.is_set()
    may_end.set()
    assert has_ended.wait(30.0)
