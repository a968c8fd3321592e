"""OpenAI's Realtime API, transcription events.

Source: https://platform.openai.com/docs/guides/realtime-transcription

- ``…input_audio_transcription.delta`` appends to its item; ``….completed`` has the item's whole text, and is final.
- Items may be completed out of order: they are sent in the order in which the audio was committed
  (``input_audio_buffer.committed``), an item that ``failed`` is passed over. While too much waits behind an item that
  is never completed, what is completed goes out at once, and no more is taken of what is not.
- Speech that started is no item yet: its audio may be cleared (``input_audio_buffer.cleared``), or committed by the
  client, as an item of another name. What waited for it goes on then.
- A delta may end within a word: the last word of an item waits for the next delta, or for the whole text.
- Words have no times. ``speech_started`` and ``speech_stopped`` say, in milliseconds, where an item's speech lies;
  the words are spread over it once both are known.
- The transcript is written for reading: fillers are mostly left out, and no option keeps them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from caesura.worker.feeds.hypothesis import (
    MAX_GROWING_CHARACTERS,
    MAX_KEPT_CHARACTERS,
    MAX_NAME_CHARACTERS,
    HeardWord,
    Hypothesis,
    UnreadableMessageError,
)
from caesura.worker.feeds.message_fields import Message, number, text
from caesura.worker.feeds.times import spread
from caesura.worker.feeds.written_words import words_of

_TRANSCRIPTION = "conversation.item.input_audio_transcription."
_BUFFER = "input_audio_buffer."
_ITEM_CHARACTERS = 64
_DONE_KEPT = 1024


def recognises(message: Message) -> bool:
    """Tell whether this is an event of the Realtime API's."""
    kind = message.get("type")
    known = (_TRANSCRIPTION, _BUFFER, "transcription_session.", "session.created", "session.updated")
    return isinstance(kind, str) and kind.startswith(known)


@dataclass(slots=True)
class _Item:
    """A stretch of speech: what was said of it so far, and where it lies."""

    said: str = ""
    over: bool = False
    committed: bool = False
    start_ms: int | None = None
    end_ms: int | None = None

    def take(self, step: str, message: Message) -> None:
        """Take what an event says of this item."""
        match step:
            case "speech_started":
                self.start_ms = number(message, "audio_start_ms")
            case "speech_stopped":
                self.end_ms = number(message, "audio_end_ms")
            case "committed":
                self.committed = True  # the item has its place now
            case "delta":
                delta = text(message, "delta")
                if len(self.said) + len(delta) > MAX_GROWING_CHARACTERS:
                    raise UnreadableMessageError(
                        f"oversized: delta: expected at most {MAX_GROWING_CHARACTERS} characters an item"
                    )
                self.said += delta
            case "completed":
                self.said, self.over = text(message, "transcript"), True
            case "failed":
                self.over = True


class OpenAiRealtime:
    """Reads events; ``items`` stand in the order of their audio, the first of them is the one that is sent."""

    agreement = 0

    def __init__(self) -> None:
        self._items: dict[str, _Item] = {}
        self._held = 0
        self._done: dict[str, None] = {}

    def read(self, message: Message) -> Iterator[Hypothesis]:
        """Return what an event says. Raises UnreadableMessageError."""
        kind, name = text(message, "type"), text(message, "item_id")
        if kind == "session.created" and self._items:
            yield from self.finish()
            yield Hypothesis(reconnected=True)
        if kind == f"{_BUFFER}cleared":
            self._never_committed(list(self._items))
            yield from self._front()
        if not name or name in self._done or not kind.startswith((_TRANSCRIPTION, _BUFFER)):
            return
        step = kind.removeprefix(_TRANSCRIPTION).removeprefix(_BUFFER)
        self._check(name, over=step in ("completed", "failed"))
        item = self._item(name)
        said = len(item.said)
        item.take(step, message)
        self._held += len(item.said) - said
        if step == "committed":
            self._never_committed(list(self._items)[: list(self._items).index(name)])
        yield from self._front()
        if item.over and name in self._items and self._full:
            yield self._ended(name)

    def finish(self) -> Iterator[Hypothesis]:
        """Return what was said of the items that were never completed."""
        for item in self._items.values():
            item.over = True
        yield from self._front()

    @property
    def _full(self) -> bool:
        return self._held > MAX_KEPT_CHARACTERS

    def _item(self, name: str) -> _Item:
        item = self._items.get(name)
        if item is None:
            item = self._items[name] = _Item()
            self._held += _held(name, item)
        return item

    def _pop(self, name: str) -> _Item:
        item = self._items.pop(name)
        self._held -= _held(name, item)
        return item

    def _check(self, name: str, *, over: bool) -> None:
        if len(name) > MAX_NAME_CHARACTERS:
            raise UnreadableMessageError(f"item_id: expected at most {MAX_NAME_CHARACTERS} characters")
        if not over and self._full:
            raise UnreadableMessageError(
                f"oversized: delta: expected at most {MAX_KEPT_CHARACTERS} characters of items that wait"
            )

    def _never_committed(self, names: list[str]) -> None:
        """Drop those of these items of which nothing was told but that their speech started: their audio is gone."""
        for name in names:
            item = self._items[name]
            if not (item.committed or item.over or item.said):
                self._pop(name)

    def _front(self) -> Iterator[Hypothesis]:
        for name in list(self._items):
            item = self._items[name]
            if not item.over:
                yield Hypothesis(words=_words(item), utterance=name)
                return
            yield self._ended(name)

    def _ended(self, name: str) -> Hypothesis:
        self._done[name] = None
        if len(self._done) > _DONE_KEPT:
            del self._done[next(iter(self._done))]
        return Hypothesis(words=_words(self._pop(name)), utterance=name, final=True, utterance_end=True)


def _held(name: str, item: _Item) -> int:
    return _ITEM_CHARACTERS + len(name) + len(item.said)


def _words(item: _Item) -> tuple[HeardWord, ...]:
    texts = words_of(item.said)
    if item.over:
        return spread(texts, item.start_ms, item.end_ms)
    whole = len(texts) - (not item.said[-1:].isspace())
    words = (HeardWord(text=one) for one in texts)
    return tuple(replace(word, stable=position < whole) for position, word in enumerate(words))
