"""The digest and the count of a manifest are those of what stands in Redis, however often a session is written."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from caesura.schemas.checkpoint import Manifest
from caesura.schemas.digests import digest_sum
from caesura.schemas.state import decode_state
from caesura.worker.core.language.rules import DecodingRules
from caesura.worker.runtime.settings.totals import snapshot_digest
from tests.harness.in_memory_world import World
from tests.harness.rebuilds import Rebuilds
from tests.harness.speech import event

_RULES = DecodingRules(flush_after_ms=1_000, stall_after_ms=1_000, idle_after_ms=12_000, forget_after_ms=20_000)
_TURNS = st.lists(
    st.tuples(
        st.sampled_from(("ann", "ben", "cho")),
        st.integers(0, 9),  # words
        st.booleans(),  # the session ends
        st.sampled_from((0, 0, 0, 2, 13, 35)),  # seconds that pass
    ),
    min_size=1,
    max_size=25,
)


def _audit(world: World) -> None:
    """Compare a partition's manifest with the sessions that stand there, whose checkpoints have all been saved."""
    stored = world.redis.partition(0)
    assert stored.manifest is not None
    manifest = Manifest.decode(stored.manifest)
    assert all(decode_state(value).session == name for name, value in stored.sessions.items())
    digest = digest_sum(snapshot_digest(name, value) for name, value in stored.sessions.items())
    assert (manifest.sessions, manifest.digest) == (len(stored.sessions), digest)


@settings(max_examples=60, deadline=None)
@given(_TURNS)
def test_whatever_sessions_do_the_manifest_adds_up_and_the_next_owner_finds_nothing_to_rebuild(
    turns: list[tuple[str, int, bool, int]],
) -> None:
    world, seqs = World(rules=_RULES), {"ann": 0, "ben": 0, "cho": 0}
    worker = world.worker()
    for name, words, ends, passes_s in turns:
        said = (f"{name}-{number}" for number in range(words))
        world.send(event(name, seqs[name], *said, session_end=ends))
        seqs[name] = 0 if ends else seqs[name] + 1
        worker.settle()
        world.clock.pass_s(passes_s)
        worker.settle()
        _audit(world)
    world.broker.expel("caesura", "asr.words", worker.source.member_id)
    heard = Rebuilds()
    world.worker(1, observer=heard).settle()
    assert heard.summaries == []


def test_a_session_that_was_written_many_times_is_found_as_it_was_committed() -> None:
    world, heard = World(), Rebuilds()
    first = world.worker()
    for seq in range(4):
        world.send(event("ann", seq, f"word-{seq}"))
        first.settle()
        _audit(world)
    world.broker.expel("caesura", "asr.words", first.source.member_id)
    world.worker(1, observer=heard).settle()
    assert heard.summaries == []
