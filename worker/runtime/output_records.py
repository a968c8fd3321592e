"""From frozen segments to the records of a transaction: the segments topic, translation routes, the ledger.

Every record goes to its input's partition number, keyed by session, so that a session's output has one order.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from schemas.codec import encode_segment, encode_translation
from schemas.segments import Segment, TranslationSegment
from schemas.state import LedgerState, encode_ledger
from worker.core.cleaning import Cleaning, phrases
from worker.core.rendering import render_segment
from worker.core.segment_writer import OutSegment
from worker.ports.records import OutMessage
from worker.runtime.settings import Route, RuntimeSettings

__all__ = ["REFUSED_HEADER", "REFUSED_KEY", "THROUGH_HEADER", "OutputRecords"]

THROUGH_HEADER = "caesura.through"
"""Header of a ledger tombstone: the last input offset that the forgotten session, or one before it, can have seen."""

REFUSED_HEADER = "caesura.refused"
"""Header of a ledger tombstone of its own: the input offset of a record that went to the dead letters for good."""

REFUSED_KEY = "\x00refused:%d"
"""No session has such a name: control characters are forbidden in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputRecords:
    """Makes messages. Nothing in here can fail for what an event holds: routes are the operator's checked list."""

    settings: RuntimeSettings
    _fillers: frozenset[str] = field(init=False)
    _kept: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_fillers", phrases(self.settings.own_fillers))
        object.__setattr__(self, "_kept", phrases(self.settings.kept_phrases))

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
            )
        ]
        for target, previous_index in out.routes.items():
            route = self.settings.route(target)
            if route is not None:
                value = encode_translation(self._translation(segment, route, previous_index), self.settings.wire_format)
                messages.append(
                    OutMessage(topic=route.topic, partition=partition, key=key, value=value, headers=headers)
                )
        return messages

    def ledger(self, partition: int, session: str, record: LedgerState | None, *, through: int) -> OutMessage:
        """Return a session's ledger record; None is the tombstone that forgets it, ``through`` an input offset."""
        value = None if record is None else encode_ledger(record)
        headers = ((THROUGH_HEADER, b"%d" % through),) if record is None else ()
        return OutMessage(
            topic=self.settings.ledger, partition=partition, key=session.encode(), value=value, headers=headers
        )

    def refused(self, partition: int, offset: int) -> OutMessage:
        """Return the ledger's note that the record at an input offset was refused: a rebuild must pass over it.

        A tombstone, so that compaction drops it once the input is gone (``delete.retention.ms``), and a release that
        does not know it takes it for a session forgotten that there never was.
        """
        headers = ((REFUSED_HEADER, b"%d" % offset),)
        key = (REFUSED_KEY % offset).encode()
        return OutMessage(topic=self.settings.ledger, partition=partition, key=key, value=None, headers=headers)

    def _translation(self, segment: Segment, route: Route, previous_index: int | None) -> TranslationSegment:
        rendered = render_segment(
            segment,
            route.rendering,
            keep_fillers=route.keep_fillers,
            keep_reparanda=route.keep_reparanda,
            cleaning=Cleaning(level=route.cleaning, fillers=self._fillers, kept=self._kept),
        )
        fields = {name: getattr(segment, name) for name in segment.__struct_fields__}
        return TranslationSegment(
            **fields, target=route.target, text=rendered.text, spans=rendered.spans, previous_index=previous_index
        )
