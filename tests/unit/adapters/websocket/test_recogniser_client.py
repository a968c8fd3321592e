"""Which connections of a recogniser's count as found, and when one is given up."""

from __future__ import annotations

import itertools
import time

import pytest

pytest.importorskip("websockets")

from caesura.worker.adapters.websocket import recogniser_client
from caesura.worker.adapters.websocket.recogniser_client import RecogniserClient, Reconnected
from caesura.worker.errors import RetriableError
from tests.harness.recogniser import PingCounting, serving


def test_a_server_that_closes_each_connection_at_once_is_given_up_and_its_code_is_said() -> None:
    with serving(lambda connection: connection.close(1008, "no more money")) as url:
        messages = RecogniserClient(url=url, reconnect_for_s=1.0).messages()
        with pytest.raises(RetriableError, match=r"could not be reached for 1 s: .* \(close code 1008\)") as told:
            list(itertools.islice(messages, 20))  # it was sought for ever
    assert "money" not in str(told.value)


@pytest.mark.parametrize("speaks", [True, False])
def test_a_server_that_speaks_or_stays_before_it_breaks_off_is_sought_anew(
    speaks: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recogniser_client, "_LONGEST_WAIT_S", 0.2)
    monkeypatch.setattr(recogniser_client, "_FIRST_WAIT_S", 0.2)
    connections: list[PingCounting] = []

    def speak(connection: PingCounting) -> None:
        connections.append(connection)
        if speaks:
            connection.send("so")
        else:
            time.sleep(0.4)
        connection.close(1000 if len(connections) == 6 else 1011)

    with serving(speak) as url:
        told = list(RecogniserClient(url=url, reconnect_for_s=0.6).messages())
    assert [one for one in told if one != "so"] == [Reconnected()] * 5
    assert [one for one in told if one == "so"] == ["so"] * (6 if speaks else 0)
