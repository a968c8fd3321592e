"""The token of a claim: above the committed one and that of the claim before, whatever becomes of Redis."""

from __future__ import annotations

from tests.harness.in_memory_world import World


def _ids(world: World) -> tuple[int, int]:
    committed = world.broker.last_committed("caesura", "asr.words", 0)
    assert committed is not None
    token, n, _ = committed.metadata.split()[4].split(".")
    return int(token), int(n)


def test_each_claim_has_a_larger_token_than_the_one_before_also_where_redis_is_lost() -> None:
    world = World()
    tokens = []
    for _ in range(4):
        worker = world.worker()
        worker.settle()
        worker.worker.drain()
        world.redis.lose_everything()
        tokens.append(_ids(world)[0])
    assert tokens == [1, 2, 3, 4]


def test_a_claim_is_above_the_committed_token_where_the_group_forgot_what_claims_left() -> None:
    world = World()
    world.raise_token(0, 41)
    first = world.worker()
    first.settle()
    first.worker.drain()
    assert _ids(world)[0] == 42
    world.broker.leave("caesura", "asr.words", 0, lambda _: "")
    world.redis.lose_everything()
    second = world.worker()
    second.settle()
    assert _ids(world)[0] == 43


def test_claims_without_a_commit_are_counted_by_the_token() -> None:
    world = World()
    first = world.worker()
    first.settle()
    world.broker.expel("caesura", "asr.words", first.source.member_id)
    for _ in range(3):
        dying = world.worker()
        dying.worker.turn(0.0)
        world.broker.expel("caesura", "asr.words", dying.source.member_id)
    world.redis.lose_everything()
    last = world.worker()
    last.settle()
    assert _ids(world)[0] == 5
