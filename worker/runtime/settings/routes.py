"""Translation routes: the operator's checked list of where rendered segments go."""

from __future__ import annotations

import re
from dataclasses import dataclass

from caesura.schemas.events import TARGET_PATTERN, Target
from caesura.schemas.segments import NumberForm
from caesura.worker.core.overlays.redaction import Redacted
from caesura.worker.core.rendering.cleaning import CleaningLevel
from caesura.worker.core.rendering.rendering import Style

_TARGET = re.compile(TARGET_PATTERN)
_TOPIC = re.compile(r"[A-Za-z0-9._-]{1,249}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """A translation route.

    target: what producers call it. rendering: how its text is made from the labels. keep_fillers, keep_reparanda:
    what ``fluent`` leaves in. cleaning: how much it leaves out. numbers: as digits for all sessions, or only for those
    that wish it. redact: what its records do not carry.
    """

    target: Target
    topic: str
    rendering: Style = Style.FLUENT
    keep_fillers: bool = False
    keep_reparanda: bool = False
    cleaning: CleaningLevel = CleaningLevel.FULL
    numbers: NumberForm = NumberForm.WORDS
    redact: tuple[Redacted, ...] = ()

    def __post_init__(self) -> None:
        if not _TARGET.fullmatch(self.target):
            raise ValueError("target: a route's name has 1 to 64 of A-Z a-z 0-9 . _ -")
        require_topic("topic", self.topic)

    def __str__(self) -> str:
        return f"{self.target}={self.topic}:{self.rendering}"

    @classmethod
    def parse(cls, text: str) -> Route:
        """Parse ``target=topic`` or ``target=topic:rendering``. Raises ValueError."""
        target, equals, rest = text.partition("=")
        topic, _, rendering = rest.partition(":")
        if not (target and equals and topic):
            raise ValueError("a route is written target=topic or target=topic:rendering")
        if rendering not in ("", *Style):
            raise ValueError(f"rendering must be one of {', '.join(Style)}; got {rendering!r}")
        return cls(target=target, topic=topic, rendering=Style(rendering or Style.FLUENT))


def require_topic(name: str, topic: str) -> None:
    """Raise ValueError where ``topic`` cannot be a topic's name."""
    if not _TOPIC.fullmatch(topic) or topic in (".", ".."):
        raise ValueError(f"{name}: a topic's name has 1 to 249 of A-Z a-z 0-9 . _ -")
