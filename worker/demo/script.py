"""What is said in the demo: four people in a meeting, written for it, with fillers, repeats and repairs.

Words come one an event, at the pace of speech; Chinese comes in phrases, as recognisers send it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from caesura.schemas.events import Word, WordsEvent
from caesura.schemas.versions import EVENT_VERSION
from caesura.worker.feeds.timed_events import TimedEvent

TARGET = "captions"


@dataclass(frozen=True, slots=True, kw_only=True)
class Talk:
    """One speaker's part. ``|`` in the text is a pause; begins_ms counts from the demo's start."""

    speaker: str
    lang: str
    begins_ms: int
    unit_ms: int
    text: str


_PAUSE_MS = 1100

TALKS = (
    Talk(
        speaker="Anna",
        lang="en",
        begins_ms=300,
        unit_ms=290,
        text="good morning everybody can you all hear me | so let's talk about the uh the delivery two of the boxes "
        "were damaged when they arrived do we know who packed them",
    ),
    Talk(
        speaker="Ben",
        lang="en",
        begins_ms=4200,
        unit_ms=310,
        text="yes we can hear you | well the first box was um completely wet and the the other one had no label at all "
        "I called the depot twice but nobody answered",
    ),
    Talk(
        speaker="Carla",
        lang="en",
        begins_ms=8600,
        unit_ms=300,
        text="I can take care of that because I uh I will be at the depot tomorrow do you know what time they open we "
        "need we need a new plan for friday because um the customer is waiting",
    ),
    Talk(
        speaker="小陈",
        lang="zh",
        begins_ms=6500,
        unit_ms=620,
        text="大家早上好 我刚刚 到办公室 昨天的 照片 我已经 发给 客户了 | 他们 希望 星期五 以前 收到 新的 箱子",
    ),
)


def events(talks: tuple[Talk, ...] = TALKS) -> list[TimedEvent]:
    """Return the word events of all talks in the order of their times."""
    timed = [event for talk in talks for event in _of(talk)]
    return sorted(timed, key=lambda one: one.at_ms)


def _of(talk: Talk) -> Iterator[TimedEvent]:
    at_ms, seq = talk.begins_ms, 0
    units = talk.text.split()
    spoken = sum(unit != "|" for unit in units)
    for unit in units:
        if unit == "|":
            at_ms += _PAUSE_MS
            continue
        start_ms, at_ms = at_ms, at_ms + talk.unit_ms
        word = Word(text=unit, start_ms=start_ms - talk.begins_ms, end_ms=at_ms - talk.begins_ms, confidence=0.95)
        event = WordsEvent(
            version=EVENT_VERSION,
            session=talk.speaker,
            seq=seq,
            lang=talk.lang,
            words=(word,),
            targets=(TARGET,),
            session_end=seq + 1 == spoken,
            conversation="demo",
            speaker=talk.speaker,
        )
        seq += 1
        yield TimedEvent(at_ms=at_ms, event=event)
