"""The in-memory log against the plainest description of what a reader may see."""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st

from caesura.worker.adapters.memory.log import PartitionLog, Writer

WRITERS: list[Writer] = [("a", 0), ("b", 0), ("b", 1)]

Step = tuple[str, int]
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("plain"), st.just(0)),
        st.tuples(st.sampled_from(["write", "commit", "abort"]), st.integers(0, len(WRITERS) - 1)),
        st.tuples(st.just("delete"), st.integers(0, 30)),
    ),
    max_size=40,
)


@dataclass
class Plain:
    """What happened, said without any cleverness: offset -> fate of the record, None for a marker."""

    fates: list[str | None] = field(default_factory=list)
    writers: list[int | None] = field(default_factory=list)
    start: int = 0

    def visible(self, first: int) -> list[int]:
        stable = next((at for at, fate in enumerate(self.fates) if fate == "open"), len(self.fates))
        return [at for at in range(max(first, self.start), stable) if self.fates[at] == "committed"]


def play(steps: list[Step]) -> tuple[PartitionLog, Plain]:
    log, plain = PartitionLog(0), Plain()
    for step, number in steps:
        if step == "delete":
            stable = next((at for at, fate in enumerate(plain.fates) if fate == "open"), len(plain.fates))
            offset = min(number, stable)  # retention keeps what is not stable
            log.delete_before(offset)
            plain.start = max(plain.start, offset)
        elif step in {"plain", "write"}:
            log.append(b"key", b"value", (), 0, WRITERS[number] if step == "write" else None)
            plain.fates.append("open" if step == "write" else "committed")
            plain.writers.append(number if step == "write" else None)
        else:
            log.end_transaction(WRITERS[number], 0, commit=step == "commit")
            for at, writer in enumerate(plain.writers):
                if writer == number and plain.fates[at] == "open":
                    plain.fates[at] = "committed" if step == "commit" else "aborted"
            plain.fates.append(None)
            plain.writers.append(None)
    return log, plain


@given(steps=STEPS)
def test_a_reader_sees_committed_records_before_the_first_open_one(steps: list[Step]) -> None:
    log, plain = play(steps)
    records, next_offset = log.read(log.start, 1_000)
    assert [record.offset for record in records] == plain.visible(plain.start)
    assert next_offset == log.stable_end
    assert log.end == len(plain.fates)


@given(steps=STEPS, size=st.integers(1, 3))
def test_small_reads_give_the_same_as_one_large_one(steps: list[Step], size: int) -> None:
    log, plain = play(steps)
    offsets: list[int] = []
    position = log.start
    while position < log.stable_end:
        records, position = log.read(position, size)
        assert len(records) <= size
        offsets += [record.offset for record in records]
    assert offsets == plain.visible(plain.start)


@given(steps=STEPS)
def test_a_reader_of_everything_sees_all_but_markers(steps: list[Step]) -> None:
    log, plain = play(steps)
    records, _ = log.read(log.start, 1_000, committed=False)
    expected = [at for at in range(plain.start, len(plain.fates)) if plain.fates[at] is not None]
    assert [record.offset for record in records] == expected
