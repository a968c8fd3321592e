"""Fires the timers of loaded partitions, and asks leaders whether more records are in the log.

A timer fires when partition time says that it is due. If it is due only by the monotonic clock, the partition's leader
is asked whether the log has more records. One question serves all timers of the partition that are due by then. The
loop reads the answer at a later turn, so a slow or absent leader delays only its own partitions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from caesura.worker.errors import BrokerError, OwnFaultError
from caesura.worker.ports.word_source import WordSource
from caesura.worker.runtime.partition.loaded_partition import LoadedPartition
from caesura.worker.runtime.retries.faults import Faults
from caesura.worker.runtime.retries.own_faults import blamed


class TimerSweep:
    """Visits each partition once a turn.

    raised: is called if our own code raised. timeout_s: how long a leader may take to answer.
    """

    def __init__(
        self, *, source: WordSource, faults: Faults, raised: Callable[[OwnFaultError], object], timeout_s: float
    ) -> None:
        self._source = source
        self._faults = faults
        self._raised = raised
        self._timeout_s = timeout_s
        self._unanswered: set[int] = set()
        self._turns = 0

    def tick(self, loaded: Mapping[int, LoadedPartition], most: int) -> int:
        """Read answers, fire due timers of ``most`` sessions at most, and ask leaders; return how many fired."""
        self._hear(loaded)
        fired = 0
        for partition in self._in_turn(loaded):
            try:
                fired += blamed(partition, loaded[partition].tick, most - fired)
            except OwnFaultError as error:
                self._raised(error)
        self._ask(loaded)
        return fired

    def _hear(self, loaded: Mapping[int, LoadedPartition]) -> None:
        for answer in self._source.end_answers():
            if answer.failure:
                self._unanswered.add(answer.partition)
                self._faults.failed("leader", BrokerError(answer.failure))
            else:
                self._unanswered.discard(answer.partition)
            if answer.partition in loaded:
                loaded[answer.partition].answered(answer)
        self._unanswered &= loaded.keys()
        if not self._unanswered:
            self._faults.cleared("leader")

    def _in_turn(self, loaded: Mapping[int, LoadedPartition]) -> list[int]:
        """Return the partitions, each time beginning with another, so that a crowd in one does not starve others."""
        partitions = sorted(loaded)
        self._turns += 1
        first = self._turns % len(partitions) if partitions else 0
        return partitions[first:] + partitions[:first]

    def _ask(self, loaded: Mapping[int, LoadedPartition]) -> None:
        questions = {partition: read_to for partition, one in loaded.items() if (read_to := one.question()) is not None}
        if questions:
            self._source.ask_ends(questions, self._timeout_s)
