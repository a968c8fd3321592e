"""Trace contexts on their way: out of a record's headers, through a session's state, into its segments."""

from __future__ import annotations

from itertools import accumulate

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from caesura.schemas.state import decode_state, encode_state
from caesura.worker.core.decoding.context import Origin
from caesura.worker.core.decoding.segment_writer import OutSegment, SegmentWriter
from caesura.worker.core.language.rules import DecodingRules
from caesura.worker.core.language.words import SegmenterFactory, whitespace_segmenters
from caesura.worker.ports.records import Record
from tests.harness.partition_driver import Driver, event, pair_segmenters
from tests.harness.speeches import Said, Timed, groupings, rules, speeches
from tests.harness.tracing import Traced, context

segmenters = st.sampled_from([whitespace_segmenters, pair_segmenters])


def _expected(out: OutSegment, place: int, events: list[Timed]) -> tuple[str, ...]:
    """Return the contexts of the events that a segment's characters came in; it begins at character ``place``."""
    lengths = [sum(len(word.text) for word in one.event.words) for one in events]
    end = place + sum(len(word.text) for word in out.segment.words)
    found = [
        str(offset)
        for offset, (length, its_end) in enumerate(zip(lengths, accumulate(lengths), strict=True))
        if length and its_end - length < end and its_end > place
    ]
    if out.segment.session_end and str(len(events) - 1) not in found:
        found.append(str(len(events) - 1))
    return tuple(found)


@settings(max_examples=40)
@given(data=st.data(), speech=speeches, chosen=rules, segmenter=segmenters)
def test_a_segment_has_its_events_contexts_however_often_stored(
    data: st.DataObject, speech: list[Said], chosen: DecodingRules, segmenter: SegmenterFactory
) -> None:
    events = data.draw(groupings(speech))
    driver = Driver(rules=chosen, segmenters=segmenter, traced=True)
    for one in events:
        driver.give(one.event, after_ms=one.after_ms)
        if data.draw(st.booleans()):
            driver.restart()

    place = 0
    for out in driver.out:
        assert out.traces == _expected(out, place, events)
        place += sum(len(word.text) for word in out.segment.words)


def test_a_sessions_state_keeps_contexts_of_waiting_words_alone() -> None:
    driver = Driver(traced=True)
    driver.give(event(0, "the first words"))
    driver.give(event(1, "and some more"))
    assert [offset for offset, _ in driver.state().traces] == [0, 1]
    driver.give(event(2, utterance_end=True))
    assert [offset for offset, _ in driver.state().traces] == [1]
    driver.give(event(3, session_end=True))
    assert driver.state().traces == ()


def test_events_without_words_leave_no_context_behind() -> None:
    driver = Driver(traced=True)
    for seq in range(50):
        driver.give(event(seq, heard_until_ms=seq))
    assert driver.state().traces == ()


def test_a_session_keeps_no_more_contexts_than_any_buffer_needs() -> None:
    writer = SegmentWriter(context=Driver().context, session="s", since=0)
    for offset in range(1_100):
        writer.note_event(event(0, "word"), Origin(offset=offset, appended_ms=0, polled_ms=0, time_ms=0, trace="some"))
    assert [offset for offset, _ in writer.traces] == list(range(76, 1_100))


def test_a_state_without_contexts_is_read_and_holds_no_field_for_them() -> None:
    driver = Driver()
    driver.give(event(0, "a few words"))
    data = encode_state(driver.state())
    assert b"traces" not in data
    assert decode_state(data.replace(b"1.1", b"1.0")).traces == ()


@pytest.mark.parametrize(
    "value",
    [
        b"",
        b"hello",
        None,
        context(1).upper().encode().replace(b"00-", b"0A-", 1),
        b"00-" + b"0" * 32 + b"-00f067aa0ba902b7-01",
        b"00-4bf92f3577b34da6a3ce929d0e0e4736-" + b"0" * 16 + b"-01",
        b"ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        b"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
        b"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\n",
    ],
)
def test_a_header_that_is_no_trace_context_is_left_alone(value: bytes | None) -> None:
    assert Traced().tracer().context_of(_record(("traceparent", value))) == ""


def test_a_record_with_two_trace_contexts_has_no_context() -> None:
    given_twice = ("traceparent", context(1).encode()), ("traceparent", context(2).encode())
    assert Traced().tracer().context_of(_record(*given_twice)) == ""


def test_a_context_of_a_later_version_is_read_as_far_as_it_is_known() -> None:
    later = b"01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-what-will-come"
    found = Traced().tracer().context_of(_record(("traceparent", later)))
    assert found == "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


def _record(*headers: tuple[str, bytes | None]) -> Record:
    return Record(partition=0, offset=0, timestamp_ms=0, key=b"ann", value=b"", headers=headers)
