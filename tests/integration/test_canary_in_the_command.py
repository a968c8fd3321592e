"""Promise 5, told by the command itself: what ``caesura worker`` writes and serves, searched for a canary word."""

from __future__ import annotations

import urllib.error
import urllib.request

import pytest
import redis

from caesura.worker.adapters.redis.session_store import partition_key
from tests.harness.bad_events import bad_records
from tests.harness.rehearsal import Rehearsal, RunningWorker
from tests.harness.speech import event, said
from tests.harness.waiting import wait_until

_CANARY = "zwieselhausen"


@pytest.mark.timeout(300)
def test_the_command_logs_serves_and_prints_nothing_that_was_said(rehearsal: Rehearsal) -> None:
    rehearsal.make_topics(1)
    bad = [one for one in bad_records("bad", _CANARY) if not one.shift]
    rehearsal.say(event("ann", 0, _CANARY, "and", "on", session_end=True), event("ann", 1, _CANARY))
    rehearsal.send(*((one.value, one.key) for one in bad))
    rehearsal.say(event("ben", 0, _CANARY, "last", session_end=True))
    with rehearsal.worker() as worker:
        wait_until(lambda: sum(one.session_end for one in rehearsal.segments()) == 2, worker.tail)
        metrics = _served(worker, "metrics")
        told = metrics + "".join(_served(worker, path) for path in ("started", "live", "ready"))
        worker.stop()
        told += worker.process.stdout + worker.process.stderr
    with redis.Redis.from_url(rehearsal.redis_url) as client:
        client.set(partition_key(rehearsal.deployment, rehearsal.topic("asr.words"), 0), _CANARY)
    with rehearsal.worker() as worker:
        wait_until(lambda: worker.lines("rebuilt"), worker.tail, within_s=90)
        worker.process.kill()
        told += worker.process.stdout + worker.process.stderr
    assert said(rehearsal.segments()).count(_CANARY) == 2
    assert len(rehearsal.values("asr.words.dead")) == len(bad) + 1
    assert told.count('"dead_letter"') >= len(bad)
    assert "caesura_dead_letters_total" in metrics
    assert _CANARY not in told.lower()


def _served(worker: RunningWorker, path: str) -> str:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{worker.port}/{path}", timeout=30) as answer:
            return str(answer.read(), "utf-8")
    except urllib.error.HTTPError as refusal:
        return str(refusal.read(), "utf-8")
