"""What core asks of a model and what it gets back: one request a session and step.

A request names its session, so that an incremental engine can keep keys and values between steps: as long as
``buffer_start`` and ``model_id`` stay, ``words`` only grows at its end. Engines without such a cache ignore both.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["LabelRequest", "Labels"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelRequest:
    """One session's buffer to be labelled.

    words: the model's view of each word of the buffer, oldest first, never empty; an item may be an empty string
        (a word of outer marks alone), which an engine must still label.
    buffer_start: the session's count of model words before ``words[0]``; it changes at a cut.
    model_id: the model that labels this buffer (``id@version``), one of the engine's.
    """

    session: str
    model_id: str
    buffer_start: int
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Labels:
    """The labels of each word of a request, as bytes: one class number a word (``schemas.labels``).

    casing: empty where the model does not say how words are written: ``as_given``, every one.
    """

    punctuation: bytes
    disfluency: bytes
    casing: bytes = b""

    def fit(self, words: int) -> bool:
        """Tell whether there is one of each for so many words."""
        return len(self.punctuation) == len(self.disfluency) == words and len(self.casing) in (0, words)
