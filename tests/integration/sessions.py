"""Sessions that the runbook's rehearsals send, and what is said of them in the segments."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from confluent_kafka import Producer
from redis import Redis

from caesura.schemas.codec import encode_event
from caesura.schemas.events import WordsEvent
from caesura.schemas.segments import Segment
from tests.harness.rehearsal import Rehearsal, RunningWorker
from tests.harness.speech import event
from tests.harness.tracing import context
from tests.harness.waiting import wait_until

_SPOKEN = "so the first point is that we moved the shelves to the left and the lights work now as they should"
_WORDS = _SPOKEN.split()


def events(sessions: Iterable[str], *, first: int, last: int, end: bool = False) -> Iterator[WordsEvent]:
    """Yield words ``first`` to ``last`` of each session, one an event, numbered from ``first``."""
    for session in sessions:
        for number in range(first, last):
            yield event(session, number, _WORDS[number % len(_WORDS)])
        if end:
            yield event(session, last, session_end=True)


def words_by_session(segments: Iterable[Segment]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for segment in segments:
        found.setdefault(segment.session, []).extend(word.text for word in segment.words)
    return found


def whole(sessions: Iterable[str], words: int) -> dict[str, list[str]]:
    return {session: [_WORDS[number % len(_WORDS)] for number in range(words)] for session in sessions}


def wait_for_ends(rehearsal: Rehearsal, count: int, worker: RunningWorker, topic: str = "asr.segments") -> None:
    def ended() -> int:
        return sum(segment.session_end for segment in rehearsal.segments(topic))

    wait_until(lambda: ended() == count, lambda: f"{ended()} of {count} ended\n{worker.tail()}")


def send_with_contexts(rehearsal: Rehearsal, sent: Iterable[WordsEvent], *, start: int = 0, baggage: str = "") -> None:
    """Send events as an instrumented producer does: each with a trace context of its own, numbered from ``start``."""
    producer = Producer({"bootstrap.servers": rehearsal.kafka.bootstrap, "partitioner": "murmur2_random"})
    for number, one in enumerate(sent, start=start):
        headers: dict[str, str | bytes | None] = {"traceparent": context(number), "baggage": baggage}
        producer.produce(rehearsal.topic("asr.words"), encode_event(one), one.session.encode(), headers=headers)
    assert producer.flush(30) == 0


def stored(rehearsal: Rehearsal) -> bytes:
    """Return everything that Redis holds of the deployment."""
    with Redis.from_url(rehearsal.redis_url) as client:
        keys = client.scan_iter(f"caesura:{{{rehearsal.deployment}:*")
        return b"".join(value for key in keys for value in client.hgetall(key).values())
