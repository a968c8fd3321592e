"""Questions to a broker that accepts connections and says nothing: the loop is not held up by another thread's."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import closing

import pytest

from caesura.worker.adapters.kafka.range_questions import RangeQuestions
from caesura.worker.adapters.kafka.settings import KafkaSettings
from caesura.worker.errors import BrokerError, FatalError

_SHORT_S, _LONG_S = 0.2, 2.0


@pytest.fixture
def silent() -> Iterator[socket.socket]:
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        yield server


def _no_answer(questions: RangeQuestions) -> None:
    with pytest.raises(BrokerError):
        questions.bounds("words", 0, _SHORT_S, "asking")


def _closes(questions: RangeQuestions) -> None:
    questions.close()
    with pytest.raises(FatalError, match="closed"):
        questions.bounds("words", 0, _SHORT_S, "asking")


@pytest.mark.parametrize("lets_go", [_no_answer, _closes])
def test_who_lets_go_of_the_client_waits_for_no_question_of_another_thread(
    silent: socket.socket, lets_go: Callable[[RangeQuestions], None]
) -> None:
    host, port = silent.getsockname()
    questions = RangeQuestions(KafkaSettings(bootstrap_servers=f"{host}:{port}"), "read_committed")
    with ThreadPoolExecutor(max_workers=1) as beside:
        asked = beside.submit(questions.bounds, "words", 0, _LONG_S, "asking")
        with silent.accept()[0]:
            lets_go(questions)
            assert not wait([asked], _SHORT_S).done
            with pytest.raises(BrokerError):
                asked.result()
