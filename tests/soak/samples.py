"""What is measured in a soak, every few seconds: resident memory of each worker, fields and memory of Redis, words."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import cast

import redis

from caesura.worker.adapters.redis.session_store import partition_key

_SESSION = b"s:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One look. resident_mib: of the largest worker. sessions: fields of sessions in Redis, closed ones included."""

    at_s: float
    words: int
    resident_mib: float
    sessions: int
    redis_mib: float


def sessions_stored(client: redis.Redis, deployment: str, topic: str, partitions: int) -> list[str]:
    """Return every session that has a field."""
    found: list[str] = []
    for partition in range(partitions):
        names = cast("list[bytes]", client.hkeys(partition_key(deployment, topic, partition)))
        found += [name.removeprefix(_SESSION).decode() for name in names if name.startswith(_SESSION)]
    return found


def outlived(stored: Sequence[str], ended_s: dict[str, float], now_s: float, longest_s: float) -> list[str]:
    """Return the sessions that are stored longer after their end than they should be."""
    return [session for session in stored if now_s - ended_s.get(session, now_s) > longest_s]


def write_samples(samples: Sequence[Sample], file: Path) -> None:
    """Write them as CSV."""
    with file.open("w", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(field.name for field in fields(Sample))
        writer.writerows(astuple(sample) for sample in samples)


def read_samples(file: Path) -> list[Sample]:
    """Read them again."""
    with file.open(newline="") as lines:
        return [
            Sample(
                at_s=float(row["at_s"]),
                words=int(row["words"]),
                resident_mib=float(row["resident_mib"]),
                sessions=int(row["sessions"]),
                redis_mib=float(row["redis_mib"]),
            )
            for row in csv.DictReader(lines)
        ]
