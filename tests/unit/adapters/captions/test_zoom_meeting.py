"""Captions into a meeting: each is shown once, whatever becomes of a post or its answer."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from caesura.worker.adapters.captions.zoom_meeting import ZoomMeeting
from caesura.worker.errors import FatalError, RetriableError
from tests.harness.meeting import Meeting, meeting_held


@pytest.fixture
def meeting() -> Iterator[Meeting]:
    with meeting_held() as held:
        yield held


def captions_of(meeting: Meeting, **options: float) -> ZoomMeeting:
    return ZoomMeeting(meeting.address, lang="en-US", sleep=lambda _: None, timeout_s=2, **options)


def test_captions_are_numbered_one_by_one_and_go_on_after_a_restart(meeting: Meeting) -> None:
    zoom = captions_of(meeting)
    for text in ("So we begin.", "Two\nlines."):
        zoom.post(text)
    captions_of(meeting).post("And go on.")
    assert meeting.shown == ["So we begin.", "Two\nlines.", "And go on."]
    assert meeting.seqs == [1, 2, 3]


@pytest.mark.parametrize("faults", [["503"], ["400", "503", "502"], ["answer lost"], ["answer lost", "504"]])
def test_a_retry_does_not_raise_the_number_so_that_nothing_is_shown_twice(meeting: Meeting, faults: list[str]) -> None:
    zoom = captions_of(meeting)
    zoom.post("one")
    meeting.faults = list(faults)
    zoom.post("two")
    zoom.post("three")
    assert meeting.shown == ["one", "two", "three"]
    assert meeting.seqs == [1, *[2] * (1 + len(faults)), 3]


@pytest.mark.parametrize(
    ("fault", "told"), [("400", "HTTP 400, the meeting has not started"), ("503", "HTTP 503"), ("404", "HTTP 404")]
)
def test_a_dropped_caption_is_reported_and_the_next_one_is_shown(meeting: Meeting, fault: str, told: str) -> None:
    zoom = captions_of(meeting, give_up_after_s=0.1)
    meeting.faults = [fault]
    with pytest.raises(RetriableError, match=rf"127\.0\.0\.1 took no caption: {told}") as refused:
        zoom.post("one")
    assert "secret" not in str(refused.value)
    zoom.post("two")
    assert meeting.shown == ["two"]


@pytest.mark.parametrize("refusal", ["401", "403"])
def test_an_address_that_is_refused_as_long_as_a_caption_is_tried_is_fatal(meeting: Meeting, refusal: str) -> None:
    zoom = captions_of(meeting, give_up_after_s=2)
    zoom.post("one")
    meeting.faults = [refusal] * 1000
    with pytest.raises(FatalError, match=f"HTTP {refusal}, the address is not valid") as refused:
        zoom.post("two")
    assert "secret" not in str(refused.value)
    assert len(meeting.seqs) > 2, "Zoom asks for retries after every status"


def test_an_address_that_is_refused_from_the_beginning_is_fatal(meeting: Meeting) -> None:
    meeting.seq_status = 403
    with pytest.raises(FatalError, match="HTTP 403, the address is not valid"):
        captions_of(meeting, give_up_after_s=0.1).post("one")


def test_a_refusal_among_other_faults_is_not_one_of_the_address(meeting: Meeting) -> None:
    zoom = captions_of(meeting, give_up_after_s=2)
    zoom.post("one")
    meeting.faults = ["403", "503", *["403"] * 1000]
    with pytest.raises(RetriableError, match="HTTP 403"):
        zoom.post("two")
    meeting.faults = ["403"]
    zoom.post("three")
    assert meeting.shown == ["one", "three"]


def test_a_service_that_does_not_say_how_far_it_is_is_begun_at_the_beginning(meeting: Meeting) -> None:
    meeting.seq_status = 404
    captions_of(meeting).post("one")
    assert (meeting.shown, meeting.seqs) == (["one"], [1])


def test_a_bad_caption_address_is_refused_and_not_quoted() -> None:
    with pytest.raises(FatalError, match="closedcaption") as refused:
        ZoomMeeting("ftp://meeting/secret", lang="en-US")
    assert "secret" not in str(refused.value)
