"""Checks what came out against what was said (``tests.chaos.said``): an oracle that is not the code.

Besides the comparison with an undisturbed run, which the same code makes: words, times, confidence and order; numbers,
offsets and time stamps; gaps; closing records; what passes through; routes; dead letters; and, by the log's own time
stamps, which pauses were silences. What timers do is held to here, too.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from caesura.schemas.segments import Segment, TranslationSegment
from tests.chaos.said import PASSING_NAMES, Run, Said, SaidWord
from tests.harness.checker import Findings, Output, Violation, check_letters, check_numbers, check_routes

_ENDS = ("period", "question")
_ENOUGH_WORDS = 60
"""Of so many labelled words, of a session or of all, the scripted engine marks some, and tags some."""


class Timers(NamedTuple):
    """The rules of the run: flush_after_ms, what a session may choose, when one is forgotten; stamped by the broker."""

    flush_after_ms: int
    least_flush_ms: int
    most_flush_ms: int
    forget_after_ms: int

    def flush_ms(self, run: Run) -> int:
        """Return the silence that flushes a session."""
        wish = run.options.get("flush_after_ms")
        return self.flush_after_ms if wish is None else min(max(wish, self.least_flush_ms), self.most_flush_ms)


def check_said(said: Said, found: Output, timers: Timers | None = None) -> list[Violation]:
    """Return every violation. timers: where the records' stamps are the broker's and timers fire by them."""
    findings = Findings("said")
    came = _by_run(found.segments)
    for key in came.keys() - said.runs.keys():
        findings.add("foreign", f"{key} was never begun")
    for key, run in said.runs.items():
        _check_run(run, came.get(key, []), findings, timers)
    _check_labels(found.segments, findings, "all")
    _check_forgotten(said, timers, findings)
    _check_translations(said, found, findings)
    check_numbers(found.segments, findings, numbered=True)
    check_numbers(found.translations, findings, numbered=False)
    return [*findings.found, *check_routes(found.translations), *check_letters(said.letters, found.letters)]


def check_models(found: Output, known: Collection[str]) -> list[Violation]:
    """Check that every segment names a model that was served."""
    findings = Findings("models")
    used = {f"{one.model.id}@{one.model.version}" for one in found.segments if one.model is not None}
    for model in used - set(known):
        findings.add("foreign", f"labelled by {model}, which nobody served")
    return findings.found


def _by_run(segments: Iterable[Segment]) -> dict[tuple[str, int], list[Segment]]:
    runs: dict[tuple[str, int], list[Segment]] = defaultdict(list)
    for one in segments:
        runs[one.session, one.since].append(one)
    return dict(runs)


def _check_run(run: Run, segments: Sequence[Segment], findings: Findings, timers: Timers | None) -> None:
    where = f"{run.session} since {run.since}"
    _check_words(run, segments, findings, where)
    _check_counts(segments, findings, where)
    _check_sentences(segments, findings, where)
    _check_labels(segments, findings, where)
    _check_gaps(run, segments, findings, where)
    _check_closing(run, segments, findings, where)
    _check_origins(run, segments, findings, where, stamped=timers is not None)
    if timers is not None and not any(one.has_audio_clock for one in run.events):
        _check_silences(run, segments, timers.flush_ms(run), findings, where)


def _units(segments: Iterable[Segment]) -> list[SaidWord]:
    """Join the pieces of units again; offsets are the segment's affair, and left out."""
    units: list[SaidWord] = []
    for segment in segments:
        for word in segment.words:
            one = SaidWord(word.text, word.start_ms, word.end_ms, word.confidence, 0)
            if word.piece is not None and word.piece.start > 0 and units:
                units[-1] = one._replace(text=units[-1].text + word.text)
            else:
                units.append(one)
    return units


def as_far_as(wanted: Sequence[SaidWord], got: Sequence[SaidWord], segments: Sequence[Segment]) -> list[SaidWord]:
    """Return what was said as far as it came out; the last unit may have been broken off between two of its pieces."""
    said = list(wanted[: len(got)])
    last = next((one.words[-1] for one in reversed(segments) if one.words), None)
    if said and last is not None and last.piece is not None:
        said[-1] = said[-1]._replace(text=said[-1].text[: len(got[-1].text)])
    return said


def _check_words(run: Run, segments: Sequence[Segment], findings: Findings, where: str) -> None:
    wanted, got = [one._replace(offset=0) for one in run.words], _units(segments)
    if run.broken_off:
        wanted = as_far_as(wanted, got, segments)
    if wanted == got:
        return
    texts, came = [one.text for one in wanted], [one.text for one in got]
    lost, more = Counter(texts) - Counter(came), Counter(came) - Counter(texts)
    if lost:
        findings.add("lost", f"{where}: {lost.total()} of {len(texts)} words")
    if more:
        findings.add("doubled", f"{where}: {more.total()} words beside {len(texts)}")
    if not lost and not more and texts != came:
        findings.add("reordered", f"{where}: {len(texts)} words")
    if texts == came:
        wrong = sum(one != other for one, other in zip(wanted, got, strict=True))
        findings.add("relabelled", f"{where}: times or confidence of {wrong} words")


def _check_counts(segments: Sequence[Segment], findings: Findings, where: str) -> None:
    words = 0
    for one in segments:
        if one.first_word != words:
            findings.add("relabelled", f"{where}: segment {one.index} begins at word {one.first_word}, not {words}")
        words += len(one.words)


def _check_sentences(segments: Sequence[Segment], findings: Findings, where: str) -> None:
    """A sentence ends where its mark says so, and the next one has the next number."""
    before: Segment | None = None
    for one in segments:
        marks = [word.punctuation in _ENDS for word in one.words]
        if any(marks[:-1]) or one.sentence_end != bool(marks and marks[-1]):
            findings.add("relabelled", f"{where}: segment {one.index} and its sentence's end")
        if not one.words:
            continue
        number = 0 if before is None else before.sentence + before.sentence_end
        if not number <= one.sentence <= number + (before is not None and not before.sentence_end):
            findings.add("relabelled", f"{where}: segment {one.index} is of sentence {one.sentence}")
        if one.sentence_start != (before is None or before.sentence != one.sentence):
            findings.add("relabelled", f"{where}: segment {one.index} and its sentence's start")
        before = one


def _check_labels(segments: Sequence[Segment], findings: Findings, where: str) -> None:
    labelled = [word for one in segments if one.model is not None for word in one.words]
    marked = [word for one in segments if one.model is not None and one.punctuated for word in one.words]
    if len(marked) >= _ENOUGH_WORDS and all(word.punctuation == "none" for word in marked):
        findings.add("relabelled", f"{where}: not one mark on {len(marked)} words")
    if len(labelled) >= _ENOUGH_WORDS and all(word.disfluency == "O" for word in labelled):
        findings.add("relabelled", f"{where}: not one tag on {len(labelled)} words")
    if sum(len(one.words) for one in segments if one.model is None and one.cause != "fallback"):
        findings.add("relabelled", f"{where}: words without a model")


def _check_gaps(run: Run, segments: Sequence[Segment], findings: Findings, where: str) -> None:
    got = [(gap.epoch, gap.first_seq, gap.last_seq) for one in segments for gap in one.gaps]
    wanted = [gap[:3] for gap in run.gaps]
    closed = any(one.session_end for one in segments[-1:])
    open_end = [] if run.ended else [gap for gap in run.gaps if gap[3] == len(run.words)]
    if run.broken_off:
        wanted = wanted[: len(got)]
    if got != wanted and not (closed and not run.ended and got == wanted[: len(wanted) - len(open_end)]):
        findings.add("lost" if len(got) < len(wanted) else "foreign", f"{where}: {len(got)} gaps of {len(wanted)}")
    whole = all(word.piece is None for one in segments for word in one.words)
    before = [gap.before_word for one in segments for gap in one.gaps]
    if whole and got == wanted and before != [gap[3] for gap in run.gaps[: len(got)]]:
        findings.add("relabelled", f"{where}: gaps stand before other words")
    for one in segments:
        within = range(one.first_word, one.first_word + len(one.words) + (len(one.words) == 0 or one.session_end))
        if any(gap.before_word not in within for gap in one.gaps):
            findings.add("relabelled", f"{where}: a gap stands in segment {one.index}, its word in another")


def _check_closing(run: Run, segments: Sequence[Segment], findings: Findings, where: str) -> None:
    """The end is told once, and last; between two closings for idleness there are words."""
    ends = [place for place, one in enumerate(segments) if one.session_end and one.cause == "end"]
    if run.ended and not ends:
        findings.add("lost", f"{where}: the record that ends it")
    if len(ends) > run.ended:
        findings.add("doubled", f"{where}: {len(ends)} records that end it")
    if ends and ends[-1] != len(segments) - 1:
        findings.add("foreign", f"{where}: {len(segments) - 1 - ends[-1]} segments after its end")
    spoke = True
    for one in segments:
        spoke = spoke or bool(one.words)
        if one.session_end and one.cause == "idle":
            if not spoke:
                findings.add("doubled", f"{where}: closed twice, and nothing said between")
            spoke = False


def _check_origins(run: Run, segments: Sequence[Segment], findings: Findings, where: str, *, stamped: bool) -> None:
    """Each segment tells the offsets and the stamp of its words' events, and what passed through when it froze."""
    appended_ms = {one.offset: one.appended_ms for one in run.events}
    units = 0
    for one in segments:
        first = run.words[units : units + 1]
        units += sum(word.piece is None or word.piece.start == 0 for word in one.words)
        last = run.words[units - 1 : units] if units else []
        if one.words and first and last:
            whole = one.words[0].piece is None or one.words[0].piece.start == 0
            if one.source.last_offset != last[0].offset or (whole and one.source.first_offset != first[0].offset):
                findings.add("relabelled", f"{where}: segment {one.index} and its events' offsets")
        if stamped and one.timing.appended_ms != appended_ms.get(one.source.last_offset):
            findings.add("relabelled", f"{where}: segment {one.index} and when its last event was appended")
        stood = [event for event in run.events if event.offset >= one.source.last_offset]
        attributes = None if one.attributes is None else tuple(sorted(one.attributes.items()))
        names = (getattr(one, name) for name in PASSING_NAMES)
        if (*names, attributes) not in [event.passing for event in stood]:
            findings.add("relabelled", f"{where}: segment {one.index} and what passes through")
        if one.lang not in [event.lang for event in run.events]:
            findings.add("relabelled", f"{where}: segment {one.index} is in {one.lang}")


def _check_silences(run: Run, segments: Sequence[Segment], flush_ms: int, findings: Findings, where: str) -> None:
    """A segment ends at a pause in the log that is long enough, and calls none a silence that is shorter."""
    ends: dict[int, str] = {}
    units = 0
    for one in segments:
        units += sum(word.piece is None or word.piece.start == 0 for word in one.words)
        if one.words:
            ends[units] = one.cause
    spoken, count = [event for event in run.events if event.words], 0
    for event, following in pairwise(spoken):
        count += event.words
        paused_ms = following.time_ms - event.time_ms
        if paused_ms >= flush_ms and count not in ends:
            findings.add("relabelled", f"{where}: no segment ends at word {count}, before {paused_ms} ms of silence")
        if paused_ms < flush_ms and ends.get(count) == "silence":
            findings.add("relabelled", f"{where}: {paused_ms} ms after word {count} are no silence of {flush_ms}")


def _check_forgotten(said: Said, timers: Timers | None, findings: Findings) -> None:
    """Nobody is forgotten but after his time, counted from his last event at the earliest."""
    last: dict[str, Run] = {}
    for run in said.runs.values():
        before, last[run.session] = last.get(run.session), run
        if before is None or before.given_up or not run.events or not before.events:
            continue
        passed_ms = run.events[0].time_ms - max(one.time_ms for one in before.events if one.words or one.ends)
        if timers is None or passed_ms < timers.forget_after_ms:
            findings.add("foreign", f"{run.session} was forgotten {passed_ms} ms after its last word")


def _check_translations(said: Said, found: Output, findings: Findings) -> None:
    """Each is its segment once more, on a route that stood; and where one always stood, none is missing there."""
    by_name = {(one.session, one.since, one.index): one for one in found.segments}
    sent: dict[tuple[str, int], set[int]] = defaultdict(set)
    for one in found.translations:
        key = (one.session, one.since)
        sent[key].add(one.index)
        twin, run = by_name.get((*key, one.index)), said.runs.get(key)
        if twin is None or any(getattr(one, name) != getattr(twin, name) for name in Segment.__struct_fields__):
            findings.add("foreign", f"{one.target}: {key} {one.index} is no segment")
        if run is not None and one.words and not _stood(run, one):
            findings.add("foreign", f"{one.target}: {key} {one.index} went to a route that did not stand")
        if any(not 0 <= start <= end <= len(one.text) or word >= len(one.words) for word, start, end in one.spans):
            findings.add("relabelled", f"{one.target}: {key} {one.index} and its spans")
    for segment in found.segments:
        key = (segment.session, segment.since)
        run = said.runs.get(key)
        always = run is not None and all("de" in event.targets for event in run.events)
        used = min(sent[key], default=segment.index) < segment.index  # a route that came later does not get what was
        if segment.index not in sent[key] and (always or (segment.session_end and used)):
            findings.add("lost", f"de: {key} {segment.index}")


def _stood(run: Run, one: TranslationSegment) -> bool:
    """Tell whether the route was asked for when the segment's last event came, or after it."""
    return any(one.target in event.targets for event in run.events if event.offset >= one.source.last_offset)
