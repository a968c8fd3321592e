"""``caesura view``: a live page of a cluster's segments and words."""

from __future__ import annotations

from typing import Annotated

import typer

from caesura.worker.adapters.kafka.topic_reader import Start
from caesura.worker.adapters.system_clock import SystemClock
from caesura.worker.commands.brokers import reached_brokers
from caesura.worker.commands.options import ConfigOption, SetOption, origin_of
from caesura.worker.commands.serve import needs_web, serve_assignments
from caesura.worker.commands.terminal import echo
from caesura.worker.whole_numbers import MAX_PORT


def view(
    config: ConfigOption = None,
    assignments: SetOption = None,
    *,
    host: Annotated[str | None, typer.Option(help="serve.host: address to listen on.", show_default=False)] = None,
    port: Annotated[
        int | None, typer.Option(min=0, max=MAX_PORT, help="serve.port: port to listen on.", show_default=False)
    ] = None,
    from_start: Annotated[bool, typer.Option("--from-start", help="Begin with the oldest records.")] = False,
) -> None:
    """Show a cluster's sessions on a live page.

    Words are grey until they freeze. It reads the segments, and also the words if its user may. It joins no group and
    commits nothing. Other machines may connect only if serve.host and serve.token are set.
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
