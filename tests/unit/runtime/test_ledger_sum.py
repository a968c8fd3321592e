"""What is committed of the ledger is what the ledger says, whatever sessions and owners do: no false alarm.

Lives are drawn: sessions that end, fall idle, are forgotten, begin anew under their names, whose words wait or never
come out; records that are refused, or lost to retention; offsets that
are adopted; Redis lost,
whole or in part, and rebuilds in pieces. After each step the sum that stands committed is compared with the records.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping

import pytest

from caesura.schemas.ledger_sum import LedgerSum, Published
from caesura.schemas.state import SessionFacts
from caesura.worker.adapters.memory.engine import ScriptedEngine
from caesura.worker.core.language.rules import DecodingRules
from caesura.worker.errors import AbortableError
from caesura.worker.ports.records import NextOffset
from caesura.worker.runtime.checkpoint import saves
from caesura.worker.runtime.claim import rebuild
from caesura.worker.runtime.settings import totals
from caesura.worker.runtime.settings.totals import SessionShare, SessionTotals
from tests.harness.in_memory_world import InMemoryWorker, World
from tests.harness.speech import event
from tests.harness.struck_ledger import disagreement

_RULES = DecodingRules(
    step_words=1,
    look_ahead_words=0,
    max_buffer_words=3,
    flush_after_ms=300,
    stall_after_ms=300,
    idle_after_ms=10_000,
    forget_after_ms=1_500,
)
_NAMES = [f"s{number}" for number in range(7)]
_STEPS = 60


class _Life:
    """One partition's life, and what it came to."""

    def __init__(self, seed: int) -> None:
        self.drawn = random.Random(seed)
        self.world = World(rules=_RULES)
        self.seqs = dict.fromkeys(_NAMES, 0)
        self.ordinal = 0
        self.summed = 0
        self.worker = self._owner()

    def _owner(self, *, adopts: bool = False) -> InMemoryWorker:
        self.ordinal += 1
        engine = ScriptedEngine(look_ahead_words=1)
        return self.world.worker(
            self.ordinal % 2,
            engine=engine,
            commit_interval_ms=10,
            adopt_foreign_offsets=adopts,
        )

    def step(self) -> None:
        """Let one thing happen, and all that follows from it for a while."""
        name = self.drawn.choices(
            ["say", "wait", "forget", "hand_over", "die", "lose", "lose_one", "abort", "refuse", "adopt", "retire"],
            [40, 8, 4, 5, 3, 5, 4, 4, 3, 1, 2],
        )[0]
        getattr(self, name)()
        for _ in range(self.drawn.choice([0, 1, 3, 12])):
            self.worker.turn()
            self.look()

    def look(self) -> None:
        """Compare, and see that nobody is parked."""
        assert disagreement(self.world) is None
        assert {one.reason for one in self.worker.worker.assignment.parked.values()} <= {"offset_from_outside"}

    def say(self) -> None:
        name = self.drawn.choice(_NAMES)
        words = [f"w{self.drawn.randrange(99)}" for _ in range(self.drawn.randrange(4))]
        end, cut = self.drawn.random() < 0.15, self.drawn.random() < 0.3
        self.world.send(event(name, self.seqs[name], *words, session_end=end, utterance_end=cut))
        self.seqs[name] += 1
        if end and self.drawn.random() < 0.5:
            self.seqs[name] = 0

    def wait(self) -> None:
        self.world.clock.pass_s(0.4)

    def forget(self) -> None:
        self.world.clock.pass_s(6.0)

    def hand_over(self) -> None:
        self.worker.worker.drain()
        self.worker = self._owner()

    def die(self) -> None:
        self.world.broker.expel("caesura", "asr.words", self.worker.source.member_id)
        self.worker = self._owner()

    def lose(self) -> None:
        self.world.redis.lose_everything()

    def lose_one(self) -> None:
        if sessions := self.world.redis.partition(0).sessions:
            self.world.redis.partition_to_write(0).sessions.pop(self.drawn.choice(sorted(sessions)))

    def abort(self) -> None:
        self.world.broker.fail("commit", AbortableError("as planned"), of=f"caesura-{self.ordinal % 2}")

    def refuse(self) -> None:
        self.world.broker.append("asr.words", 0, b"\xc1", key=b"s0")

    def adopt(self) -> None:
        """Set the offset on purpose, as the runbook has it."""
        self.worker.worker.drain()
        end = self.world.broker.log("asr.words", 0).end
        self.world.broker.set_offset("caesura", "asr.words", 0, NextOffset(next_offset=end, metadata=""))
        self.worker = self._owner(adopts=True)
        self.worker.settle()
        self.hand_over()

    def retire(self) -> None:
        """Have retention take what a rebuild may need: its sessions come back without their words."""
        log = self.world.broker.log("asr.words", 0)
        committed = self.world.broker.last_committed("caesura", "asr.words", 0)
        if committed is not None:
            self.world.broker.delete_before("asr.words", 0, self.drawn.randint(log.start, committed.next_offset))


@pytest.mark.parametrize("piece", [None, 2], ids=["rebuilt at once", "rebuilt in pieces"])
@pytest.mark.parametrize("first_seed", range(0, 60, 10))
def test_what_is_committed_of_the_ledger_is_what_it_says(
    first_seed: int, piece: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if piece is not None:
        monkeypatch.setattr(saves, "PIECE_SESSIONS", piece)
        monkeypatch.setattr(rebuild, "PIECE_SESSIONS", piece)
    for seed in range(first_seed, first_seed + 10):
        life = _Life(seed)
        for _ in range(_STEPS):
            life.step()
        life.worker.settle()
        life.look()


def _with_the_unpublished(patch: pytest.MonkeyPatch) -> None:
    """Sessions that have published nothing are counted too."""

    def digest(one: Published | SessionFacts) -> int:
        return one.since + 1

    patch.setattr(totals, "published_digest", digest)


def _without_the_forgotten(patch: pytest.MonkeyPatch) -> None:
    """Sessions that are forgotten, or begin anew under their names, are left in."""
    honest = SessionTotals.ledger_with

    def ledger_with(known: SessionTotals, shares: Mapping[str, SessionShare | None]) -> LedgerSum:
        return honest(known, {name: share for name, share in shares.items() if share is not None})

    patch.setattr(SessionTotals, "ledger_with", ledger_with)


@pytest.mark.parametrize("flaw", [_with_the_unpublished, _without_the_forgotten])
def test_the_lives_show_a_sum_that_is_kept_wrongly(
    flaw: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    flaw(monkeypatch)
    with pytest.raises(AssertionError, match="is committed of the ledger"):
        test_what_is_committed_of_the_ledger_is_what_it_says(0, None, monkeypatch)
