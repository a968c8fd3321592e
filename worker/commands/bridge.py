"""``caesura bridge``: a recogniser's own messages, live, into the input topic as words that are never revised."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from caesura.schemas.codec import encode_event
from caesura.schemas.events import WordsEvent
from caesura.worker.adapters.kafka.event_sender import KafkaSender
from caesura.worker.adapters.websocket.recogniser_client import is_address
from caesura.worker.commands.brokers import reached_brokers
from caesura.worker.commands.following import FollowedWords, WaitOptions, tell_ended, tell_sessions
from caesura.worker.commands.held_stops import HeldStops
from caesura.worker.commands.language import tell_unserved
from caesura.worker.commands.options import ConfigOption, SetOption, origin_of
from caesura.worker.commands.progress import SpeechCount, counted_noun
from caesura.worker.commands.replay import AgreeOption
from caesura.worker.commands.terminal import echo
from caesura.worker.errors import FatalError
from caesura.worker.feeds.format_check import FormatCheck
from caesura.worker.feeds.hypothesis import UnreadableMessageError
from caesura.worker.feeds.lines import read_lines, readable_lines, shown_name
from caesura.worker.feeds.messages import json_messages
from caesura.worker.feeds.recognised_speech import RecognisedSpeech
from caesura.worker.feeds.recognisers.catalogue import RECOGNISERS, RecogniserName
from caesura.worker.feeds.session_events import SessionEvents
from caesura.worker.option_groups import grouped
from caesura.worker.settings.tree import load_local_settings

if TYPE_CHECKING:
    from caesura.worker.adapters.websocket.recogniser_client import RecogniserClient

_TOLD = 5
_PASSED_OVER = frozenset({"Done!"})  # sherpa-onnx's last word, which is no JSON


@dataclass(frozen=True, slots=True, kw_only=True)
class BridgedSession:
    """Whose messages they are, and the session that they become."""

    name: Annotated[
        RecogniserName,
        typer.Option("--from", metavar="RECOGNISER", help="Sender of the messages. A wrong name lists all."),
    ]
    session: Annotated[
        str | None,
        typer.Option(help="The session's name; by default the recogniser's name and the time.", show_default=False),
    ] = None
    lang: Annotated[str, typer.Option("--lang", "--language", help="Language of the speech (BCP-47).")] = "en"
    target: Annotated[list[str] | None, typer.Option(help="A translation route; may be repeated.")] = None
    agree: AgreeOption = None
    end: Annotated[bool, typer.Option(help="End the session when the messages end.")] = True
    conversation: Annotated[
        str | None, typer.Option(help="The call to which the session belongs; by default the session's name.")
    ] = None
    role: Annotated[str | None, typer.Option(help="Role of the speaker in the call: agent, customer.")] = None

    def covers(self, name: str) -> bool:
        """Tell whether a name is the session's, or that of a channel or a speaker of it."""
        return name == self.session or name.startswith(f"{self.session}/")

    def events(self) -> SessionEvents:
        """Return what numbers the session's events."""
        epoch = int(time.time())
        return SessionEvents(
            session=self.session or f"{self.name.value}-{epoch}",
            lang=self.lang,
            epoch=epoch,
            targets=tuple(self.target) if self.target else None,
            conversation=self.conversation,
            role=self.role,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class AddressOptions:
    """What a recogniser at an address is sent, and how long it is sought again."""

    send: Annotated[
        list[str] | None, typer.Option(help="With an address: a text message to send first; may be repeated.")
    ] = None
    header_file: Annotated[
        Path | None, typer.Option(help="With an address: a file of `Name: value` headers, such as an authorization.")
    ] = None
    audio: Annotated[
        str | None, typer.Option(help="With an address: raw audio to send, a file or - for standard input.")
    ] = None
    audio_rate: Annotated[
        int, typer.Option(min=0, max=100_000_000, help="Bytes of audio to send a second; 0 sends it as it comes.")
    ] = 32_000
    finish: Annotated[str, typer.Option(help="With an address: a text message to send after the audio.")] = ""
    reconnect_for: Annotated[
        float,
        typer.Option(min=0, max=2_592_000, help="With an address: seconds in which a lost connection is tried again."),
    ] = 60.0

    def client(self, url: str, sound: int | None) -> RecogniserClient:
        """Return a client of the recogniser at ``url``. sound: the file descriptor of the opened audio."""
        from caesura.worker.adapters.websocket.recogniser_client import Audio, RecogniserClient  # noqa: PLC0415 - an extra

        return RecogniserClient(
            url=url,
            headers=dict(_headers(self.header_file)) if self.header_file is not None else {},
            opening=self.send or [],
            audio=(
                Audio(source=sound, bytes_a_second=self.audio_rate, finish=self.finish) if sound is not None else None
            ),
            reconnect_for_s=self.reconnect_for,
        )


@grouped
def bridge(
    source: Annotated[
        str,
        typer.Argument(metavar="[FILE|URL]", help="Its messages: a file, - for standard input, or a ws(s):// address."),
    ] = "-",
    config: ConfigOption = None,
    assignments: SetOption = None,
    *,
    bridged: BridgedSession,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only print the events as JSON lines.")] = False,
    address: AddressOptions,
    waited: WaitOptions,
) -> None:
    """Send a recogniser's speech into the input topic as it comes.

    Each word is sent once, when its recogniser will not change it. docs/recognisers.md says when that is, and which
    options of a recogniser keep the fillers. A message that cannot be read is reported and skipped. A lost connection
    is made again and begins a new epoch of the session.
    """
    origin = origin_of(config, assignments)
    numbered = bridged.events()
    numbered.check()
    with ExitStack() as after, ExitStack() as stack:
        stops = stack.enter_context(HeldStops())
        client = followed = None
        if is_address(source):
            sound = stack.enter_context(_opened(address.audio)) if address.audio else None
            client = address.client(source, sound)
        if dry_run:
            tell_unserved(bridged.lang, load_local_settings(origin).worker)  # a mistyped setting is said all the same
            deliver: Callable[[WordsEvent], None] = _print
        else:
            settings = reached_brokers(origin)
            tell_unserved(bridged.lang, settings.worker)
            if (followed := waited.follow(settings)) is not None:
                after.enter_context(followed)
            taken = None if followed is None else followed.taken
            worker = settings.worker
            sender = KafkaSender(settings.kafka, worker.input_topic, worker.partitioner.place, taken=taken)
            deliver = _delivery(stack.enter_context(sender), followed)
            if bridged.session is not None:
                tell_ended(settings, bridged.covers, range(sender.partitions))
        reader = RECOGNISERS[bridged.name].reader()
        feed = _Feed(bridged.name, RecognisedSpeech(reader, numbered, agreement=bridged.agree), deliver, stops)
        numbered.refused = feed.pass_over
        try:
            if client is None:
                feed.read(readable_lines(source))
            else:
                feed.listen(client)
        except KeyboardInterrupt:
            pass  # what was heard is sent all the same
        finally:
            stops.hold()  # until what was sent is taken, too
            feed.finish(end=bridged.end)
        stack.close()
        if not dry_run:
            tell_sessions(feed.sessions)
        try:
            if followed is not None:
                followed.wait()
        finally:
            feed.tell()


class _Feed:
    """Messages in, events delivered; counts both."""

    def __init__(
        self, name: RecogniserName, speech: RecognisedSpeech, deliver: Callable[[WordsEvent], None], stops: HeldStops
    ) -> None:
        self._name = name
        self._speech = speech
        self._deliver = deliver
        self._stops = stops
        self._began_s = time.monotonic()
        self._messages = self._unread = 0
        self._format = FormatCheck(name)
        self._count = SpeechCount()

    @property
    def sessions(self) -> Iterable[str]:
        """The sessions that events were delivered to."""
        return self._count.sessions

    def read(self, lines: Iterable[str | None]) -> None:
        """Take all messages of lines as they come; None is a line that is not UTF-8."""
        for message in json_messages(lines, passed_over=_PASSED_OVER, broken=self.pass_over):
            self._messages += 1
            with self._stops.held():
                try:
                    self._take(self._speech.take(self._format.checked(message), elapsed_ms=self._elapsed_ms))
                except UnreadableMessageError as error:
                    self.pass_over(error)

    def listen(self, client: RecogniserClient) -> None:
        """Take all messages of an address, over as many connections as it needs."""
        with contextlib.closing(client.messages()) as messages:
            for message in messages:
                if isinstance(message, str):
                    self.read([message])
                else:
                    echo("the connection broke off and is there again", err=True)
                    reader = RECOGNISERS[self._name].reader()
                    with self._stops.held():
                        self._take(self._speech.reconnect(reader, elapsed_ms=self._elapsed_ms))

    def pass_over(self, error: UnreadableMessageError) -> None:
        """Tell of a message that could not be read, or sent; count it."""
        self._unread += 1
        if self._unread <= _TOLD:
            echo(f"after {counted_noun(self._messages, 'message')} one was passed over: {error}", err=True)

    def finish(self, *, end: bool) -> None:
        """Deliver what is still open."""
        self._take(self._speech.finish(end=end))

    def tell(self) -> None:
        """Say on stderr what went by."""
        told = [self._count.told(self._messages, "message")]
        if self._unread:
            told.append(f"{counted_noun(self._unread, 'message')} passed over")
        if self._speech.revised:
            told.append(f"{counted_noun(self._speech.revised, 'word')} sent and heard otherwise later (--agree)")
        echo(", ".join(told), err=True)
        if (doubt := self._format.warning(self._count.words)) is not None:
            raise FatalError(doubt)
        if self._unread:
            raise typer.Exit(1)

    def _take(self, events: list[WordsEvent]) -> None:
        for event in events:
            self._deliver(event)
            self._count.take(event)

    @property
    def _elapsed_ms(self) -> int:
        return round((time.monotonic() - self._began_s) * 1000)


def _print(event: WordsEvent) -> None:
    echo(msgspec.json.encode(event).decode())


def _delivery(sender: KafkaSender, followed: FollowedWords | None) -> Callable[[WordsEvent], None]:
    def deliver(event: WordsEvent) -> None:
        if followed is not None:
            followed.sending(event)
        sender.send(event.session.encode(), encode_event(event))

    return deliver


def _headers(file: Path) -> Iterator[tuple[str, str]]:
    for number, line in enumerate(read_lines(str(file)), start=1):
        name, colon, value = line.partition(":")
        if line.strip() and not colon:
            raise FatalError(f"{shown_name(str(file))} line {number}: a header is written `Name: value`")
        if line.strip():
            yield name.strip(), value.strip()


@contextlib.contextmanager
def _opened(file: str) -> Iterator[int]:
    """Yield the file descriptor of a file, or of standard input for ``-``: no buffer of ours stands before it."""
    if file == "-":
        yield sys.stdin.fileno()
        return
    try:
        descriptor = os.open(file, os.O_RDONLY)
    except OSError as error:
        raise FatalError(f"{shown_name(str(file))} cannot be read: {error.strerror}") from error
    try:
        yield descriptor
    finally:
        os.close(descriptor)
