"""``caesura view``: a live page of what a cluster's topics say."""

from __future__ import annotations

from typing import Annotated

import typer

from caesura.worker.adapters.kafka.topic_reader import Start
from caesura.worker.adapters.system_clock import SystemClock
from caesura.worker.commands.brokers import reached_brokers
from caesura.worker.commands.options import ConfigOption, SetOption, origin_of
from caesura.worker.commands.serve import needs_web, serve_assignments
from caesura.worker.commands.terminal import echo

__all__ = ["view"]


def view(
    config: ConfigOption = None,
    assignments: SetOption = None,
    *,
    host: Annotated[str | None, typer.Option(help="serve.host: address to listen on.", show_default=False)] = None,
    port: Annotated[int | None, typer.Option(help="serve.port: port to listen on.", show_default=False)] = None,
    from_start: Annotated[bool, typer.Option("--from-start", help="Everything that the topics hold.")] = False,
) -> None:
    """Show a cluster's sessions on a live page: words grey until they freeze, marks, repairs, causes, delays.

    It reads the segments, and the words where its user may, as no member of any group, and commits nothing. On this
    machine alone, unless serve.host and serve.token say otherwise.
    """
    settings = reached_brokers(origin_of(config, serve_assignments(assignments, host, port)))
    with needs_web():
        from caesura.worker.service.server.server import listening  # noqa: PLC0415 - an extra
        from caesura.worker.service.watch.watch_service import WatchService, readable_topics  # noqa: PLC0415
    topics = readable_topics(settings)
    listener = listening(settings.serve)
    echo(f"caesura shows {topics.segments} on {listener.url}", err=True)
    service = WatchService(settings=settings, topics=topics, clock=SystemClock(), start=Start(at_end=not from_start))
    raise typer.Exit(service.run(listener))
