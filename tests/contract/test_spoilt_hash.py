"""What head, write and load make of a hash that somebody has spoilt: the twin and a real Redis do the same."""

from __future__ import annotations

from typing import cast

import msgspec
import pytest
import redis

from caesura.schemas.checkpoint import MANIFEST_VERSION, CheckpointId, Manifest
from caesura.worker.adapters.memory.session_store import MemoryRedis, MemorySessionStore
from caesura.worker.adapters.redis.session_store import RedisSessionStore, partition_key
from caesura.worker.adapters.redis.settings import RedisSettings
from caesura.worker.errors import ForeignStateError
from caesura.worker.ports.session_store import PreparedSessions, SessionStore, StoreWrite
from tests.harness.damages import DAMAGES, Damage

_FIRST, _SECOND = CheckpointId(1, 1, "0123456789abcdef"), CheckpointId(2, 1, "0123456789abcdef")
_NOTHING_PREPARED = PreparedSessions(name="none", sessions=0)


def _first_write() -> StoreWrite:
    manifest = Manifest(
        version=MANIFEST_VERSION, id=str(_FIRST), sessions=2, digest=0, history="0" * 16, next_offset=0, ledger_end=0
    )
    put = {name: b"%s-w1" % name.encode() for name in ("ann", "ben")}
    return StoreWrite(prepared=_NOTHING_PREPARED, id=_FIRST, manifest=msgspec.msgpack.encode(manifest), put=put)


def _told(store: SessionStore) -> list[object]:
    """What a claim finds, whether a full write is taken, and what stands there then."""
    write = StoreWrite(prepared=_NOTHING_PREPARED, id=_SECOND, manifest=b"new", put={"cy": b"3"})
    return [store.head(0), dict(store.load(0)), store.write(0, write), dict(store.load(0)), store.head(0)]


def _spoil(client: redis.Redis, key: str, damage: Damage) -> None:
    stored = cast("dict[bytes, bytes]", client.hgetall(key))
    fields = {name.decode(errors="surrogateescape"): value for name, value in stored.items()}
    damage(fields)
    client.delete(key)
    client.hset(key, mapping={name.encode(errors="surrogateescape"): value for name, value in fields.items()})


@pytest.mark.parametrize("damage", DAMAGES)
def test_twin_and_redis_agree_on_a_spoilt_hash_and_a_full_write_is_always_taken(
    damage: str, redis_url: str, deployment: str
) -> None:
    real = RedisSessionStore(RedisSettings.from_url(redis_url), deployment=deployment, topic="asr.words")
    server = MemoryRedis()
    twin = MemorySessionStore(server)
    for store in (real, twin):
        assert store.write(0, _first_write())
    server.spoil(0, DAMAGES[damage])
    with redis.Redis.from_url(redis_url) as client:
        _spoil(client, partition_key(deployment, "asr.words", 0), DAMAGES[damage])
    told = _told(real)
    real.close()
    assert told == _told(twin)
    assert told[2:4] == [True, {"cy": b"3"}]


def test_a_key_that_is_no_hash_is_said_to_be_nothing_of_ours(redis_url: str, deployment: str) -> None:
    with redis.Redis.from_url(redis_url) as client:
        client.set(partition_key(deployment, "asr.words", 0), b"somebody else's")
    real = RedisSessionStore(RedisSettings.from_url(redis_url), deployment=deployment, topic="asr.words")
    with pytest.raises(ForeignStateError):
        real.head(0)
    assert real.write(0, _first_write())
    assert real.head(0).id == str(_FIRST).encode()
    real.close()
