"""FunASR's WebSocket servers: modes ``offline``, ``online`` and ``2pass``; what ``AutoModel.generate`` returns.

Source: https://github.com/modelscope/FunASR/blob/main/runtime/docs/websocket_protocol.md and
https://github.com/modelscope/FunASR/blob/main/docs/tutorial/README.md

- ``2pass-online`` and ``online`` send what is new since their last message, ``2pass-offline`` the whole sentence once
  more, corrected and with marks. So in ``2pass`` only the offline text is final; in ``online`` mode every piece is.
- ``is_final`` does not mean final: servers write it for the end of the audio, and some never. The mode says it.
- The C++ server ends with a message that has no ``mode``, and no text or an error in it. In its own ``online`` mode it
  calls the pieces ``2pass-online``, too, and no second pass comes: they go out at the end, or once there are more than
  a sentence has.
- ``timestamp`` is a list of [start, end] in milliseconds, written as text, one a character or Latin word, none a mark.
  Where the counts differ (numbers written as digits: ``itn``) the words have no times.
- SenseVoice writes what it heard besides words before them (``<|zh|><|NEUTRAL|><|Speech|>``): dropped.
- ``generate`` returns a ``key`` and a ``text`` a recording, and with speakers told apart the same text in
  ``sentence_info``, whose ``spk`` says who.
- Marks in the text are dropped. Fillers are as the model learnt them; ``itn: false`` keeps numbers as spoken.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from caesura.worker.feeds.hypothesis import HeardWord, Hypothesis
from caesura.worker.feeds.message_fields import Message, name_of, objects, text, written_list
from caesura.worker.feeds.times import ms
from caesura.worker.feeds.written_words import written_units

_TAG = re.compile(r"<\|[^|<>]{0,40}\|>")
_WORDS_KEPT = 1000
_MODES = ("2pass-online", "2pass-offline", "online", "offline")


def recognises(message: Message) -> bool:
    """Tell whether this is a message of FunASR's."""
    return (message.get("mode") in _MODES and "text" in message) or _is_generated(message)


def _is_generated(message: Message) -> bool:
    """Tell whether this is a recording's text, as ``generate`` returns it."""
    said = isinstance(message.get("text"), str) and isinstance(message.get("key"), str)
    return said and not {"mode", "segments", "words", "type"} & set(message)


class FunAsr:
    """Reads messages; in ``2pass`` the pieces since the last sentence make the hypothesis."""

    agreement = 0

    def __init__(self) -> None:
        self._pieces: list[HeardWord] = []

    def read(self, message: Message) -> Iterator[Hypothesis]:
        """Return what a message says. Raises UnreadableMessageError."""
        if _is_generated(message):
            for sentence in _sentences(message):
                words = tuple(replace(word, speaker=name_of(sentence.get("spk"), "spk")) for word in _words(sentence))
                yield Hypothesis(words=words, final=True, utterance_end=True)
            return
        mode = text(message, "mode")
        words = _words(message)
        if mode == "2pass-online":
            self._pieces += words
            if len(self._pieces) > _WORDS_KEPT:
                yield from self.finish()
            else:
                yield Hypothesis(words=tuple(self._pieces))
            return
        if not mode or (mode not in _MODES and not words):
            yield from self.finish()
            return
        self._pieces = []
        yield Hypothesis(words=words, final=True, utterance_end=mode != "online" and bool(words))

    def finish(self) -> Iterator[Hypothesis]:
        """Return what no second pass came for, as it was first heard."""
        if self._pieces:
            yield Hypothesis(words=tuple(self._pieces), final=True)
        self._pieces = []


def _sentences(message: Message) -> list[Message]:
    """Return the sentences whose speakers are told; the whole text where they are not, or do not spell it."""
    sentences = objects(message, "sentence_info")
    spelt = [unit for one in sentences for unit in written_units(text(one, "text"))]
    told = any("spk" in one for one in sentences) and spelt == written_units(_TAG.sub(" ", text(message, "text")))
    return sentences if told else [message]


def _words(message: Message) -> tuple[HeardWord, ...]:
    units = written_units(_TAG.sub(" ", text(message, "text")))
    stamps = _stamps(written_list(message, "timestamp"))
    if len(stamps) != len(units):
        return tuple(HeardWord(text=unit) for unit in units)
    return tuple(
        HeardWord(text=unit, start_ms=ms(start), end_ms=ms(end))
        for unit, (start, end) in zip(units, stamps, strict=True)
    )


def _stamps(pairs: list[object]) -> list[tuple[object, object]]:
    return [(pair[0], pair[1]) for pair in pairs if isinstance(pair, list) and len(pair) == 2]
