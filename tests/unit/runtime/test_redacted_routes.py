"""A redacted route: no word that it redacts is in a record of it, nor in tentative words, logs or metrics."""

from __future__ import annotations

import pytest
from prometheus_client import generate_latest

from caesura.schemas.codec import decode_tentative, decode_translation
from caesura.schemas.events import Emission, SessionOptions
from caesura.schemas.segments import NumberForm
from caesura.schemas.wire import WireFormat
from caesura.worker.adapters.memory.engine import ScriptedEngine, marked_words
from caesura.worker.adapters.memory.tentative_publisher import MemoryTentativePublisher
from caesura.worker.core.language.rules import DecodingRules
from caesura.worker.core.overlays.redaction import Redacted
from caesura.worker.core.rendering.rendering import Style
from caesura.worker.errors import FatalError
from caesura.worker.runtime.settings.routes import Route
from caesura.worker.settings.tree import SettingSources, load_settings
from tests.harness.in_memory_world import World
from tests.harness.speech import event
from tests.harness.watched_telemetry import CANARY, Watched

_CARD = "four seven two nine um four seven two nine four seven two nine four seven two nine"
_SAID = (
    f"hello this is {CANARY} speaking my card is {_CARD} and my address is vera dot quist at frohmail dot com thanks"
)
_SECRETS = (CANARY, "four", "seven", "nine", "vera", "quist", "frohmail")


@pytest.mark.parametrize("wire", WireFormat)
@pytest.mark.parametrize("emission", Emission)
@pytest.mark.parametrize("marked", [True, False])
@pytest.mark.parametrize("words_an_event", [1, 2, 3, 7])
def test_no_record_of_the_route_carries_a_redacted_word(
    wire: WireFormat, emission: Emission, words_an_event: int, *, marked: bool
) -> None:
    watched, publisher = Watched(), MemoryTentativePublisher()
    routes = tuple(
        Route(target=f"t-{style}", topic=f"translate.{style}", rendering=style, redact=tuple(Redacted), numbers=form)
        for style, form in zip(Style, (NumberForm.DIGITS, NumberForm.WORDS, NumberForm.DIGITS), strict=True)
    )
    world = World(rules=DecodingRules(routes=frozenset(route.target for route in routes)))
    for route in routes:
        world.broker.create_topic(route.topic, world.partitions)
    worker = world.worker(
        observer=watched.observer,
        engine=ScriptedEngine(script=marked_words) if marked else ScriptedEngine(),
        tentative=publisher,
        tentative_topic="asr.tentative",
        tentative_redact=tuple(Redacted),
        redacted_names=(CANARY,),
        routes=routes,
        wire_format=wire,
    )
    worker.settle()
    said = _SAID.split()
    options = SessionOptions(emission=emission, kept_phrases=(CANARY,), own_fillers=("vera",), spellings={"hi": CANARY})
    for number, at in enumerate(range(0, len(said), words_an_event)):
        first = {"options": options, "targets": tuple(route.target for route in routes), "speaker": CANARY}
        sent = event("ann", number, *said[at : at + words_an_event], **(first if not number else {}))  # type: ignore[arg-type]
        world.send(sent)
        worker.turn(6)
    world.send(event("ann", -(-len(said) // words_an_event), session_end=True))
    worker.settle()
    worker.worker.drain()

    heard = {route.topic: [record.value or b"" for record in world.records(route.topic)] for route in routes}
    for records in heard.values():
        decoded = [decode_translation(record) for record in records]
        assert sum(len(one.words) for one in decoded) == len(said)
        assert any("thanks" in one.text.casefold() for one in decoded) or not marked
    told = [decode_tentative(value) for _, _, value in publisher.records]
    assert any(one.words for one in told)
    published = b"".join([*(record for records in heard.values() for record in records)])
    published += b"".join(value for _, _, value in publisher.records)
    written = watched.stream.getvalue() + generate_latest(watched.metrics.registry).decode()
    for secret in _SECRETS:
        assert secret.encode() not in published.lower()
        assert secret not in written.lower()
    assert any(CANARY in word.text for one in world.segments() for word in one.words)  # it was said, and is elsewhere


def test_names_to_redact_must_be_on_a_list() -> None:
    route = '[{"target": "de", "topic": "translate.de", "redact": ["names"]}]'
    with pytest.raises(FatalError, match="redacted_names holds none"):
        load_settings(
            SettingSources(environ={"CAESURA_WORKER_ROUTES": route, "CAESURA_KAFKA_BOOTSTRAP_SERVERS": "a:1"})
        )
