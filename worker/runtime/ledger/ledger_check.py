"""Checks a ledger against what was committed, before a rebuild uses it (ADR 0045).

The committed offset's metadata holds a checksum over the records of all sessions that have published. If it differs, a
record is missing or too old. Its session would begin anew, and words would come out twice. So the rebuild stops, and
the check names the sessions as far as possible:

1. by the end of the segments topic: a session's last segment shows what its record must hold. A closed session is named
   only if its record makes the sum right, because it may have been forgotten long ago;
2. by tombstones that no worker wrote.

To give sessions up, an operator writes tombstones with the committed sum and the last committed offset, one for each
named session. The check then reads the whole segments topic. It also names sessions whose records are older than their
segments. It forgets sessions that the ledger does not know, because the input would bring them again. Without the
segments topic no session can be given up.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from caesura.schemas.codec import decode_segment
from caesura.schemas.errors import InvalidEventError, NewerVersionError
from caesura.schemas.ledger_sum import LedgerSum, Published
from caesura.schemas.segments import Segment
from caesura.worker.errors import CaesuraError
from caesura.worker.ports.log_reader import LogReader
from caesura.worker.ports.records import Record
from caesura.worker.runtime.ledger.ledger_reading import LedgerReading
from caesura.worker.runtime.ledger.output_records import GIVEN_UP_HEADER, THROUGH_HEADER

_CHUNK_RECORDS = 200
_MOST_SEGMENTS = 200_000
_MOST_NAMES = 5
_UNNAMED = "no session that can be named, or the offset is older than the ledger"
_UNREAD = "unknown, because the segments topic could not be read"


class _LastSegment(NamedTuple):
    """What a session had published after its last segment. through: that segment's last input offset.

    closed: the segment closed the session. recent: it is at the end of the topic.
    """

    published: Published
    through: int
    closed: bool
    recent: bool


class LedgerCheck:
    """Compares a ledger that was read to its end with what was committed. After ``run``, ``detail`` has the fault.

    replayed: the input offsets that a rebuild reads again. forgotten: session -> the input offset through which it is
    given up; sessions that the ledger does not know.
    """

    def __init__(self, ledger: LedgerReading, expected: LedgerSum, *, replayed: range) -> None:
        self._ledger = ledger
        self._expected = expected
        self._replayed = replayed
        self._through = replayed.stop - 1
        self._last: dict[str, _LastSegment] = {}
        self.forgotten: dict[str, int] = {}
        self.detail: str | None = None

    def run(self, reader: LogReader, topic: str, partition: int, *, timeout_s: float, stall_s: float) -> Iterator[None]:
        """Compare, and yield after each chunk of segments. Segments are read only if the sums differ."""
        expected, found = self._expected, self._ledger.sum
        if expected == found:
            return
        given_up, unnamed = self._ledger.is_given_up(expected, self._through), _UNNAMED
        try:
            low, end = reader.bounds(topic, partition, timeout_s)
            recent = max(low, end - _MOST_SEGMENTS)
            records = reader.read(topic, partition, low if given_up else recent, end, stall_s)
            yield from self._note_segments(records, recent)
        except CaesuraError:
            self._last.clear()  # without access to the segments the partition parks without names
            given_up, unnamed = False, _UNREAD
        names = [*self._missing(expected), *self._erased()]
        if given_up and not names:
            self.forgotten = self._unnamed()
            return
        shown = ", ".join(names[:_MOST_NAMES]) + (f" and {len(names) - _MOST_NAMES} more" * (len(names) > _MOST_NAMES))
        self.detail = (
            f"the ledger has records of {found.sessions} sessions that published, {expected.sessions} were committed; "
            f"missing, or older than what was committed: {shown or unnamed}; "
            f"write them again, or give them up by tombstones with the headers {THROUGH_HEADER}={self._through} "
            f"{GIVEN_UP_HEADER}={expected}; see docs/operations.md"
        )

    def _note_segments(self, records: Iterator[Record], recent: int) -> Iterator[None]:
        for count, record in enumerate(records, start=1):
            try:
                segment = decode_segment(record.value or b"")
                self._last[segment.session] = _last_segment(segment, recent=record.offset >= recent)
            except (InvalidEventError, NewerVersionError):
                pass  # not one of Caesura's segments
            if count % _CHUNK_RECORDS == 0:
                yield

    def _missing(self, expected: LedgerSum) -> list[str]:
        """Name the sessions whose records are older than their last segments."""
        total, named, closed = self._ledger.sum, [], []
        for name, (wanted, _, is_closed, is_recent) in self._last.items():
            state, through = self._ledger.states.get(name), self._ledger.forgotten_through.get(name, -1)
            known = Published(name, -1) if state is None else Published.of(state)
            is_newer = (wanted.since, wanted.index) > (known.since, known.index)
            if not is_newer or wanted.since <= through or (state is None and not is_recent):
                continue
            if state is None and is_closed:
                closed.append(wanted)
                continue
            total = total.less(known).plus(wanted)
            named.append(_named(known, wanted))
        named += [_named(Published(one.session, -1), one) for one in closed if total.plus(one) == expected][:1]
        return named

    def _erased(self) -> list[str]:
        """Name the sessions under foreign tombstones, unless a recent segment names them."""
        told = {name for name, said in self._last.items() if said.recent}
        return sorted(f"{name!r} (a foreign tombstone)" for name in self._ledger.erased - told)

    def _unnamed(self) -> dict[str, int]:
        """Return the sessions that the ledger lacks and the input would bring again, with their last offsets."""
        unknown = ((name, said.through) for name, said in self._last.items() if name not in self._ledger.states)
        forgotten = self._ledger.forgotten_through
        return {name: end for name, end in unknown if end in self._replayed and end > forgotten.get(name, -1)}


def _last_segment(segment: Segment, *, recent: bool) -> _LastSegment:
    words = segment.first_word + len(segment.words)
    published = Published(segment.session, segment.since, segment.index + 1, words)
    return _LastSegment(published, segment.source.last_offset, segment.session_end, recent)


def _named(known: Published, wanted: Published) -> str:
    so_far = "none" if known.since < 0 else f"{known.index} segments, {known.words} words"
    return f"{wanted.session!r} since {wanted.since} ({wanted.index} segments, {wanted.words} words; ledger: {so_far})"
