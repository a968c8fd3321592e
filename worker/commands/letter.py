"""A dead letter as the commands see it: what its headers say, and whether it can be sent again."""

from __future__ import annotations

from dataclasses import dataclass

from schemas.dead_letters import DeadLetterHeader as Header
from worker.ports.records import Record

__all__ = ["Letter"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Letter:
    """One record of the dead-letter topic. origin: topic, partition and offset that it came from, as text."""

    record: Record
    reason: str
    detail: str
    origin: str
    length: int
    key_lost: bool

    @classmethod
    def of(cls, record: Record) -> Letter:
        """Read a record's headers; what another program wrote there has reason ``unknown``."""
        said = {name: (value or b"").decode(errors="replace") for name, value in record.headers}
        place = [said.get(header, "?") for header in (Header.TOPIC, Header.PARTITION, Header.OFFSET)]
        kept = len(record.value or b"")
        length = said.get(Header.LENGTH, "")
        return cls(
            record=record,
            reason=said.get(Header.REASON, "unknown"),
            detail=said.get(Header.DETAIL, ""),
            origin=f"{place[0]} {place[1]}:{place[2]}",
            length=int(length) if length.isdigit() else kept,
            key_lost=Header.KEY_SHA256 in said,
        )

    @property
    def place(self) -> str:
        """Its partition and offset within the dead-letter topic, as the commands take them."""
        return f"{self.record.partition}:{self.record.offset}"

    @property
    def unsendable(self) -> str | None:
        """Why it cannot be sent again; None where it can."""
        if self.record.value is None:
            return "it had no value"
        if self.length > len(self.record.value):
            return f"of its {self.length} bytes only {len(self.record.value)} were kept"
        if self.key_lost or self.record.key is None:
            return "its key was not kept, and without it its partition is unknown"
        return None
