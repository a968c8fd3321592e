"""Compares what came out with what an undisturbed run brings out: from the same input the same output, to the label.

What may differ is clocks alone, and the order in which sessions of one partition alternate. Kinds of violation:

lost        a word, a segment or a dead letter that should have come out and did not
doubled     one that came out more than once
reordered   a session's words or segments in another order than they were said
relabelled  a word with another label, or a segment that differs in anything else but its clocks
foreign     a word, a segment or a dead letter that nobody should have brought out
gap         a session's segment indexes with a hole, or a route whose ``previous_index`` does not lead on
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import msgspec

from caesura.schemas.segments import Segment, SegmentWord, Timing, TranslationSegment

KINDS = ("lost", "doubled", "reordered", "relabelled", "foreign", "gap")


class Adopted(NamedTuple):
    """An offset set on purpose: everything before ``stopped_at`` was applied, the next record read is ``begins_at``."""

    partition: int
    stopped_at: int
    begins_at: int


class Letter(NamedTuple):
    """A dead letter: which record it is of, and why."""

    partition: int
    offset: int
    reason: str
    value: bytes | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """All that a run brought out, each topic's records partition by partition in the order of the log."""

    segments: Sequence[Segment]
    translations: Sequence[TranslationSegment]
    letters: Sequence[Letter]


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """One promise broken. detail names sessions and numbers, and no word."""

    kind: str
    where: str
    detail: str


class _Identity(NamedTuple):
    session: str
    since: int
    number: int


@dataclass(slots=True)
class Findings:
    """The violations found on one topic."""

    topic: str
    found: list[Violation] = field(default_factory=list)

    def add(self, kind: str, detail: str) -> None:
        self.found.append(Violation(kind=kind, where=self.topic, detail=detail))


def check(expected: Output, found: Output) -> list[Violation]:
    """Return every violation; none: the disturbed run is the undisturbed one."""
    return [
        *_check_words(expected.segments, found.segments),
        *_check_segments("segments", expected.segments, found.segments),
        *_check_segments("route", expected.translations, found.translations),
        *check_routes(found.translations),
        *check_letters(expected.letters, found.letters),
    ]


def tally(violations: Iterable[Violation]) -> dict[str, int]:
    """Count violations by kind; every kind is named."""
    return dict.fromkeys(KINDS, 0) | Counter(one.kind for one in violations)


def _check_words(expected: Sequence[Segment], found: Sequence[Segment]) -> list[Violation]:
    """Compare word by word, whatever segments they came in."""
    findings = Findings("words")
    wanted, got = _words(expected), _words(found)
    for place, (word,) in wanted.items():
        came = got.get(place, [])
        if not came:
            findings.add("lost", f"{place}")
        if len(came) > 1:
            findings.add("doubled", f"{place} came {len(came)} times")
        for other in came:
            if other.text != word.text or other.piece != word.piece:
                findings.add("foreign", f"{place} is another word")
            elif other != word:
                findings.add("relabelled", f"{place}")
    for place in got.keys() - wanted.keys():
        findings.add("foreign", f"{place}")
    return findings.found


def _words(segments: Iterable[Segment]) -> dict[tuple[str, int, int], list[SegmentWord]]:
    """Return words by session, since, and place in it."""
    words: dict[tuple[str, int, int], list[SegmentWord]] = defaultdict(list)
    for segment in segments:
        for place, word in enumerate(segment.words, segment.first_word):
            words[segment.session, segment.since, place].append(word)
    return words


def _check_segments(topic: str, expected: Sequence[Segment], found: Sequence[Segment]) -> list[Violation]:
    findings = Findings(topic)
    wanted = {_identity(one): _bare(one) for one in expected}
    got = {_identity(one) for one in found}
    for identity in wanted.keys() - got:
        findings.add("lost", f"{identity}")
    for identity in got - wanted.keys():
        findings.add("foreign", f"{identity}")
    for one in found:
        bare = wanted.get(_identity(one))
        if bare is not None and bare != _bare(one):
            findings.add("relabelled", f"{_identity(one)} differs in {_differences(bare, _bare(one))}")
    check_numbers(found, findings, numbered=topic == "segments")
    return findings.found


def check_numbers(found: Sequence[Segment], findings: Findings, *, numbered: bool) -> None:
    """Check that segments come once each, in the order of their indexes and, where all should, without a hole."""
    for identity, times in Counter(_identity(one) for one in found).items():
        if times > 1:
            findings.add("doubled", f"{identity} came {times} times")
    runs: dict[str, list[_Identity]] = defaultdict(list)
    for one in found:
        runs[one.session].append(_identity(one))
    for identities in runs.values():
        before = None
        for identity in identities:
            if before is not None and identity[1:] < before[1:]:
                findings.add("reordered", f"{identity} after {before}")
            before = identity
        for since in {one.since for one in identities} if numbered else ():
            indexes = {one.number for one in identities if one.since == since}
            if indexes != set(range(len(indexes))):
                findings.add("gap", f"{identities[0].session} since {since}: {len(indexes)} up to {max(indexes)}")


def check_routes(found: Sequence[TranslationSegment]) -> list[Violation]:
    """Check that each session's translations lead from one to the next."""
    findings = Findings("route")
    last: dict[tuple[str, str, int], int] = {}
    for one in found:
        key = (one.target, one.session, one.since)
        if one.previous_index != last.get(key):
            findings.add("gap", f"{_identity(one)} follows {one.previous_index}, came after {last.get(key)}")
        last[key] = one.index
    return findings.found


def check_letters(expected: Sequence[Letter], found: Sequence[Letter]) -> list[Violation]:
    """Check that each refused record has its dead letter, once and in order."""
    findings = Findings("dead letters")
    wanted, got = set(expected), Counter(found)
    for letter in wanted - got.keys():
        findings.add("lost", f"{letter[:3]}")
    for letter, times in got.items():
        if letter not in wanted:
            findings.add("foreign", f"{letter[:3]}")
        if times > 1:
            findings.add("doubled", f"{letter[:3]} came {times} times")
    order = [letter[:2] for letter in found]
    if order != sorted(order):
        findings.add("reordered", "dead letters of a partition are not in the order of their records")
    return findings.found


def _identity(segment: Segment) -> _Identity:
    return _Identity(segment.session, segment.since, segment.index)


def _bare(segment: Segment) -> Segment:
    """Return a segment without its clocks and without the name that the input topic has in this run."""
    return msgspec.structs.replace(
        segment,
        timing=Timing(appended_ms=0, polled_ms=0, frozen_ms=0),
        source=msgspec.structs.replace(segment.source, topic=""),
    )


def _differences(one: Segment, other: Segment) -> str:
    return ", ".join(name for name in one.__struct_fields__ if getattr(one, name) != getattr(other, name))
