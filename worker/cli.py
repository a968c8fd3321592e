"""The command ``caesura``: puts the commands together, and says in one line what went wrong."""

from __future__ import annotations

import errno
import logging
import os
import sys
from typing import Annotated

import typer

from caesura.worker.commands.deferred_command import DeferredCommand
from caesura.worker.commands.terminal import echo
from caesura.worker.commands.version import version
from caesura.worker.errors import CaesuraError

__all__ = ["app", "main"]

_EPILOG = "Settings come from CAESURA_... variables, a TOML file and --set; `caesura settings` lists them."

_LISTED = {
    "demo": "Show it working: four people talk at once, words are grey until their labels are frozen.",
    "worker": "Run a worker: words in from Kafka, frozen labelled segments out, exactly once.",
    "punctuate": "Punctuate text without Kafka and Redis: one line is one session.",
    "transcribe": "Make a transcript of each recording, without Kafka and Redis.",
    "serve": "Serve punctuation over WebSocket, without Kafka and Redis: words in, frozen segments and unfrozen words "
    "out.",
    "check": "Check settings, brokers, topics, Redis and models, before or beside a running worker; changes nothing.",
    "bench": "Measure what this machine carries, in about a minute, and print what to set: replicas, threads, CPU, "
    "memory.",
    "replay": "Send a file of speech into the input topic, as a recogniser would.",
    "bridge": "Send a recogniser's speech into the input topic as it comes.",
    "tail": "Show segments as consumers read them: committed ones only.",
    "view": "Show a cluster's sessions on a live page: words grey until they freeze, marks, repairs, causes, delays.",
    "unpark": "Let parked partitions be claimed again, once what stopped them was fixed.",
    "train": "Train a shipped model further on a folder of your own text: `caesura train FOLDER --language en`.",
    "settings": "List every setting: its value, where it came from, and what it is for.",
    "version": "Print the version.",
    "topics": "Make the topics as a deployment wants them.",
    "captions": "Show a session's captions, live, in a meeting or a stream.",
    "dead-letters": "Look at the events that could never be applied, and send them again once they can.",
}
"""What ``caesura --help`` lists: each command, in a module of its own name, and how its help begins.

Commands are imported when they are called: all of them are several times what one needs.
"""
_OUTPUT_FAILS = (errno.ENOSPC, errno.EDQUOT, errno.EIO)
_PASSED_ON = {"train": {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}}
"""Whose arguments are another command's, and whose help it lists the options of: those of ``models tune``."""

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


def _called() -> None:
    """Stand for a command, whose module has the function."""


for _name, _help in _LISTED.items():
    app.command(_name, cls=DeferredCommand, help=_help, context_settings=_PASSED_ON.get(_name))(_called)


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
    output = sys.stdout
    try:
        app()
    except CaesuraError as error:
        echo("".join(f"caesura: {line}\n" for line in str(error).splitlines()), err=True, nl=False)
        sys.exit(1)
    except SystemExit as ending:
        # Its reader has gone (`caesura tail | head`): typer puts the output aside then, and rich ends on its own.
        if sys.stdout is not output or isinstance(ending.__context__, BrokenPipeError):
            sys.exit(0)
        raise
    except OSError as error:
        if error.errno not in _OUTPUT_FAILS:
            raise
        echo(f"caesura: the output cannot be written: {error.strerror}\n", err=True, nl=False)
        os.dup2(os.open(os.devnull, os.O_WRONLY), output.fileno())  # what is left in it goes nowhere
        sys.exit(1)
