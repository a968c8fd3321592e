"""What the soak labels with answers a worker's requests: one that does not ends every worker at its first step."""

from __future__ import annotations

from caesura.schemas.segments import Cause
from tests.harness.partition_driver import Driver, event
from tests.harness.speech import said
from tests.soak.member import LookUpEngine
from tests.soak.vocabulary import VOCABULARY


def test_the_soak_engine_ends_a_sentence_every_thirteen_words() -> None:
    driver = Driver(engine=LookUpEngine())
    words = VOCABULARY[:60]
    for seq, first in enumerate(range(0, len(words), 3)):
        driver.give(event(seq, " ".join(words[first : first + 3])))
    driver.give(event(20, session_end=True))
    assert said(driver.segments) == list(words)
    assert [segment.words[-1].text for segment in driver.segments if segment.cause is Cause.SENTENCE] == [
        words[place] for place in range(0, 60, 13)
    ]
