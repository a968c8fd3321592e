"""Between a session's parts and its stored state: snapshot, restore, ledger record (``schemas.state``)."""

from __future__ import annotations

from typing import Any

from msgspec.structs import asdict

from schemas.state import STATE_VERSION, EncodedState, LedgerState, SessionState, encode_state
from worker.core.admission import Admission
from worker.core.buffer import Buffer
from worker.core.context import DecodingContext
from worker.core.decoding import Decoder
from worker.core.decoding_progress import DecodingProgress
from worker.core.segment_writer import SegmentWriter

__all__ = ["ledger_record", "replay_offset", "restored", "snapshot"]


def restored(state: SessionState, context: DecodingContext) -> tuple[Admission, SegmentWriter, Decoder]:
    """Make a session's parts as they were when the snapshot was taken."""
    options = state.options
    admission = Admission(
        rules=context.rules,
        options=options,
        activity_ms=state.activity_ms,
        event_ms=state.event_ms,
        status=state.status,
        epoch=state.epoch,
        next_seq=state.next_seq,
        missed=state.missed,
        missed_from=state.missed_from,
        closed_ms=state.closed_ms,
        listening=state.listening,
        hears=state.hears,
    )
    writer = SegmentWriter(
        context=context,
        session=state.session,
        since=state.since,
        index=state.index,
        words=state.words,
        sentence=state.sentence,
        mid_sentence=state.mid_sentence,
        targets=state.targets,
        routes=state.routes,
        gaps=state.gaps,
        conversation=state.conversation,
        speaker=state.speaker,
        role=state.role,
        channel=state.channel,
        attributes=state.attributes,
        last_offset=state.last_offset,
        last_appended_ms=state.last_appended_ms,
        last_polled_ms=state.last_polled_ms,
        traces=state.traces,
    )
    buffer = Buffer(
        state.buffer,
        start=state.model_words - len(state.buffer),
        labelled_start=state.labelled_start,
        frozen=state.frozen,
        settled=state.settled,
        labels=state.labels,
    )
    decoder = Decoder(
        context,
        writer,
        options,
        lang=state.lang,
        buffer=buffer,
        progress=DecodingProgress(
            held=state.held,
            model=state.model,
            tag=state.tag,
            audio_end_ms=state.audio_end_ms,
            unrecorded_offset=state.unrecorded_offset,
        ),
    )
    return admission, writer, decoder


def snapshot(admission: Admission, writer: SegmentWriter, decoder: Decoder) -> bytes:
    """Return everything that a session is, its words included, as it is stored (``schemas.state.decode_state``)."""
    facts = _facts(admission, writer, decoder)
    facts["buffer"] = decoder.buffer.stored_words()
    facts["held"] = decoder.segmenter.held
    facts["traces"] = writer.traces
    return encode_state(EncodedState(**facts))


def ledger_record(admission: Admission, writer: SegmentWriter, decoder: Decoder) -> LedgerState:
    """Return what a rebuild needs beside the input, without any word's text."""
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
    buffer = decoder.buffer
    return {
        "version": STATE_VERSION,
        "session": writer.session,
        "since": writer.since,
        "status": admission.status,
        "lang": decoder.lang,
        "options": admission.options,
        "epoch": admission.epoch,
        "next_seq": admission.next_seq,
        "activity_ms": admission.activity_ms,
        "event_ms": admission.event_ms,
        "last_offset": writer.last_offset,
        "last_appended_ms": writer.last_appended_ms,
        "last_polled_ms": writer.last_polled_ms,
        "missed": admission.missed,
        "missed_from": admission.missed_from,
        "closed_ms": admission.closed_ms,
        "listening": admission.listening,
        "hears": admission.hears,
        "audio_end_ms": decoder.audio_end_ms,
        "index": writer.index,
        "words": writer.words,
        "sentence": writer.sentence,
        "mid_sentence": writer.mid_sentence,
        "model_words": buffer.end,
        "model": decoder.labels.model,
        "labelled_start": buffer.labelled_start,
        "tag": decoder.tag,
        "targets": writer.targets,
        "routes": writer.routes,
        "gaps": writer.gaps,
        "conversation": writer.conversation,
        "speaker": writer.speaker,
        "role": writer.role,
        "channel": writer.channel,
        "attributes": writer.attributes,
        "unrecorded_offset": decoder.unrecorded_offset,
        "frozen": buffer.frozen,
        "settled": buffer.settled,
        **asdict(buffer.labels),
    }
