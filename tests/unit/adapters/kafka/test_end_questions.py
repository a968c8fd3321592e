"""Whatever happens to a question to a leader, the next one is asked."""

from __future__ import annotations

import pytest
from confluent_kafka import KafkaError, KafkaException, TopicPartition

from tests.harness.waiting import wait_until
from worker.adapters.kafka.end_questions import EndQuestions, HeardEnd
from worker.adapters.kafka.settings import KafkaSettings

_WITHIN_S = 10.0


class _Client:
    """Raises what it is given, once; then it knows the end."""

    def __init__(self, error: Exception) -> None:
        self.errors = [error]

    def offsets_for_times(self, places: list[TopicPartition], timeout_s: float) -> list[TopicPartition]:
        del timeout_s
        if self.errors:
            raise self.errors.pop()
        return [TopicPartition(one.topic, one.partition, 7) for one in places]


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
    monkeypatch.setattr("worker.adapters.kafka.end_questions.Consumer", lambda _: client)
    questions = EndQuestions(KafkaSettings(bootstrap_servers="nobody:9"), "words")
    questions.ask({0: 5}, lambda _: 1, 0.1)
    first = _heard(questions)
    assert (first.end, bool(first.failure)) == (None, True)
    questions.ask({0: 5}, lambda _: 1, 0.1)
    assert _heard(questions).end == 7
    questions.close()
