"""Vosk: results of its library and messages of its server, which have the same form.

Source: https://alphacephei.com/vosk/server and https://github.com/alphacep/vosk-api/blob/master/src/vosk_api.h

- ``partial`` is the hypothesis so far, ``text`` the final of an utterance; an empty ``text`` means that there was
  silence. Times come with ``SetWords(True)`` (``result``) and, for partial results, ``SetPartialWords(True)``.
- Times are seconds from the stream's start. With ``SetMaxAlternatives`` there are ``alternatives``, whose words have
  no ``conf`` and whose ``confidence`` scores the whole on no fixed scale, so it is not read.
- A word that the model does not know is ``[unk]``. It is kept, because a word was said.
- Noise words of some models (``!SIL``, ``[noise]``, ``<laugh>``) are dropped. ``<unk>`` stays.
- Under a locale with a decimal comma the library writes such numbers, which is invalid JSON. They are read anyway.
- Fillers come only if the model's dictionary has them.
"""

from __future__ import annotations

from collections.abc import Iterator

from caesura.worker.feeds.hypothesis import HeardWord, Hypothesis
from caesura.worker.feeds.message_fields import Message, confidence, objects, text
from caesura.worker.feeds.new_streams import StreamClock
from caesura.worker.feeds.spoken_text import spoken_words
from caesura.worker.feeds.times import seconds_ms
from caesura.worker.feeds.written_words import is_written


def recognises(message: Message) -> bool:
    """Tell whether this is a result of Vosk."""
    if isinstance(message.get("partial"), str) and "type" not in message:
        return True
    result = message.get("result")
    if isinstance(message.get("text"), str) and isinstance(result, list):
        return all(isinstance(one, dict) and "word" in one for one in result)
    if set(message) == {"text"}:
        return not is_written(message["text"])
    return set(message) in ({"text", "spk", "spk_frames"}, {"alternatives"})


class Vosk:
    """Reads results."""

    agreement = 3

    def __init__(self) -> None:
        self._clock = StreamClock()

    def read(self, message: Message) -> Iterator[Hypothesis]:
        """Return the hypotheses of a message. Raises UnreadableMessageError."""
        if "partial" in message:
            yield Hypothesis(words=_words(objects(message, "partial_result"), text(message, "partial")))
            return
        best = next(iter(objects(message, "alternatives")), message)
        words = _words(objects(best, "result"), text(best, "text"))
        if words and self._clock.began_anew("", words[-1].end_ms, final=True):
            yield Hypothesis(reconnected=True)
        yield Hypothesis(words=words, final=True, utterance_end=bool(words))

    def finish(self) -> Iterator[Hypothesis]:
        """Return nothing: a connection's last result is final."""
        return iter(())


def _words(timed: list[Message], untimed: str) -> tuple[HeardWord, ...]:
    if not timed:
        return spoken_words([HeardWord(text=word) for word in untimed.split()])
    heard = [
        HeardWord(
            text=text(word, "word"),
            start_ms=seconds_ms(word.get("start")),
            end_ms=seconds_ms(word.get("end")),
            confidence=confidence(word, "conf"),
        )
        for word in timed
    ]
    return spoken_words(heard)
