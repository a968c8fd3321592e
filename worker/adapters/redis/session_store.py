"""Sessions in Redis: one hash a partition, so manifest and sessions can only be lost together.

Fields of the hash: ``i`` the stored checkpoint's id, ``m`` the manifest, ``s:<session>`` a session's snapshot. A write
is one Lua call. A second key with the same hash tag has the pieces of a full write.
Only a script that the server does not know is sent again, because then nothing has run.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import cast

from redis.exceptions import NoScriptError
from typing_extensions import override

from caesura.worker.adapters.redis.client import RedisClient, make_client, ping
from caesura.worker.adapters.redis.errors import storing
from caesura.worker.adapters.redis.settings import RedisSettings
from caesura.worker.ports.session_store import SessionStore, StoredHead, StoreWrite

_SESSION = b"s:"
_FIELDS_A_SCAN = 500
"""Fields that one HSCAN brings: enough to be quick, few enough not to hold up a Redis that others use."""


class _Script:
    """A Lua script by its digest, sent in full only where the server does not know it."""

    def __init__(self, name: str) -> None:
        self._source = (Path(__file__).with_name("lua") / name).read_bytes()
        self._digest = hashlib.sha1(self._source, usedforsecurity=False).hexdigest()

    def run(self, client: RedisClient, keys: Sequence[str], arguments: Sequence[bytes | str | int]) -> object:
        try:
            return client.execute_command("EVALSHA", self._digest, len(keys), *keys, *arguments)
        except NoScriptError:
            return client.execute_command("EVAL", self._source, len(keys), *keys, *arguments)


_WRITE = _Script("write.lua")
_PREPARE = _Script("prepare.lua")
_REPLACE = _Script("replace.lua")
_PREPARED_S = 600


def partition_key(deployment: str, topic: str, partition: int) -> str:
    """Return the name of a partition's hash. The braces are a cluster's: one partition, one slot."""
    return f"caesura:{{{deployment}:{topic}:{partition}}}:sessions"


def _field(session: str) -> bytes:
    """Return the name of a session's field; what is no UTF-8 was put there by somebody else, and can be dropped."""
    return _SESSION + session.encode(errors="surrogateescape")


def _pairs(put: Mapping[str, bytes]) -> Iterator[bytes]:
    for session, snapshot in put.items():
        yield _field(session)
        yield snapshot


class RedisSessionStore(SessionStore):
    """One deployment's sessions of one topic, over redis-py. It connects when it is first used."""

    def __init__(self, settings: RedisSettings, *, deployment: str, topic: str) -> None:
        self._settings = settings
        self._deployment = deployment
        self._topic = topic
        self._made: RedisClient | None = None
        self._making = threading.Lock()

    def _client(self) -> RedisClient:
        """Return the client; a cluster's is made anew until its nodes have answered once."""
        with self._making:
            if self._made is None:
                self._made = make_client(self._settings)
            return self._made

    def _storing(self, doing: str) -> AbstractContextManager[None]:
        return storing(f"{doing} at {', '.join(self._settings.addresses)}")

    def _key(self, partition: int) -> str:
        return partition_key(self._deployment, self._topic, partition)

    def _beside(self, partition: int, name: str) -> str:
        return self._key(partition).removesuffix("sessions") + name

    @override
    def head(self, partition: int) -> StoredHead:
        with self._storing(f"reading partition {partition}"):
            answer = self._client().execute_command("HMGET", self._key(partition), "m", "i")
        manifest, stored_id = cast("tuple[bytes | None, bytes | None]", answer)
        return StoredHead(manifest=manifest, id=stored_id)

    @override
    def load(self, partition: int) -> Iterator[tuple[str, bytes]]:
        seen: set[bytes] = set()
        cursor = 0
        while True:
            with self._storing(f"loading partition {partition}"):
                answer = self._client().execute_command("HSCAN", self._key(partition), cursor, "COUNT", _FIELDS_A_SCAN)
            cursor, fields = cast("tuple[int, dict[bytes, bytes]]", answer)
            for name, value in fields.items():
                # A hash that grows or shrinks while it is scanned shows some fields twice.
                if name.startswith(_SESSION) and name not in seen:
                    seen.add(name)
                    yield name.removeprefix(_SESSION).decode(errors="surrogateescape"), value
            if not cursor:
                return

    @override
    def write(self, partition: int, write: StoreWrite) -> bool:
        sessions: list[bytes | str | int] = [str(write.id), write.manifest, len(write.put), *_pairs(write.put)]
        sessions += (_field(session) for session in write.drop)
        key = self._key(partition)
        with self._storing(f"writing partition {partition}"):
            if write.prepared is None:
                follows = [str(one) for one in write.follows]
                return _WRITE.run(self._client(), [key], [len(follows), *follows, *sessions]) == 1
            keys = [key, self._beside(partition, f"prepared:{write.prepared.name}")]
            return _REPLACE.run(self._client(), keys, [write.prepared.sessions, *sessions]) == 1

    @override
    def prepare(self, partition: int, name: str, put: Mapping[str, bytes]) -> None:
        with self._storing(f"writing partition {partition}"):
            keys = [self._beside(partition, f"prepared:{name}")]
            _PREPARE.run(self._client(), keys, [_PREPARED_S, *_pairs(put)])

    @override
    def ping(self) -> None:
        with self._storing("asking Redis for a sign of life"):
            ping(self._client(), self._settings)

    @override
    def close(self) -> None:
        if self._made is not None:
            made, self._made = self._made, None
            with self._storing("closing the connections to Redis"):
                made.close()
