"""``caesura demo``: the whole system in this terminal, with its own Kafka and Redis."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console

from caesura.worker.commands.serve import needs_web
from caesura.worker.commands.terminal import echo
from caesura.worker.demo.show import run_demo


def demo(
    *,
    speed: Annotated[float, typer.Option(min=0.5, max=10, help="1 is the pace of speech.")] = 1.0,
    web: Annotated[
        bool, typer.Option("--web", help="Show it on a page in the browser, again and again, until Ctrl-C.")
    ] = False,
    port: Annotated[int, typer.Option(min=0, max=65_535, help="With --web: the port to listen on.")] = 8765,
) -> None:
    """Show it working: four people talk at once.

    Words are grey until their labels are frozen. It starts a mock Kafka inside this process and a redis-server, runs a
    worker, and ends in under a minute. It needs no broker, root or Docker. The mock has no transactions, so the demo
    does not show exactly-once.
    """
    if web:
        with needs_web():
            from caesura.worker.demo.web import run_web_demo  # noqa: PLC0415 - an extra
        run_web_demo(speed=speed, port=port, tell=lambda line: echo(line, err=True))
        return
    run_demo(Console(highlight=False), speed=speed)
