"""The topics that a worker reads and writes, and the deployment whose name they and the stored state begin with."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta

from caesura.worker.core.overlays.redaction import Redacted, Redaction
from caesura.worker.runtime.settings.routes import Route, require_topic


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicSettings:
    """What has a name in the cluster. Raises ValueError where one name has two purposes.

    deployment: Prefix of group, transactional ids, ledger and Redis keys. Two deployments share no state.
    input_topic: Topic of the word events.
    segment_topic: Topic of the segments.
    dead_letter_topic: Topic of the events that can never be applied.
    ledger_topic: Compacted topic from which sessions are rebuilt. Empty: ``<deployment>.ledger``.
    claims_topic: Topic of ``caesura skip``. A claim commits an offset to it to check that the group's coordinator is
        current (ADR 0047). Empty: ``<deployment>.claims``.
    routes: Translation routes, each ``target=topic`` or ``target=topic:rendering`` (``verbatim``, ``marked``,
        ``fluent``). As tables in a file they also take ``keep_fillers``, ``keep_reparanda``, ``cleaning`` (``off``,
        ``light``, ``medium``, ``full``), ``numbers`` (``words``, ``digits``) and ``redact`` (``numbers``, ``cards``,
        ``emails``, ``letters``, ``names``: docs/privacy.md).
    tentative_topic: Topic of words that are not frozen yet, with labels that may change (``asr.tentative``). Empty:
        they are not published. Under load these records are left out first.
    tentative_redact: What to redact in the records of ``tentative_topic``, as ``redact`` of a route.
    redacted_names: Names and phrases that ``names`` redacts, compared without case, marks and spaces.
    """

    deployment: Annotated[
        str, Meta(pattern=r"^[a-z0-9][a-z0-9-]{0,31}$", extra={"change": "a new deployment starts with no state"})
    ] = "caesura"
    input_topic: Annotated[str, Meta(extra={"change": "never"})] = "asr.words"
    segment_topic: str = "asr.segments"
    dead_letter_topic: str = "asr.words.dead"
    ledger_topic: Annotated[str, Meta(extra={"change": "never"})] = ""
    claims_topic: str = ""
    routes: Annotated[tuple[Route, ...], Meta(extra={"change": "at a roll-out; a session goes on where it is"})] = ()
    tentative_topic: str = ""

    tentative_redact: tuple[Redacted, ...] = ()
    redacted_names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("input_topic", "segment_topic", "dead_letter_topic"):
            require_topic(name, getattr(self, name))
        for name in ("ledger_topic", "claims_topic", "tentative_topic"):
            if getattr(self, name):
                require_topic(name, getattr(self, name))
        topics = [self.input_topic, self.segment_topic, self.dead_letter_topic, self.ledger, self.claims]
        topics += [route.topic for route in self.routes]
        if self.tentative_topic:
            topics.append(self.tentative_topic)
        if len(set(topics)) != len(topics):
            raise ValueError("every topic has one purpose, and two settings name the same one")
        if len({route.target for route in self.routes}) != len(self.routes):
            raise ValueError("routes: a target is named twice")
        self.require_names({kind for route in self.routes for kind in route.redact} | set(self.tentative_redact))

    def require_names(self, kinds: Iterable[Redacted]) -> None:
        """Raise ValueError if names are to be redacted and there are none."""
        if Redacted.NAMES in kinds and not self.redacted_names:
            raise ValueError("names are to be redacted, and redacted_names holds none")

    def redaction(self, kinds: Iterable[Redacted]) -> Redaction:
        """Return the redaction of these kinds."""
        return Redaction(kinds=frozenset(kinds), names=self.redacted_names)

    @property
    def ledger(self) -> str:
        """The ledger topic's name."""
        return self.ledger_topic or f"{self.deployment}.ledger"

    @property
    def claims(self) -> str:
        """The name of the topic of which only offsets are committed."""
        return self.claims_topic or f"{self.deployment}.claims"

    @property
    def read_topics(self) -> frozenset[str]:
        """The topics that the worker reads, or commits offsets of."""
        return frozenset((self.input_topic, self.ledger, self.claims))

    @property
    def output_topics(self) -> frozenset[str]:
        """The topics that the worker writes to."""
        topics = {self.segment_topic, self.dead_letter_topic, self.ledger, *(one.topic for one in self.routes)}
        return frozenset(topics | ({self.tentative_topic} if self.tentative_topic else set()))

    def route(self, target: str) -> Route | None:
        """Return the route of a target, or None."""
        return next((route for route in self.routes if route.target == target), None)
