"""Publishes words before they freeze, if the operator wants it (ADR 0031).

Rules:

1. It reads sessions and changes nothing. A lost record has no effect on them.
2. It looks at a session at most once in ``interval_ms``, and makes up for a missed look at a later turn.
3. Under load it gives way first: a worker that is behind takes no look, and a turn spends at most ``_BUDGET_S`` on it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from caesura.schemas.codec import encode_tentative
from caesura.schemas.wire import WireFormat
from caesura.worker.core.overlays.redaction import NO_REDACTION, Redaction
from caesura.worker.core.partition.paced_looks import PacedLooks
from caesura.worker.core.partition.partition import PartitionSessions
from caesura.worker.ports.clock import Clock
from caesura.worker.ports.observer import Observer
from caesura.worker.ports.service_events import UnfrozenReported
from caesura.worker.ports.tentative_publisher import TentativePublisher

_BUDGET_S = 0.01
_Key = tuple[int, str]


@dataclass(slots=True, kw_only=True)
class UnfrozenWords:
    """Publishes the unfrozen words of sessions that have changed. publisher: None if they are not wanted.

    redaction: of words that are not published.
    """

    publisher: TentativePublisher | None
    clock: Clock
    interval_ms: int
    wire: WireFormat
    observer: Observer
    redaction: Redaction = NO_REDACTION
    _looks: PacedLooks[_Key] = field(init=False)

    def __post_init__(self) -> None:
        """Begin with nothing told."""
        self._looks = PacedLooks(self.interval_ms / 1000)

    def tell(self, partitions: Mapping[int, PartitionSessions], *, behind: bool) -> None:
        """Publish the changes since the last checkpoint. behind: the worker has more to read than it took."""
        if self.publisher is None:
            return
        for number, sessions in partitions.items():
            for name in sessions.touched:
                self._looks.changed((number, name))
        began_s = self.clock.monotonic_s()
        passed_over = self._looks.pass_over() if behind else 0
        offered = 0
        for key in self._looks.due(began_s):
            try:
                offered += self._look(self.publisher, key, partitions)
            except Exception:  # noqa: BLE001 - rule 1: whatever our own code raises here, a frozen word does not wait for it
                self._looks.forget(key)
                passed_over += 1
            if self.clock.monotonic_s() - began_s > _BUDGET_S:
                break
        dropped = self.publisher.take_dropped()
        self.observer.note(UnfrozenReported(offered=offered, dropped=dropped, passed_over=passed_over))

    def close(self) -> None:
        """Close the producer."""
        if self.publisher is not None:
            self.publisher.close()

    def _look(self, publisher: TentativePublisher, key: _Key, partitions: Mapping[int, PartitionSessions]) -> bool:
        number, name = key
        sessions = partitions.get(number)
        tentative = None if sessions is None else sessions.tentative(name, self.clock.wall_ms())
        if tentative is not None and tentative.words:
            self._looks.told(key, self.clock.monotonic_s())
            if self.redaction and sessions is not None:
                tentative, _ = self.redaction.tentative(tentative, sessions.said_before(name))
            return publisher.offer(number, name.encode(), encode_tentative(tentative, self.wire))
        self._looks.forget(key)
        return False
