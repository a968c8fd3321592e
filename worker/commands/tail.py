"""``caesura tail``: segments from a topic, rendered, as they become readable; or a session's captions."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

import msgspec
import typer

from caesura.schemas.codec import decode_segment, decode_translation
from caesura.schemas.segments import NumberForm, Segment
from caesura.worker.adapters.kafka.topic_reader import KafkaReader, Start
from caesura.worker.captions.cues import CueWriter
from caesura.worker.captions.files import VTT_HEAD, srt, vtt
from caesura.worker.captions.limits import CaptionLimits
from caesura.worker.commands.brokers import reached_brokers
from caesura.worker.commands.conversation_lines import conversation_line, live_order, talk_lines, text_of, whole_order
from caesura.worker.commands.disfluency_counts import DisfluencyCounts
from caesura.worker.commands.options import ConfigOption, NumbersOption, SetOption, origin_of
from caesura.worker.commands.progress import counted_noun
from caesura.worker.commands.terminal import echo, write
from caesura.worker.core.overlays.rules import NO_OVERLAYS, OverlayRules
from caesura.worker.core.rendering.conversation import Placed, characteristics_of
from caesura.worker.core.rendering.rendering import Style
from caesura.worker.errors import FatalError
from caesura.worker.escaping import escaped
from caesura.worker.option_groups import grouped
from caesura.worker.ports.records import Record
from caesura.worker.settings.sources import meant
from caesura.worker.settings.tree import BrokerSettings
from caesura.worker.transcripts.omnisteval import OmniSTEvalLog
from caesura.worker.transcripts.writing import TranscriptForm, TranscriptWriter


class Format(StrEnum):
    """What is printed."""

    TEXT = "text"
    PARAGRAPHS = "paragraphs"
    JSONL = "jsonl"
    SRT = "srt"
    VTT = "vtt"
    COUNTS = "counts"
    OMNISTEVAL = "omnisteval"


RouteOption = Annotated[str | None, typer.Option(help="Target of a translation route: show the text of its topic.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentsRead:
    """Which segments ``tail`` reads, and how it renders them."""

    route: RouteOption = None
    style: Annotated[
        Style | None,
        typer.Option(
            metavar="STYLE",
            help="verbatim, marked (the default) or fluent (the default of captions); a route's text stays as it is.",
            show_default=False,
        ),
    ] = None
    numbers: NumbersOption = NumberForm.WORDS
    session: Annotated[str | None, typer.Option(help="Only this session; captions need one.")] = None
    conversation: Annotated[
        str | None,
        typer.Option(help="Only this conversation: all its sessions, in order of audio time, with their names."),
    ] = None
    from_start: Annotated[bool, typer.Option("--from-start", help="Begin with the oldest record of the topic.")] = False
    follow: Annotated[bool, typer.Option(help="Wait for further segments.")] = True
    stretch: Annotated[
        str | None,
        typer.Option(
            metavar="FROM-TO",
            help="Only this stretch of the session's time: 12:30-14:00.",
            show_default=False,
        ),
    ] = None

    def check(self, form: Format) -> None:
        """FatalError where captions or paragraphs are wanted and it is not said of whom."""
        if form in (Format.SRT, Format.VTT, Format.PARAGRAPHS) and self.session is None and self.conversation is None:
            raise FatalError(f"--format {form.value} is of one session or conversation: --session or --conversation")
        if form is Format.OMNISTEVAL and self.conversation is not None:
            raise FatalError(f"--format {form.value} is a line a session: --session, or no --conversation for all")


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptionOptions:
    """How captions are cut."""

    columns: Annotated[
        int, typer.Option(min=10, max=1_000, help="Captions: columns a line; broadcasters take 37 to 42.")
    ] = 42
    lines: Annotated[int, typer.Option(min=1, max=100, help="Captions: lines at most.")] = 2
    words_per_minute: Annotated[
        int, typer.Option(min=1, max=6_000, help="Captions: how fast they may be read, 160 to 180.")
    ] = 170
    at_least: Annotated[
        float,
        typer.Option(
            min=0,
            max=1,
            help="Captions: probability below which a mark is left out and a word is kept.",
        ),
    ] = 0.0

    @property
    def limits(self) -> CaptionLimits:
        """The limits that they say."""
        return caption_limits(self.columns, self.lines, self.words_per_minute, self.at_least)


@grouped
def tail(
    config: ConfigOption = None,
    assignments: SetOption = None,
    *,
    read: SegmentsRead,
    form: Annotated[
        Format,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help="text: a line a segment; paragraphs: by pause, speaker and length; jsonl; srt, vtt: captions; counts: "
            "fillers and repairs of each session; omnisteval: a line a session for OmniSTEval.",
        ),
    ] = Format.TEXT,
    jsonl: Annotated[bool, typer.Option("--jsonl", help="The same as --format jsonl.")] = False,
    captions: CaptionOptions,
) -> None:
    """Show segments as consumers read them: committed ones only.

    Each line has the time of the freeze, session and index, the cause, and the text. Captions (srt, vtt) are of one
    session or of one conversation. A cue is written once and never changes, because its words are frozen. Counts of a
    conversation are the words, turns, talk, silence and interruptions of each side.
    """
    form = Format.JSONL if jsonl else form
    read.check(form)
    within = _stretch(read.stretch) if read.stretch is not None else None
    settings = reached_brokers(origin_of(config, assignments))
    if read.conversation is not None or form is Format.PARAGRAPHS:
        _show_conversation(settings, read, form, captions.limits, within)
        return
    overlays = settings.worker.overlays(read.numbers)
    log = OmniSTEvalLog(lambda segment: text_of(segment, read.style or Style.FLUENT, overlays))
    texts_of = _writer(form, read.style, captions.limits, overlays, log)
    if form is Format.VTT:
        write(VTT_HEAD)
    counts = DisfluencyCounts()
    came = shown = 0
    try:
        with KafkaReader(settings.kafka, topic := topic_of(settings, read.route)) as reader:
            if read.follow and not read.from_start:
                echo(f"waiting for what comes to {topic} (--from-start shows what is there)", err=True)
            for record in reader.read(Start(at_end=not read.from_start), follow=read.follow):
                came += 1
                segment = segment_of(record, translated=read.route is not None)
                if read.session not in (None, segment.session):
                    continue
                if within is not None and not _said_within(segment, *within):
                    continue
                shown += 1
                counts.take(segment)
                for text in texts_of(segment):
                    write(text)
        if not shown:
            echo(_nothing_shown(read, came), err=True)
    finally:
        for text in (f"{line}\n" for line in counts.lines()) if form is Format.COUNTS else log.finish():
            write(text)


def _show_conversation(
    settings: BrokerSettings, read: SegmentsRead, form: Format, limits: CaptionLimits, within: tuple[int, int] | None
) -> None:
    """Show a session, or the sides of a conversation, in order of audio time."""
    overlays = settings.worker.overlays(read.numbers)

    def wanted(record: Record | None) -> Segment | None:
        if record is None:
            return None
        segment = segment_of(record, translated=read.route is not None)
        if read.conversation not in (None, segment.conversation) or read.session not in (None, segment.session):
            return None
        return segment if within is None or _said_within(segment, *within) else None

    with KafkaReader(settings.kafka, topic_of(settings, read.route)) as reader:
        came = map(wanted, reader.read_or_wait(Start(at_end=not read.from_start), follow=read.follow))
        placed: Iterable[Placed] = live_order(came, time.monotonic) if read.follow else whole_order(came)
        shown: list[Placed] = []
        try:
            for text in _conversation_texts(_kept(placed, shown), form, read.style, limits, overlays):
                write(text)
        finally:
            if form is Format.COUNTS:
                for line in talk_lines(characteristics_of(shown)):
                    echo(line)
    if not shown:
        whose = f"conversation {read.conversation!r}" if read.conversation is not None else f"session {read.session!r}"
        echo(f"no segment of {whose} was read", err=True)


def _kept(placed: Iterable[Placed], kept: list[Placed]) -> Iterator[Placed]:
    for one in placed:
        kept.append(one)
        yield one


def _conversation_texts(
    placed: Iterable[Placed],
    form: Format,
    style: Style | None,
    limits: CaptionLimits,
    overlays: OverlayRules = NO_OVERLAYS,
) -> Iterator[str]:
    if form in (Format.SRT, Format.VTT, Format.JSONL, Format.PARAGRAPHS):
        in_paragraphs = TranscriptForm.MARKED if style is Style.MARKED else TranscriptForm.TEXT
        wanted = in_paragraphs if form is Format.PARAGRAPHS else TranscriptForm(form.value)
        yield from TranscriptWriter(name="", form=wanted, limits=limits, overlays=overlays).pieces(placed)
        return
    for one in placed:
        line = conversation_line(one, style or Style.MARKED, overlays) if form is Format.TEXT else None
        if line is not None:
            yield line + "\n"


def caption_limits(columns: int, lines: int, words_a_minute: int, at_least: float = 0.0) -> CaptionLimits:
    """Return the limits that options say."""
    return CaptionLimits(line_columns=columns, lines=lines, words_a_minute=words_a_minute, at_least=at_least)


def line_of(segment: Segment, style: Style, overlays: OverlayRules = NO_OVERLAYS) -> str:
    """Return a segment as a line for people."""
    text = text_of(segment, style, overlays)
    frozen = time.strftime("%H:%M:%S", time.localtime(segment.timing.frozen_ms / 1000))
    closed = " (session closed)" if segment.session_end else ""
    return f"{frozen}  {escaped(segment.session)} #{segment.index}  {segment.cause.value:9}  {escaped(text)}{closed}"


def topic_of(settings: BrokerSettings, target: str | None) -> str:
    """Return the topic of a route, or of the segments where it is None. FatalError: there is no such route."""
    worker = settings.worker
    if target is None:
        return worker.segment_topic
    route = worker.route(target)
    if route is None:
        names = [route.target for route in worker.routes]
        raise FatalError(f"there is no route {target!r}{meant(target, names)} (worker.routes: {', '.join(names)})")
    return route.topic


def segment_of(record: Record, *, translated: bool) -> Segment:
    """Return a record's segment. FatalError: it is none."""
    try:
        return (decode_translation if translated else decode_segment)(record.value or b"")
    except ValueError as error:
        raise FatalError(f"partition {record.partition} offset {record.offset} is no segment: {error}") from None


def _writer(
    form: Format,
    style: Style | None,
    limits: CaptionLimits,
    overlays: OverlayRules = NO_OVERLAYS,
    log: OmniSTEvalLog | None = None,
) -> Callable[[Segment], Iterator[str]]:
    """Return what writes a segment, its line ends with it. log: what ``OMNISTEVAL`` is written by."""
    cues = CueWriter(limits, style or Style.FLUENT, overlays=overlays)

    def texts_of(segment: Segment) -> Iterator[str]:
        match form:
            case Format.TEXT:
                yield line_of(segment, style or Style.MARKED, overlays) + "\n"
            case Format.JSONL:
                yield msgspec.json.encode(segment).decode() + "\n"
            case Format.SRT:
                yield from map(srt, cues.write(segment))
            case Format.VTT:
                yield from map(vtt, cues.write(segment))
            case Format.OMNISTEVAL if log is not None:
                yield from log.add(segment)
            case _:
                return  # counts are told at the end, paragraphs are a conversation's

    return texts_of


def _nothing_shown(read: SegmentsRead, came: int) -> str:
    """Return what to say where ``came`` segments were read to the topic's end and none of them shown."""
    if not came:
        return "the topic holds no segment" if read.from_start else "nothing new: --from-start shows all that there is"
    wanted = f" of session {read.session!r}" if read.session is not None else ""
    if read.stretch is not None:
        wanted += f" within {read.stretch}"
    return f"{counted_noun(came, 'segment')} read, none{wanted}"


_MOMENT = r"(?:(?:([0-9]{1,9}):)?([0-9]{1,9}):)?([0-9]{1,9}(?:\.[0-9]{1,9})?)"
_STRETCH = re.compile(rf"{_MOMENT}\s*-\s*{_MOMENT}")


def _stretch(text: str) -> tuple[int, int]:
    """Return the milliseconds of ``12:30-14:00``, ``1:02:30-1:03:00`` or ``90-120.5`` (seconds)."""
    match = _STRETCH.fullmatch(text.strip())
    if match is None:
        raise FatalError("--stretch is written FROM-TO, such as 12:30-14:00 or 1:02:30-1:03:00")
    parts = [float(part or 0) for part in match.groups()]
    begin, end = (
        round((hours * 3600 + minutes * 60 + seconds) * 1000) for hours, minutes, seconds in (parts[:3], parts[3:])
    )
    if end <= begin:
        raise FatalError(f"--stretch {text}: it ends before it begins")
    return begin, end


def _said_within(segment: Segment, begin_ms: int, end_ms: int) -> bool:
    starts = [word.start_ms for word in segment.words if word.start_ms is not None]
    return bool(starts) and begin_ms <= starts[0] < end_ms
