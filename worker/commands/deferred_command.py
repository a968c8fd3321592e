"""A command that is listed without its module, which is imported when the command is called or completed.

A module of ``commands`` holds what bears its name: a function, or a Typer where the command has commands of its
own. What stands here of a command is what lists of commands show of it: its name and the first paragraph of its help.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand
from typer.main import get_group
from typing_extensions import override

__all__ = ["DeferredCommand"]


class DeferredCommand(TyperCommand):
    """The place of a command; whoever wants more than its name and help makes a context, which is the real one's."""

    @override
    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        name = str(self.name)
        return get_group(self._imported(name)).commands[name].make_context(info_name, args, parent=parent, **extra)

    def _imported(self, name: str) -> typer.Typer:
        """Import the command; return a group that holds it."""
        holder = typer.Typer(rich_markup_mode=self.rich_markup_mode)
        bearing = name.replace("-", "_")
        named = getattr(import_module(f"{__package__}.{bearing}"), bearing)
        if isinstance(named, typer.Typer):
            holder.add_typer(named, name=name)
        else:
            holder.command(name, context_settings=dict(self.context_settings))(named)
        return holder
