"""Questions of two threads share a client, which one of them may let go of while the other still asks."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from confluent_kafka import KafkaException

from caesura.worker.adapters.kafka.range_questions import RangeQuestions
from caesura.worker.adapters.kafka.settings import KafkaSettings
from caesura.worker.errors import BrokerError, FatalError

_WAIT_S = 0.1


def _no_answer(questions: RangeQuestions) -> None:
    with pytest.raises(BrokerError):
        questions.bounds("words", 0, _WAIT_S, "asking")


def _closes(questions: RangeQuestions) -> None:
    questions.close()
    with pytest.raises(FatalError, match="closed"):
        questions.bounds("words", 0, _WAIT_S, "asking")


@pytest.mark.parametrize("lets_go", [_no_answer, _closes])
def test_a_client_that_is_let_go_still_serves_who_asks_with_it(lets_go: Callable[[RangeQuestions], None]) -> None:
    questions = RangeQuestions(KafkaSettings(bootstrap_servers="127.0.0.1:1"), "read_committed")
    client = questions._made("asking")
    lets_go(questions)
    with pytest.raises(KafkaException):  # a client that is closed raises RuntimeError
        client.list_topics(timeout=_WAIT_S)
