"""A partition's ledger, read from its beginning or from an offset to its present end.

1. Write a no-op record. Its offset is the end, as the present leader knows it, open transactions included (ADR 0047).
   Read the committed records up to it. If it cannot be reached yet, a commit marker is outstanding: wait.
2. Keep the last record of each key and decode only these; replaced records may be anything.
3. A tombstone says through which input offset its session is forgotten, or that an input record was refused.
"""

from __future__ import annotations

from collections.abc import Iterator

from caesura.schemas.ledger_sum import LedgerSum
from caesura.schemas.state import LedgerState, decode_ledger
from caesura.worker.ports.log_reader import LogReader
from caesura.worker.ports.records import Record
from caesura.worker.runtime.ledger.output_records import (
    GIVEN_UP_HEADER,
    REFUSED_HEADER,
    THROUGH_HEADER,
    is_probe,
    ledger_probe,
    parse_refused,
)


class UnreadableLedgerError(Exception):
    """A ledger record that is not Caesura's. Only an operator can restore its session. The text names its place."""

    def detail(self, next_offset: int, committed: LedgerSum) -> str:
        """Return what an operator needs to know.

        next_offset: the committed one; what lies before it is published. committed: what the ledger must say.
        """
        headers = f"{THROUGH_HEADER}={next_offset - 1} {GIVEN_UP_HEADER}={committed}"
        return f"{self}; its session is given up by a tombstone with the headers {headers}; see docs/operations.md"


class LedgerReading:
    """One partition's ledger. Its fields are valid after ``run``.

    start: where to begin; None: at the beginning. is_bounded: whether start lay within the log; else nothing was read.
    end: where the ledger ended. sum: the checksum over sessions that have published. erased: keys with a tombstone that
    no worker wrote.
    """

    def __init__(self, topic: str, partition: int, reader: LogReader, *, start: int | None = None) -> None:
        self._topic = topic
        self._partition = partition
        self._reader = reader
        self._start = start
        self.is_bounded = True
        self.end = 0
        self.records = 0
        self.states: dict[str, LedgerState] = {}
        self.forgotten_through: dict[str, int] = {}
        self.refused: set[int] = set()
        self.sum = LedgerSum()
        self.erased: set[str] = set()
        self._refused_under: dict[str, set[int]] = {}
        self._given_up: dict[LedgerSum, int] = {}

    def run(self, *, chunk_records: int, timeout_s: float, stall_s: float) -> Iterator[None]:
        """Yield after every chunk. BrokerError; UnreadableLedgerError."""
        low, self.end = self._reader.bounds_behind(ledger_probe(self._topic, self._partition), timeout_s)
        start = low if self._start is None else self._start
        self.is_bounded = low <= start <= self.end
        if not self.is_bounded:
            return
        latest: dict[bytes, Record] = {}
        for record in self._reader.read(self._topic, self._partition, start, self.end, stall_s):
            if is_probe(record):
                continue
            self.records += 1
            latest[record.key or b""] = record
            if self.records % chunk_records == 0:
                yield
        for count, record in enumerate(latest.values(), start=1):
            try:
                self._forget(record) if record.value is None else self._know(record, record.value)
            except ValueError as error:
                place = f"{self._topic} [{self._partition}], offset {record.offset}"
                detail = f"{place}: this record is not Caesura's, or of another major version"
                raise UnreadableLedgerError(detail) from error
            if count % chunk_records == 0:
                yield

    @property
    def begun_through(self) -> int:
        """The last input offset at which a session in the ledger, or forgotten, can have begun; -1 without one."""
        return max((*(state.since for state in self.states.values()), *self.forgotten_through.values()), default=-1)

    def is_given_up(self, expected: LedgerSum, through: int) -> bool:
        """Tell whether an operator has given up what is missing of this sum, through exactly this input offset.

        With a later offset, a later rebuild would skip words up to it.
        """
        return self._given_up.get(expected) == through

    def keys_from(self, next_offset: int) -> list[str]:
        """Return the keys of all sessions, and of refusals at or after this input offset."""
        refused = (key for key, offsets in self._refused_under.items() if max(offsets, default=-1) >= next_offset)
        return sorted({*self.states, *refused})

    def _forget(self, record: Record) -> None:
        headers = dict(record.headers)
        key = (record.key or b"").decode(errors="replace")  # an unknown name forgets no session
        if refused := headers.get(REFUSED_HEADER):
            self._refused_under[key] = parse_refused(refused)
            self.refused |= self._refused_under[key]
            return
        through = self.forgotten_through[key] = int(headers.get(THROUGH_HEADER) or -1)
        if THROUGH_HEADER not in headers:
            self.erased.add(key)
        if given_up := headers.get(GIVEN_UP_HEADER):
            known = LedgerSum.parse(given_up.decode())
            self._given_up[known] = max(through, self._given_up.get(known, through))

    def _know(self, record: Record, value: bytes) -> None:
        state = decode_ledger(value)
        if record.key != state.session.encode():
            raise ValueError("a session under another's key")
        self.states[state.session] = state
        self.sum = self.sum.plus(state)
