"""What must come of the records of the input topic, one by one; told by the pure decisions alone, without a worker."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import msgspec
from msgspec.structs import replace as replaced

from caesura.schemas.errors import NewerVersionError
from caesura.schemas.segments import Segment
from caesura.schemas.state import SessionStatus
from caesura.worker.core.decoding.admission import Admission, OfferOutcome
from caesura.worker.core.language.rules import DecodingRules
from caesura.worker.errors import BadEventError
from caesura.worker.ports.records import Record
from caesura.worker.runtime.partition.record_decoding import read_event
from caesura.worker.runtime.settings.settings import Partitioner
from tests.fuzz.message import faults
from tests.harness.checker import Output, check
from tests.harness.reference import RULES, undisturbed

_RULES = DecodingRules(**RULES)  # type: ignore[arg-type]
_MOST = 2**53 - 1


def outcome_of(record: Record, partitions: int) -> str | None:
    """Return why a record is refused whatever its session's state, None where it is not. NewerVersionError."""
    try:
        read_event(record, partitions=partitions, partitioner=Partitioner.MURMUR2)
    except BadEventError as error:
        return error.reason
    return None


@dataclass(slots=True)
class Account:
    """What the records so far must come to. Records come in the order of their offsets, partition by partition.

    letters: the refused records with their reasons. words: each session's texts. accepted: the records that a session
    took. stopped: partitions that stand at an event of a newer major; nothing after it counts.
    """

    partitions: int
    letters: dict[tuple[int, int], tuple[Record, str]] = field(default_factory=dict)
    words: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    accepted: dict[str, list[Record]] = field(default_factory=lambda: defaultdict(list))
    stopped: dict[int, int] = field(default_factory=dict)
    repeats: int = 0
    _sessions: dict[str, Admission] = field(default_factory=dict)

    def take(self, record: Record) -> None:
        """Enter a record."""
        if record.partition in self.stopped:
            return
        try:
            event = read_event(record, partitions=self.partitions, partitioner=Partitioner.MURMUR2)
        except NewerVersionError:
            self.stopped[record.partition] = record.offset
            return
        except BadEventError as error:
            self.letters[record.partition, record.offset] = record, error.reason
            return
        options = _RULES.choose(None)
        fresh = Admission(rules=_RULES, options=options, activity_ms=0, event_ms=0)
        admission = self._sessions.setdefault(event.session, fresh).admit(event, 0)
        if admission.reason is not None:
            self.letters[record.partition, record.offset] = record, str(admission.reason)
        elif admission.outcome is OfferOutcome.REPEAT:
            self.repeats += 1
        else:
            self.accepted[event.session].append(record)
            self.words[event.session] += [word.text for word in event.words]

    @property
    def reasons(self) -> Counter[str]:
        """Count the refused records by reason."""
        return Counter(reason for _, reason in self.letters.values())

    def open_sessions(self) -> dict[str, tuple[int, int]]:
        """Return the sessions without an end, each with an epoch and a seq that it takes next."""
        return {
            session: (admission.epoch + 1, 0) if admission.epoch < _MOST else (admission.epoch, admission.next_seq)
            for session, admission in self._sessions.items()
            if admission.status is not SessionStatus.ENDED and (admission.epoch < _MOST or admission.next_seq <= _MOST)
        }


def check_letters(account: Account, letters: Sequence[Record], *, max_bytes: int) -> list[str]:
    """Compare the dead letters with the records that were refused: each once, with its bytes, origin and reason."""
    wrong: list[str] = []
    seen: Counter[tuple[int, int]] = Counter()
    for letter in letters:
        headers = dict(letter.headers)
        place = letter.partition, int(headers.get("caesura.offset") or b"-1")
        seen[place] += 1
        if place not in account.letters:
            wrong.append(f"dead letter of {place}: nobody refused it, and it says {headers.get('caesura.reason')!r}")
            continue
        record, reason = account.letters[place]
        found = faults(record, reason, letter.key, letter.value, headers, max_bytes=max_bytes)
        wrong += [f"dead letter of {place}: {fault}" for fault in found]
    wrong += [f"dead letter of {place}: it came {times} times" for place, times in seen.items() if times > 1]
    wrong += [
        f"record {place}: refused ({account.letters[place][1]}) without a dead letter"
        for place in account.letters.keys() - seen
    ]
    return wrong


def check_words(account: Account, segments: Iterable[Segment]) -> list[str]:
    """Compare every session's text with what was said, however it was cut: words in, words out."""
    said: dict[str, list[str]] = defaultdict(list)
    wrong = []
    for segment in segments:
        said[segment.session] += [word.text for word in segment.words]
        if segment.cause == "fallback":
            wrong.append(f"session {segment.session!r}, segment {segment.index}: it went out without labels")
    wrong += [
        f"session {session!r}: {len(said[session])} words out of {len(account.words[session])}"
        for session in said.keys() | account.words.keys()
        if "".join(said[session]) != "".join(account.words[session])
    ]
    return wrong


def check_good_sessions(account: Account, good: frozenset[str], segments: Iterable[Segment]) -> list[str]:
    """Compare the good sessions with a run in which they are alone, on the twins, segment by segment."""
    records = [one for session in good for one in account.accepted[session]]
    alone, place_of = [], {}
    taken: Counter[int] = Counter()
    for record in sorted(records, key=lambda one: (one.partition, one.offset)):
        place_of[record.partition, record.offset] = taken[record.partition]
        alone.append(replaced(record, offset=taken[record.partition]))
        taken[record.partition] += 1
    expected = undisturbed(alone, account.partitions)

    def moved(segment: Segment) -> Segment:
        """Return a segment with the offsets that its records have where no others lie between them."""
        source = segment.source
        partition = source.partition
        first, last = (place_of.get((partition, offset), -1) for offset in (source.first_offset, source.last_offset))
        source = msgspec.structs.replace(source, first_offset=first, last_offset=last)
        return msgspec.structs.replace(segment, since=place_of.get((partition, segment.since), -1), source=source)

    found = Output(segments=[moved(one) for one in segments if one.session in good], translations=[], letters=[])
    expected = Output(segments=expected.segments, translations=[], letters=expected.letters)
    return [f"good session: {one.kind} in {one.where}: {one.detail}" for one in check(expected, found)]
