"""Runs the demo: sends the script at the pace of speech, reads the captions, draws both; ends by itself."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator
from contextlib import ExitStack

from rich.console import Console
from rich.live import Live

from caesura.schemas.codec import decode_translation, encode_event
from caesura.schemas.segments import TranslationSegment
from caesura.worker.adapters.kafka.event_sender import KafkaSender
from caesura.worker.adapters.kafka.topic_reader import KafkaReader, Start
from caesura.worker.demo.embedded import Cast, embedded_parts
from caesura.worker.demo.script import TARGET, events
from caesura.worker.demo.stage import Stage
from caesura.worker.demo.view import picture, plain_lines
from caesura.worker.errors import FatalError
from caesura.worker.ports.records import Record

_JOIN_WITHIN_S = 20.0
_END_WITHIN_S = 45.0
_FRAME_S = 0.05
_BELOW_LINES = 4  # the summary, and the prompt of the shell


def run_demo(console: Console, *, speed: float = 1.0) -> None:
    """Show the demo; FatalError where the words published are not those heard, or where it does not end in time."""
    with ExitStack() as stack:
        with console.status("starting a mock Kafka, a redis-server and a worker"):
            cast = stack.enter_context(embedded_parts())
            await_worker(cast)
        stage = Stage(timed.event for timed in events())
        live = None
        if console.is_terminal:
            live = stack.enter_context(Live(console=console, auto_refresh=False, transient=True))
        else:
            console.print(cast.parts, soft_wrap=True)
        began_s = time.monotonic()
        for segment in _play(cast, stage, speed, live):
            if live is None:
                for line in plain_lines(segment, time.monotonic() - began_s):
                    console.print(line, markup=False, highlight=False, soft_wrap=True)
        if live is not None:
            live.stop()
            height = console.height - _BELOW_LINES  # all of it stays on the screen, its head too
            console.print(picture(stage, cast.parts, width=console.width, height=height))
    if faults := stage.faults():
        raise FatalError(f"the words published are not the words heard: {', '.join(faults)}")
    console.print(stage.summary(), style="bold", soft_wrap=not console.is_terminal)


def await_worker(cast: Cast) -> None:
    """Wait until the demo's worker holds all partitions. FatalError where it never does."""
    deadline_s = time.monotonic() + _JOIN_WITHIN_S
    while not cast.joined.wait(0.1):
        cast.check()
        if time.monotonic() > deadline_s:
            raise FatalError(f"the demo's worker did not join its group within {_JOIN_WITHIN_S:g} s")


def _play(cast: Cast, stage: Stage, speed: float, live: Live | None) -> Iterator[TranslationSegment]:
    """Send each event when its time has come, and yield each caption as it becomes readable."""
    worker = cast.settings.worker
    route = worker.route(TARGET)
    assert route is not None
    script = deque(events())
    with (
        KafkaReader(cast.settings.kafka, route.topic) as reader,
        KafkaSender(cast.settings.kafka, worker.input_topic, worker.partitioner.place) as sender,
    ):
        reader.assign(Start())
        began_s = time.monotonic()
        while script or not stage.ended:
            cast.check()
            elapsed_s = time.monotonic() - began_s
            if elapsed_s > _END_WITHIN_S:
                raise FatalError(f"the demo did not end within {_END_WITHIN_S:g} s")
            while script and script[0].at_ms <= elapsed_s * 1000 * speed:
                event = script.popleft().event
                sender.send(event.session.encode(), encode_event(event))
                stage.hear(event)
            came = reader.poll(_FRAME_S)
            if isinstance(came, Record):
                segment = decode_translation(came.value or b"")
                stage.publish(segment)
                yield segment
            if live is not None:
                width, height = live.console.size
                live.update(picture(stage, cast.parts, width=width, height=height), refresh=True)
