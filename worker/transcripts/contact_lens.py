"""A conversation as Contact Lens writes an analysed call: who took part, what was said, and its characteristics.

Source: https://docs.aws.amazon.com/connect/latest/adminguide/contact-lens-example-output-files.html

What only that service knows (sentiment, loudness, categories, issues) is left out.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from caesura.schemas.segments import Segment
from caesura.worker.core.overlays.rules import NO_OVERLAYS, OverlayRules
from caesura.worker.core.rendering.cleaning import Cleaning
from caesura.worker.core.rendering.conversation import Characteristics, Placed, SideTalk, characteristics_of
from caesura.worker.core.rendering.rendering import Style, render_segment

_MS_A_MINUTE = 60_000
_ROLES = frozenset({"AGENT", "CUSTOMER"})


def contact_lens_json(placed: Sequence[Placed], cleaning: Cleaning, overlays: OverlayRules = NO_OVERLAYS) -> str:
    """Return the segments of a conversation, in order, as one JSON object and a line break.

    A participant is called by its role where that, its channel or its speaker is called ``agent`` or ``customer``, else
    by its side's name. A segment of which nothing is left when fillers and repairs are left out is no turn.
    """
    numbers = characteristics_of(placed)
    roles = {one.segment.session: _role(one.segment) for one in placed}
    names = {side.session: roles[side.session] or side.name for side in numbers.sides}
    turns = []
    for one in placed:
        text = render_segment(one.segment, Style.FLUENT, cleaning=cleaning, overlays=overlays).text
        if text:
            turns.append(
                {
                    "Id": f"{one.segment.session}-{one.segment.since}-{one.segment.index}",
                    "ParticipantId": names[one.segment.session],
                    "Content": text,
                    "BeginOffsetMillis": one.start_ms,
                    "EndOffsetMillis": one.end_ms,
                }
            )
    whole = {
        "Version": "1.1.0",
        "Channel": "VOICE",
        "JobStatus": "COMPLETED",
        "LanguageCode": placed[0].segment.lang if placed else "",
        "Participants": [
            {"ParticipantId": name, "ParticipantRole": roles[session] or "CUSTOM"} for session, name in names.items()
        ],
        "ConversationCharacteristics": _characteristics(numbers, names),
        "Transcript": turns,
    }
    return msgspec.json.format(msgspec.json.encode(whole), indent=2).decode() + "\n"


def _role(segment: Segment) -> str:
    """Return the role of a segment's side, in capitals; empty where it is none of Contact Lens'."""
    named = (name.upper() for name in (segment.role, segment.channel, segment.speaker) if name)
    return next((name for name in named if name in _ROLES), "")


def _characteristics(numbers: Characteristics, names: dict[str, str]) -> dict[str, object]:
    by: dict[str, list[dict[str, int]]] = {}
    for one in numbers.interruptions:
        by.setdefault(names[one.by], []).append(
            {
                "BeginOffsetMillis": one.at_ms,
                "DurationMillis": one.until_ms - one.at_ms,
                "EndOffsetMillis": one.until_ms,
            }
        )
    return {
        "TotalConversationDurationMillis": numbers.duration_ms,
        "Interruptions": {
            "InterruptionsByInterrupter": by,
            "TotalCount": len(numbers.interruptions),
            "TotalTimeMillis": sum(one.until_ms - one.at_ms for one in numbers.interruptions),
        },
        "NonTalkTime": {"TotalTimeMillis": numbers.silence_ms},
        "TalkSpeed": {
            "DetailsByParticipant": {
                names[side.session]: {"AverageWordsPerMinute": _words_a_minute(side)} for side in numbers.sides
            }
        },
        "TalkTime": {
            "TotalTimeMillis": sum(side.talk_ms for side in numbers.sides),
            "DetailsByParticipant": {names[side.session]: {"TotalTimeMillis": side.talk_ms} for side in numbers.sides},
        },
    }


def _words_a_minute(side: SideTalk) -> int:
    return round(side.words * _MS_A_MINUTE / side.talk_ms) if side.talk_ms else 0
