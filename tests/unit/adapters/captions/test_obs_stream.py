"""Captions into OBS, as its WebSocket server asks for them."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

pytest.importorskip("websockets")

from caesura.worker.adapters.captions.obs_stream import ObsStream
from caesura.worker.embedded.guarded_process import free_port
from caesura.worker.errors import FatalError, RetriableError
from tests.harness.meeting import PASSWORD, Obs, obs_streaming


@pytest.fixture
def obs() -> Obs:
    return Obs()


@pytest.fixture
def address(obs: Obs) -> Iterator[str]:
    with obs_streaming(obs) as running:
        yield running


def test_captions_are_sent_over_one_connection_with_the_proof_of_the_password(obs: Obs, address: str) -> None:
    stream = ObsStream(address, password=PASSWORD)
    stream.post("So we begin.")
    stream.post("Two\nlines.")
    stream.close()
    assert (obs.shown, obs.connections) == (["So we begin.", "Two\nlines."], 1)


def test_a_stream_that_is_opened_sends_its_captions_over_that_connection(obs: Obs, address: str) -> None:
    stream = ObsStream(address, password=PASSWORD)
    stream.open()
    assert (obs.shown, obs.connections) == ([], 1)
    stream.post("one")
    stream.close()
    assert (obs.shown, obs.connections) == (["one"], 1)


def test_a_wrong_password_is_told_before_the_first_caption(address: str) -> None:
    with pytest.raises(FatalError, match="OBS refuses the password"):
        ObsStream(address, password="wrong").open()


def test_an_obs_that_comes_up_later_is_reached_with_a_caption(obs: Obs) -> None:
    port = free_port()
    stream = ObsStream(f"ws://127.0.0.1:{port}", password=PASSWORD)
    with pytest.raises(RetriableError, match="OBS does not answer"):
        stream.open()
    with obs_streaming(obs, port):
        stream.post("one")
        stream.close()
    assert (obs.shown, obs.connections) == (["one"], 1)


def test_a_lost_connection_is_made_again_for_the_caption_that_finds_it_so(obs: Obs, address: str) -> None:
    obs.hangs_up_after = 1
    stream = ObsStream(address, password=PASSWORD)
    for text in ("one", "two", "three"):
        stream.post(text)
    stream.close()
    assert (obs.shown, obs.connections) == (["one", "two", "three"], 3)


def test_an_obs_that_hangs_up_on_the_new_connection_too_took_no_caption(obs: Obs, address: str) -> None:
    obs.hangs_up_after = 1
    stream = ObsStream(address, password=PASSWORD)
    stream.post("one")
    obs.hangs_up_at_once = True
    with pytest.raises(RetriableError, match="OBS closed the connection"):
        stream.post("two")
    obs.hangs_up_at_once = False
    stream.post("three")
    stream.close()
    assert (obs.shown, obs.connections) == (["one", "three"], 3)


def test_a_wrong_password_is_fatal_and_not_quoted(address: str) -> None:
    with pytest.raises(FatalError, match="OBS refuses the password") as refused:
        ObsStream(address, password="wrong").post("one")
    assert "wrong" not in str(refused.value)


def test_a_caption_without_a_running_stream_is_refused(obs: Obs, address: str) -> None:
    obs.streaming = False
    stream = ObsStream(address, password=PASSWORD)
    with pytest.raises(RetriableError, match="no stream is running"):
        stream.post("one")
    stream.close()


@pytest.mark.parametrize(
    "said",
    [
        "So we begin.",
        "[]",
        "3",
        '{"op": 7, "d": [1]}',
        '{"op": 7, "d": {"requestId": "1", "requestStatus": 3}}',
        "[" * 100_000,
        b"\xff",
    ],
    ids=["text", "list", "number", "data", "status", "depth", "bytes"],
)
def test_an_answer_outside_the_protocol_is_no_caption_taken(obs: Obs, address: str, said: str | bytes) -> None:
    obs.says = [said]
    stream = ObsStream(address, password=PASSWORD)
    with pytest.raises(RetriableError, match="none of its protocol"):
        stream.post("one")
    obs.says = []
    stream.post("two")
    assert (obs.shown, obs.connections) == (["two"], 2)
    stream.close()


def test_an_answer_without_a_status_is_no_caption_taken(obs: Obs, address: str) -> None:
    obs.says = ['{"op": 7, "d": {"requestId": "1"}}']
    stream = ObsStream(address, password=PASSWORD)
    with pytest.raises(RetriableError, match="OBS took no caption"):
        stream.post("one")
    stream.close()


def test_other_messages_do_not_put_off_the_time_by_which_it_must_have_answered(obs: Obs, address: str) -> None:
    obs.says, obs.every_s = ['{"op": 5, "d": {}}'] * 40, 0.1
    stream = ObsStream(address, password=PASSWORD, timeout_s=0.5)
    began_s = time.monotonic()
    with pytest.raises(RetriableError, match="OBS does not answer"):
        stream.post("one")
    assert time.monotonic() - began_s < 3


@pytest.mark.parametrize("address", ["http://localhost:4455", "ws://localhost:port", "localhost"])
def test_an_invalid_websocket_address_is_fatal(address: str) -> None:
    with pytest.raises(FatalError, match="an address such as ws://localhost:4455"):
        ObsStream(address).post("one")


def test_a_caption_without_obs_is_refused() -> None:
    with pytest.raises(RetriableError, match="OBS does not answer"):
        ObsStream("ws://127.0.0.1:1").post("one")
