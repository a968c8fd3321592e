"""What the check, and a worker that starts, say where ACLs keep the worker from a topic."""

from __future__ import annotations

import pytest

from caesura.worker.checks.kafka import denied
from caesura.worker.runtime.settings.settings import RuntimeSettings


@pytest.mark.parametrize(
    ("topic", "forbidden", "told"),
    [
        ("asr.words", (True, True), "topic asr.words: this user may not read it"),
        ("asr.words", (False, True), None),
        ("asr.segments", (True, False), None),
        ("asr.segments", (True, True), "topic asr.segments: this user may not write to it"),
        ("asr.words.dead", (False, True), "topic asr.words.dead: this user may not write to it"),
        ("caesura.ledger", (True, False), "topic caesura.ledger: this user may not read it"),
        ("caesura.ledger", (True, True), "topic caesura.ledger: this user may not read it nor write to it"),
        ("caesura.ledger", (False, False), None),
    ],
)
def test_a_topic_is_named_with_what_the_worker_needs_and_may_not_do(
    topic: str, forbidden: tuple[bool, bool], told: str | None
) -> None:
    worker = RuntimeSettings()
    findings = denied({topic: forbidden}, reads=worker.read_topics, writes=worker.output_topics)
    found = [f"{one.subject}: {one.reason}" for one in findings]
    assert found == ([] if told is None else [f"{told} (docs/security.md)"])
