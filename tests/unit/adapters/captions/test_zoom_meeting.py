"""Captions into a meeting: each is shown once, whatever becomes of a post or its answer."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import pytest

from worker.adapters.captions.zoom_meeting import ZoomMeeting
from worker.errors import FatalError, RetriableError


class Meeting(ThreadingHTTPServer):
    """A caption service as its documentation describes it: a number that it has seen is shown once."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answers)
        self.shown: list[str] = []
        self.seqs: list[int] = []
        self.faults: list[str] = []
        self.last_seq = 0
        self.seq_status = 200

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/closedcaption?id=7&signature=secret%3D"


class _Answers(BaseHTTPRequestHandler):
    server: Meeting

    def do_GET(self) -> None:
        assert urlsplit(self.path).path == "/closedcaption/seq"
        assert parse_qs(urlsplit(self.path).query)["signature"] == ["secret="]
        self._answer(self.server.seq_status, str(self.server.last_seq))

    def do_POST(self) -> None:
        query = parse_qs(urlsplit(self.path).query)
        text = self.rfile.read(int(self.headers["Content-Length"])).decode()
        assert self.headers["Content-Type"] == "text/plain; charset=utf-8"
        assert (query["id"], query["lang"]) == (["7"], ["en-US"])
        seq = int(query["seq"][0])
        self.server.seqs.append(seq)
        fault = self.server.faults.pop(0) if self.server.faults else ""
        if fault.isdigit():
            self._answer(int(fault), "no")
            return
        if seq > self.server.last_seq:
            self.server.shown.append(text)
            self.server.last_seq = seq
        if fault == "answer lost":
            self.connection.close()
            return
        self._answer(200, str(seq))

    def _answer(self, status: int, text: str) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's name
        """Stay silent."""


@pytest.fixture
def meeting() -> Iterator[Meeting]:
    with Meeting() as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


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


def test_what_is_given_up_is_said_and_the_next_one_is_shown(meeting: Meeting) -> None:
    zoom = captions_of(meeting, give_up_after_s=0.1)
    meeting.faults = ["403"]
    with pytest.raises(
        RetriableError, match=r"127\.0\.0\.1 took no caption: HTTP 403, the address is not valid"
    ) as refused:
        zoom.post("one")
    assert "secret" not in str(refused.value)
    zoom.post("two")
    assert meeting.shown == ["two"]


def test_a_service_that_does_not_say_how_far_it_is_is_begun_at_the_beginning(meeting: Meeting) -> None:
    meeting.seq_status = 404
    captions_of(meeting).post("one")
    assert (meeting.shown, meeting.seqs) == (["one"], [1])


def test_what_is_no_caption_address_is_refused_and_not_quoted() -> None:
    with pytest.raises(FatalError, match="closedcaption") as refused:
        ZoomMeeting("ftp://meeting/secret", lang="en-US")
    assert "secret" not in str(refused.value)
