"""What the runtime's summaries look like from here: telemetry stands below the runtime and does not import it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

__all__ = ["CheckpointFacts", "RebuildFacts"]


class CheckpointFacts(Protocol):
    """What a checkpoint's canonical line says; ``worker.runtime.observer.CheckpointSummary`` has it."""

    @property
    def outcome(self) -> str: ...  # noqa: D102

    @property
    def partitions(self) -> int: ...  # noqa: D102

    @property
    def sessions(self) -> int: ...  # noqa: D102

    @property
    def segments(self) -> int: ...  # noqa: D102

    @property
    def words(self) -> int: ...  # noqa: D102

    @property
    def dead_letters(self) -> int: ...  # noqa: D102

    @property
    def step_ms(self) -> Mapping[str, float]: ...  # noqa: D102

    @property
    def dropped(self) -> Mapping[int, str]: ...  # noqa: D102


class RebuildFacts(Protocol):
    """What a rebuild's canonical line says; ``worker.runtime.observer.RebuildSummary`` has it."""

    @property
    def sessions(self) -> int: ...  # noqa: D102

    @property
    def ledger_records(self) -> int: ...  # noqa: D102

    @property
    def input_records(self) -> int: ...  # noqa: D102

    @property
    def lost_sessions(self) -> int: ...  # noqa: D102

    @property
    def lost_words(self) -> int: ...  # noqa: D102

    @property
    def lost_records(self) -> int: ...  # noqa: D102

    @property
    def lost_offsets(self) -> tuple[int, int]: ...  # noqa: D102
