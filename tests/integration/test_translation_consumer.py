"""The consumer of docs/translation.md on a real Kafka, with a stub for the translator that it brings."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from types import ModuleType

import pytest
from confluent_kafka import Producer

from caesura.schemas.codec import encode_translation
from tests.harness.pages import TRANSLATION, defined_by
from tests.harness.parts.kafka_part import Kafka, unique
from tests.harness.segments import a_translation, timed_segment

WORDS = timed_segment(("so", "none", 0, 300)).words


class TranslatorDiedError(Exception):
    """The translator's process dies."""


@dataclass
class Stub:
    """Translates into capitals. dies_at: the text at which it dies."""

    dies_at: str
    asked: list[str] = field(default_factory=list)

    def __call__(self, text: str) -> str:
        self.asked.append(text)
        if text == self.dies_at:
            raise TranslatorDiedError
        return text.upper()


@pytest.fixture
def run(kafka: Kafka, monkeypatch: pytest.MonkeyPatch) -> tuple[str, Callable[[Stub], None]]:
    """Return the topic, and the page's loop over it."""
    for name in ("ctranslate2", "sentencepiece"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    topic = kafka.create_topic("translate.fr")
    changes = {
        "localhost:9092": kafka.bootstrap,
        '"translate.fr"': f'"{topic}"',
        '"group.id": "translator"': f'"group.id": "{unique("translator")}"',
    }
    return topic, defined_by(TRANSLATION, "run", changes)["run"]


def _publish(kafka: Kafka, topic: str, *texts: str, committed: bool = True) -> None:
    producer = Producer({"bootstrap.servers": kafka.bootstrap, "transactional.id": unique("page")})
    producer.init_transactions(60)
    producer.begin_transaction()
    for text in texts:
        producer.produce(topic, encode_translation(a_translation(WORDS, text)), b"s")
    producer.flush(60)
    (producer.commit_transaction if committed else producer.abort_transaction)(60)


@pytest.mark.timeout(180)
def test_each_committed_segment_is_translated_until_it_was_shown(
    kafka: Kafka, run: tuple[str, Callable[[Stub], None]], capsys: pytest.CaptureFixture[str]
) -> None:
    topic, loop = run
    _publish(kafka, topic, "One.", "", "Two.")
    _publish(kafka, topic, "Aborted.", committed=False)
    _publish(kafka, topic, "Three.", "Four.")
    first, second = Stub(dies_at="Three."), Stub(dies_at="Four.")
    for stub in (first, second):
        with pytest.raises(TranslatorDiedError):
            loop(stub)
    assert first.asked == ["One.", "Two.", "Three."]
    assert second.asked == ["Three.", "Four."], "what was not shown is translated again, and only that"
    assert capsys.readouterr().out.splitlines() == ["s ONE.", "s TWO.", "s THREE."]
