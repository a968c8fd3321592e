"""What a run leaves behind, read when it is over. Where a part of the world is gone by then, that is a complaint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from confluent_kafka import KafkaException

from caesura.worker.errors import CaesuraError
from caesura.worker.ports.records import Record
from tests.chaos.kept import Kept
from tests.chaos.world import ChaosWorld
from tests.harness.checker import Output

__all__ = ["Left", "left_by"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """words: the input, partition by partition. kept: None where it could not be read."""

    words: Sequence[Record]
    output: Output
    kept: Kept | None

    @property
    def words_out(self) -> int:
        return sum(len(segment.words) for segment in self.output.segments)


def left_by(world: ChaosWorld, complaints: list[str]) -> Left | None:
    """Return what there is to check, None where the brokers do not tell; complain of what could not be read."""
    try:
        words, output = world.records("words"), world.output()
    except (KafkaException, CaesuraError) as error:
        complaints.append(f"the brokers do not tell what came out, so that nothing is checked: {error}")
        return None
    try:
        kept = world.kept()
    except (KafkaException, CaesuraError) as error:
        complaints.append(f"what is kept could not be read, and is not checked: {error}")
        kept = None
    return Left(words=words, output=output, kept=kept)
