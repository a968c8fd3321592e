"""Captions into a Zoom meeting, by the caption address that its host copies ("API token").

Source: https://support.zoom.us/hc/en-us/articles/115002212983

Every post bears a number, ``seq``: one higher than the last one's for a new caption, and **the same for a retry**, so
that a post whose answer was lost is shown once. Where to begin after a restart, and where a caption was given up, the
service itself says (``/closedcaption/seq``).

**403 is "unauthorized"**: the address's own parameters are missing or not good (any more); a meeting that has not begun
is 400. Zoom asks for retries after every status, 403 among them, so it is retried as any other; but where a caption has
met with nothing else for as long as it is tried, the address will not become good by itself.
"""

from __future__ import annotations

import http.client
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from typing_extensions import override

from caesura.worker.errors import FatalError, RetriableError
from caesura.worker.ports.caption_sink import CaptionSink
from caesura.worker.whole_numbers import whole_number

_PATH = "/closedcaption"
_FIRST_WAIT_S, _LONGEST_WAIT_S = 0.25, 2.0
_ANSWER_BYTES = 4096
_LARGEST_SEQ = 2**53 - 1
_UNAUTHORIZED = (401, 403)


class ZoomMeeting(CaptionSink):
    """One meeting. lang: such as ``en-US``. give_up_after_s: how long one caption is tried; a later one is no use.

    The address is a secret: no message shows more of it than its host.
    """

    def __init__(
        self,
        address: str,
        *,
        lang: str,
        give_up_after_s: float = 8.0,
        timeout_s: float = 3.0,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._parts = urlsplit(address.strip())
        if self._parts.scheme not in ("http", "https") or not self._parts.path.endswith(_PATH):
            raise FatalError("a caption address is https://HOST/closedcaption?id=..., as the meeting's host copies it")
        self._lang = lang
        self._give_up_after_s = give_up_after_s
        self._timeout_s = timeout_s
        self._sleep = sleep
        self._next_seq: int | None = None

    @override
    def post(self, text: str) -> None:
        r"""Show a caption, its lines separated by ``\n``, tried for ``give_up_after_s``.

        RetriableError: it was given up. FatalError: the address was refused each time (HTTP 401 or 403).
        """
        began_s, wait_s, only_refused = time.monotonic(), _FIRST_WAIT_S, True
        while True:
            try:
                if self._next_seq is None:
                    self._next_seq = self._last_seq() + 1
                self._request(self._url(_PATH, seq=str(self._next_seq), lang=self._lang), text.encode())
            except (OSError, http.client.HTTPException) as error:
                if isinstance(error, urllib.error.HTTPError):
                    error.close()  # it holds the connection
                only_refused = only_refused and _is_refusal(error)
                if time.monotonic() - began_s + wait_s > self._give_up_after_s:
                    self._next_seq = None  # it may have been taken after all: the service says how far it is
                    told = f"{self._parts.hostname} took no caption: {_told(error)}"
                    raise (FatalError if only_refused else RetriableError)(told) from None
                self._sleep(wait_s)
                wait_s = min(2 * wait_s, _LONGEST_WAIT_S)
            else:
                self._next_seq += 1
                return

    def _last_seq(self) -> int:
        """Return the number of the last caption taken; 0 where there was none."""
        try:
            answer = self._request(self._url(f"{_PATH}/seq"), None).decode(errors="replace").strip()
        except urllib.error.HTTPError as error:
            error.close()
            if error.code not in (404, 405):
                raise
            return 0  # a service that is not asked this way begins at the beginning
        return whole_number(answer, _LARGEST_SEQ) or 0

    def _url(self, path: str, **more: str) -> str:
        query = urlencode([*parse_qsl(self._parts.query), *more.items()])
        return urlunsplit(self._parts._replace(path=self._parts.path.removesuffix(_PATH) + path, query=query))

    def _request(self, url: str, body: bytes | None) -> bytes:
        headers = {"Content-Type": "text/plain; charset=utf-8"} if body is not None else {}
        request = urllib.request.Request(url, data=body, headers=headers)  # noqa: S310 - http and https alone, checked
        with urllib.request.urlopen(request, timeout=self._timeout_s) as answer:  # noqa: S310
            read: bytes = answer.read(_ANSWER_BYTES)
            return read


def _is_refusal(error: Exception) -> bool:
    return isinstance(error, urllib.error.HTTPError) and error.code in _UNAUTHORIZED


def _told(error: Exception) -> str:
    """Return what went wrong without the address."""
    if isinstance(error, urllib.error.HTTPError):
        why = "the meeting has not started" if error.code == http.HTTPStatus.BAD_REQUEST else ""
        if _is_refusal(error):
            why = "the address is not valid (any more): copy it anew in the running meeting"
        return f"HTTP {error.code}" + (f", {why}" if why else "")
    return "no answer"
