"""``caesura serve``: words in and segments out over WebSocket, without Kafka and Redis; and a page to try it."""

from __future__ import annotations

from typing import Annotated

import typer

from worker.adapters.onnx.engine import OnnxEngine
from worker.adapters.system_clock import SystemClock
from worker.commands.options import ConfigOption, SetOption, origin_of
from worker.core.dictionary import load_dictionary
from worker.errors import FatalError
from worker.settings.tree import load_local_settings, models_folder

__all__ = ["WEB_EXTRA", "serve"]

WEB_EXTRA = "this command needs the extra web, caesura[web]: no module"


def serve(
    config: ConfigOption = None,
    assignments: SetOption = None,
    *,
    host: Annotated[str | None, typer.Option(help="serve.host: address to listen on.", show_default=False)] = None,
    port: Annotated[int | None, typer.Option(help="serve.port: port to listen on.", show_default=False)] = None,
) -> None:
    """Serve punctuation over WebSocket, without Kafka and Redis: words in, frozen segments and unfrozen words out.

    The same decoding as the worker's, many sessions batched on this CPU. Sessions live in this process's memory alone:
    they end with their connection. Open the address in a browser to try it; docs/serve.md has clients of ten lines.
    """
    given = [*(assignments or ())]
    given += [] if host is None else [f"serve.host={host}"]
    given += [] if port is None else [f"serve.port={port}"]
    settings = load_local_settings(origin_of(config, given))
    try:
        from worker.service.server import listening  # noqa: PLC0415 - an extra
        from worker.service.word_service import WordService  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise FatalError(f"{WEB_EXTRA} {error.name}") from error
    listener = listening(settings.serve)
    load_dictionary()
    engine = OnnxEngine(models_folder(settings.worker))
    engine.warm_up()
    typer.echo(f"caesura serves {listener.url} (WebSocket: {listener.url.replace('http', 'ws', 1)}v1/words)", err=True)
    raise typer.Exit(WordService(settings=settings, engine=engine, clock=SystemClock()).run(listener))
