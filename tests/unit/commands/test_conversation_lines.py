"""A conversation in ``tail``: its sides by audio time with their names, as captions, and its numbers."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from caesura.schemas.segments import Segment
from caesura.worker.captions.limits import CaptionLimits
from caesura.worker.commands.conversation_lines import conversation_line, live_order, talk_lines, whole_order
from caesura.worker.commands.tail import Format, _conversation_texts
from caesura.worker.core.rendering.conversation import characteristics_of
from caesura.worker.core.rendering.rendering import Style
from tests.harness.segments import TimedWord, timed_segment


def said(session: str, role: str, *words: TimedWord) -> Segment:
    return msgspec.structs.replace(timed_segment(*words), session=session, role=role, conversation="call")


QUESTION = said("call/a", "agent", ("can", "none", 1_000, 300), ("we", "question", 0, 200))
ANSWER = said("call/c", "customer", ("yes", "period", 2_000, 400))


def test_sides_stand_in_order_of_audio_time_with_their_names() -> None:
    lines = [conversation_line(one, Style.MARKED) for one in whole_order([ANSWER, None, QUESTION])]
    assert lines == ["[00:00:01] agent: Can we?", "[00:00:02] customer: Yes."]
    assert conversation_line(whole_order([msgspec.structs.replace(ANSWER, words=())])[0], Style.MARKED) is None


def test_captions_name_the_sides() -> None:
    text = "".join(_conversation_texts(whole_order([ANSWER, QUESTION]), Format.VTT, None, CaptionLimits()))
    assert [line for line in text.splitlines() if line.startswith("<v")] == ["<v agent>Can we?", "<v customer>Yes."]


def test_paragraphs_begin_with_another_side_and_after_a_pause() -> None:
    more = msgspec.structs.replace(
        said("call/c", "customer", ("i", "none", 9_000, 300), ("do", "period", 0, 200)), index=1
    )
    text = "".join(_conversation_texts(whole_order([ANSWER, more, QUESTION]), Format.PARAGRAPHS, None, CaptionLimits()))
    assert text == "[00:00:01] agent: Can we?\n\n[00:00:02] customer: Yes.\n\n[00:00:09] customer: I do.\n"


def test_live_a_segment_waits_for_the_others_until_nothing_came_for_a_while() -> None:
    clock = [0.0]
    shown: list[str] = []

    def came() -> Iterator[Segment | None]:
        yield ANSWER
        yield QUESTION  # of a side that has not been heard before: what it says is earlier, and shown at once
        yield msgspec.structs.replace(ANSWER, index=1)
        seen.append(len(shown))
        clock[0] = 5.0
        yield None
        seen.append(len(shown))

    seen: list[int] = []
    for placed in live_order(came(), lambda: clock[0]):
        shown.append(placed.segment.session)  # noqa: PERF401 - how many there are is looked at while they come
    assert sorted(shown) == ["call/a", "call/c", "call/c"]
    assert seen[0] < seen[1] == 3


def test_the_numbers_are_a_line_a_side() -> None:
    lines = list(talk_lines(characteristics_of(whole_order([ANSWER, QUESTION]))))
    assert lines[1].split() == ["agent", "2", "1", "0.5", "0.9", "0"]
    assert lines[2].split() == ["customer", "1", "1", "0.4", "1.0", "0"]
    assert lines[3] == "1.4 s, 0.0 s of overlap, 0.5 s of silence"
