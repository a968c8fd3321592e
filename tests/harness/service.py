"""A word service on a free port, in a thread of this process; and what a client of it sees."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from prometheus_client.parser import text_string_to_metric_families
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from caesura.worker.adapters.memory.engine import ScriptedEngine, marked_words
from caesura.worker.adapters.system_clock import SystemClock
from caesura.worker.core.language.rules import DecodingRules
from caesura.worker.ports.engine import Engine
from caesura.worker.runtime.settings.settings import RuntimeSettings
from caesura.worker.service.clients.word_service import WordService
from caesura.worker.service.server.server import listening
from caesura.worker.settings.serving import ServeSettings
from caesura.worker.settings.tree import LocalSettings

ANSWER_WITHIN_S = 60.0
Message = dict[str, Any]


@dataclass(kw_only=True)
class Served:
    """A running service. url: of the page. done: set when it has ended."""

    url: str
    stops: list[Callable[[], None]]
    done: threading.Event
    status: list[int] = field(default_factory=list)
    fault: list[BaseException] = field(default_factory=list)

    def stop(self) -> None:
        """Stop it as SIGTERM does."""
        self.stops[0]()

    @property
    def words(self) -> str:
        """Return the address of the WebSocket."""
        return self.url.replace("http", "ws", 1) + "v1/words"


@contextmanager
def serving(
    settings: ServeSettings | None = None,
    *,
    engine: Engine | None = None,
    rules: DecodingRules | None = None,
    worker: RuntimeSettings | None = None,
) -> Iterator[Served]:
    """Run a service; stopped at the end of the block, if it has not ended before."""
    chosen = settings or ServeSettings(port=0, drain_timeout_s=5)
    rules = rules or DecodingRules(flush_after_ms=60_000, stall_after_ms=60_000)
    local = LocalSettings(worker=worker or RuntimeSettings(), serve=chosen, decoding=rules)
    listener = listening(chosen)
    ready, stops = threading.Event(), list[Callable[[], None]]()
    served = Served(url=listener.url, stops=stops, done=threading.Event())

    def take(stop: Callable[[], None]) -> None:
        stops.append(stop)
        ready.set()

    def run() -> None:
        service = WordService(settings=local, engine=engine or ScriptedEngine(script=marked_words), clock=SystemClock())
        try:
            served.status.append(service.run(listener, stop=take))
        except BaseException as error:  # noqa: BLE001 - the test looks at it
            served.fault.append(error)
        finally:
            served.done.set()

    thread = threading.Thread(target=run, name="service", daemon=True)
    thread.start()
    assert ready.wait(ANSWER_WITHIN_S)
    try:
        yield served
    finally:
        if not served.done.is_set():
            served.stop()
        thread.join(ANSWER_WITHIN_S)
        listener.socket.close()
        assert not thread.is_alive()


@contextmanager
def opened(
    served: Served, opening: Mapping[str, object] | None = None, *, headers: Mapping[str, str] | None = None
) -> Iterator[ClientConnection]:
    """Connect and send an opening; the answer is not read."""
    with connect(
        served.words, additional_headers=dict(headers or {}), proxy=None, open_timeout=ANSWER_WITHIN_S, max_size=None
    ) as client:
        with suppress(ConnectionClosed):  # by a service that let nobody in; the test reads why
            client.send(json.dumps(dict(opening or {})))
        yield client


def received(client: ClientConnection, until: str) -> list[Message]:
    """Return the messages up to the first of a type, that one included."""
    messages: list[Message] = []
    while not messages or messages[-1]["type"] != until:
        messages.append(json.loads(client.recv(timeout=ANSWER_WITHIN_S)))
    return messages


def close_of(client: ClientConnection) -> tuple[int, str]:
    """Read on until the server closes; return its code and reason."""
    with suppress(ConnectionClosed):
        while True:
            client.recv(timeout=ANSWER_WITHIN_S)
    assert client.close_code is not None
    return client.close_code, client.close_reason or ""


def texts(messages: Iterable[Message]) -> list[str]:
    """Return the words of the segments among messages."""
    return [word["text"] for one in messages if one["type"] == "segment" for word in one["segment"]["words"]]


def closing_of(served: Served, opening: dict[str, object], **headers: str) -> tuple[int, str]:
    """Return the code and reason with which a connection is closed that says no more than its opening."""
    with opened(served, opening, headers=headers) as client:
        return close_of(client)


def fetched(served: Served, path: str, **headers: str) -> tuple[int, str, str]:
    """Return status, content security policy and body of the answer to a plain request."""
    with closing(http.client.HTTPConnection(served.url.split("/")[2], timeout=ANSWER_WITHIN_S)) as connection:
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        return answer.status, answer.headers.get("Content-Security-Policy", ""), answer.read().decode()


def counted(served: Served) -> dict[str, float]:
    """Return what the page for Prometheus counts; what is 0 is left out."""
    status, _, text = fetched(served, "/metrics")
    assert status == 200
    samples = [sample for family in text_string_to_metric_families(text) for sample in family.samples]
    return {f"{one.name}{sorted(one.labels.values())}": one.value for one in samples if one.value}
