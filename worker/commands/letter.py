"""A dead letter for the commands: its headers, and whether it can be sent again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from caesura.schemas.codec import decode_event
from caesura.schemas.dead_letters import DeadLetterHeader as Header
from caesura.schemas.dead_letters import DeadLetterReason as Reason
from caesura.schemas.errors import InvalidEventError, NewerVersionError
from caesura.worker.ports.records import Record
from caesura.worker.whole_numbers import whole_number

_LONGEST = 2**53 - 1

_FOR_GOOD: Mapping[str, str] = {
    Reason.LATE: "it comes after its gap was passed, and that stays so",
    Reason.STALE_EPOCH: "its epoch is lower than its session's, and that stays so",
    Reason.SESSION_ENDED: "its session has ended; once that is forgotten (forget_after_ms) it would open a new one",
}


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
        length = whole_number(said.get(Header.LENGTH, ""), _LONGEST)
        return cls(
            record=record,
            reason=said.get(Header.REASON, "unknown"),
            detail=said.get(Header.DETAIL, ""),
            origin=f"{place[0]} {place[1]}:{place[2]}",
            length=kept if length is None else length,
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
            why = "its key was not kept" if self.key_lost else "it had no key"
            return f"{why}, and without one its partition is unknown"
        return None

    @property
    def refused_again(self) -> str | None:
        """Why this release would refuse it again if it were sent; None where it would not, or nobody can tell.

        The event is decoded here as a worker decodes it, so that a letter which an upgrade can read is told from one
        that stays what it is. What depends on the session (its numbers, its end) does not become right by waiting.
        """
        if self.unsendable is not None:
            return None
        if (why := _FOR_GOOD.get(self.reason)) is not None:
            return why
        try:
            event = decode_event(self.record.value or b"")
        except NewerVersionError:
            return "it is of a newer major version: it waits for a newer worker"
        except InvalidEventError as error:
            return f"it is {error.reason} ({error.detail})"
        if (self.record.key or b"") != event.session.encode():
            return "its key is not its session"
        return None
