"""Chaos with timers that fire: silence freezes what is there, ended sessions are forgotten, while faults go on.

When a timer fires depends on the clock, so where segments are cut and what the labels are may differ from the
undisturbed run. What is said may not: every session's words come once, in order, in segments numbered without a hole.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from schemas.segments import Segment, TranslationSegment
from tests.chaos.checker import Findings, Output, Violation, check_letters, check_numbers, check_routes

__all__ = ["TIMED_RULES", "check_timed"]

TIMED_RULES = {"flush_after_ms": 300, "forget_after_ms": 20_000}
"""A session of the load pauses for half a second between its events, so most of them are flushed again and again."""


class _Run(NamedTuple):
    """One session's words on one topic, since it was opened."""

    target: str
    session: str
    since: int


def check_timed(expected: Output, found: Output) -> list[Violation]:
    """Return every violation; none: what was said came out as in the undisturbed run."""
    return [
        *_check_texts("segments", expected.segments, found.segments),
        *_check_texts("route", expected.translations, found.translations),
        *check_routes(found.translations),
        *check_letters(expected.letters, found.letters),
    ]


def _check_texts(topic: str, expected: Sequence[Segment], found: Sequence[Segment]) -> list[Violation]:
    findings = Findings(topic)
    check_numbers(found, findings, numbered=topic == "segments")
    wanted, got = _texts(expected), _texts(found)
    for run in wanted.keys() | got.keys():
        said, came = wanted.get(run, ""), got.get(run, "")
        if said == came:
            continue
        lost, more = Counter(said) - Counter(came), Counter(came) - Counter(said)
        if lost:
            findings.add("lost", f"{run}: {lost.total()} of {len(said)} characters")
        if more:
            findings.add("doubled", f"{run}: {more.total()} characters beside {len(said)}")
        if not lost and not more:
            findings.add("reordered", f"{run}: {len(said)} characters")
    return findings.found


def _texts(segments: Iterable[Segment]) -> dict[_Run, str]:
    """Return each run's words, joined: where Chinese is cut into words depends on where it was flushed."""
    texts: dict[_Run, list[str]] = defaultdict(list)
    for one in segments:
        target = one.target if isinstance(one, TranslationSegment) else ""
        texts[_Run(target, one.session, one.since)] += [word.text for word in one.words]
    return {run: "".join(words) for run, words in texts.items()}
