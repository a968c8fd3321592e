"""The demo on a page: the script over and over through the embedded parts, watched as ``caesura view`` watches."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager

import msgspec

from caesura.schemas.codec import encode_event
from caesura.worker.adapters.kafka.event_sender import KafkaSender
from caesura.worker.adapters.kafka.topic_reader import Start
from caesura.worker.adapters.system_clock import SystemClock
from caesura.worker.demo.embedded import Cast, embedded_parts
from caesura.worker.demo.script import events
from caesura.worker.demo.show import await_worker
from caesura.worker.service.server.server import listening
from caesura.worker.service.watch.topic_watch import WatchedTopics
from caesura.worker.service.watch.watch_service import WatchService

_BREAK_S = 4.0


def run_web_demo(
    *,
    speed: float,
    port: int,
    tell: Callable[[str], None],
    parts: Callable[[], AbstractContextManager[Cast]] = embedded_parts,
) -> None:
    """Show the demo on a page until Ctrl-C. FatalError where the port cannot be had.

    Where the worker or the speakers fail it ends, too, and raises what they raised.
    """
    with parts() as cast:
        await_worker(cast)
        serve = dataclasses.replace(cast.settings.serve, port=port)
        settings = dataclasses.replace(cast.settings, serve=serve)
        worker = settings.worker
        service = WatchService(
            settings=settings,
            topics=WatchedTopics(segments=worker.segment_topic, words=worker.input_topic, tentative=None),
            clock=SystemClock(),
            start=Start(),
        )
        listener = listening(serve)
        stopping = threading.Event()
        speaking = threading.Thread(target=_speak, args=(cast, speed, stopping), name="speakers", daemon=True)
        tell(cast.parts)
        tell(f"open {listener.url} in a browser; Ctrl-C ends it")
        speaking.start()
        try:
            service.run(listener, stop=cast.stop_on_fault)
        finally:
            stopping.set()
            speaking.join()
        cast.check()


def _speak(cast: Cast, speed: float, stopping: threading.Event) -> None:
    try:
        _send_script(cast, speed, stopping)
    except Exception as error:  # noqa: BLE001 - whatever ends this thread ends the demo, which says it
        cast.fail(error)


def _send_script(cast: Cast, speed: float, stopping: threading.Event) -> None:
    """Send the script again and again, each time by others of the same name."""
    worker = cast.settings.worker
    rounds = 0
    with KafkaSender(cast.settings.kafka, worker.input_topic, worker.partitioner.place) as sender:
        while not stopping.is_set():
            rounds += 1
            at_ms = 0
            for timed in events():
                if stopping.wait(max(0, timed.at_ms - at_ms) / 1000 / speed):
                    return
                at_ms = timed.at_ms
                name = timed.event.session if rounds == 1 else f"{timed.event.session} {rounds}"
                sender.send(name.encode(), encode_event(msgspec.structs.replace(timed.event, session=name)))
            stopping.wait(_BREAK_S)
