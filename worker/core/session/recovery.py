"""Makes a session again from its ledger record and the input, if its snapshot is lost.

Rules: docs/design.md, *Loss of Redis*.

The record has everything but text: the length of each word in the buffer, and where in the input the first one starts.
The same accepted events give the text back, so buffer, labels and held tail are as they were.

Rules:

1. Events count from the record's ``start_offset`` to its ``last_offset``, both inclusive.
2. The first of these was accepted. A later one was accepted if its (epoch, seq) is above all before it; repeats and
   refused events are not above.
3. If retention took the record in which the buffer starts, words are counted from the end. This needs words that are
   units, and events that follow each other without a gap. If only frozen words are missing, nothing is lost, because
   they were published. If characters were cut into words, it is unknown which of them the segmenter held back: all
   unpublished words count as lost.
4. If an older snapshot is there, it has the text from before ``read_from``. Events count from there, if they are above
   the last event that the snapshot knows.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from caesura.schemas.events import WordsEvent
from caesura.schemas.labels import NO_LABELS
from caesura.schemas.state import (
    DecodingState,
    HeldBack,
    LedgerState,
    ModelWord,
    ModelWordPiece,
    OutputState,
    SessionState,
    Unit,
)
from caesura.worker.core.decoding.segment_writer import traces_with
from caesura.worker.core.language.rules import primary_language
from caesura.worker.core.language.words import SegmenterFactory, WhitespaceSegmenter, as_unit, cut_piece, whole_piece

_NOTHING_HELD = HeldBack()


class Recovery:
    """Recovers one session. Give it the session's events in order, then take the state.

    stored: an older snapshot of the same session. read_from: its events are given from this offset on.
    """

    def __init__(
        self,
        record: LedgerState,
        segmenters: SegmenterFactory,
        *,
        stored: SessionState | None = None,
        read_from: int = 0,
    ) -> None:
        self._record = record
        self._segmenters = segmenters
        self._units: list[Unit] = []
        self._traces: tuple[tuple[int, str], ...] = ()
        self._given = record.start_code_point
        self._accepted: tuple[int, int] | None = None
        self._begun = record.start_offset is None
        self._without_hole = True
        self._begins_before = record.start_offset is not None and record.start_offset < read_from
        if self._begins_before and stored is not None and stored.since == record.since:
            self._take_stored(stored)

    @property
    def is_out_of_reach(self) -> bool:
        """Tell whether its text begins before what is read, and is not in the snapshot."""
        return self._begins_before and not self._begun

    @property
    def through_offset(self) -> int:
        """The record's last offset; later events are new to the session."""
        return self._record.output.last_offset

    @property
    def lost_words(self) -> int:
        """How many words are lost with the buffer's text: the unfrozen ones; of held-back text, the most possible."""
        unfrozen = len(self._record.lengths) - self._record.decoding.frozen
        return unfrozen if self._words_are_units else max(unfrozen, len(self._units))

    def take(self, event: WordsEvent, offset: int, appended_ms: int, trace: str = "") -> None:
        """Take an event of the session, found at ``offset``. trace: its trace context."""
        start = self._record.start_offset
        if start is None or not start <= offset <= self._record.output.last_offset:
            return
        number = (event.epoch, event.seq)
        if self._accepted is not None:
            self._without_hole &= number == (self._accepted[0], self._accepted[1] + 1)
            if number <= self._accepted:
                return
        self._accepted = number
        self._traces = traces_with(self._traces, event, offset, trace)
        self._begun = self._begun or offset == start
        first = self._record.start_position if offset == start else 0
        for position, word in enumerate(event.words[first:], start=first):
            unit = Unit(
                text=word.text,
                start_ms=word.start_ms,
                end_ms=word.end_ms,
                confidence=word.confidence,
                offset=offset,
                position=position,
                appended_ms=appended_ms,
                polled_ms=appended_ms,  # when it was first polled is not known any more
            )
            self._units.append(unit)

    def state(self) -> SessionState | None:
        """Return the session as of its record, perhaps without left context at the front.

        None if the input does not have all of its unpublished words.
        """
        gone = 0 if self._begun else self._gone_in_front()
        if gone is None:
            return None
        try:
            words = [self._word(length) for length in self._record.lengths[gone:]]
        except IndexError:
            return None
        held = HeldBack(units=tuple(self._units), given_code_points=self._given if self._units else 0)
        return self._state(self._record.output, self._behind(gone), tuple(words), held)

    def bare_state(self) -> SessionState:
        """Return the session without the words of its buffer, which the input no longer has."""
        output, decoding = self._record.output, self._record.decoding
        sentence = output.sentence + output.mid_sentence
        return self._state(
            replace(output, sentence=sentence, mid_sentence=False),
            replace(decoding, frozen=0, settled=0, labels=NO_LABELS, labelled_start=-1),
        )

    def _state(
        self,
        output: OutputState,
        decoding: DecodingState,
        words: tuple[ModelWord, ...] = (),
        held: HeldBack = _NOTHING_HELD,
    ) -> SessionState:
        record = self._record
        return SessionState(
            version=record.version,
            session=record.session,
            since=record.since,
            admission=record.admission,
            output=output,
            decoding=decoding,
            buffer=words,
            held=held,
            traces=self._traces,
        )

    def _take_stored(self, stored: SessionState) -> None:
        """Begin with the units of an older snapshot, from the place where the record's text starts."""
        start = (self._record.start_offset, self._record.start_position)
        units = _stored_units(stored)
        places = list(units)
        pieces = (piece for word in stored.buffer for piece in word.pieces)
        cut = next((piece.unit_start for piece in pieces if (piece.offset, piece.position) == start), 0)
        if start in units and cut <= self._given:
            self._units = [units[place] for place in places[places.index(start) :]]
            self._traces = stored.traces
            self._begun = True
            self._accepted = (stored.admission.epoch, stored.admission.next_seq - 1)

    @property
    def _words_are_units(self) -> bool:
        return isinstance(
            self._segmenters(primary_language(self._record.decoding.lang), HeldBack()), WhitespaceSegmenter
        )

    def _gone_in_front(self) -> int | None:
        """Return how many frozen words are missing before the units that were read; None if that is unknown.

        It is known which events were accepted only if each follows the one before, up to the last accepted.
        """
        if not self._without_hole or self._accepted != (
            self._record.admission.epoch,
            self._record.admission.next_seq - 1,
        ):
            return None
        gone = len(self._record.lengths) - len(self._units)
        read = tuple([len(unit.text) for unit in self._units])
        if (
            not self._words_are_units
            or not 0 < gone <= self._record.decoding.frozen
            or read != self._record.lengths[gone:]
        ):
            return None
        self._given = 0
        return gone

    def _behind(self, gone: int) -> DecodingState:
        """Return the decoding state with so many words gone at the front, as if they had left the buffer."""
        decoding = self._record.decoding
        if not gone:
            return decoding
        return replace(decoding, frozen=decoding.frozen - gone, settled=0, labels=decoding.labels.part(gone).compact())

    def _word(self, length: int) -> ModelWord:
        pieces = tuple(self._pieces(length))
        segmenter = self._segmenters(primary_language(self._record.decoding.lang), HeldBack())
        alone = [whole_piece(piece) for piece in pieces]
        view = "".join(word.view for word in [*segmenter.push(alone), *segmenter.flush()])
        return ModelWord(view=view, pieces=pieces)

    def _pieces(self, length: int) -> Iterator[ModelWordPiece]:
        """Take so many code points from the units, a piece for each unit. IndexError if there are too few."""
        while length > 0:
            unit = self._units[0]
            end = min(len(unit.text), self._given + length)
            yield cut_piece(unit, self._given, end)
            length -= end - self._given
            self._given = end
            if end == len(unit.text):
                self._units.pop(0)
                self._given = 0


def _stored_units(stored: SessionState) -> dict[tuple[int | None, int], Unit]:
    """Return a snapshot's units by record offset and place in the event, in order.

    If the first part of a unit was cut off, its text is gone; blanks stand for it and are cut off again.
    """
    units: dict[tuple[int | None, int], Unit] = {}
    for piece in (piece for word in stored.buffer for piece in word.pieces):
        unit = as_unit(piece)
        before = units.get((piece.offset, piece.position))
        text = " " * piece.unit_start if before is None else before.text
        units[piece.offset, piece.position] = replace(unit, text=text + piece.text)
    units.update({(unit.offset, unit.position): unit for unit in stored.held.units})
    return units
