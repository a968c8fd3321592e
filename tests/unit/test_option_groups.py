"""A command's settings objects are made of its options."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from caesura.worker.option_groups import grouped


@dataclass(frozen=True, slots=True, kw_only=True)
class Lamp:
    folder: Annotated[Path, typer.Argument(help="Where.")]
    colour: Annotated[str, typer.Option("--tint", help="Which.")] = "red"
    watts: Annotated[int, typer.Option()]


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    floor: Annotated[int, typer.Option(max=3)] = 0


def test_every_field_is_an_option_as_it_is_annotated() -> None:
    given: list[object] = []
    app = typer.Typer()

    @app.command()
    @grouped
    def light(lamp: Lamp, place: Place, twice: bool = False) -> None:
        """Light it."""
        given.extend((lamp, place, twice))

    run = CliRunner()
    assert run.invoke(app, ["hall", "--watts", "40", "--tint", "blue", "--floor", "2", "--twice"]).exit_code == 0
    assert given == [Lamp(folder=Path("hall"), colour="blue", watts=40), Place(floor=2), True]
    assert run.invoke(app, ["hall"]).exit_code == 2
    assert run.invoke(app, ["hall", "--watts", "40", "--floor", "4"]).exit_code == 2
    assert "Light it." in run.invoke(app, ["--help"]).output


def test_two_groups_with_a_field_of_one_name_are_refused() -> None:
    def light(one: Lamp, other: Lamp) -> None:
        raise AssertionError((one, other))

    with pytest.raises(TypeError, match="share a name"):
        grouped(light)
