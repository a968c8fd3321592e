"""``caesura unpark``: let a parked partition be claimed again, once what stopped it was mended."""

from __future__ import annotations

from typing import Annotated

import typer

from worker.adapters.redis_store import connect
from worker.commands.options import ConfigOption, SetOption, origin_of
from worker.config import load_settings

__all__ = ["unpark"]


def unpark(
    partitions: Annotated[list[int], typer.Argument(metavar="PARTITION...", min=0, help="As the logs name them.")],
    config: ConfigOption = None,
    assignments: SetOption = None,
) -> None:
    """Let parked partitions be claimed again, once what stopped them was mended.

    The worker that holds a partition hears of it within five seconds. One that still cannot go on is parked again.
    """
    settings = load_settings(origin_of(config, assignments))
    store = connect(settings.redis, deployment=settings.worker.deployment, topic=settings.worker.input_topic)
    try:
        for partition in partitions:
            store.release(partition)
            typer.echo(f"partition {partition} of {settings.worker.input_topic} is released")
    finally:
        store.close()
