"""Events about unfrozen words and about clients that are served over WebSocket (``observer``)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from caesura.worker.ports.observer import Event


@dataclass(frozen=True, slots=True, kw_only=True)
class UnfrozenReported(Event):
    """Looks at sessions' unfrozen words.

    offered: told. dropped: replaced by a newer one or lost on the way. passed_over: not taken, under load.
    """

    offered: int = 0
    dropped: int = 0
    passed_over: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientsConnected(Event):
    """How many clients are connected now."""

    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionsServed(Event):
    """How many sessions of clients are in memory now."""

    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientWordsTaken(Event):
    """Words that a client has sent and that were taken."""

    words: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientRefused(Event):
    """A message, an opening or a whole connection that was refused; ``messages`` has the reasons."""

    reason: StrEnum
