"""A recording's segments into a transcript: paragraphs for people, captions, or JSON lines."""

from __future__ import annotations

import heapq
import itertools
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum

import msgspec

from caesura.schemas.segments import Segment
from caesura.worker.captions.cues import Cue, CueWriter
from caesura.worker.captions.files import VTT_HEAD, srt, vtt
from caesura.worker.captions.limits import CaptionLimits
from caesura.worker.core.overlays.rules import NO_OVERLAYS, OverlayRules
from caesura.worker.core.rendering.cleaning import Cleaning
from caesura.worker.core.rendering.conversation import ConversationOrder, Placed, in_order, side_name
from caesura.worker.core.rendering.joined_text import joined_text
from caesura.worker.core.rendering.paragraphs import Paragraph, Paragraphs
from caesura.worker.core.rendering.rendering import Style, render_segment
from caesura.worker.errors import FatalError
from caesura.worker.transcripts.contact_lens import contact_lens_json
from caesura.worker.transcripts.decoding import DecodedBatch
from caesura.worker.transcripts.omnisteval import OmniSTEvalLog
from caesura.worker.transcripts.vcon import vcon_json

_LIVE_HOLD_MS = 10_000


class TranscriptForm(StrEnum):
    """What a transcript is written as."""

    TEXT = "text"
    MARKED = "marked"
    SRT = "srt"
    VTT = "vtt"
    JSONL = "jsonl"
    CONTACT_LENS = "contact-lens"
    VCON = "vcon"
    OMNISTEVAL = "omnisteval"


_CAPTIONS = (TranscriptForm.SRT, TranscriptForm.VTT)


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptWriter:
    """Writes the conversation of a recording. name: the recording's, for what is wrong with it.

    times: whether a paragraph says when it begins. sides: whether it says whose it is; a text's line does
    where a speaker is named before it.
    """

    name: str
    form: TranscriptForm = TranscriptForm.TEXT
    limits: CaptionLimits = field(default_factory=CaptionLimits)
    cleaning: Cleaning = field(default_factory=Cleaning)
    overlays: OverlayRules = NO_OVERLAYS
    times: bool = True
    sides: bool = True

    def written(self, batches: Iterable[DecodedBatch], *, live: bool = False) -> Iterator[str]:
        """Yield the transcript in pieces, line ends with them, each as soon as its place is certain.

        live: a side that says nothing keeps the others waiting for ten seconds of the conversation at most. Raises
        FatalError where captions are wanted of words without times.
        """
        if self.form is TranscriptForm.OMNISTEVAL:
            yield from self._omnisteval(batches)
            return
        if not live:
            yield from self._whole(batches)
            return
        order = ConversationOrder(hold_ms=_LIVE_HOLD_MS)
        yield from self._pieces(_placed_live(order, batches))

    def pieces(self, placed: Iterable[Placed]) -> Iterator[str]:
        """Yield the transcript of segments in order, as they come; not as ``OMNISTEVAL``, which wants batches."""
        return self._pieces(placed)

    def of_conversation(self, placed: list[Placed]) -> Iterator[str]:
        """Yield the transcript of one conversation, its segments in order. FatalError as of ``written``."""
        if self.form in _CAPTIONS and not any(one.timed for one in placed):
            raise self._untimed()
        yield from self._pieces(placed)

    def _omnisteval(self, batches: Iterable[DecodedBatch]) -> Iterator[str]:
        """Yield a line a session. A batch is worked on once it was heard and the one before is done."""
        log = OmniSTEvalLog(self._fluent)
        done_ms, began_s = 0.0, time.perf_counter()
        for batch in batches:
            done_ms = max(done_ms, batch.at_ms) + (time.perf_counter() - began_s) * 1000
            for segment in batch.segments:
                yield from log.add(segment, elapsed_ms=done_ms)
            began_s = time.perf_counter()
        yield from log.finish()

    def _fluent(self, segment: Segment) -> str:
        return render_segment(segment, Style.FLUENT, cleaning=self.cleaning, overlays=self.overlays).text

    def _whole(self, batches: Iterable[DecodedBatch]) -> Iterator[str]:
        of_conversation: dict[str | None, list[Segment]] = {}
        for segment in (segment for batch in batches for segment in batch.segments):
            of_conversation.setdefault(segment.conversation, []).append(segment)
        placed = {conversation: in_order(segments) for conversation, segments in of_conversation.items()}
        headed = len(placed) > 1 and self.form in (TranscriptForm.TEXT, TranscriptForm.MARKED)
        if self.form in (*_CAPTIONS, TranscriptForm.CONTACT_LENS, TranscriptForm.VCON) and len(placed) > 1:
            raise FatalError(f"{self.name} holds {len(placed)} conversations: {self.form} is of one")
        for number, (conversation, of_one) in enumerate(placed.items()):
            if headed:
                yield ("\n" if number else "") + f"{conversation or self.name}\n\n"
            yield from self.of_conversation(of_one)

    def _pieces(self, placed: Iterable[Placed]) -> Iterator[str]:
        match self.form:
            case TranscriptForm.JSONL:
                for one in placed:
                    yield msgspec.json.encode(one.segment).decode() + "\n"
            case TranscriptForm.CONTACT_LENS:
                yield contact_lens_json(list(placed), self.cleaning, self.overlays)
            case TranscriptForm.VCON:
                yield vcon_json(list(placed), self.cleaning, self.overlays)
            case TranscriptForm.SRT | TranscriptForm.VTT:
                yield from self._captions(placed)
            case TranscriptForm.TEXT | TranscriptForm.MARKED:
                yield from self._paragraphs(placed)

    def _paragraphs(self, placed: Iterable[Placed]) -> Iterator[str]:
        named = _Named(placed)
        paragraphs = Paragraphs()
        first = True
        for one in named:
            if (paragraph := paragraphs.add(one)) is not None and (text := self._paragraph(paragraph, named)):
                yield ("" if first else "\n") + text
                first = False
        if (paragraph := paragraphs.finish()) is not None and (text := self._paragraph(paragraph, named)):
            yield ("" if first else "\n") + text

    def _paragraph(self, paragraph: Paragraph, named: _Named) -> str:
        style = Style.MARKED if self.form is TranscriptForm.MARKED else Style.FLUENT
        texts = [
            render_segment(segment, style, cleaning=self.cleaning, overlays=self.overlays).text
            for segment in paragraph.segments
        ]
        text = joined_text(texts, paragraph.segments)
        if not text:
            return ""
        time = f"[{_clock(paragraph.start_ms)}] " if self.times and paragraph.timed else ""
        told = named.needed if self.sides else paragraph.segments[0].speaker is not None
        name = f"{paragraph.side}: " if told else ""
        return f"{time}{name}{text}\n"

    def _captions(self, placed: Iterable[Placed]) -> Iterator[str]:
        """Yield cues in order of their start: one of a long segment may begin after the next segment's first."""
        named = _Named(placed)
        writers: dict[str, CueWriter] = {}
        waiting: list[tuple[int, int, Cue]] = []
        numbers, ties = itertools.count(1), itertools.count()
        last = ""
        if self.form is TranscriptForm.VTT:
            yield VTT_HEAD
        for one in named:
            segment = one.segment
            while waiting and waiting[0][0] <= one.start_ms:
                yield self._cue(heapq.heappop(waiting)[2], next(numbers))
            name = side_name(segment) if named.needed else None
            leads = self.form is TranscriptForm.SRT and name is not None and segment.session != last
            writer = writers.setdefault(
                segment.session, CueWriter(self.limits, cleaning=self.cleaning, overlays=self.overlays)
            )
            for cue in writer.write(segment, lead=f"{name}: " if leads else ""):
                heapq.heappush(waiting, (cue.start_ms, next(ties), replace(cue, speaker=name)))
                last = segment.session
        while waiting:
            yield self._cue(heapq.heappop(waiting)[2], next(numbers))

    def _cue(self, cue: Cue, number: int) -> str:
        numbered = replace(cue, number=number)
        return vtt(numbered) if self.form is TranscriptForm.VTT else srt(numbered)

    def _untimed(self) -> FatalError:
        return FatalError(f"{self.name} has no times of words, and captions are made of them: --output text")


class _Named:
    """Segments as they go by, and whether people need names to tell whose they are."""

    def __init__(self, placed: Iterable[Placed]) -> None:
        self._placed = list(placed) if isinstance(placed, list) else placed
        self._sessions: set[str] = set()
        self.needed = False
        if isinstance(self._placed, list):
            for one in self._placed:
                self._note(one)

    def __iter__(self) -> Iterator[Placed]:
        for one in self._placed:
            self._note(one)
            yield one

    def _note(self, placed: Placed) -> None:
        self._sessions.add(placed.segment.session)
        self.needed = self.needed or len(self._sessions) > 1 or bool(placed.segment.speaker)


def _placed_live(order: ConversationOrder, batches: Iterable[DecodedBatch]) -> Iterator[Placed]:
    for batch in batches:
        for session in batch.begun:
            order.expect(session)
        for segment in batch.segments:
            yield from order.add(segment)
    yield from order.finish()


def _clock(at_ms: int) -> str:
    minutes, second = divmod(at_ms // 1000, 60)
    hour, minute = divmod(minutes, 60)
    return f"{hour:02}:{minute:02}:{second:02}"
