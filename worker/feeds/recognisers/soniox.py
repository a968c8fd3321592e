"""Soniox, real-time WebSocket, and the transcript of a recording.

Source: https://soniox.com/docs/stt/core-concepts/real-time-transcription and
https://soniox.com/docs/speech-to-text/api-reference/websocket-api

- A final token is sent once and never again; tokens that are not final come anew with every message.
- Tokens are pieces of words, white space included: a word is over when the next token begins with a space, or at
  ``<end>`` (endpoint found) and ``<fin>`` (finalised), which are no words.
- Times are milliseconds; ``total_audio_proc_ms`` is the audio heard, ``final_audio_proc_ms`` the part of it that is
  final. Tokens with ``translation_status: translation`` are not what was said, and dropped.
- Without endpoint detection ``<end>`` never comes: words are taken for ended once there are many.
- A recording's transcript has all ``tokens``, without a mark: all are final.
- ``finished`` ends the stream. Fillers are written as heard.
"""

from __future__ import annotations

from collections.abc import Iterator

from caesura.worker.feeds.hypothesis import Hypothesis
from caesura.worker.feeds.message_fields import Message, confidence, flag, name_of, objects, text
from caesura.worker.feeds.new_streams import StreamClock
from caesura.worker.feeds.times import ms
from caesura.worker.feeds.token_words import Token, begins_word, words_of_tokens

_ENDS = ("<end>", "<fin>")
_HELD_CHARACTERS = 1000


def recognises(message: Message) -> bool:
    """Tell whether this is a message of Soniox's."""
    if not isinstance(message.get("tokens"), list):
        return False
    return "total_audio_proc_ms" in message or "finished" in message or _is_recording(message)


def _is_recording(message: Message) -> bool:
    tokens = message.get("tokens")
    first = tokens[0] if isinstance(tokens, list) and tokens else None
    return isinstance(first, dict) and {"text", "start_ms", "end_ms"} <= set(first) and "is_final" not in first


class Soniox:
    """Reads messages; the final tokens since the last endpoint stand before those of each message."""

    agreement = 0

    def __init__(self) -> None:
        self._final: list[Token] = []
        self._clock = StreamClock()

    def read(self, message: Message) -> Iterator[Hypothesis]:
        """Return what a message says. Raises UnreadableMessageError."""
        if _is_recording(message):
            tokens = [one for one in objects(message, "tokens") if text(one, "translation_status") != "translation"]
            yield Hypothesis(words=words_of_tokens(list(map(_token, tokens))), final=True, utterance_end=True)
            return
        if self._clock.began_anew("", ms(message.get("total_audio_proc_ms")) or None, final=False):
            yield from self.finish()
            yield Hypothesis(reconnected=True)
        tentative: list[Token] = []
        for token in objects(message, "tokens"):
            if text(token, "translation_status") == "translation":
                continue
            if text(token, "text") in _ENDS:
                if flag(token, "is_final"):
                    yield self._ended(pause=text(token, "text") == "<end>")
                continue
            (self._final if flag(token, "is_final") else tentative).append(_token(token))
        if flag(message, "finished"):
            yield self._ended(pause=True)
            return
        if sum(len(token.text) + 1 for token in self._final) > _HELD_CHARACTERS:
            yield self._cut(self._last_begun())
        words = words_of_tokens([*self._final, *tentative], closed=False)
        yield Hypothesis(words=words, heard_until_ms=ms(message.get("total_audio_proc_ms")))

    def finish(self) -> Iterator[Hypothesis]:
        """Return the final tokens whose word nothing has ended."""
        if self._final:
            yield self._ended(pause=False)

    def _ended(self, *, pause: bool) -> Hypothesis:
        words, self._final = words_of_tokens(self._final), []
        return Hypothesis(words=words, final=True, utterance_end=pause)

    def _cut(self, next_word: int | None) -> Hypothesis:
        """End what is final up to a token; None: all of it. What follows may have been sent already."""
        words = words_of_tokens(self._final[:next_word])
        self._final = [] if next_word is None else self._final[next_word:]
        return Hypothesis(words=words, final=True, goes_on=True)

    def _last_begun(self) -> int | None:
        """Return the final token that begins the last word, which may go on; None: no token surely begins one."""
        begun = (at for at in range(len(self._final) - 1, 0, -1) if begins_word(self._final[at].text))
        return next(begun, None)


def _token(token: Message) -> Token:
    return Token(
        text=text(token, "text"),
        start_ms=ms(token.get("start_ms")),
        end_ms=ms(token.get("end_ms")),
        confidence=confidence(token, "confidence"),
        final=flag(token, "is_final"),
        speaker=name_of(token.get("speaker"), "speaker"),
    )
