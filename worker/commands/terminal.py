"""Writes the output of commands. Text from outside cannot move a terminal's cursor, forge a line, or hide in one.

``echo`` and ``write`` are a command's only ways to stdout and stderr (``test_terminal.py``).
"""

from __future__ import annotations

import sys

import typer

from caesura.worker.escaping import escaped, escaped_lines


def echo(line: str = "", *, sign: str = "", colour: str | None = None, err: bool = False) -> None:
    """Write one line; a line break in it is escaped, too.

    sign: our own words before it, in a colour.
    """
    typer.echo(typer.style(sign, fg=colour) + escaped(line) if sign else escaped(line), err=err)


def write(text: str, *, err: bool = False) -> None:
    """Write a text of several lines, or of a part of one, at once. What was said by others must be escaped in it."""
    stream = sys.stderr if err else sys.stdout
    stream.write(escaped_lines(text))
    stream.flush()
