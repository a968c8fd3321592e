"""Which routes a session's segments go to, and what they were sent last (docs/design.md, *End of a session*)."""

from __future__ import annotations

import pytest

from caesura.worker.core.language.rules import DecodingRules
from tests.harness.partition_driver import Driver, event

RULES = DecodingRules(idle_after_ms=20_000, forget_after_ms=60_000, routes=frozenset({"de", "fr", "ja"}))


def test_the_closing_record_goes_to_every_route_that_the_session_used() -> None:
    driver = Driver(rules=RULES)
    driver.give(event(0, "one", utterance_end=True, targets=("de", "nowhere")))
    driver.give(event(1, "two", utterance_end=True, targets=("fr",)))
    driver.give(event(2, session_end=True))

    assert [out.routes for out in driver.out] == [{"de": None}, {"fr": None}, {"fr": 1, "de": 0}]
    assert [out.segment.unknown_targets for out in driver.out] == [("nowhere",), (), ()]
    assert driver.context.counts.unknown_targets == 1


def test_routes_remember_what_was_last_sent_to_them() -> None:
    driver = Driver(rules=RULES)
    driver.give(event(0, "one", utterance_end=True, targets=("ja", "ja")))
    driver.give(event(1, "two", utterance_end=True, targets=()))
    driver.restart()
    driver.give(event(2, "three", utterance_end=True, targets=("ja",)))

    assert [out.routes for out in driver.out] == [{"ja": None}, {}, {"ja": 0}]


@pytest.mark.parametrize("ends_by", ["end", "idle"])
def test_no_word_goes_to_a_route_that_was_ended_not_even_with_the_record_that_closes(ends_by: str) -> None:
    driver = Driver(rules=RULES)
    driver.give(event(0, "one", utterance_end=True, targets=("de", "fr")))
    driver.give(event(1, "two three", targets=("fr",), session_end=ends_by == "end"))
    driver.wait(20_000)

    sent = {
        route: [[word.text for word in out.segment.words] for out in driver.out if route in out.routes]
        for route in ("de", "fr")
    }
    assert sent == {"de": [["one"], []], "fr": [["one"], ["two", "three"], []]}
    assert [out.segment.session_end for out in driver.out] == [False, False, True]
    assert [(out.segment.index, out.segment.first_word) for out in driver.out] == [(0, 0), (1, 1), (2, 3)]
    assert driver.out[-1].routes == {"de": 0, "fr": 1}


def test_where_no_route_was_ended_the_last_words_close_the_session() -> None:
    driver = Driver(rules=RULES)
    driver.give(event(0, "one", targets=("de",), session_end=True))

    assert [(out.segment.session_end, len(out.segment.words), out.routes) for out in driver.out] == [
        (True, 1, {"de": None})
    ]
