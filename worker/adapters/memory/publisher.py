"""The in-memory publisher on ``MemoryBroker`` (``publisher``): the same states, errors and order of calls."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from enum import Enum

from typing_extensions import override

from caesura.worker.adapters.memory.broker import Call, MemoryBroker, MemoryMembership
from caesura.worker.adapters.memory.log import Writer
from caesura.worker.errors import (
    AbortableError,
    BrokerError,
    CaesuraError,
    FatalError,
    FencedError,
    OutcomeUnknownError,
)
from caesura.worker.ports.publisher import Publisher
from caesura.worker.ports.records import NextOffset, OutMessage
from caesura.worker.ports.tentative_publisher import TentativePublisher
from caesura.worker.ports.word_source import GroupMembership


class _State(Enum):
    NEW = "not initialised"
    READY = "ready"
    OPEN = "in a transaction"
    SPOILED = "in a transaction that must be aborted"
    DONE_FOR = "done for: rebuild it"
    CLOSED = "closed"


class MemoryPublisher(Publisher):
    """Publishes in transactions of one id; offsets go to ``input_topic``. outputs: topics that must be there."""

    def __init__(
        self, broker: MemoryBroker, transactional_id: str, input_topic: str, *, outputs: Collection[str] = ()
    ) -> None:
        self._broker = broker
        self._transactional_id = transactional_id
        self._input_topic = input_topic
        self._outputs = outputs
        self._writer: Writer = (transactional_id, -1)
        self._state = _State.NEW
        self._ends: dict[tuple[str, int], int] = {}

    @property
    @override
    def transactional_id(self) -> str:
        return self._transactional_id

    @override
    def init_transactions(self, timeout_s: float) -> None:
        del timeout_s
        self._demand("init_transactions", _State.NEW)
        for topic in self._outputs:
            self._broker.log(topic, len(self._broker.logs(self._input_topic)) - 1)
        self._do("init_transactions", self._initialise)

    @override
    def begin(self) -> None:
        self._demand("begin", _State.READY)
        self._do("begin", lambda: self._become(_State.OPEN))
        self._ends.clear()

    @override
    def publish(self, message: OutMessage) -> None:
        self._demand("publish", _State.OPEN, _State.SPOILED)
        self._refuse_spoiled()
        self._do("publish", lambda: self._write(message))

    @override
    def send_offsets(self, offsets: Mapping[int, NextOffset], membership: GroupMembership, timeout_s: float) -> None:
        """Send the input's next offsets, fenced by the group's generation; a fence leaves only the abort."""
        del timeout_s
        self._demand("send_offsets", _State.OPEN, _State.SPOILED)
        if not isinstance(membership, MemoryMembership) or not membership.current:
            raise FencedError("sending offsets into the transaction: not a member of the group (any more)")
        if any(offset.next_offset < 0 for offset in offsets.values()):
            raise FatalError("a negative offset would be dropped without a word")
        self._refuse_spoiled()
        self._do(
            "send_offsets",
            lambda: self._broker.write_offsets(self._writer, self._input_topic, offsets, membership),
        )

    @override
    def commit(self, timeout_s: float) -> None:
        del timeout_s
        self._demand("commit", _State.OPEN, _State.SPOILED)
        self._refuse_spoiled()
        self._do("commit", lambda: self._broker.end_transaction(self._writer, commit=True))
        self._become(_State.READY)

    @override
    def end_of(self, topic: str, partition: int) -> int | None:
        return self._ends.get((topic, partition))

    @override
    def abort(self, timeout_s: float) -> None:
        del timeout_s
        self._demand("abort", _State.OPEN, _State.SPOILED)
        self._do("abort", lambda: self._broker.end_transaction(self._writer, commit=False))
        self._become(_State.READY)

    @override
    def rebuild(self, timeout_s: float) -> None:
        self._become(_State.NEW)
        self.init_transactions(timeout_s)

    @override
    def close(self) -> None:
        """Let go; an open transaction stays open at the broker."""
        self._become(_State.CLOSED)

    def _write(self, message: OutMessage) -> None:
        self._ends[message.topic, message.partition] = self._broker.write(self._writer, message) + 1

    def _initialise(self) -> None:
        self._writer = self._broker.init_producer(self._transactional_id)
        self._become(_State.READY)

    def _become(self, state: _State) -> None:
        self._state = state

    def _demand(self, call: Call, *states: _State) -> None:
        if self._state is _State.DONE_FOR:
            raise OutcomeUnknownError(f"{call}: the producer is {self._state.value}")
        if self._state not in states:
            raise FatalError(f"{call}: the producer is {self._state.value}")

    def _refuse_spoiled(self) -> None:
        if self._state is _State.SPOILED:
            raise AbortableError("the transaction must be aborted")

    def _do(self, call: Call, act: Callable[[], None]) -> None:
        """Act, with the fault planned for this call; then be in the state that the error leaves a real one in."""
        fault = self._broker.take_fault(call, self._transactional_id)
        try:
            if fault is None or fault.happened:
                act()
            if fault is not None:
                raise fault.error
        except CaesuraError as error:
            self._become(self._after(call, error))
            raise

    def _after(self, call: Call, error: CaesuraError) -> _State:
        if isinstance(error, AbortableError):
            return _State.SPOILED
        if isinstance(error, OutcomeUnknownError) or (call == "commit" and isinstance(error, BrokerError)):
            return _State.DONE_FOR
        if isinstance(error, FencedError):
            # The group's fence leaves the producer whole: it may abort. A newer producer's does not.
            group_only = call == "send_offsets" and self._broker.holds(self._writer)
            return _State.SPOILED if group_only else _State.DONE_FOR
        return self._state


class MemoryTentativePublisher(TentativePublisher):
    """Keeps what it is offered. failing: it drops all of it."""

    def __init__(self, *, failing: bool = False) -> None:
        self.failing = failing
        self.records: list[tuple[int, bytes, bytes]] = []
        self.closed = False
        self._dropped = 0

    @override
    def offer(self, partition: int, key: bytes, value: bytes) -> bool:
        """Keep a record, or drop it and return False."""
        if self.failing:
            self._dropped += 1
            return False
        self.records.append((partition, key, value))
        return True

    @override
    def take_dropped(self) -> int:
        dropped, self._dropped = self._dropped, 0
        return dropped

    @override
    def close(self) -> None:
        """Note that it was closed."""
        self.closed = True
