"""Whether a ledger says all that was committed, before a rebuild believes it (ADR 0045).

The committed offset's metadata says what the records of all sessions that have published add up to. Where they do not,
one is missing, or older than what was committed: its session would begin anew, and words come out twice. So nothing is
rebuilt, and what is missing is named as well as can be known:

1. by the segments topic, whose last segment of a session says what its record must (the last stretch of it is read);
   of sessions that it shows closed only where that makes the sum right, since they may have been forgotten long ago;
2. by tombstones that no worker wrote.

An operator who gives such sessions up writes tombstones that say so, with the very sum that was committed; all those
that are named have to be given up, each through the last offset that was committed.
"""

from __future__ import annotations

from collections.abc import Iterator

from schemas.codec import decode_segment
from schemas.errors import InvalidEventError, NewerVersionError
from schemas.ledger_sum import LedgerSum, Published
from schemas.segments import Segment
from worker.errors import CaesuraError
from worker.ports.log_reader import LogReader
from worker.runtime.ledger_reading import LedgerReading
from worker.runtime.output_records import GIVEN_UP_HEADER, THROUGH_HEADER

__all__ = ["LedgerCheck"]

_CHUNK_RECORDS = 200
_MOST_SEGMENTS = 200_000
_MOST_NAMES = 5
_NOBODY = "none that anything names any more, or the offset is older than the ledger"


class LedgerCheck:
    """Compares a ledger that was read to its end with what was committed. ``run`` it; then ``detail`` says."""

    def __init__(self, ledger: LedgerReading, expected: LedgerSum | None, *, next_offset: int) -> None:
        self._ledger = ledger
        self._expected = expected
        self._through = next_offset - 1
        self._last: dict[str, tuple[Published, bool]] = {}  # after its last segment, and whether that closed it
        self.detail: str | None = None

    def run(self, reader: LogReader, topic: str, partition: int, *, timeout_s: float, stall_s: float) -> Iterator[None]:
        """Yield after every chunk of segments that it reads, which it does only where something is missing."""
        expected, found = self._expected, self._ledger.sum
        if expected is None or expected == found:
            return
        try:
            yield from self._read_segments(reader, topic, partition, timeout_s, stall_s)
        except CaesuraError:
            self._last.clear()  # whoever may not read them, or cannot now, parks without the names
        names = self._missing(expected)
        if not names and self._ledger.is_given_up(expected, self._through):
            return
        names += sorted(f"{name!r} (a tombstone of no worker's)" for name in self._ledger.erased - self._last.keys())
        shown = ", ".join(names[:_MOST_NAMES]) + (f" and {len(names) - _MOST_NAMES} more" * (len(names) > _MOST_NAMES))
        self.detail = (
            f"the ledger has records of {found.sessions} sessions that published, {expected.sessions} were committed; "
            f"missing, or older than what was committed: {shown or _NOBODY}; "
            f"write them again, or give them up by tombstones with the headers {THROUGH_HEADER}={self._through} "
            f"{GIVEN_UP_HEADER}={expected}; see docs/operations.md"
        )

    def _read_segments(
        self, reader: LogReader, topic: str, partition: int, timeout_s: float, stall_s: float
    ) -> Iterator[None]:
        low, end = reader.bounds(topic, partition, timeout_s)
        start = max(low, end - _MOST_SEGMENTS)
        for count, record in enumerate(reader.read(topic, partition, start, end, stall_s), start=1):
            try:
                segment = decode_segment(record.value or b"")
                self._last[segment.session] = _after(segment), segment.session_end
            except (InvalidEventError, NewerVersionError):
                pass  # somebody else's: it names nobody
            if count % _CHUNK_RECORDS == 0:
                yield

    def _missing(self, expected: LedgerSum) -> list[str]:
        """Name the sessions whose records are not what their last segments say."""
        total, named, closed = self._ledger.sum, [], []
        for name, (wanted, is_closed) in self._last.items():
            state, through = self._ledger.states.get(name), self._ledger.forgotten_through.get(name, -1)
            known = Published(name, -1) if state is None else Published.of(state)
            is_newer = (wanted.since, wanted.index) > (known.since, known.index)
            if not is_newer or wanted.since <= through:
                continue
            if state is None and is_closed:
                closed.append(wanted)
                continue
            total = total.less(known).plus(wanted)
            named.append(_named(known, wanted))
        named += [_named(Published(one.session, -1), one) for one in closed if total.plus(one) == expected][:1]
        return named


def _after(segment: Segment) -> Published:
    """Return what its session has published with this segment."""
    return Published(segment.session, segment.since, segment.index + 1, segment.first_word + len(segment.words))


def _named(known: Published, wanted: Published) -> str:
    so_far = "none" if known.since < 0 else f"{known.index} segments, {known.words} words"
    return f"{wanted.session!r} since {wanted.since} ({wanted.index} segments, {wanted.words} words; ledger: {so_far})"
