"""Makes the records of a transaction from frozen segments: for the segments topic, the routes and the ledger.

Each record goes to the partition number of its input, with the session as key, so a session's output is in order.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from caesura.schemas.codec import encode_segment, encode_translation
from caesura.schemas.segments import NumberForm, TranslationSegment
from caesura.schemas.state import LedgerState, encode_ledger
from caesura.worker.core.decoding.segment_writer import OutSegment
from caesura.worker.core.overlays.redaction import Redaction, without_own_words
from caesura.worker.core.overlays.rules import OverlayRules
from caesura.worker.core.rendering.cleaning import Cleaning, CleaningLevel
from caesura.worker.core.rendering.rendering import render_segment
from caesura.worker.ports.records import OutMessage, Record
from caesura.worker.runtime.settings.settings import Route, RuntimeSettings

THROUGH_HEADER = "caesura.through"
"""Header of a ledger tombstone: the last input offset that the forgotten session, or one before it, can have seen."""

REFUSED_HEADER = "caesura.refused"
"""Header of a ledger tombstone of its own: input offsets of records that went to the dead letters for good.

Ranges in their order, ``5 7-19``: a flood of refusals is one record a checkpoint.
"""

GIVEN_UP_HEADER = "caesura.given_up"
"""Header of a tombstone that an operator writes: the sum (``ledger_sum``) of which something is given up."""

_REFUSED_KEY = "\x00refused:%d"
"""With the first of the offsets. No session has such a name: control characters are forbidden in it."""

_PROBE_KEY = b"\x00witness"

_LONGEST_RANGE = 1_000_000


def ledger_probe(topic: str, partition: int) -> OutMessage:
    """Build a no-op ledger record; every release ignores it."""
    headers = ((THROUGH_HEADER, b"-1"),)
    return OutMessage(topic=topic, partition=partition, key=_PROBE_KEY, value=None, headers=headers)


def is_probe(record: Record) -> bool:
    """Tell whether a ledger record is a no-op."""
    return record.key == _PROBE_KEY


def parse_refused(header: bytes) -> set[int]:
    """Return the offsets of a header; ValueError if Caesura did not write it."""
    found: set[int] = set()
    for text in header.split():
        first, _, last = text.partition(b"-")
        offsets = range(int(first), int(last or first) + 1)
        if len(offsets) > _LONGEST_RANGE:
            raise ValueError("more refusals than a checkpoint can hold")
        found.update(offsets)
    return found


def _ranges(offsets: Sequence[int]) -> str:
    """Return ascending offsets as ``parse_refused`` reads them, no range longer than it takes."""
    ranges: list[tuple[int, int]] = []
    for offset in offsets:
        first, last = ranges[-1] if ranges else (0, -2)
        if offset == last + 1 and offset - first < _LONGEST_RANGE:
            ranges[-1] = (first, offset)
        else:
            ranges.append((offset, offset))
    return " ".join(str(first) if first == last else f"{first}-{last}" for first, last in ranges)


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputRecords:
    """Makes messages. No event can make it fail: routes are the operator's checked list."""

    settings: RuntimeSettings
    _cleaning: dict[CleaningLevel, Cleaning] = field(init=False)
    _overlays: dict[NumberForm, OverlayRules] = field(init=False)
    _redactions: dict[str, Redaction] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_cleaning", {level: self.settings.cleaning(level) for level in CleaningLevel})
        object.__setattr__(self, "_overlays", {form: self.settings.overlays(form) for form in NumberForm})
        redactions = {route.target: self.settings.redaction(route.redact) for route in self.settings.routes}
        object.__setattr__(self, "_redactions", redactions)

    def segment(self, partition: int, out: OutSegment, headers: tuple[tuple[str, bytes], ...] = ()) -> list[OutMessage]:
        """Return a segment's records: one for the segments topic, and one for each route that it goes to."""
        segment = out.segment
        key = segment.session.encode()
        messages = [
            OutMessage(
                topic=self.settings.segment_topic,
                partition=partition,
                key=key,
                value=encode_segment(segment, self.settings.wire_format),
                headers=headers,
                segment=segment,
            )
        ]
        for target, previous_index in out.routes.items():
            route = self.settings.route(target)
            if route is not None:
                value = encode_translation(self._translation(out, route, previous_index), self.settings.wire_format)
                messages.append(
                    OutMessage(
                        topic=route.topic, partition=partition, key=key, value=value, headers=headers, segment=segment
                    )
                )
        return messages

    def ledger(self, partition: int, session: str, record: LedgerState | None, *, through: int) -> OutMessage:
        """Return a session's ledger record; None is the tombstone that forgets it, ``through`` an input offset."""
        value = None if record is None else encode_ledger(record)
        headers = ((THROUGH_HEADER, b"%d" % through),) if record is None else ()
        return OutMessage(
            topic=self.settings.ledger, partition=partition, key=session.encode(), value=value, headers=headers
        )

    def refused(self, partition: int, offsets: Sequence[int]) -> list[OutMessage]:
        """Return the ledger's note that the records at these input offsets were refused, if there are any.

        A rebuild skips them. The note is a tombstone, so compaction drops it once the input is gone
        (``delete.retention.ms``), and an older release reads it as an unknown session that was forgotten.
        """
        if not offsets:
            return []
        headers = ((REFUSED_HEADER, _ranges(offsets).encode()),)
        key = (_REFUSED_KEY % offsets[0]).encode()
        return [OutMessage(topic=self.settings.ledger, partition=partition, key=key, value=None, headers=headers)]

    def _translation(self, out: OutSegment, route: Route, previous_index: int | None) -> TranslationSegment:
        segment = out.segment
        redaction = self._redactions[route.target]
        redacted: Collection[int] = ()
        if redaction:
            segment, redacted = redaction.segment(segment, out.beside)
        rendered = render_segment(
            segment,
            route.rendering,
            keep_fillers=route.keep_fillers,
            keep_reparanda=route.keep_reparanda,
            cleaning=self._cleaning[route.cleaning],
            overlays=self._overlays[route.numbers],
            redacted=redacted,
        )
        if redaction:
            segment = without_own_words(segment)
        fields = {name: getattr(segment, name) for name in segment.__struct_fields__}
        return TranslationSegment(
            **fields,
            target=route.target,
            text=rendered.text,
            spans=rendered.spans,
            previous_index=previous_index,
            overlays=rendered.overlays,
        )
