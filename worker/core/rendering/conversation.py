"""Sessions of one call merged by audio time: order, turns, interruptions, talk and silence. Pure.

Rules:

1. Every segment comes out once; the segments of one session stay in their order.
2. A segment stands at the time of its first word, never before the segment of its session that precedes it; one without
   words stands where its session has come to. A session whose words have no times stands at the time of its records,
   counted from the first record of the conversation.
3. A segment waits until no other open session can still say something earlier: a session is past a time once its last
   published word is. With ``hold_ms`` it waits at most until the conversation is that much further.
4. A turn ends where another session's segment stands next.

The times of all sessions of a conversation count from one start.
"""

from __future__ import annotations

import heapq
import itertools
import math
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from caesura.schemas.segments import Segment

_BREATH_MS = 500
"""A pause between two words of a side up to which the side is talking."""

_OPEN_SENTENCE_MS = 800
"""A side that stopped in its sentence longer ago has not been interrupted: the silence that freezes by default."""

_MOST_INTERRUPTED = 16
"""Of more sides that talk at once, those that said a word last are interrupted: all pairs of many would be a square."""

_SENTENCE_ENDS = frozenset({"period", "question"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """A segment and where it stands in the conversation, in milliseconds. timed: its words say so themselves."""

    segment: Segment
    start_ms: int
    end_ms: int
    timed: bool


@dataclass(slots=True, kw_only=True, eq=False)
class _Side:
    """A session of the conversation: its place among the sides, and how far it is."""

    rank: int
    start_ms: int | None = None
    end_ms: int | None = None
    is_open: bool = True
    ever_timed: bool = False
    is_awaited: bool = False

    @property
    def reached(self) -> tuple[float, int]:
        """Where its next segment may stand at the earliest, and its place among the sides. It never falls."""
        return -math.inf if self.end_ms is None else self.end_ms, self.rank


@dataclass(slots=True)
class ConversationOrder:
    """Puts segments of several sessions in order of audio time as they come.

    hold_ms: how long a segment waits for other sessions at most, in the conversation's time; None: for as long as they
    are open.
    """

    hold_ms: int | None = None
    _sides: dict[str, _Side] = field(default_factory=dict)
    _awaited: list[tuple[tuple[float, int], _Side]] = field(default_factory=list)
    """A heap of the open sides, each once. What is noted of a side may be old: it has reached that and perhaps more."""
    _furthest_ms: int = 0
    _waiting: list[tuple[int, int, int, Placed]] = field(default_factory=list)
    _count: int = 0
    _first_appended_ms: int | None = None

    def expect(self, session: str) -> None:
        """Take note of a session that has begun: what others say waits until it is further."""
        if session not in self._sides:
            self._sides[session] = _Side(rank=len(self._sides))
            self._await(self._sides[session])

    def add(self, segment: Segment) -> list[Placed]:
        """Add a session's next segment; return the segments whose place is certain now."""
        self.hold(segment)
        return list(self._certain())

    def hold(self, segment: Segment) -> None:
        """Add a session's next segment, which waits for ``finish``."""
        self.expect(segment.session)
        side = self._sides[segment.session]
        side.is_open = not segment.session_end
        placed = self._placed(segment, side)
        self._furthest_ms = max(self._furthest_ms, placed.end_ms)
        if side.is_open and not side.is_awaited:
            self._await(side)
        heapq.heappush(self._waiting, (placed.start_ms, side.rank, self._count, placed))
        self._count += 1

    def finish(self) -> list[Placed]:
        """Return all that still waits, in order."""
        return [heapq.heappop(self._waiting)[3] for _ in range(len(self._waiting))]

    def _placed(self, segment: Segment, side: _Side) -> Placed:
        starts = [word.start_ms for word in segment.words if word.start_ms is not None]
        own_ms = (side.start_ms if segment.words else side.end_ms) or 0
        if starts:
            own_ms, side.ever_timed = starts[0], True
        elif segment.words and not side.ever_timed:
            appended_ms = segment.timing.appended_ms
            if self._first_appended_ms is None:
                self._first_appended_ms = appended_ms
            own_ms = appended_ms - self._first_appended_ms
        start_ms = side.start_ms = own_ms if side.start_ms is None else max(side.start_ms, own_ms)
        ends = [end for word in segment.words if (end := word.end_ms or word.start_ms) is not None]
        end_ms = side.end_ms = max(start_ms, *ends, start_ms if side.end_ms is None else side.end_ms)
        return Placed(segment=segment, start_ms=start_ms, end_ms=end_ms, timed=bool(starts))

    def _certain(self) -> Iterator[Placed]:
        while self._waiting:
            start_ms, rank, _, placed = self._waiting[0]
            held_out = self.hold_ms is not None and self._furthest_ms - start_ms > self.hold_ms
            if not held_out and self._least_reached() < (start_ms, rank):
                return  # its own side has come to its end, or further
            heapq.heappop(self._waiting)
            yield placed

    def _await(self, side: _Side) -> None:
        side.is_awaited = True
        heapq.heappush(self._awaited, (side.reached, side))

    def _least_reached(self) -> tuple[float, int]:
        """Return what the open side that is least far has reached."""
        while self._awaited:
            noted, side = self._awaited[0]
            if not side.is_open:
                heapq.heappop(self._awaited)
                side.is_awaited = False
            elif noted < side.reached:
                heapq.heapreplace(self._awaited, (side.reached, side))
            else:
                return noted
        return math.inf, 0


def in_order(segments: Iterable[Segment]) -> list[Placed]:
    """Return the segments of a whole conversation in order of audio time."""
    order = ConversationOrder()
    for segment in segments:
        order.hold(segment)
    return order.finish()


def side_name(segment: Segment) -> str:
    """Return what people call a segment's side: its speaker, role or channel, else its name in the conversation."""
    speaker, channel = (
        f"{what} {name}" if name and name.isdecimal() else name or ""
        for what, name in (("Speaker", segment.speaker), ("Channel", segment.channel))
    )
    if speaker and channel and segment.speaker != speaker:
        return f"{channel}, {speaker.lower()}"
    if named := speaker or segment.role or channel:
        return named
    within = segment.session.removeprefix(f"{segment.conversation}/") if segment.conversation else segment.session
    return within or segment.session


@dataclass(frozen=True, slots=True, kw_only=True)
class Interruption:
    """At ``at_ms`` session ``by`` began to talk while ``of`` was in a sentence; both talked until ``until_ms``."""

    at_ms: int
    until_ms: int
    by: str
    of: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SideTalk:
    """What one session did in a conversation, in milliseconds of audio. silence_ms: the rest of the conversation."""

    session: str
    name: str
    words: int
    turns: int
    talk_ms: int
    silence_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Characteristics:
    """A conversation in numbers, in milliseconds of audio, from its first word to the end of its last one.

    overlap_ms: two sides or more talked. silence_ms: no side did. Words without times count in ``words`` alone.
    """

    duration_ms: int
    overlap_ms: int
    silence_ms: int
    interruptions: tuple[Interruption, ...]
    sides: tuple[SideTalk, ...]


@dataclass(frozen=True, slots=True)
class _Spoken:
    """A timed word: when, and whether its mark ends a sentence."""

    start_ms: int
    end_ms: int
    ends_sentence: bool


def characteristics_of(placed: Sequence[Placed]) -> Characteristics:
    """Return the numbers of a conversation, of its segments in order (``in_order``)."""
    names: dict[str, str] = {}
    counts: dict[str, int] = {}
    turns: dict[str, int] = {}
    before = ""
    for one in placed:
        session = one.segment.session
        names[session] = side_name(one.segment)
        counts[session] = counts.get(session, 0) + len(one.segment.words)
        turns[session] = turns.get(session, 0) + (session != before and bool(one.segment.words))
        before = session if one.segment.words else before
    spoken = _spoken(placed)
    stretches = {session: _stretches(words) for session, words in spoken.items()}
    bounds = [bound for talk in stretches.values() for bound in talk]
    duration_ms = max((end for _, end in bounds), default=0) - min((start for start, _ in bounds), default=0)
    talking_ms, overlap_ms = _covered(bounds)
    return Characteristics(
        duration_ms=duration_ms,
        overlap_ms=overlap_ms,
        silence_ms=duration_ms - talking_ms,
        interruptions=_interruptions(spoken, stretches),
        sides=tuple(
            SideTalk(
                session=session,
                name=names[session],
                words=counts[session],
                turns=turns[session],
                talk_ms=(talk_ms := sum(end - start for start, end in stretches[session])),
                silence_ms=duration_ms - talk_ms,
            )
            for session in names
        ),
    )


def _spoken(placed: Iterable[Placed]) -> dict[str, list[_Spoken]]:
    """Return each session's timed words, none before the one ahead of it."""
    spoken: dict[str, list[_Spoken]] = {}
    for one in placed:
        words = spoken.setdefault(one.segment.session, [])
        for word in one.segment.words:
            if word.start_ms is not None:
                start_ms = max(words[-1].start_ms, word.start_ms) if words else word.start_ms
                end_ms = start_ms if word.end_ms is None else max(start_ms, word.end_ms)
                words.append(_Spoken(start_ms, end_ms, word.punctuation in _SENTENCE_ENDS))
    return spoken


def _stretches(words: Iterable[_Spoken]) -> list[tuple[int, int]]:
    """Return from when to when a side talks: its words, joined over pauses of a breath."""
    stretches: list[tuple[int, int]] = []
    for word in words:
        if stretches and word.start_ms - stretches[-1][1] < _BREATH_MS:
            start_ms, end_ms = stretches[-1]
            stretches[-1] = (start_ms, max(end_ms, word.end_ms))
        else:
            stretches.append((word.start_ms, word.end_ms))
    return stretches


def _covered(stretches: Iterable[tuple[int, int]]) -> tuple[int, int]:
    """Return how long at least one of the stretches lasts, and how long at least two do."""
    edges = sorted(edge for start, end in stretches for edge in ((start, 1), (end, -1)))
    once_ms = twice_ms = depth = 0
    for (at_ms, step), (next_ms, _) in itertools.pairwise(edges):
        depth += step
        once_ms += (next_ms - at_ms) * (depth >= 1)
        twice_ms += (next_ms - at_ms) * (depth >= 2)
    return once_ms, twice_ms


def _interruptions(
    spoken: dict[str, list[_Spoken]], stretches: dict[str, list[tuple[int, int]]]
) -> tuple[Interruption, ...]:
    """Return who began to talk while others were in a sentence, of ``_MOST_INTERRUPTED`` others at most each time.

    One pass over the words and the stretches in order of time: ``floor`` has the sides that are in a sentence, the one
    that said a word last at its end.
    """
    found: list[Interruption] = []
    floor: dict[str, _Spoken] = {}
    ending: list[tuple[int, str]] = []
    heard = sorted(
        ((word.start_ms, of, at) for of, words in spoken.items() for at, word in enumerate(words)), reverse=True
    )
    begun = sorted((start_ms, end_ms, by) for by, talk in stretches.items() for start_ms, end_ms in talk)
    for start_ms, end_ms, by in begun:
        while heard and heard[-1][0] < start_ms:
            _, of, at = heard.pop()
            floor.pop(of, None)
            if not (word := spoken[of][at]).ends_sentence:
                floor[of] = word
                heapq.heappush(ending, (word.end_ms, of))
        while ending and start_ms - ending[0][0] >= _OPEN_SENTENCE_MS:
            ended_ms, of = heapq.heappop(ending)
            if of in floor and floor[of].end_ms == ended_ms:
                del floor[of]
        last = itertools.islice((of for of in reversed(floor) if of != by), _MOST_INTERRUPTED)
        for of in last:
            _, going_ms = stretches[of][bisect_left(stretches[of], (start_ms,)) - 1]
            until_ms = max(start_ms, min(end_ms, going_ms))
            found.append(Interruption(at_ms=start_ms, until_ms=until_ms, by=by, of=of))
    return tuple(sorted(found, key=lambda one: (one.at_ms, one.by, one.of)))
