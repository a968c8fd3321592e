"""``caesura dead-letters``: look at refused events, and send them again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Annotated

import msgspec
import typer

from caesura.schemas.codec import decode_event
from caesura.schemas.errors import InvalidEventError, NewerVersionError
from caesura.worker.adapters.kafka.event_sender import KafkaSender
from caesura.worker.adapters.kafka.topic_reader import KafkaReader, Start
from caesura.worker.commands.brokers import reached_brokers
from caesura.worker.commands.letter import Letter
from caesura.worker.commands.options import ConfigOption, SetOption, origin_of
from caesura.worker.commands.progress import counted, counted_noun
from caesura.worker.commands.terminal import echo, write
from caesura.worker.errors import FatalError
from caesura.worker.escaping import escaped
from caesura.worker.settings.tree import BrokerSettings
from caesura.worker.whole_numbers import MAX_OFFSET, MAX_PARTITION, whole_number

dead_letters = typer.Typer(
    no_args_is_help=True,
    help="Look at refused events, and send them again.",
)

ReasonOption = Annotated[str | None, typer.Option(help="Only letters of this reason, such as malformed or late.")]
PlaceArgument = Annotated[str, typer.Argument(metavar="PARTITION:OFFSET", help="As `list` prints it.")]


@dead_letters.command("list")
def list_letters(
    config: ConfigOption = None,
    assignments: SetOption = None,
    *,
    reason: ReasonOption = None,
    limit: Annotated[
        int, typer.Option(min=1, max=1_000_000_000, help="How many of each partition, newest first.")
    ] = 100,
) -> None:
    """List dead letters, oldest first, and count them by reason. No word of an event is shown."""
    settings = reached_brokers(origin_of(config, assignments))
    with _reader(settings) as reader:
        letters = _of_reason(reader, reason)
    by_partition: dict[int, list[Letter]] = {}
    for letter in letters:
        by_partition.setdefault(letter.record.partition, []).append(letter)
    newest = [letter for of_partition in by_partition.values() for letter in of_partition[-limit:]]
    for letter in sorted(newest, key=lambda letter: letter.record.timestamp_ms):
        reason, origin = escaped(letter.reason), escaped(letter.origin)
        echo(f"{_time(letter)}  {letter.place:>12}  {reason:19}  {letter.length:>8} bytes  {origin}")
    for name, count in Counter(letter.reason for letter in letters).most_common():
        echo(f"{count} {name}", err=True)


@dead_letters.command("show")
def show(
    place: PlaceArgument,
    config: ConfigOption = None,
    assignments: SetOption = None,
    *,
    content: Annotated[
        bool,
        typer.Option("--content", help="Also the event, or its bytes. It holds spoken words."),
    ] = False,
) -> None:
    """Show one dead letter.

    It says where it came from, why it was refused, and whether it can be sent again.
    """
    settings = reached_brokers(origin_of(config, assignments))
    with _reader(settings) as reader:
        letter = _letter(reader, place)
    rows: dict[str, str | bytes] = {
        "reason": letter.reason,
        "detail": letter.detail,
        "from": letter.origin,
        "key": letter.record.key or b"",
        "time": _time(letter),
        "bytes": str(letter.length),
        "holds": _holds(letter),
        "can be sent again": _prospect(letter),
    }
    for name, value in rows.items():
        echo(f"{name + ':':19}{escaped(value)}")
    if content:
        write(_shown(letter.record.value or b"") + "\n")


@dead_letters.command("replay")
def replay_letters(
    places: Annotated[list[str] | None, typer.Argument(metavar="[PARTITION:OFFSET]...")] = None,
    config: ConfigOption = None,
    assignments: SetOption = None,
    *,
    reason: ReasonOption = None,
    every: Annotated[bool, typer.Option("--all", help="All letters (with --reason: all of that reason).")] = False,
) -> None:
    """Send dead letters to the input topic again.

    Bytes and key are the original ones. What has not changed will be refused again: fix the setting or upgrade the
    worker first. A late or repeated event stays late or repeated.
    """
    if bool(places) == (every or reason is not None):
        raise FatalError("say which: PARTITION:OFFSET ..., or --all, or --reason")
    settings = reached_brokers(origin_of(config, assignments))
    with _reader(settings) as reader:
        chosen = [_letter(reader, place) for place in places] if places else _of_reason(reader, reason)
    if not chosen:
        return
    sent = _send_again(settings, chosen)
    echo(f"sent {sent} of {len(chosen)} again", err=True)
    if sent < len(chosen):
        raise typer.Exit(1)


def _send_again(settings: BrokerSettings, letters: Iterable[Letter]) -> int:
    sent = 0
    worker = settings.worker
    with KafkaSender(settings.kafka, worker.input_topic, worker.partitioner.place) as sender:
        for letter in counted(letters, doing="sending"):
            if letter.unsendable or letter.record.key is None:
                echo(f"{letter.place} cannot be sent again: {letter.unsendable}", err=True)
                continue
            sender.send(letter.record.key, letter.record.value)
            sent += 1
    return sent


def _holds(letter: Letter) -> str:
    """Return what the event is, without a word of it."""
    try:
        event = decode_event(letter.record.value or b"")
    except (InvalidEventError, NewerVersionError):
        return "no event that this release reads"
    ends = ", ends its session" if event.session_end else ""
    return f"{counted_noun(len(event.words), 'word')}, seq {event.seq} of epoch {event.epoch}, {event.lang}{ends}"


def _shown(value: bytes) -> str:
    """Return an event as JSON over several lines, whatever form it came in; as bytes where it is none."""
    try:
        return msgspec.json.format(msgspec.json.encode(decode_event(value)), indent=2).decode()
    except (InvalidEventError, NewerVersionError):
        return hex_dump(value)


def _prospect(letter: Letter) -> str:
    if letter.unsendable is not None:
        return f"no: {letter.unsendable}"
    if letter.refused_again is not None:
        return f"in vain: it would be refused again, for {letter.refused_again}"
    return "yes"


def hex_dump(data: bytes) -> str:
    """Return bytes as lines of sixteen, in hexadecimal and as text."""
    rows = []
    for at in range(0, len(data), 16):
        row = data[at : at + 16]
        text = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in row)
        rows.append(f"{at:08x}  {row.hex(' '):47}  {text}")
    return "\n".join(rows)


def _reader(settings: BrokerSettings) -> KafkaReader:
    return KafkaReader(settings.kafka, settings.worker.dead_letter_topic)


def _letters(reader: KafkaReader, start: Start) -> Iterator[Letter]:
    return (Letter.of(record) for record in reader.read(start, follow=False))


def _of_reason(reader: KafkaReader, reason: str | None) -> list[Letter]:
    """Return the letters of a reason, all where it is None. Where there are none, say so, and which there are."""
    letters: list[Letter] = []
    others: set[str] = set()
    for letter in _letters(reader, Start()):
        if reason in (None, letter.reason):
            letters.append(letter)
        else:
            others.add(letter.reason)
    if not letters:
        there_are = f"; there are some of {', '.join(sorted(others))}" if others else ""
        echo(f"there are no dead letters{f' of reason {reason!r}' if reason else ''}{there_are}", err=True)
    return letters


def _letter(reader: KafkaReader, place: str) -> Letter:
    told_partition, _, told_offset = place.partition(":")
    partition, offset = whole_number(told_partition, MAX_PARTITION), whole_number(told_offset, MAX_OFFSET)
    if partition is None or offset is None:
        raise FatalError(f"{place}: a dead letter's place is PARTITION:OFFSET")
    letter = next(_letters(reader, Start(partition=partition, offset=offset)), None)
    if letter is None or letter.record.offset != offset:
        raise FatalError(f"there is no dead letter {place} (any more)")
    return letter


def _time(letter: Letter) -> str:
    told_ms = letter.record.timestamp_ms
    if told_ms < 0:
        return "-"
    try:
        moment = datetime.fromtimestamp(told_ms / 1000).astimezone()
    except (ValueError, OverflowError, OSError):  # a producer may set any time; a calendar ends with the year 9999
        return f"{told_ms} ms after 1970"
    return moment.isoformat(sep=" ", timespec="seconds")
