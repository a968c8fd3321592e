"""What claim, write and load make of a hash that somebody has spoilt: the twin and a real Redis do the same."""

from __future__ import annotations

from typing import cast

import msgspec
import pytest
import redis

from schemas.checkpoint import CheckpointId, Manifest, SessionField, Slot
from tests.harness.damages import DAMAGES, Damage
from worker.adapters.memory.session_store import MemoryRedis, MemorySessionStore
from worker.adapters.redis.session_store import connect, partition_key
from worker.adapters.redis.settings import RedisSettings
from worker.errors import ForeignStateError
from worker.ports.session_store import SessionStore, StoreWrite

_NONCE = "0123456789abcdef"


def _first_write(token: int) -> StoreWrite:
    first = CheckpointId(token, 1, _NONCE)
    names = ("ann", "ben")
    manifest = Manifest(version="1.1", id=str(first), follows=None, touched=names, sessions=2, sessions_before=0)
    put = {name: msgspec.msgpack.encode(SessionField((Slot(str(first), b"%s-w1" % name.encode()),))) for name in names}
    return StoreWrite(token=token, follows=None, id=first, manifest=msgspec.msgpack.encode(manifest), put=put)


def _told(store: SessionStore) -> list[object]:
    """What a claim finds, whether a write that follows it is taken, and what stands there then."""
    claimed = store.claim(0, 3)
    second = CheckpointId(claimed.token, 1, _NONCE)
    fields = dict(store.load(0))
    write = StoreWrite(
        token=claimed.token, follows=claimed.id, id=second, manifest=b"new", put={"cy": b"3"}, drop=tuple(fields)
    )
    return [claimed, fields, store.write(0, write), dict(store.load(0)), store.claim(0, 0)]


def _spoil(client: redis.Redis, key: str, damage: Damage) -> None:
    stored = cast("dict[bytes, bytes]", client.hgetall(key))
    fields = {name.decode(errors="surrogateescape"): value for name, value in stored.items()}
    damage(fields)
    client.delete(key)
    client.hset(key, mapping={name.encode(errors="surrogateescape"): value for name, value in fields.items()})


@pytest.mark.parametrize("damage", DAMAGES)
def test_twin_and_redis_agree_on_a_spoilt_hash_and_a_claim_can_always_write(
    damage: str, redis_url: str, deployment: str
) -> None:
    real = connect(RedisSettings.from_url(redis_url), deployment=deployment, topic="asr.words")
    server = MemoryRedis()
    twin = MemorySessionStore(server)
    for store in (real, twin):
        assert store.write(0, _first_write(store.claim(0, 0).token))
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
    real = connect(RedisSettings.from_url(redis_url), deployment=deployment, topic="asr.words")
    with pytest.raises(ForeignStateError):
        real.claim(0, 0)
    real.close()
