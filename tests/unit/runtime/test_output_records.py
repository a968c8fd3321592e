"""Notes in the ledger are read as they were written, however much was refused; routes are rendered as they say."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caesura.schemas.codec import decode_segment, decode_translation
from caesura.schemas.segments import NumberForm
from caesura.worker.core.decoding.segment_writer import OutSegment
from caesura.worker.runtime.ledger.output_records import REFUSED_HEADER, OutputRecords, parse_refused
from caesura.worker.runtime.settings.routes import Route
from caesura.worker.runtime.settings.settings import RuntimeSettings
from tests.harness.segments import timed_segment


def noted(offsets: list[int]) -> bytes:
    """Return the header that notes refusals."""
    (message,) = OutputRecords(settings=RuntimeSettings()).refused(0, offsets)
    return dict(message.headers)[REFUSED_HEADER]


@given(st.sets(st.integers(0, 300), min_size=1))
def test_refusals_are_read_as_they_were_written(offsets: set[int]) -> None:
    assert parse_refused(noted(sorted(offsets))) == offsets


@pytest.mark.parametrize("count", [999_999, 1_000_000, 1_000_001, 2_500_000])
def test_a_long_run_of_refusals_is_split_into_ranges_that_a_worker_reads(count: int) -> None:
    assert parse_refused(noted(list(range(7, 7 + count)))) == set(range(7, 7 + count))


def test_neighbouring_offsets_are_one_range() -> None:
    assert noted([3, 5, 6, 7, 9]) == b"3 5-7 9"


def test_a_route_has_digits_and_the_operators_spellings_and_the_segments_topic_has_the_words() -> None:
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
