"""``caesura replay``: a file of speech into the input topic, at the pace of speech or any other."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import tee
from pathlib import Path
from typing import Annotated

import typer

from schemas.codec import encode_event
from worker.adapters.kafka.event_sender import KafkaSender
from worker.commands.lines import read_lines
from worker.commands.options import ConfigOption, SetOption, origin_of
from worker.commands.progress import counted, counted_noun
from worker.feeds.pacing import paced
from worker.feeds.speech_file import Pace, TimedEvent, ended, events_of_json_lines, events_of_text
from worker.settings.tree import load_broker_settings

__all__ = ["replay"]


def replay(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="Text, or word events as JSON lines; - is standard input.")
    ],
    config: ConfigOption = None,
    assignments: SetOption = None,
    *,
    lang: Annotated[str, typer.Option(help="Language of text, and of events that name none (BCP-47).")] = "en",
    speed: Annotated[float, typer.Option(min=0, help="1 is the pace of speech, 2 twice that; 0 never waits.")] = 1.0,
    prefix: Annotated[
        str | None,
        typer.Option(
            help="Put before each session's name; for text, by default, the file's name and the time, so that a "
            "second replay makes new sessions.",
            show_default=False,
        ),
    ] = None,
    epoch: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Run of the producer, for events that name none; by default the seconds since 1970, so that a second "
            "replay of a session goes on instead of being dropped as a repeat.",
            show_default=False,
        ),
    ] = None,
    end: Annotated[bool, typer.Option(help="End each session after its last event (text always does).")] = False,
    words_per_minute: Annotated[int, typer.Option(min=1, max=6000, help="Pace of words without times.")] = 160,
    at_once: Annotated[int, typer.Option(min=1, help="Lines of a text that are spoken at once.")] = 8,
) -> None:
    """Send a file of speech into the input topic, as a recogniser would.

    In a text each line is one session. In JSON lines (a name that ends in .jsonl or .ndjson, or a brace as the first
    character) each line is one word event: `{"session": "a", "words": ["so", "um", "yes"], "at_ms": 900}` is enough;
    everything that docs/produce.md lists may be given.
    """
    settings = load_broker_settings(origin_of(config, assignments))
    reading = _Reading(
        lang=lang,
        prefix=prefix,
        epoch=int(time.time()) if epoch is None else epoch,
        pace=Pace(words_a_minute=words_per_minute, sessions_at_once=at_once),
    )
    events = reading.events(read_lines(file), file)
    if end:
        events = ended(events)
    if file != "-":  # a recogniser's live output on standard input is sent as it comes
        events = iter(known := list(events))
    sessions: set[str] = set()
    sent = words = 0
    began_s = time.monotonic()
    worker = settings.worker
    with KafkaSender(settings.kafka, worker.input_topic, worker.partitioner.place) as sender:
        timed = paced(events, speed=speed, now_s=time.monotonic, sleep=time.sleep)
        for one in counted(timed, doing="replaying", total=None if file == "-" else len(known)):
            sender.send(one.event.session.encode(), encode_event(one.event))
            sessions.add(one.event.session)
            sent, words = sent + 1, words + len(one.event.words)
    took_s = time.monotonic() - began_s
    told = ", ".join((counted_noun(sent, "event"), counted_noun(words, "word"), counted_noun(len(sessions), "session")))
    typer.echo(f"{told} in {took_s:.1f} s", err=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reading:
    """How a file's lines become events."""

    lang: str
    prefix: str | None
    epoch: int
    pace: Pace

    def events(self, lines: Iterator[str], file: str) -> Iterator[TimedEvent]:
        """Yield the events of JSON lines, by the file's name or because a brace comes first; else those of text."""
        every, ahead = tee(lines)
        first = next((line for line in ahead if line.strip()), "")
        del ahead  # or all lines would be kept for it
        if file.endswith((".jsonl", ".ndjson")) or first.lstrip().startswith("{"):
            return events_of_json_lines(
                every,
                prefix=self.prefix or "",
                lang=self.lang,
                epoch=self.epoch,
                pace=self.pace,
            )
        named = "stdin" if file == "-" else Path(file).stem
        prefix = f"{named}-{self.epoch}-" if self.prefix is None else self.prefix
        return events_of_text(every, prefix=prefix, lang=self.lang, pace=self.pace)
