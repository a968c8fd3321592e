"""Deletes a consumer group, its offsets with it, while brokers may come and go.

librdkafka's admin client may end its process where the group's coordinator goes away while it is asked (its issues 3663
and 4605). So each try is a process of its own, ``python -m tests.chaos.group_deletion BROKERS GROUP``, and one that
dies, or fails, or says nothing in time, is followed by another.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient

from tests.harness.places import ROOT
from tests.harness.waiting import comes

_ASK_S = 5.0
_TRY_S = 20.0
_LOOK_EVERY_S = 0.2


def delete_group(brokers: str, group: str, within_s: float) -> None:
    """Delete a group that nobody is in. RuntimeError where it is still there in the end."""
    done_apart([sys.executable, "-m", "tests.chaos.group_deletion", brokers, group], within_s)


def done_apart(command: Sequence[str], within_s: float, try_s: float = _TRY_S) -> None:
    """Run a command until it ends with 0, again and again. RuntimeError where it never does, with what it said last."""
    whys: list[str | None] = []

    def done() -> bool:
        whys.append(_why_not(command, try_s))
        return whys[-1] is None

    if not comes(done, within_s=within_s, every_s=_LOOK_EVERY_S):
        raise RuntimeError(f"{whys[-1]} (tried for {within_s:.0f} s)")


def _why_not(command: Sequence[str], try_s: float) -> str | None:
    try:
        ended = subprocess.run(command, cwd=ROOT, timeout=try_s, capture_output=True, text=True, check=False)
    except subprocess.TimeoutExpired:
        return f"nothing was said within {try_s} s"
    if ended.returncode == 0:
        return None
    said = ended.stderr.strip().splitlines()
    return f"ended with {ended.returncode}: {said[-1] if said else 'no word of why'}"


def _delete(brokers: str, group: str) -> None:
    """Ask once. A group that is not there is deleted: the try before this one may have died of the answer."""
    admin = AdminClient({"bootstrap.servers": brokers, "log_level": 0})
    try:
        admin.delete_consumer_groups([group], request_timeout=_ASK_S)[group].result(2 * _ASK_S)
    except KafkaException as error:
        if error.args[0].code() != KafkaError.GROUP_ID_NOT_FOUND:
            raise


if __name__ == "__main__":
    _delete(*sys.argv[1:])
