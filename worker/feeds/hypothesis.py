"""A recogniser's hypothesis of an utterance, in one form for all recognisers.

Readers turn messages into hypotheses; ``StableWords`` turns these into words that are never revised.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from caesura.worker.errors import FatalError

MAX_KEPT_CHARACTERS = 100_000
"""So much is kept of what is not final, in all channels of a connection: two hours of one speaker's words.

Each message is compared with what is kept, so this bounds what a small message can cost, too.
"""

MAX_GROWING_CHARACTERS = 20_000
"""So much is taken of a text that grows with each message and is not final: each is read with all before it."""

MAX_MESSAGE_WORDS = 20_000
"""A live message may have so many words, some two hours of speech; files have no such limit."""

MAX_TEXT_CHARACTERS = 100_000
"""A text in a live message has no more characters: it would be more words than may be, before it is parted."""

MAX_NAME_CHARACTERS = 256
"""A longer name of a channel or an utterance is no recogniser's: names are kept, so that repeats are known."""


class UnreadableMessageError(FatalError):
    """A message that is not what its recogniser's documentation says; names the field, never quotes a value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeardWord:
    """A word of a hypothesis; times in milliseconds from the start of the recogniser's audio.

    stable: the recogniser itself says that it will not change it. end_guessed: ``end_ms`` is a guess of ours.
    speaker: who said it, where the recogniser tells speakers apart; each has a session. undecided: the recogniser says
    that it will tell that later.
    """

    text: str
    start_ms: int | None = None
    end_ms: int | None = None
    confidence: float | None = None
    stable: bool = False
    end_guessed: bool = False
    speaker: str = ""
    undecided: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Hypothesis:
    """All words of one utterance so far, as the recogniser has them now.

    stream: the audio channel, where there are several; one session each. utterance: what the recogniser calls it;
    empty where it has no name and a final result simply ends it. final: the recogniser says no more about this one.
    goes_on: the final is a part of what was told so far, and what was sent beyond it belongs to what follows.
    utterance_end: the speaker paused here, says the recogniser. reconnected: a new connection begins, its times start
    at 0 again. stopped: the recogniser was told to hear no more; there is nothing else in the hypothesis.
    """

    words: tuple[HeardWord, ...] = ()
    stream: str = ""
    utterance: str = ""
    final: bool = False
    goes_on: bool = False
    utterance_end: bool = False
    heard_until_ms: int | None = None
    reconnected: bool = False
    stopped: bool = False


class Recogniser(Protocol):
    """Reads one recogniser's messages, one after another. Pure: no clock, no I/O."""

    agreement: int
    """How many hypotheses running must agree on a word that is not marked stable; 0: only finals count."""

    def read(self, message: Mapping[str, object]) -> Iterable[Hypothesis]:
        """Return what a message says. Raises UnreadableMessageError."""
        ...

    def finish(self) -> Iterable[Hypothesis]:
        """Return what is still open when the messages end: the last hypothesis of what never became final."""
        ...
