"""Converts a session's parts to its stored state and back: snapshot, restore, ledger record (``state``)."""

from __future__ import annotations

from operator import attrgetter
from typing import Any

from msgspec.structs import asdict

from caesura.schemas.state import (
    STATE_VERSION,
    AdmissionState,
    EncodedState,
    LedgerState,
    OutputState,
    SessionState,
    encode_state,
)
from caesura.worker.core.decoding.admission import Admission
from caesura.worker.core.decoding.context import DecodingContext
from caesura.worker.core.decoding.decoding import Decoder
from caesura.worker.core.decoding.segment_writer import SegmentWriter

_ADMISSION = attrgetter(*AdmissionState.__struct_fields__)
_OUTPUT = attrgetter(*OutputState.__struct_fields__)
"""The attributes of a part bear the names of its state's fields."""


def restored(state: SessionState, context: DecodingContext) -> tuple[Admission, SegmentWriter, Decoder]:
    """Make a session's parts as they were at the snapshot."""
    admission = Admission(rules=context.rules, **asdict(state.admission))
    writer = SegmentWriter(
        context=context, session=state.session, since=state.since, traces=state.traces, **asdict(state.output)
    )
    decoder = Decoder(context, writer, state.admission.options, state.decoding, words=state.buffer, held=state.held)
    return admission, writer, decoder


def snapshot(admission: Admission, writer: SegmentWriter, decoder: Decoder) -> bytes:
    """Return a session's whole state, with its words, as it is stored (``state.decode_state``)."""
    state = EncodedState(
        **_facts(admission, writer, decoder),
        buffer=decoder.buffer.stored_words(),
        held=decoder.segmenter.held,
        traces=writer.traces,
    )
    return encode_state(state)


def ledger_record(admission: Admission, writer: SegmentWriter, decoder: Decoder) -> LedgerState:
    """Return what a rebuild needs in addition to the input, without any word's text."""
    start = decoder.start
    return LedgerState(
        **_facts(admission, writer, decoder),
        start_offset=None if start is None else start[0],
        start_position=0 if start is None else start[1],
        start_code_point=0 if start is None else start[2],
        lengths=decoder.buffer.lengths(),
    )


def replay_offset(decoder: Decoder) -> int | None:
    """Return the first input offset that a rebuild must read again for this session; None: none of it.

    A session that has published nothing has no ledger record; its ``unrecorded_offset`` is that of its first event.
    """
    start = decoder.start
    known = [
        offset for offset in (None if start is None else start[0], decoder.unrecorded_offset) if offset is not None
    ]
    return min(known, default=None)


def _facts(admission: Admission, writer: SegmentWriter, decoder: Decoder) -> dict[str, Any]:
    return {
        "version": STATE_VERSION,
        "session": writer.session,
        "since": writer.since,
        "admission": AdmissionState(*_ADMISSION(admission)),
        "output": OutputState(*_OUTPUT(writer)),
        "decoding": decoder.state,
    }
