"""The command ``caesura``: puts the commands together, and says in one line what went wrong."""

from __future__ import annotations

import importlib.metadata
import logging
import os
import sys
from typing import Annotated

import typer

from worker.commands.bench import bench
from worker.commands.bridge import bridge
from worker.commands.captions import captions
from worker.commands.check import check
from worker.commands.dead_letters import dead_letters
from worker.commands.demo import demo
from worker.commands.punctuate import punctuate
from worker.commands.replay import replay
from worker.commands.serve import serve
from worker.commands.settings import settings
from worker.commands.tail import tail
from worker.commands.topics import topics
from worker.commands.train import PASSED_ON, train
from worker.commands.unpark import unpark
from worker.commands.view import view
from worker.commands.worker import worker
from worker.errors import CaesuraError

__all__ = ["app", "main"]

_EPILOG = "Settings come from CAESURA_... variables, a TOML file and --set; `caesura settings` lists them."

app = typer.Typer(
    name="caesura",
    help="Frozen, labelled segments from a speech recogniser's word stream: punctuation restored, disfluencies marked, "
    "and never a label taken back.",
    epilog=_EPILOG,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",  # square brackets are text, and a paragraph is wrapped as one
    context_settings={"help_option_names": ["-h", "--help"]},
)

app.command()(demo)
app.command()(worker)
app.command()(punctuate)
app.command()(serve)
app.add_typer(topics, name="topics")
app.command()(check)
app.command()(bench)
app.command()(replay)
app.command()(bridge)
app.command()(tail)
app.command()(view)
app.add_typer(captions, name="captions")
app.add_typer(dead_letters, name="dead-letters")
app.command()(unpark)
app.command(context_settings=PASSED_ON)(train)
app.command()(settings)


@app.command()
def version() -> None:
    """Print the version."""
    typer.echo(f"caesura {importlib.metadata.version('caesura')}")


def _print_version(asked: bool) -> None:
    if asked:
        version()
        raise typer.Exit


@app.callback()
def _of_all(
    *,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    del version  # its callback has printed it


def main() -> None:
    """Run the command line; an error of ours is one line on stderr and exit status 1."""
    logging.getLogger("caesura.kafka").setLevel(logging.CRITICAL)  # what matters of it comes as an error of ours
    try:
        app()
    except CaesuraError as error:
        sys.stderr.write("".join(f"caesura: {line}\n" for line in str(error).splitlines()))
        sys.exit(1)
    except BrokenPipeError:  # the reader of our output has gone: `caesura tail | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
