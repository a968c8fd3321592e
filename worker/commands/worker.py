"""``caesura worker``: one member of the group, until it is told to stop."""

from __future__ import annotations

import logging

import typer

from caesura.worker.commands.options import ConfigOption, SetOption, origin_of
from caesura.worker.settings.tree import load_settings


def worker(config: ConfigOption = None, assignments: SetOption = None) -> None:
    """Run a worker: words in from Kafka, frozen segments out.

    After SIGTERM or SIGINT it publishes the words that it has read and leaves the group. A second one ends it at once.
    Logs are JSON lines on stdout; metrics and health are served on worker.http_port: /metrics, /started, /live and
    /ready.

    Exit status: 0 stopped, 1 wrong settings or a fault that no retry fixes, 3 another worker has its ordinal or its
    static name. docs/operations.md, "Exit status", says more.
    """
    settings = load_settings(origin_of(config, assignments))
    from caesura.worker.app import run_worker  # noqa: PLC0415 - a second of imports: help and a wrong setting are told without

    logging.getLogger("caesura.kafka").setLevel(logging.NOTSET)
    raise typer.Exit(run_worker(settings))
