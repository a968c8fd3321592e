"""Maps every exception of redis-py to one of worker.errors; nothing else in the adapters looks at them.

A message has the exception's kind and the server's error code, explained in our own words. The server's and the
client's texts are dropped, because some quote the command's arguments, which are spoken words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from redis import exceptions
from redis.sentinel import MasterNotFoundError

from caesura.worker.errors import FatalError, ForeignStateError, StoreError

FOREIGN = (
    exceptions.RedisError,
    exceptions.RedisClusterException,
    exceptions.ChildDeadlockedError,
    exceptions.IncorrectPolicyType,
    OSError,
)
"""The roots of all that redis-py raises; OSError is what the socket and TLS raise below it."""

OUR_FAULT = (
    exceptions.DataError,
    exceptions.PubSubError,
    exceptions.WatchError,
    exceptions.LockError,
    exceptions.InvalidPipelineStack,
    exceptions.CrossSlotTransactionError,
    exceptions.ChildDeadlockedError,
    exceptions.IncorrectPolicyType,
)
"""What only a mistake of this program can bring about: trying again would not help."""

_CODES = {
    "ASK": "the slot is being moved",
    "BUSY": "a script runs on the server and blocks it",
    "CLUSTERDOWN": "the cluster does not serve the slot",
    "DENIED": "protected mode: the server takes no clients from elsewhere",
    "EXECABORT": "the server aborted the call",
    "LOADING": "the server is still loading its data",
    "MASTERDOWN": "the replica has lost its master",
    "MISCONF": "the server refuses writes because it cannot persist",
    "MOVED": "the slot is served elsewhere",
    "NOAUTH": "a password is needed",
    "NOPERM": "the ACL user may not run this command or touch this key",
    "NOREPLICAS": "too few replicas for a write",
    "NOSCRIPT": "the script is not loaded",
    "OOM": "the server is out of memory",
    "READONLY": "the server is a replica: a fail-over is under way",
    "TRYAGAIN": "the slot is being moved",
    "WRONGPASS": "user or password are wrong",
    "WRONGTYPE": "the key holds something that is not ours",
}

_KINDS: tuple[tuple[type[BaseException], str], ...] = (
    (exceptions.NoScriptError, "NOSCRIPT"),
    (exceptions.NoPermissionError, "NOPERM"),
    (exceptions.OutOfMemoryError, "OOM"),
    (exceptions.ReadOnlyError, "READONLY"),
    (exceptions.BusyLoadingError, "LOADING"),
    (exceptions.MasterDownError, "MASTERDOWN"),
    (exceptions.ClusterDownError, "CLUSTERDOWN"),
    (exceptions.TryAgainError, "TRYAGAIN"),
    (exceptions.MovedError, "MOVED"),
    (exceptions.AskError, "ASK"),
    (exceptions.ExecAbortError, "EXECABORT"),
    (exceptions.AuthenticationError, "WRONGPASS"),
)
"""redis-py strips the code from the text of these; the most special first."""

_INSIDE_A_SCRIPT = re.compile(r"@user_script: ?\d+: -?([A-Z]+) ")
"""Before Redis 7 a refusal within a script stands in the middle of the script's own error."""
_REFUSED_INSIDE_A_SCRIPT = ("The user executing the script can't ", "ACL failure in script: ")
"""How a server says without a code that the user may not do what a script does: up to Redis 7.0, and from 7.2 on."""


def code_of(error: BaseException) -> str:
    """Return the server's error code, empty where it has none that is known."""
    for kind, code in _KINDS:
        if isinstance(error, kind):
            return code
    text = str(error)
    first = text.partition(" ")[0]
    if first in _CODES:
        return first
    inside = _INSIDE_A_SCRIPT.search(text)
    if inside is not None and inside[1] in _CODES:
        return inside[1]
    return "NOPERM" if any(words in text for words in _REFUSED_INSIDE_A_SCRIPT) else ""


def store_error(error: BaseException, doing: str) -> StoreError | FatalError:
    """Return what a foreign exception means. ``doing`` says what was tried and is free of anybody's words."""
    if isinstance(error, OUR_FAULT):
        return FatalError(f"{doing}: {type(error).__name__}: a mistake in this program")
    code = code_of(error)
    if code == "WRONGTYPE":
        return ForeignStateError(f"{doing}: {code}: {_CODES[code]}")
    if code:
        return StoreError(f"{doing}: {code}: {_CODES[code]}")
    return StoreError(f"{doing}: {_without_an_answer(error)}")


def _without_an_answer(error: BaseException) -> str:
    if isinstance(error, MasterNotFoundError):
        return "no Sentinel that answers knows a master of this name that is up"
    if isinstance(error, exceptions.TimeoutError | TimeoutError):
        return "no answer in time"
    if isinstance(error.__cause__ or error.__context__ or error, ConnectionRefusedError):
        return "connection refused: nothing listens there"
    return type(error).__name__


@contextmanager
def storing(doing: str) -> Iterator[None]:
    """Map what redis-py raises inside; see ``store_error``."""
    try:
        yield
    except FOREIGN as error:
        raise store_error(error, doing) from None
