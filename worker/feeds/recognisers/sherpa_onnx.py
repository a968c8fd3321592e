"""sherpa-onnx, the streaming recogniser's results and its WebSocket servers' messages, which are the same; offline.

Source: https://k2-fsa.github.io/sherpa/onnx/websocket/online-websocket.html and
https://k2-fsa.github.io/sherpa/onnx/javascript-api/html/interfaces/sherpa-onnx.OnlineRecognizerResult.html

- ``segment`` numbers the utterances. The C++ server says ``is_final``; the Python one says nothing, and only the next
  number tells that the one before is over: its last hypothesis is then the final one.
- The C++ server ends a silence, too: ``is_final`` without a text, and the next utterance has the same number then.
- ``timestamps`` are the starts of ``tokens``, in seconds from the segment's ``start_time``; some releases write the
  list as text. There are no ends: they are guessed.
- Tokens are pieces of words: one with a leading space or ``▁`` begins a word, Chinese characters are units of their
  own, bytes (``<0xE4>``) are not text. Where tokens do not spell ``text``, the words are the text's, without times.
- Offline results have no ``segment``: each is final. ``durations`` are read where the model has them.
- The end of the stream is the text ``Done!``, which is no JSON. Fillers are as the model learnt them.
"""

from __future__ import annotations

from collections.abc import Iterator

from caesura.worker.feeds.hypothesis import HeardWord, Hypothesis
from caesura.worker.feeds.message_fields import Message, flag, number, text, written_list
from caesura.worker.feeds.times import ends_guessed, seconds_ms
from caesura.worker.feeds.token_words import Token, words_of_tokens
from caesura.worker.feeds.written_words import written_units


def recognises(message: Message) -> bool:
    """Tell whether this is a result of sherpa-onnx's."""
    if not isinstance(message.get("text"), str):
        return False
    lists = [message.get(name) for name in ("tokens", "timestamps")]
    return "segment" in message or all(
        isinstance(one, list) and not any(isinstance(x, dict) for x in one) for one in lists
    )


class SherpaOnnx:
    """Reads results, and keeps the last hypothesis of the segment that is open."""

    agreement = 3

    def __init__(self) -> None:
        self._open: Hypothesis | None = None
        self._number = -1
        self._silences = 0

    def read(self, message: Message) -> Iterator[Hypothesis]:
        """Return what a message says. Raises UnreadableMessageError."""
        if "segment" not in message:
            yield Hypothesis(words=_words(message), final=True, utterance_end=True)
            return
        segment = number(message, "segment") or 0
        if segment < self._number:
            yield from self.finish()
            yield Hypothesis(reconnected=True)
        elif segment > self._number:
            yield from self.finish()
        self._number = segment
        final = flag(message, "is_final") or flag(message, "is_eof")
        words, name = _words(message), f"segment {segment}" + (f" after {self._silences}" if self._silences else "")
        if words or final:
            one = Hypothesis(words=words, utterance=name, final=final, utterance_end=final)
            self._open = None if final else one
            yield one
        if final and not words:
            self._silences += 1

    def finish(self) -> Iterator[Hypothesis]:
        """Return the open segment's last hypothesis as its final one."""
        if self._open is not None:
            yield Hypothesis(words=self._open.words, utterance=self._open.utterance, final=True, utterance_end=True)
        self._open = None


def _words(message: Message) -> tuple[HeardWord, ...]:
    spoken = text(message, "text").replace("▁", " ")
    tokens, starts = written_list(message, "tokens"), written_list(message, "timestamps")
    begin_ms = seconds_ms(message.get("start_time")) or 0
    if len(tokens) == len(starts) and all(isinstance(token, str) for token in tokens):
        durations = written_list(message, "durations")
        lengths = durations if len(durations) == len(tokens) else [None] * len(tokens)
        timed = [
            _token(str(token), start, length, begin_ms)
            for token, start, length in zip(tokens, starts, lengths, strict=True)
        ]
        words = words_of_tokens(timed)
        if "".join(word.text for word in words).casefold() == "".join(written_units(spoken)).casefold():
            return ends_guessed(words)
    return tuple(HeardWord(text=unit) for unit in written_units(spoken))


def _token(written: str, start: object, length: object, begin_ms: int) -> Token:
    start_ms, length_ms = seconds_ms(start), seconds_ms(length)
    return Token(
        text=written.replace("▁", " "),
        start_ms=None if start_ms is None else begin_ms + start_ms,
        end_ms=None if start_ms is None or length_ms is None else begin_ms + start_ms + length_ms,
    )
