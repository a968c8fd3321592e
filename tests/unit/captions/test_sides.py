"""Captions of a call, live: each side is named where it begins to speak, and they end when all sides have."""

from __future__ import annotations

import msgspec
import pytest

from caesura.schemas.segments import Segment
from caesura.worker.captions.limits import CaptionLimits
from caesura.worker.captions.sides import SideCues
from caesura.worker.errors import FatalError
from tests.harness.segments import TimedWord, timed_segment


def said(session: str, role: str, *words: TimedWord, end: bool = False) -> Segment:
    return msgspec.structs.replace(
        timed_segment(*words), session=session, role=role, conversation="call", session_end=end
    )


def lines(cues: SideCues, segment: Segment) -> list[str]:
    return [line for cue in cues.write(segment) for line in cue.lines]


def test_a_side_is_named_where_it_begins_to_speak_and_the_end_is_that_of_all_sides() -> None:
    cues = SideCues(session=None, conversation="call", limits=CaptionLimits())
    assert lines(cues, said("a", "agent", ("can", "none", 0, 300))) == ["agent: Can"]
    assert lines(cues, said("a", "agent", ("we", "question", 900, 200))) == ["We?"]
    assert lines(cues, said("b", "customer", ("yes", "period", 1_500, 200))) == ["customer: Yes."]
    assert lines(cues, msgspec.structs.replace(said("c", "", ("no", "none", 0, 1)), conversation="other")) == []
    assert lines(cues, said("a", "agent", end=True)) == []
    before = cues.have_ended
    assert lines(cues, said("b", "customer", end=True)) == []
    assert (before, cues.have_ended) == (False, True)


def test_a_session_alone_has_no_names() -> None:
    cues = SideCues(session="a", conversation=None, limits=CaptionLimits())
    assert lines(cues, said("a", "agent", ("yes", "period", 0, 300), end=True)) == ["Yes."]
    assert lines(cues, said("b", "customer", ("no", "period", 0, 300))) == []
    assert cues.have_ended


@pytest.mark.parametrize(("session", "conversation"), [(None, None), ("a", "call")])
def test_captions_are_of_one_session_or_of_one_conversation(session: str | None, conversation: str | None) -> None:
    with pytest.raises(FatalError, match="--session or --conversation"):
        SideCues(session=session, conversation=conversation, limits=CaptionLimits())
