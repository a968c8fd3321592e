"""Reads a session's unfrozen words with their present labels; changes nothing.

The next word may change these labels. Words that have not been labelled yet, such as the segmenter's tail, have none.
"""

from __future__ import annotations

from caesura.schemas.labels import Labels
from caesura.schemas.state import ModelWord
from caesura.schemas.tentative import Tentative
from caesura.schemas.versions import TENTATIVE_VERSION
from caesura.worker.core.decoding.buffer import final_tags
from caesura.worker.core.decoding.decoding import Decoder
from caesura.worker.core.decoding.segment_writer import model_ref, probability, published_words
from caesura.worker.core.language.words import cut_piece


def tentative_words(decoder: Decoder, *, at_ms: int) -> Tentative:
    """Return the session's unfrozen words, perhaps none. at_ms: wall clock."""
    buffer, writer = decoder.buffer, decoder.writer
    words = buffer.words[buffer.frozen :]
    of_now = (
        buffer.labels if decoder.labels.provisional_labels is None else decoder.labels.provisional_labels.over(buffer)
    )
    tags = final_tags(buffer.views, of_now, buffer.frozen, len(of_now), decoder.tag, decoder.lang)
    labels = of_now.with_tags(tags).part(buffer.frozen)
    shown = [*words, *_tail(decoder)]
    return Tentative(
        version=TENTATIVE_VERSION,
        revisable=True,
        session=writer.session,
        since=writer.since,
        first_word=writer.words,
        sentence_start=not writer.mid_sentence,
        lang=decoder.lang,
        words=published_words(shown, labels + Labels.none(len(shown) - len(labels))),
        labelled_words=sum(len(word.pieces) for word in words[: len(labels)]),
        through_offset=writer.last_offset,
        at_ms=at_ms,
        model=model_ref(decoder.labels.model),
        conversation=writer.conversation,
        speaker=writer.speaker,
        role=writer.role,
        channel=writer.channel,
        punctuated=decoder.options.punctuation,
        turn_end=probability(labels.turn_end[-1:]) if len(labels) == len(shown) else None,
        numbers=decoder.options.numbers,
        spellings=decoder.options.spellings,
    )


def _tail(decoder: Decoder) -> list[ModelWord]:
    """Return the words that the segmenter holds back, one for each unit."""
    held = decoder.segmenter.held
    starts = [held.given_code_points, *[0] * len(held.units)]
    pieces = [cut_piece(unit, start, len(unit.text)) for unit, start in zip(held.units, starts, strict=False)]
    return [ModelWord(view="", pieces=(piece,)) for piece in pieces if piece.text]
