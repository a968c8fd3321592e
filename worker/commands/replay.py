"""``caesura replay``: a file of speech into the input topic, at the pace of speech or any other."""

from __future__ import annotations

import time
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Annotated

import msgspec
import typer

from caesura.schemas.codec import encode_event
from caesura.schemas.events import WordsEvent
from caesura.schemas.versions import EVENT_VERSION
from caesura.worker.adapters.kafka.event_sender import KafkaSender
from caesura.worker.commands.brokers import reached_brokers
from caesura.worker.commands.following import WaitOptions, tell_ended, tell_sessions
from caesura.worker.commands.language import tell_unserved
from caesura.worker.commands.options import ConfigOption, FormatOption, SetOption, origin_of
from caesura.worker.commands.progress import SpeechCount, counted
from caesura.worker.commands.terminal import echo
from caesura.worker.errors import FatalError
from caesura.worker.feeds.file_format import FileFormat, format_named
from caesura.worker.feeds.lines import read_lines, shown_name
from caesura.worker.feeds.pacing import paced
from caesura.worker.feeds.recorded_speech import RecordedSpeech
from caesura.worker.feeds.refusal import why_refused
from caesura.worker.feeds.timed_events import Pace, TimedEvent, ended, routed
from caesura.worker.option_groups import grouped
from caesura.worker.settings.tree import BrokerSettings, load_local_settings

AgreeOption = Annotated[
    int | None,
    typer.Option(
        min=0,
        max=1_000,
        help="Send a word once so many hypotheses in a row have it; 0: only final and stable words. The default "
        "depends on the recogniser.",
        show_default=False,
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeechOptions:
    """How a file is spoken: its language, its sessions, its pace."""

    lang: Annotated[
        str, typer.Option("--lang", "--language", help="Language of text, and of events without one (BCP-47).")
    ] = "en"
    target: Annotated[
        list[str] | None,
        typer.Option(help="A translation route for sessions without one; may be repeated.", show_default=False),
    ] = None
    speed: Annotated[
        float, typer.Option(min=0, max=1_000, help="1 is the pace of speech, 2 twice that; 0 never waits.")
    ] = 1.0
    prefix: Annotated[
        str | None,
        typer.Option(
            help="Put before each session's name. For text the default is the file's name and the time, so that a "
            "second replay makes new sessions.",
            show_default=False,
        ),
    ] = None
    epoch: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Run of the producer, for events without one; by default the seconds since 1970, so that a second "
            "replay into an open session is not dropped as a repeat.",
            show_default=False,
        ),
    ] = None
    end: Annotated[bool, typer.Option(help="End each session after its last event (text always does).")] = False
    words_per_minute: Annotated[int, typer.Option(min=1, max=6000, help="Pace of words without times.")] = 160
    at_once: Annotated[int, typer.Option(min=1, max=10_000, help="Lines of a text that are spoken at once.")] = 8
    agree: AgreeOption = None

    def check(self) -> None:
        """Raise FatalError naming the option whose value no worker would take in any event."""
        for option, changed, expected in (
            ("--lang", {"lang": self.lang}, "a language as BCP-47 writes it, such as en or zh-Hans"),
            ("--target", {"targets": tuple(self.target or ())}, "names of translation routes, each once"),
            ("--prefix", {"session": f"{self.prefix or ''}1"}, "what may begin a session's name"),
            ("--epoch", {"epoch": self.epoch or 0}, "a number below 2**53"),
        ):
            event = WordsEvent(version=EVENT_VERSION, session="1", seq=0, lang="en")
            if (why := why_refused(msgspec.structs.replace(event, **changed))) is not None:
                raise FatalError(f"{option}: expected {expected} ({why})")

    def recorded(self, file: str) -> RecordedSpeech:
        """Return the speech of a file."""
        return RecordedSpeech(
            name=file,
            lang=self.lang,
            prefix=self.prefix,
            epoch=int(time.time()) if self.epoch is None else self.epoch,
            pace=Pace(words_a_minute=self.words_per_minute, sessions_at_once=self.at_once),
            agreement=self.agree,
        )


@grouped
def replay(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE", help="Text, captions, a recogniser's messages, or word events; - is standard input."
        ),
    ],
    config: ConfigOption = None,
    assignments: SetOption = None,
    *,
    given: FormatOption = FileFormat.AUTO.value,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Only print the events as JSON lines and count them."),
    ] = False,
    spoken: SpeechOptions,
    waited: WaitOptions,
) -> None:
    """Send a file of speech into the input topic.

    In a text each line is one session. In JSON lines each line is one word event: `{"session": "a", "words": ["so",
    "um", "yes"], "at_ms": 900}` is enough; everything that docs/produce.md lists may be given. Captions (SRT, WebVTT),
    CTM and the messages of recognisers (docs/recognisers.md) are one session, or one a speaker. Any other file
    is refused, never spoken.
    """
    origin = origin_of(config, assignments)
    spoken.check()
    speech = spoken.recorded(file)
    found, lines = speech.format_of(read_lines(file, escaped_json=True), format_named(given))
    events: Iterable[TimedEvent] = speech.events(lines, found)
    if spoken.target:
        events = routed(events, tuple(spoken.target))
    if spoken.end:
        events = ended(events)
    if file != "-":  # a recogniser's live output on standard input is sent as it comes
        events = list(events)
        if not events:
            raise FatalError(f"{shown_name(file)}: nothing in it can be sent, read as {found}")
    if dry_run:
        tell_unserved(spoken.lang, load_local_settings(origin).worker)  # a mistyped setting is said all the same
        _print(events, found)
    else:
        settings = reached_brokers(origin)
        tell_unserved(spoken.lang, settings.worker)
        named = spoken.prefix is not None or found is FileFormat.JSONL
        _send(events, settings, waited, speed=spoken.speed, may_have_ended=named)


def _print(events: Iterable[TimedEvent], format_name: str) -> None:
    """Print events as ``replay`` would read them again; the count goes to stderr."""
    count, last_ms = SpeechCount(), 0
    for one in events:
        fields = {"at_ms": one.at_ms} | msgspec.to_builtins(one.event)
        echo(msgspec.json.encode(fields).decode())
        count.take(one.event)
        last_ms = one.at_ms
    told = count.told(count.events, "event")
    echo(f"{format_name}: {told} would be sent over {last_ms / 1000:.1f} s; nothing was", err=True)


def _send(
    events: Iterable[TimedEvent], settings: BrokerSettings, waited: WaitOptions, *, speed: float, may_have_ended: bool
) -> None:
    """Send events at their pace, and follow what becomes of their words where that is wanted.

    may_have_ended: the sessions' names were chosen, so there may be such sessions already.
    """
    began_s = time.monotonic()
    worker, count = settings.worker, SpeechCount()
    total = len(events) if isinstance(events, list) else None
    with ExitStack() as stack:
        if (followed := waited.follow(settings)) is not None:
            stack.enter_context(followed)
        taken = None if followed is None else followed.taken
        with KafkaSender(settings.kafka, worker.input_topic, worker.partitioner.place, taken=taken) as sender:
            if may_have_ended and isinstance(events, list):
                names = {one.event.session for one in events}
                places = {worker.partitioner.place(name.encode(), sender.partitions) for name in names}
                tell_ended(settings, names.__contains__, sorted(places))
            timed = paced(events, speed=speed, now_s=time.monotonic, sleep=time.sleep)
            for one in counted(timed, doing="replaying", total=total):
                if followed is not None:
                    followed.sending(one.event)
                sender.send(one.event.session.encode(), encode_event(one.event))
                count.take(one.event)
        tell_sessions(count.sessions)
        echo(f"{count.told(count.events, 'event')} in {time.monotonic() - began_s:.1f} s", err=True)
        if followed is not None:
            followed.wait()
