"""Notes in the ledger are read as they were written, however much was refused; routes are rendered as they say."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import generate_latest

from caesura.schemas.codec import decode_event, decode_segment, decode_tentative, decode_translation
from caesura.schemas.errors import InvalidEventError
from caesura.schemas.events import Emission, SessionOptions
from caesura.schemas.segments import NumberForm
from caesura.schemas.wire import WireFormat
from caesura.worker.adapters.memory.engine import ScriptedEngine, marked_words
from caesura.worker.adapters.memory.publisher import MemoryTentativePublisher
from caesura.worker.core.decoding.segment_writer import OutSegment
from caesura.worker.core.language.rules import DecodingRules
from caesura.worker.core.overlays.redaction import Redacted
from caesura.worker.core.rendering.rendering import Style
from caesura.worker.errors import FatalError
from caesura.worker.runtime.ledger.output_records import REFUSED_HEADER, OutputRecords, parse_refused
from caesura.worker.runtime.settings.routes import Route
from caesura.worker.runtime.settings.settings import RuntimeSettings
from caesura.worker.settings.tree import SettingSources, load_settings
from tests.harness.in_memory_world import World
from tests.harness.segments import timed_segment
from tests.harness.speech import event
from tests.harness.watched_telemetry import CANARY, Watched


def noted(offsets: list[int]) -> bytes:
    """Return the header that notes refusals."""
    (message,) = OutputRecords(settings=RuntimeSettings()).refused(0, offsets)
    return dict(message.headers)[REFUSED_HEADER]


@given(st.sets(st.integers(0, 300), min_size=1))
def test_refusals_are_read_as_they_were_written(offsets: set[int]) -> None:
    assert parse_refused(noted(sorted(offsets))) == offsets


@pytest.mark.parametrize("count", [1_000_000, 1_000_001])
def test_a_long_run_of_refusals_is_split_into_ranges_that_a_worker_reads(count: int) -> None:
    assert parse_refused(noted(list(range(7, 7 + count)))) == set(range(7, 7 + count))


def test_neighbouring_offsets_are_one_range() -> None:
    assert noted([3, 5, 6, 7, 9]) == b"3 5-7 9"


def test_a_route_has_digits_and_spellings_and_segments_have_the_words() -> None:
    routes = (Route(target="de", topic="translate.de", numbers=NumberForm.DIGITS), Route(target="fr", topic="tr.fr"))
    settings = RuntimeSettings(routes=routes, spellings={"post gres": "PostgreSQL"})
    said = timed_segment(
        *((word, "none", 0, 300) for word in ["we", "pay", "twenty", "dollars", "for", "post", "gres", "now"])
    )
    published, *routed = OutputRecords(settings=settings).segment(
        0, OutSegment(segment=said, routes={"de": None, "fr": None})
    )

    assert decode_segment(published.value or b"") == said
    german, french = (decode_translation(one.value or b"") for one in routed)
    assert german.text == "We pay $20 for PostgreSQL now"
    assert [(one.kind, one.first_word, one.last_word) for one in german.overlays] == [
        ("number", 2, 3),
        ("spelling", 5, 6),
    ]
    assert french.text == "We pay twenty dollars for PostgreSQL now"
    assert german.words == french.words == said.words


@pytest.mark.parametrize("target", ["de", "zh-Hans", "captions.v2", "x" * 64])
def test_a_name_that_an_operator_may_give_is_one_that_a_producer_may_ask_for(target: str) -> None:
    event = {"version": "1.0", "session": "s", "seq": 0, "lang": "en", "targets": [target]}
    assert decode_event(msgspec.msgpack.encode(event)).targets == (Route(target=target, topic="t").target,)


def test_a_rendering_that_there_is_not_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(ValueError, match="rendering must be one of verbatim, marked, fluent; got 'loud'"):
        Route.parse("de=translate.de:loud")


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("lang", "not a tag", "lang: expected a language as BCP-47 writes it, such as en or zh-Hans"),
        ("targets", ["d e"], "targets[0]: expected a route's name, of 1 to 64 of A-Z, a-z, 0-9, dot, _ and -"),
        ("options", {"emission": "word"}, "options.emission: expected one of sentence, clause, settled"),
    ],
)
def test_a_producer_is_told_what_was_expected_and_not_what_was_found(field: str, value: object, told: str) -> None:
    event = {"version": "1.0", "session": "s", "seq": 0, "lang": "en", field: value}
    with pytest.raises(InvalidEventError) as refused:
        decode_event(msgspec.msgpack.encode(event))
    assert refused.value.detail == told


@pytest.mark.parametrize("target", ["", "d e", "de/formal", "x" * 65, "de\n"])
def test_a_name_that_neither_may_use_is_refused_to_both(target: str) -> None:
    event = {"version": "1.0", "session": "s", "seq": 0, "lang": "en", "targets": [target]}
    with pytest.raises(InvalidEventError):
        decode_event(msgspec.msgpack.encode(event))
    with pytest.raises(ValueError, match="target"):
        Route(target=target, topic="t")


_CARD = "four seven two nine um four seven two nine four seven two nine four seven two nine"
_SAID = (
    f"hello this is {CANARY} speaking my card is {_CARD} and my address is vera dot quist at frohmail dot com thanks"
)
_SECRETS = (CANARY, "four", "seven", "nine", "vera", "quist", "frohmail")


@pytest.mark.parametrize("emission", Emission)
@pytest.mark.parametrize(
    ("words_an_event", "wire", "marked"),
    [
        (1, WireFormat.MSGPACK, True),
        (2, WireFormat.JSON, False),
        (3, WireFormat.MSGPACK, False),
        (7, WireFormat.JSON, True),
    ],
)
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
