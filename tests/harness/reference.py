"""The undisturbed run: one worker of the real code on the twins, fed with the very records of the input topic."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from caesura.schemas.codec import decode_segment, decode_translation
from caesura.worker.core.language.rules import DecodingRules
from caesura.worker.ports.records import NextOffset, Record
from tests.harness.checker import Adopted, Letter, Output
from tests.harness.in_memory_world import InMemoryWorker, World

RULES = {"flush_after_ms": 600_000, "stall_after_ms": 3_600_000, "idle_after_ms": 604_800_000}
"""No timer fires in any run, so that when something happened changes nothing."""
Origin = tuple[int, bytes | None, bytes | None]
"""A record as its producer wrote it: partition, key, value."""
_MOST_TURNS = 1_000_000


def undisturbed(
    records: Iterable[Record],
    partitions: int,
    set_aside: Mapping[Origin, str] = MappingProxyType({}),
    adopted: Iterable[Adopted] = (),
) -> Output:
    """Return what should have come out of these input records, which come partition by partition in order.

    set_aside: records that become dead letters for what they meet, and their reasons. adopted: where an operator had a
    partition begin elsewhere.
    """
    run = _Undisturbed(records, partitions, set_aside)
    for one in adopted:
        run.append(one.partition, one.stopped_at)
        run.settle()
        run.adopt(one)
    return run.finish()


class _Undisturbed:
    """The twins, and how much of the input they were given."""

    def __init__(self, records: Iterable[Record], partitions: int, set_aside: Mapping[Origin, str]) -> None:
        rules = DecodingRules(routes=frozenset({"de"}), **RULES)  # type: ignore[arg-type]
        self._world = World(partitions=partitions, rules=rules)
        self._waiting: list[deque[Record]] = [deque() for _ in range(partitions)]
        self._set_aside: dict[tuple[int, int], tuple[str, bytes | None]] = {}
        self._sent = [0] * partitions
        for one in records:
            self._waiting[one.partition].append(one)
            if (reason := set_aside.get((one.partition, one.key, one.value))) is not None:
                self._set_aside[one.partition, one.offset] = reason, one.value
        self._worker = self._enter()

    def _enter(self, *, adopting: bool = False) -> InMemoryWorker:
        return self._world.worker(dead_letter_limit=1_000_000, adopt_foreign_offsets=adopting)

    def append(self, partition: int, until: float = math.inf) -> None:
        """Append a partition's records up to an offset. One that is set aside becomes one that cannot be read."""
        waiting = self._waiting[partition]
        while waiting and waiting[0].offset < until:
            one = waiting.popleft()
            assert one.offset == self._sent[partition], "the input topic's offsets have holes"
            value = b"" if (one.partition, one.offset) in self._set_aside else one.value
            self._world.broker.append("asr.words", partition, value, key=one.key)
            self._sent[partition] += 1

    def settle(self) -> None:
        """Have all of it applied and committed."""
        for _ in range(_MOST_TURNS):
            self._worker.turn()
            loaded = self._worker.worker.assignment.loaded
            if len(loaded) == len(self._sent) and all(
                one.next_offset == self._sent[number] and not one.changed for number, one in loaded.items()
            ):
                return
        raise AssertionError("the undisturbed run does not come to its end")

    def adopt(self, one: Adopted) -> None:
        """Have a partition begin elsewhere with empty state, as an operator has it done."""
        self._worker.worker.drain()
        self.append(one.partition, one.begins_at)
        outside = NextOffset(next_offset=one.begins_at, metadata="")
        self._world.broker.set_offset("caesura", "asr.words", one.partition, outside)
        self._worker = self._enter(adopting=True)
        self.settle()
        self._worker.worker.drain()
        self._worker = self._enter()

    def finish(self) -> Output:
        """Have the rest applied, and return what came out."""
        for partition in range(len(self._sent)):
            self.append(partition)
        self.settle()
        found = output_of(*(self._world.records(name) for name in ("asr.segments", "translate.de", "asr.words.dead")))
        aside = self._set_aside
        letters = [
            one._replace(reason=aside[one[:2]][0], value=aside[one[:2]][1]) if one[:2] in aside else one
            for one in found.letters
        ]
        return replace(found, letters=letters)


def output_of(segments: Sequence[Record], translations: Sequence[Record], letters: Sequence[Record]) -> Output:
    """Decode the records of the output topics."""
    return Output(
        segments=[decode_segment(one.value or b"") for one in segments],
        translations=[decode_translation(one.value or b"") for one in translations],
        letters=[letter_of(one) for one in letters],
    )


def letter_of(record: Record) -> Letter:
    """Return what a dead letter says."""
    headers = dict(record.headers)
    return Letter(
        int(headers["caesura.partition"] or -1),
        int(headers["caesura.offset"] or -1),
        (headers["caesura.reason"] or b"").decode(),
        record.value,
    )
