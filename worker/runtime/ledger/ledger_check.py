"""Whether a ledger says all that was committed, before a rebuild believes it (ADR 0045).

The committed offset's metadata says what the records of all sessions that have published add up to. Where they do not,
one is missing, or older than what was committed: its session would begin anew, and words come out twice. So nothing is
rebuilt, and what is missing is named as well as can be known:

1. by the segments topic, whose last segment of a session says what its record must (the last stretch of it is read);
   of sessions that it shows closed only where that makes the sum right, since they may have been forgotten long ago;
2. by tombstones that no worker wrote.

An operator who gives such sessions up writes tombstones that say so, with the very sum that was committed; all those
that are named have to be given up, each through the last offset that was committed. Then all of the segments topic is
read: whose record is older than what it shows is named as well, and what it shows of sessions that the ledger does not
know is forgotten too, or the input would bring it again. Where it cannot be read nobody is given up.
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

__all__ = ["LedgerCheck"]

_CHUNK_RECORDS = 200
_MOST_SEGMENTS = 200_000
_MOST_NAMES = 5
_NOBODY = "none that anything names any more, or the offset is older than the ledger"
_UNREAD = "nobody knows, for the segments topic could not be read"


class _Said(NamedTuple):
    """What a session has published with its last segment, and through which input offset.

    closed: that segment closed it. recent: it is of the last stretch.
    """

    published: Published
    through: int
    closed: bool
    recent: bool


class LedgerCheck:
    """Compares a ledger that was read to its end with what was committed. ``run`` it; then ``detail`` says.

    replayed: the stretch of the input that a rebuild reads again. forgotten: sessions that are given up without being
    named, and through which input offset, which the ledger does not say yet.
    """

    def __init__(self, ledger: LedgerReading, expected: LedgerSum, *, replayed: range) -> None:
        self._ledger = ledger
        self._expected = expected
        self._replayed = replayed
        self._through = replayed.stop - 1
        self._last: dict[str, _Said] = {}
        self.forgotten: dict[str, int] = {}
        self.detail: str | None = None

    def run(self, reader: LogReader, topic: str, partition: int, *, timeout_s: float, stall_s: float) -> Iterator[None]:
        """Yield after every chunk of segments that it reads, which it does only where something is missing."""
        expected, found = self._expected, self._ledger.sum
        if expected == found:
            return
        given_up, nobody = self._ledger.is_given_up(expected, self._through), _NOBODY
        try:
            low, end = reader.bounds(topic, partition, timeout_s)
            recent = max(low, end - _MOST_SEGMENTS)
            records = reader.read(topic, partition, low if given_up else recent, end, stall_s)
            yield from self._note_segments(records, recent)
        except CaesuraError:
            self._last.clear()  # whoever may not read them, or cannot now, parks without the names
            given_up, nobody = False, _UNREAD
        names = [*self._missing(expected), *self._erased()]
        if given_up and not names:
            self.forgotten = self._unnamed()
            return
        shown = ", ".join(names[:_MOST_NAMES]) + (f" and {len(names) - _MOST_NAMES} more" * (len(names) > _MOST_NAMES))
        self.detail = (
            f"the ledger has records of {found.sessions} sessions that published, {expected.sessions} were committed; "
            f"missing, or older than what was committed: {shown or nobody}; "
            f"write them again, or give them up by tombstones with the headers {THROUGH_HEADER}={self._through} "
            f"{GIVEN_UP_HEADER}={expected}; see docs/operations.md"
        )

    def _note_segments(self, records: Iterator[Record], recent: int) -> Iterator[None]:
        for count, record in enumerate(records, start=1):
            try:
                segment = decode_segment(record.value or b"")
                self._last[segment.session] = _said(segment, recent=record.offset >= recent)
            except (InvalidEventError, NewerVersionError):
                pass  # somebody else's: it names nobody
            if count % _CHUNK_RECORDS == 0:
                yield

    def _missing(self, expected: LedgerSum) -> list[str]:
        """Name the sessions whose records are not what their last segments say."""
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
        """Name the sessions under tombstones of no worker's that no recent segment tells more of."""
        told = {name for name, said in self._last.items() if said.recent}
        return sorted(f"{name!r} (a tombstone of no worker's)" for name in self._ledger.erased - told)

    def _unnamed(self) -> dict[str, int]:
        """Return whom the ledger does not know though the input would bring them again, and through which offset."""
        unknown = ((name, said.through) for name, said in self._last.items() if name not in self._ledger.states)
        forgotten = self._ledger.forgotten_through
        return {name: end for name, end in unknown if end in self._replayed and end > forgotten.get(name, -1)}


def _said(segment: Segment, *, recent: bool) -> _Said:
    words = segment.first_word + len(segment.words)
    published = Published(segment.session, segment.since, segment.index + 1, words)
    return _Said(published, segment.source.last_offset, segment.session_end, recent)


def _named(known: Published, wanted: Published) -> str:
    so_far = "none" if known.since < 0 else f"{known.index} segments, {known.words} words"
    return f"{wanted.session!r} since {wanted.since} ({wanted.index} segments, {wanted.words} words; ledger: {so_far})"
