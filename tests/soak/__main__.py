"""``python -m tests.soak --minutes 10``: words without end through two workers; memory and Redis must stay flat.

Says each sample, and with ``--samples`` writes them as CSV; ``tests.soak.plot`` draws that. The last line is one JSON
object.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from caesura.worker.sizing.resident_memory import resident_bytes
from tests.chaos.fleet import Fleet
from tests.harness.parts.kafka_part import Kafka, unique
from tests.harness.parts.real_parts import real_parts
from tests.harness.parts.redis_part import RedisServer
from tests.harness.pipeline import Pipeline
from tests.harness.speech import talk
from tests.soak.samples import Sample, outlived, sessions_stored, write_samples
from tests.soak.speakers import Listener, Speakers
from tests.soak.vocabulary import VOCABULARY

_PARTITIONS = 4
_WORKERS = 2
_FORGET_AFTER_S = 30.0
_SLACK_S = 20.0
_SAMPLE_EVERY_S = 5.0
_MAX_BEHIND_WORDS = {"look-up": 40_000, "model": 8_000}
_WITHIN_S = 180.0
_MAX_GROWTH = {"resident_mib": 0.15, "sessions": 0.5, "redis_mib": 0.5}
"""Of each sample's quantity. As many sessions are stored as ended in the last ``_FORGET_AFTER_S``, so at what speed the
machine went decides of theirs."""
_TEXT_WORDS = 50_000
_MEMBERS = {"look-up": "tests.soak.member", "model": "tests.soak.modelled"}


class Soak:
    """One soak on parts that are up."""

    def __init__(self, kafka: Kafka, redis: RedisServer, engine: str) -> None:
        self.deployment = unique("soak")
        self._redis = redis
        topics: dict[str, dict[str, str]] = {
            f"{self.deployment}.{name}": {} for name in ("segments", "dead", "de", "claims")
        }
        topics[f"{self.deployment}.words"] = {"message.timestamp.type": "LogAppendTime"}
        topics[f"{self.deployment}.ledger"] = {"cleanup.policy": "compact"}
        kafka.create_topics_named(topics, _PARTITIONS)
        pipelines = [self._pipeline(kafka.bootstrap, ordinal) for ordinal in range(_WORKERS)]
        where: dict[str, object] = {
            "addresses": [redis.url.removeprefix("redis://").partition("/")[0]],
            "topology": "standalone",
        }
        self.fleet = Fleet(pipelines, where, module=_MEMBERS[engine])
        self.speakers = Speakers(
            kafka.bootstrap,
            f"{self.deployment}.words",
            _text(engine),
            partitions=_PARTITIONS,
            max_behind_words=_MAX_BEHIND_WORDS[engine],
        )
        self.listener = Listener(kafka.bootstrap, f"{self.deployment}.segments", _PARTITIONS, self._heard)
        self.samples: list[Sample] = []
        self.outlived: set[str] = set()

    def _pipeline(self, bootstrap: str, ordinal: int) -> Pipeline:
        return Pipeline(
            bootstrap=bootstrap,
            redis_url="",
            deployment=self.deployment,
            ordinal=ordinal,
            changes={"commit_interval_ms": 200},
            kafka_changes={"session_timeout_ms": 10_000, "transaction_timeout_ms": 10_000},
            rules={"forget_after_ms": round(_FORGET_AFTER_S * 1000)},
        )

    def _heard(self, words: int) -> None:
        self.speakers.words_out += words

    def run(self, minutes: float, say: Callable[[str], None]) -> list[str]:
        """Soak; return what went wrong."""
        began_s = time.monotonic()
        self.fleet.start(_WORKERS)
        self.listener.start()
        self.speakers.start()
        while time.monotonic() - began_s < minutes * 60:
            time.sleep(_SAMPLE_EVERY_S)
            self._sample(began_s, say)
        self.speakers.stop()
        wrong = []
        if not self.fleet.await_(lambda: len(self.listener.ended_s) == self.speakers.sessions, _WITHIN_S):
            wrong.append(f"{len(self.listener.ended_s)} of {self.speakers.sessions} sessions came to their end")
        if not self.fleet.await_(lambda: not self._stored(), _FORGET_AFTER_S + _WITHIN_S):
            wrong.append(f"{len(self._stored())} sessions are stored for ever")
        self._sample(began_s, say)
        wrong += self.fleet.stop(60.0)
        self.listener.close()
        wrong += self.fleet.tails + self.listener.wrong
        if self.speakers.words_in != self.speakers.words_out:
            wrong.append(f"{self.speakers.words_in} words in, {self.speakers.words_out} words out")
        if self.outlived:
            wrong.append(f"{len(self.outlived)} sessions outlived forget_after")
        wrong += [
            f"{quantity} has grown by {grown:.0%}"
            for quantity, grown in self.growths().items()
            if grown > _MAX_GROWTH[quantity]
        ]
        return wrong

    def growths(self) -> dict[str, float]:
        """Return by how much each quantity has grown while words were said."""
        return {
            quantity: round(growth([getattr(sample, quantity) for sample in self.samples[:-1]]), 3)
            for quantity in _MAX_GROWTH
        }

    def _stored(self) -> list[str]:
        with self._redis.client() as client:
            return sessions_stored(client, self.deployment, f"{self.deployment}.words", _PARTITIONS)

    def _sample(self, began_s: float, say: Callable[[str], None]) -> None:
        stored = self._stored()
        self.outlived.update(outlived(stored, self.listener.ended_s, time.monotonic(), _FORGET_AFTER_S + _SLACK_S))
        pids = [member.pid for member in self.fleet.members]
        resident = max((resident_bytes(pid) for pid in pids if pid is not None), default=0)
        with self._redis.client() as client:
            redis_mib = int(client.info("memory")["used_memory"]) / 2**20
        sample = Sample(
            at_s=round(time.monotonic() - began_s, 1),
            words=self.speakers.words_out,
            resident_mib=round(resident / 2**20, 1),
            sessions=len(stored),
            redis_mib=round(redis_mib, 2),
        )
        self.samples.append(sample)
        say(str(sample))

    def close(self) -> None:
        self.fleet.close()


def _text(engine: str) -> Sequence[str]:
    drawn = random.Random(1)
    return talk(_TEXT_WORDS, drawn) if engine == "model" else drawn.choices(VOCABULARY, k=_TEXT_WORDS)


def growth(values: Sequence[float]) -> float:
    """Return by how much the last quarter's median lies above the second's, as a share."""
    quarter = len(values) // 4
    if quarter < 2:
        return 0.0
    return statistics.median(values[-quarter:]) / statistics.median(values[quarter : 2 * quarter]) - 1.0


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--samples", type=Path, help="where to write the samples as CSV; nowhere, if not given")
    parser.add_argument("--engine", choices=tuple(_MEMBERS), default="look-up", help="what labels the words")
    given = parser.parse_args()

    def say(line: str) -> None:
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()

    with real_parts() as (kafka, redis):
        soak = Soak(kafka, redis, given.engine)
        try:
            wrong = soak.run(given.minutes, say)
        finally:
            soak.close()
    if given.samples is not None:
        write_samples(soak.samples, given.samples)
    for line in wrong[:20]:
        say(f"WRONG {line}")
    summary = {
        "minutes": given.minutes,
        "words": soak.speakers.words_out,
        "sessions": soak.speakers.sessions,
        "resident_mib": [soak.samples[1].resident_mib, soak.samples[-2].resident_mib],
        "growth": soak.growths(),
        "sessions_stored_most": max(sample.sessions for sample in soak.samples),
        "sessions_stored_last": soak.samples[-1].sessions,
        "outlived": len(soak.outlived),
        "wrong": len(wrong),
    }
    say(json.dumps(summary))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
