"""The undisturbed run: one worker of the real code on the twins, fed with the very records of the input topic."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from schemas.codec import decode_segment, decode_translation
from tests.harness.checker import Letter, Output
from tests.harness.twin_world import World
from worker.core.rules import DecodingRules
from worker.ports.records import Record

__all__ = ["RULES", "letter_of", "output_of", "undisturbed"]

RULES = {"flush_after_ms": 600_000, "stall_after_ms": 3_600_000, "idle_after_ms": 604_800_000}
"""No timer fires in any run, so that when something happened changes nothing."""
_MOST_TURNS = 1_000_000


def undisturbed(records: Iterable[Record], partitions: int) -> Output:
    """Return what should have come out of these input records, which come partition by partition in order."""
    rules = DecodingRules(routes=frozenset({"de"}), **RULES)  # type: ignore[arg-type]
    world = World(partitions=partitions, rules=rules)
    sent = dict.fromkeys(range(partitions), 0)
    for one in records:
        assert one.offset == sent[one.partition], "the input topic's offsets have holes"
        world.broker.append("asr.words", one.partition, one.value, key=one.key)
        sent[one.partition] += 1
    worker = world.worker(dead_letter_limit=1_000_000)
    for _ in range(_MOST_TURNS):
        worker.turn()
        loaded = worker.worker.assignment.loaded
        if len(loaded) == partitions and all(
            one.next_offset == sent[number] and not one.changed for number, one in loaded.items()
        ):
            return output_of(
                world.records("asr.segments"), world.records("translate.de"), world.records("asr.words.dead")
            )
    raise AssertionError("the undisturbed run does not come to its end")


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
