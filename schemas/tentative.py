"""What may be shown before it is frozen: a session's words whose labels can still change. Never a segment's equal."""

from __future__ import annotations

import msgspec

from caesura.schemas.segments import ModelRef, NumberForm, SegmentWord


class Tentative(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The words of a session that are not frozen, with the labels that they have for now. It replaces the one before.

    revisable: always true; a segment alone is final. first_word: the session's count of published words before them:
    what a segment has published since is to be left out. labelled_words: how many of them, from the first on, have
    been labelled; the others carry none. through_offset: the last input record whose words are in it. at_ms:
    milliseconds since the epoch. Since 1.1: role, channel, as the producer gave them. Since 1.2: turn_end, how probably
    the speaker has finished with the last labelled word, 0 to 1, where no word is unlabelled; the next record may say
    another; numbers, spellings: the session's own wishes.
    """

    version: str
    revisable: bool
    session: str
    since: int
    first_word: int
    sentence_start: bool
    lang: str
    words: tuple[SegmentWord, ...]
    labelled_words: int
    through_offset: int
    at_ms: int
    model: ModelRef | None = None
    conversation: str | None = None
    speaker: str | None = None
    punctuated: bool = True
    role: str | None = None
    channel: str | None = None
    turn_end: float | None = None
    numbers: NumberForm = NumberForm.WORDS
    spellings: dict[str, str] | None = None
