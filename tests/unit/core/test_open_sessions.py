"""How many sessions may be open: new names are refused beyond the limit, known ones go on."""

from __future__ import annotations

import dataclasses

from caesura.schemas.dead_letters import DeadLetterReason
from caesura.schemas.state import SessionStatus
from caesura.worker.core.decoding.admission import OfferOutcome
from caesura.worker.core.language.rules import DecodingRules
from tests.harness.partition_driver import Driver, event

RULES = DecodingRules(idle_after_ms=20_000, forget_after_ms=60_000, routes=frozenset({"de", "fr", "ja"}))


def test_beyond_the_limit_new_names_are_refused_and_known_ones_go_on() -> None:
    driver = Driver(rules=dataclasses.replace(RULES, max_open_sessions=2))
    for name in ("ann", "ben"):
        driver.give(event(0, "one", session=name))
    refused = driver.give(event(0, "one", session="cy"))

    assert (refused.outcome, refused.reason) == (OfferOutcome.REFUSED, DeadLetterReason.TOO_MANY_SESSIONS)
    assert driver.give(event(1, "two", session="ann")).outcome is OfferOutcome.ACCEPTED
    assert set(driver.sessions.names()) == {"ann", "ben"}


def test_a_session_that_ended_or_closed_makes_room_and_one_that_speaks_again_is_not_new() -> None:
    driver = Driver(rules=dataclasses.replace(RULES, max_open_sessions=2))
    driver.give(event(0, "one", session="ann", session_end=True))
    driver.give(event(0, "one", session="ben"))
    driver.wait(20_000)
    assert driver.state("ben").admission.status is SessionStatus.CLOSED
    for name in ("cy", "dee"):
        assert driver.give(event(0, "one", session=name)).outcome is OfferOutcome.ACCEPTED
    assert driver.give(event(1, "two", session="ben")).outcome is OfferOutcome.ACCEPTED
    assert driver.give(event(0, "one", session="eve")).outcome is OfferOutcome.REFUSED


def test_sessions_that_are_loaded_count() -> None:
    rules = dataclasses.replace(RULES, max_open_sessions=1)
    before, after = Driver(rules=rules), Driver(rules=rules)
    before.give(event(0, "one", session="ann"))
    after.sessions.put_back("ann", before.state("ann"))

    assert after.give(event(0, "one", session="ben")).outcome is OfferOutcome.REFUSED
    after.sessions.put_back("ann", None)
    assert after.give(event(0, "one", session="ben")).outcome is OfferOutcome.ACCEPTED
