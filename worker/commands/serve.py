"""``caesura serve``: words in and segments out over WebSocket, without Kafka and Redis; and a page to try it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

from caesura.worker.adapters.system_clock import SystemClock
from caesura.worker.commands.accuracy_warnings import print_accuracy_warnings
from caesura.worker.commands.options import ConfigOption, SetOption, origin_of
from caesura.worker.commands.terminal import echo
from caesura.worker.core.language.dictionary import load_dictionary
from caesura.worker.errors import FatalError
from caesura.worker.settings.tree import load_local_settings
from caesura.worker.whole_numbers import MAX_PORT


def serve(
    config: ConfigOption = None,
    assignments: SetOption = None,
    *,
    host: Annotated[str | None, typer.Option(help="serve.host: address to listen on.", show_default=False)] = None,
    port: Annotated[
        int | None, typer.Option(min=0, max=MAX_PORT, help="serve.port: port to listen on.", show_default=False)
    ] = None,
) -> None:
    """Serve punctuation over WebSocket, without Kafka and Redis.

    Words go in, frozen segments and unfrozen words come out. It decodes as the worker does, many sessions in one batch.
    Sessions live only in this process's memory and end with their connection. Open the address in a browser to try it;
    docs/serve.md has clients of ten lines.
    """
    settings = load_local_settings(origin_of(config, serve_assignments(assignments, host, port)))
    from caesura.worker.app import warm_engine  # noqa: PLC0415 - a second of imports: a wrong setting is told without

    with needs_web():
        from caesura.worker.service.clients.word_service import WordService  # noqa: PLC0415
        from caesura.worker.service.server.server import listening  # noqa: PLC0415 - an extra
    listener = listening(settings.serve)
    load_dictionary()
    engine = warm_engine(settings.worker)
    print_accuracy_warnings(engine.doubts)
    echo(f"caesura serves {listener.url} (WebSocket: {listener.url.replace('http', 'ws', 1)}v1/words)", err=True)
    raise typer.Exit(WordService(settings=settings, engine=engine, clock=SystemClock()).run(listener))


def serve_assignments(assignments: list[str] | None, host: str | None, port: int | None) -> list[str]:
    """Return what was given with ``--set``, and after it the address."""
    given = {"host": host, "port": port}
    return [*(assignments or ()), *(f"serve.{name}={value}" for name, value in given.items() if value is not None)]


@contextmanager
def needs_web() -> Iterator[None]:
    """Say in one line that the extra is missing, if it is. FatalError."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise FatalError(f"this command needs the extra web: no module {error.name}") from error
