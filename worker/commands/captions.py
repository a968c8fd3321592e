"""``caesura captions``: a session's captions, live, into a meeting or a stream."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from caesura.schemas.segments import NumberForm
from caesura.worker.adapters.captions.zoom_meeting import ZoomMeeting
from caesura.worker.adapters.kafka.reachability import await_sign_of_life
from caesura.worker.adapters.kafka.topic_reader import KafkaReader, Start
from caesura.worker.captions.limits import CaptionLimits
from caesura.worker.captions.sides import SideCues
from caesura.worker.commands.options import ConfigOption, NumbersOption, SetOption, origin_of
from caesura.worker.commands.progress import counted_noun
from caesura.worker.commands.tail import CaptionOptions, RouteOption, segment_of, topic_of
from caesura.worker.commands.terminal import echo
from caesura.worker.core.rendering.rendering import Style
from caesura.worker.errors import FatalError, RetriableError
from caesura.worker.feeds.lines import read_lines
from caesura.worker.option_groups import grouped
from caesura.worker.ports.caption_sink import CaptionSink
from caesura.worker.settings.tree import BrokerSettings, load_broker_settings

captions = typer.Typer(no_args_is_help=True, help="Show a session's captions, live, in a meeting or a stream.")


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderedSegments:
    """Whose segments are shown, from which topic, and how they are rendered."""

    session: Annotated[str | None, typer.Option(help="The session to show.", show_default=False)] = None
    conversation: Annotated[
        str | None,
        typer.Option(help="Or the conversation to show: all its sides, with their names.", show_default=False),
    ] = None
    route: RouteOption = None
    style: Annotated[Style, typer.Option(metavar="STYLE", help="verbatim, marked or fluent; a route's text stays.")] = (
        Style.FLUENT
    )
    numbers: NumbersOption = NumberForm.WORDS

    def cues(self, limits: CaptionLimits, settings: BrokerSettings) -> SideCues:
        """Return what writes their cues. FatalError: nobody is named, or a session and a conversation are."""
        overlays = settings.worker.overlays(self.numbers)
        return SideCues(
            session=self.session, conversation=self.conversation, limits=limits, style=self.style, overlays=overlays
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamCaptionOptions(CaptionOptions):
    """CEA-608's: 32 columns a line."""

    columns: Annotated[
        int, typer.Option(min=10, max=1_000, help="Captions: columns a line; broadcasters take 37 to 42.")
    ] = 32


@captions.command("zoom")
@grouped
def zoom(
    config: ConfigOption = None,
    assignments: SetOption = None,
    *,
    address_file: Annotated[
        Path, typer.Option(help="File with the caption address (the meeting's API token, a secret).")
    ],
    lang: Annotated[
        str, typer.Option("--lang", "--language", help="Language and country of the captions, as Zoom writes them.")
    ] = "en-US",
    rendered: RenderedSegments,
    cut: CaptionOptions,
) -> None:
    """Post captions into a Zoom meeting as they freeze. Each is shown once: a retry has the number of the first try."""
    address = "".join(read_lines(str(address_file))).strip()
    settings = load_broker_settings(origin_of(config, assignments))
    cues = rendered.cues(cut.limits, settings)
    _show(settings, rendered.route, cues, ZoomMeeting(address, lang=lang))


@captions.command("obs")
@grouped
def obs(
    config: ConfigOption = None,
    assignments: SetOption = None,
    *,
    address: Annotated[str, typer.Option(help="Address of OBS.")] = "ws://localhost:4455",
    password_file: Annotated[Path | None, typer.Option(help="File with the password of its server.")] = None,
    rendered: RenderedSegments,
    cut: StreamCaptionOptions,
) -> None:
    """Send captions into the stream of OBS Studio as they freeze.

    They are CEA-608: 32 columns a line.
    """
    from caesura.worker.adapters.captions.obs_stream import ObsStream  # noqa: PLC0415 - an extra

    password = "".join(read_lines(str(password_file))).strip() if password_file is not None else ""
    settings = load_broker_settings(origin_of(config, assignments))
    cues = rendered.cues(cut.limits, settings)
    sink = ObsStream(address, password=password)
    try:
        try:
            sink.open()
        except RetriableError as error:
            echo(f"not connected, tried again with the first caption: {error}", err=True)
        _show(settings, rendered.route, cues, sink)
    finally:
        sink.close()


def _show(settings: BrokerSettings, route: str | None, cues: SideCues, sink: CaptionSink) -> None:
    """Post the cues of a session, or of a conversation, until it ends."""
    await_sign_of_life(settings.kafka)
    shown = lost = 0
    with KafkaReader(settings.kafka, topic := topic_of(settings, route)) as reader:
        echo(f"waiting for {cues.shown} on {topic}", err=True)
        try:
            for record in reader.read(Start(at_end=True), follow=True):
                try:
                    segment = segment_of(record, translated=route is not None)
                except FatalError as error:  # another program's, or a newer one's: the meeting goes on
                    echo(f"passed over: {error}", err=True)
                    continue
                for cue in cues.write(segment):
                    try:
                        sink.post("\n".join(cue.lines))
                        shown += 1
                    except RetriableError as error:
                        lost += 1
                        echo(f"a caption was not shown: {error}", err=True)
                if cues.have_ended:
                    break
        except KeyboardInterrupt:
            pass
    echo(f"{counted_noun(shown, 'caption')} shown, {lost} not", err=True)
    if lost:
        raise typer.Exit(1)
