"""The command ``caesura``: puts the commands together, and reports errors in one line."""

from __future__ import annotations

import errno
import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_group
from typing_extensions import override

from caesura.worker.commands.terminal import echo
from caesura.worker.commands.version import version
from caesura.worker.errors import CaesuraError
from caesura.worker.escaping import escaped


class DeferredCommand(TyperCommand):
    """A command that is imported when its context is made; its name and help are known before."""

    @override
    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        name = str(self.name)
        return get_group(self._imported(name)).commands[name].make_context(info_name, args, parent=parent, **extra)

    def _imported(self, name: str) -> typer.Typer:
        """Import the command; return a group that holds it."""
        holder = typer.Typer(rich_markup_mode=self.rich_markup_mode)
        bearing = name.replace("-", "_")
        named = getattr(import_module(f"{__package__}.commands.{bearing}"), bearing)
        if isinstance(named, typer.Typer):
            holder.add_typer(named, name=name)
        else:
            holder.command(name, context_settings=dict(self.context_settings))(named)
        return holder


class CommandGroup(TyperGroup):
    """All commands. A usage error quotes arguments as they were typed: it is escaped before it is shown."""

    @override
    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        with _escaped_usage_errors():
            return super().make_context(info_name, args, parent=parent, **extra)

    @override
    def invoke(self, ctx: Any) -> Any:
        with _escaped_usage_errors():
            return super().invoke(ctx)


@contextmanager
def _escaped_usage_errors() -> Iterator[None]:
    try:
        yield
    except Exception as error:
        if isinstance(error, typer.BadParameter.__bases__):  # any usage error: its class has no public name
            vars(error)["message"] = escaped(str(error))
        raise


_EPILOG = "Settings come from CAESURA_... variables, a TOML file and --set; `caesura settings` lists them."

_LISTED = {
    "demo": "Show it working: four people talk at once.",
    "worker": "Run a worker: words in from Kafka, frozen segments out.",
    "punctuate": "Punctuate text without Kafka and Redis.",
    "transcribe": "Make a transcript of each recording, without Kafka.",
    "serve": "Serve punctuation over WebSocket, without Kafka and Redis.",
    "check": "Check settings, brokers, topics, Redis and models.",
    "bench": "Measure in a minute how many sessions this machine carries.",
    "replay": "Send a file of speech into the input topic.",
    "bridge": "Send a recogniser's speech into the input topic as it comes.",
    "tail": "Show segments as consumers read them: committed ones only.",
    "view": "Show a cluster's sessions on a live page.",
    "unpark": "Release parked partitions, after their fault was fixed.",
    "skip": "Set one record aside that stops its partition.",
    "train": "Train a shipped model further on your own text.",
    "settings": "List every setting: its value, its source, its purpose.",
    "version": "Print the version.",
    "topics": "Make the topics of a deployment.",
    "captions": "Show a session's captions, live, in a meeting or a stream.",
    "dead-letters": "Look at refused events, and send them again.",
}
"""What ``caesura --help`` lists: each command, in a module of its own name, and how its help begins.

Commands are imported when they are called: all of them are several times what one needs.
"""
_OUTPUT_FAILS = (errno.ENOSPC, errno.EDQUOT, errno.EIO)
_PASSED_ON = {"train": {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}}
"""Whose arguments are another command's, and whose help it lists the options of: those of ``models tune``."""

app = typer.Typer(
    cls=CommandGroup,
    name="caesura",
    help="Restore punctuation and mark disfluencies in a speech recogniser's words. A published label never changes.",
    epilog=_EPILOG,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # Rich leaves an option's text 19 columns of 80, and takes half of the start-up time
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
        for line in error.lines:
            echo(f"caesura: {line}", err=True)
        sys.exit(1)
    except SystemExit as ending:
        # Its reader has gone (`caesura tail | head`): typer puts the output aside then, and rich ends on its own.
        if sys.stdout is not output or isinstance(ending.__context__, BrokenPipeError):
            sys.exit(0)
        raise
    except OSError as error:
        if error.errno not in _OUTPUT_FAILS:
            raise
        echo(f"caesura: the output cannot be written: {error.strerror}", err=True)
        os.dup2(os.open(os.devnull, os.O_WRONLY), output.fileno())  # what is left in it goes nowhere
        sys.exit(1)
