"""Words by POST: one session a path, for callers that have no WebSocket, such as recognisers' webhooks.

The first request of a path admits a client as an opening on ``/v1/words`` does; the requests after it are its messages.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from http import HTTPStatus
from typing import Any, Final, TypeAlias

import msgspec
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from caesura.schemas.dead_letters import DeadLetterReason
from caesura.worker.ports.observer import Observer
from caesura.worker.ports.service_events import ClientRefused
from caesura.worker.service.clients.posted_client import BodyReader, PostedClient
from caesura.worker.service.clients.reading import FrameReader, RefusedMessageError, read_opening
from caesura.worker.service.clients.word_connection import Client, WordConnection
from caesura.worker.service.server.auth import FOREIGN_HOST, admits_host, admits_origin, admits_token
from caesura.worker.service.server.connections import Connections
from caesura.worker.service.server.messages import (
    Closing,
    Opening,
    PostAnswer,
    RefusalReason,
    Refused,
    ServeReason,
)
from caesura.worker.settings.serving import ServeSettings
from caesura.worker.whole_numbers import whole_number

_QUERY: Final = {"from": "format", "lang": "lang", "redact": "redact"}
_END = b'{"session_end": true}'
_LARGEST_NUMBER = 2**53 - 1

_Connect: TypeAlias = Callable[[int, Client, Opening, FrameReader], WordConnection]


class _RefusedRequestError(Exception):
    """A request that is not taken."""

    def __init__(self, status: HTTPStatus, reason: ServeReason, detail: str) -> None:
        super().__init__(reason)
        self.status = status
        self.refused = Refused(message=0, reason=reason, detail=detail)


class _Session:
    """A path's client. turn: of its requests, one after the other."""

    def __init__(self, client: PostedClient, opening: Opening) -> None:
        self.client = client
        self.opening = opening
        self.turn = asyncio.Lock()
        self.task: asyncio.Task[None] | None = None


class PostedSessions:
    """The sessions that words are posted to. reader: of an opening. connect: makes a client's connection."""

    def __init__(
        self,
        settings: ServeSettings,
        connections: Connections,
        observer: Observer,
        reader: Callable[[Opening], FrameReader],
        connect: _Connect,
    ) -> None:
        self._settings = settings
        self._connections = connections
        self._observer = observer
        self._reader = reader
        self._connect = connect
        self._sessions: dict[str, _Session] = {}

    def routes(self) -> list[Route]:
        """Return the addresses."""
        return [
            Route("/v1/sessions/{session}/events", self._answered(self._post), methods=["POST"]),
            Route("/v1/sessions/{session}/segments", self._answered(self._poll), methods=["GET"]),
            Route("/v1/sessions/{session}", self._answered(self._delete), methods=["DELETE"]),
        ]

    def _answered(self, answer: Callable[[Request], Awaitable[Response]]) -> Callable[[Request], Awaitable[Response]]:
        async def answered(request: Request) -> Response:
            try:
                self._authorise(request)
                return await answer(request)
            except _RefusedRequestError as error:
                self._observer.note(ClientRefused(reason=error.refused.reason))
                response = _response(error.status, PostAnswer(errors=[error.refused]))
                if error.status is HTTPStatus.BAD_REQUEST:
                    response.headers["Connection"] = "close"  # where its body ends is not certain
                return response
            except ClientDisconnect:
                return Response(status_code=HTTPStatus.BAD_REQUEST)

        return answered

    def _authorise(self, request: Request) -> None:
        if not admits_host(request.headers, self._settings):
            raise _RefusedRequestError(HTTPStatus.FORBIDDEN, RefusalReason.UNKNOWN_HOST, FOREIGN_HOST)
        if not admits_origin(request.headers, self._settings):
            detail = "pages of this origin may not post; serve.allowed_origins names those that may"
            raise _RefusedRequestError(HTTPStatus.FORBIDDEN, RefusalReason.UNKNOWN_ORIGIN, detail)
        if not admits_token(request.headers, Opening(), self._settings):
            detail = "show the token, as `Authorization: Bearer ...` or as the password of `Basic`"
            raise _RefusedRequestError(HTTPStatus.UNAUTHORIZED, RefusalReason.WRONG_TOKEN, detail)

    async def _post(self, request: Request) -> Response:
        opening, after = _opening(request), _after(request)
        body = await self._body(request)
        session = self._sessions.get(opening.session)
        if session is None or session.client.closing is not None:
            session = self._begin(opening)
        elif session.opening != opening:
            detail = "the query: expected `from`, `lang` and `redact` of the session's first request"
            raise _RefusedRequestError(HTTPStatus.BAD_REQUEST, RefusalReason.BAD_OPENING, detail)
        return await self._take(session, request, body, after)

    async def _delete(self, request: Request) -> Response:
        return await self._take(self._known(request), request, None, _after(request))

    async def _poll(self, request: Request) -> Response:
        session, after = self._known(request), _after(request) or 0
        client, log = session.client, session.client.send_queue
        log.forget_before(after)
        with suppress(TimeoutError):
            async with asyncio.timeout(self._within_s(request)):
                await log.until(lambda: log.end > after or client.closing is not None or client.is_over)
        return self._answer(session, HTTPStatus.OK, after, counted=False)

    async def _body(self, request: Request) -> bytes:
        """Return the request's body, which is no longer than a client's message may be.

        One whose end is said twice is refused: a proxy may read the other one, and let the rest pass as a request.
        """
        if "content-length" in request.headers and "transfer-encoding" in request.headers:
            detail = "the body: expected Content-Length or Transfer-Encoding, not both"
            raise _RefusedRequestError(HTTPStatus.BAD_REQUEST, DeadLetterReason.MALFORMED, detail)
        body, most = bytearray(), self._settings.max_message_bytes
        async for piece in request.stream():
            body += piece
            if len(body) > most:
                detail = f"the body: expected at most {most} bytes"
                raise _RefusedRequestError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, DeadLetterReason.OVERSIZED, detail)
        return bytes(body)

    def _within_s(self, request: Request) -> float:
        """Return how long a request may wait: half of the time after which its socket is cut off."""
        peer = request.client
        return self._connections.left_s(None if peer is None else (peer.host, peer.port)) / 2

    def _known(self, request: Request) -> _Session:
        session = self._sessions.get(request.path_params["session"])
        if session is None:
            detail = "session: expected one that words were posted to lately"
            raise _RefusedRequestError(HTTPStatus.NOT_FOUND, RefusalReason.UNKNOWN_SESSION, detail)
        return session

    def _begin(self, opening: Opening) -> _Session:
        closing = self._connections.turned_away()
        if closing is not None:
            is_full = closing.reason is RefusalReason.TOO_MANY_CONNECTIONS
            status = HTTPStatus.TOO_MANY_REQUESTS if is_full else HTTPStatus.SERVICE_UNAVAILABLE
            raise _RefusedRequestError(status, closing.reason, closing.detail)
        try:
            reader = BodyReader(self._reader(opening), opening)
        except RefusedMessageError as error:
            raise _RefusedRequestError(HTTPStatus.BAD_REQUEST, error.reason, error.detail) from None
        client = PostedClient(reader, self._settings, self._observer)
        session = self._sessions[opening.session] = _Session(client, opening)

        async def make(number: int) -> WordConnection:
            client.connection = self._connect(number, client, opening, reader)
            return client.connection

        session.task = asyncio.create_task(self._serve(session, self._connections.admit(make)))
        return session

    async def _serve(self, session: _Session, serving: Coroutine[Any, Any, None]) -> None:
        try:
            await serving
        finally:
            if session.client.closing is None:
                session.client.closing = Closing(reason=RefusalReason.FAILED, detail="the session's messages failed")
            session.client.send_queue.changed()
            if self._sessions.get(session.opening.session) is session:
                del self._sessions[session.opening.session]

    async def _take(self, session: _Session, request: Request, body: bytes | None, after: int | None) -> Response:
        """Hand a body over when those before it were taken, and answer when it was dealt with. body: None ends it."""
        client, log = session.client, session.client.send_queue
        handed_over = settled = False
        if after is not None:
            log.forget_before(after)
        try:
            async with asyncio.timeout(self._within_s(request)), session.turn:
                await log.until(lambda: client.is_free)
                if client.connection is not None:
                    await client.connection.settled()  # numbers of the body before may be refused until then
                if body is not None or not client.is_over:
                    client.hand_over(_END if body is None else body, request.headers.get("content-type", ""))
                    handed_over = True
                    await log.until(lambda: client.is_free)
                settled = client.connection is not None and await client.connection.settled()
        except TimeoutError:
            if not handed_over:
                detail = "what was posted before is still being taken; try again"
                raise _RefusedRequestError(HTTPStatus.TOO_MANY_REQUESTS, RefusalReason.BUSY, detail) from None
            return self._answer(session, HTTPStatus.ACCEPTED, after, counted=False)
        if client.is_left_over or not settled:
            closing = client.closing or Closing(reason=RefusalReason.FAILED, detail="the service cannot go on")
            raise _RefusedRequestError(HTTPStatus.SERVICE_UNAVAILABLE, closing.reason, closing.detail)
        return self._answer(session, HTTPStatus.OK, after, counted=handed_over)

    def _answer(self, session: _Session, status: HTTPStatus, after: int | None, *, counted: bool) -> Response:
        client, log = session.client, session.client.send_queue
        errors = log.tell_refused() if counted else []
        if errors:
            is_open = client.connection is not None and client.connection.is_open
            is_full = not is_open and any(error.reason is DeadLetterReason.TOO_MANY_SESSIONS for error in errors)
            is_full = is_full and not client.reader.taken
            status = HTTPStatus.TOO_MANY_REQUESTS if is_full else HTTPStatus.BAD_REQUEST
        answer = PostAnswer(
            taken=client.reader.taken if counted else msgspec.UNSET,
            repeated=client.reader.repeated if counted else msgspec.UNSET,
            ended=client.is_over,
            next=log.end,
            segments=msgspec.UNSET if after is None else log.tell(),
            errors=errors,
            closing=client.closing or msgspec.UNSET,
        )
        return _response(status, answer)


def _opening(request: Request) -> Opening:
    fields: dict[str, object] = {"session": request.path_params["session"]}
    for name, value in request.query_params.items():
        if name not in _QUERY and name != "after":
            detail = "the query: expected no other fields than `from`, `lang`, `redact` and `after`"
            raise _RefusedRequestError(HTTPStatus.BAD_REQUEST, RefusalReason.UNKNOWN_FIELD, detail)
        if name in _QUERY:
            fields[_QUERY[name]] = value.split(",") if name == "redact" else value
    try:
        return read_opening(msgspec.json.encode(fields).decode())
    except RefusedMessageError as error:
        raise _RefusedRequestError(HTTPStatus.BAD_REQUEST, error.reason, error.detail) from None


def _after(request: Request) -> int | None:
    """Return how many segments the client has; None: it does not say, and wants none."""
    text = request.query_params.get("after")
    if text is None:
        return None
    after = whole_number(text, _LARGEST_NUMBER)
    if after is None:
        detail = "after: expected `next` of an answer, or 0"
        raise _RefusedRequestError(HTTPStatus.BAD_REQUEST, DeadLetterReason.OUT_OF_RANGE, detail)
    return after


def _response(status: HTTPStatus, answer: PostAnswer) -> Response:
    headers = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
    if status in (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE):
        headers["Retry-After"] = "1"
    if status is HTTPStatus.UNAUTHORIZED:
        headers["WWW-Authenticate"] = 'Basic realm="caesura"'
    return Response(msgspec.json.encode(answer), status, headers, "application/json")
