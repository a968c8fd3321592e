"""``caesura tail``: segments from a topic, rendered, as they become readable."""

from __future__ import annotations

import time
from typing import Annotated

import msgspec
import typer

from schemas.codec import decode_segment, decode_translation
from schemas.segments import Segment, TranslationSegment
from worker.adapters.kafka.topic_reader import KafkaReader, Start
from worker.commands.brokers import reached_brokers
from worker.commands.options import ConfigOption, SetOption, origin_of
from worker.core.rendering import Style, render_segment
from worker.errors import FatalError
from worker.ports.records import Record
from worker.settings.sources import meant
from worker.settings.tree import BrokerSettings

__all__ = ["line_of", "tail"]


def tail(
    config: ConfigOption = None,
    assignments: SetOption = None,
    *,
    route: Annotated[
        str | None, typer.Option(help="A translation route's target: show its topic, as it was rendered for it.")
    ] = None,
    style: Annotated[Style, typer.Option(help="How segments are rendered (a route's text stays as it is).")] = (
        Style.MARKED
    ),
    session: Annotated[str | None, typer.Option(help="This session alone.")] = None,
    from_start: Annotated[bool, typer.Option("--from-start", help="Everything that the topic holds.")] = False,
    follow: Annotated[bool, typer.Option(help="Go on waiting for more.")] = True,
    jsonl: Annotated[bool, typer.Option("--jsonl", help="Print each record as a line of JSON.")] = False,
) -> None:
    """Show segments as consumers read them: committed ones only.

    Each line has the time of the freeze, session and index, the cause, and the text.
    """
    settings = reached_brokers(origin_of(config, assignments))
    topic = _topic(settings, route)
    with KafkaReader(settings.kafka, topic) as reader:
        for record in reader.read(Start(at_end=not from_start), follow=follow):
            segment = _segment(record, translated=route is not None)
            if session is not None and segment.session != session:
                continue
            typer.echo(msgspec.json.encode(segment).decode() if jsonl else line_of(segment, style))


def line_of(segment: Segment, style: Style) -> str:
    """Return a segment as a line for people."""
    text = segment.text if isinstance(segment, TranslationSegment) else render_segment(segment, style).text
    frozen = time.strftime("%H:%M:%S", time.localtime(segment.timing.frozen_ms / 1000))
    closed = " (session closed)" if segment.session_end else ""
    return f"{frozen}  {segment.session} #{segment.index}  {segment.cause.value:9}  {text}{closed}"


def _topic(settings: BrokerSettings, target: str | None) -> str:
    worker = settings.worker
    if target is None:
        return worker.segment_topic
    route = worker.route(target)
    if route is None:
        names = [route.target for route in worker.routes]
        raise FatalError(f"there is no route {target!r}{meant(target, names)} (worker.routes: {', '.join(names)})")
    return route.topic


def _segment(record: Record, *, translated: bool) -> Segment:
    try:
        return (decode_translation if translated else decode_segment)(record.value or b"")
    except ValueError as error:
        raise FatalError(f"partition {record.partition} offset {record.offset} is no segment: {error}") from None
