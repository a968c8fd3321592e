"""Versions of the published language: major.minor; a minor adds optional fields only.

Rules: docs/design.md, *Published language*.

A release reads a major N and N-1 and writes one; the next major pauses the partition, any other one is refused.
"""

from __future__ import annotations

import re
from functools import lru_cache

from caesura.schemas.dead_letters import DeadLetterReason as Reason
from caesura.schemas.errors import InvalidEventError, NewerVersionError

EVENT_VERSION = "1.3"
"""What a producer of today writes into an event.

1.1: ``configure``. 1.2: a session's own fillers and kept phrases. 1.3: ``role``, ``channel``,
how numbers and words are written.
"""

SEGMENT_VERSION = "1.3"
"""What this release writes into a segment.

1.1: a word may have a ``casing``. 1.2: ``pause``, a session's own words. 1.3: ``role`` and ``channel``, probabilities
of a word's labels, ``turn_end``, how numbers and words are written, ``overlays`` of a route.
"""

TENTATIVE_VERSION = "1.2"
"""What this release writes where it tells of words that are not frozen; 1.1: ``role`` and ``channel``.

1.2: probabilities of a word's labels, ``turn_end``, how numbers and words are written.
"""

READ_MAJORS = (1,)
"""The majors that this release reads, ascending; 1 is the first that there ever was."""

_VERSION = re.compile(r"(0|[1-9][0-9]{0,5})\.(0|[1-9][0-9]{0,5})")


@lru_cache(maxsize=64)
def check_version(version: str) -> None:
    """Accept a version of a major that this release reads.

    NewerVersionError where it is the next major, whatever else the event holds: the next release can read it.
    InvalidEventError (``unknown_version``) where it is older, further ahead, or the text is no version.
    """
    match = _VERSION.fullmatch(version)
    if match is None:
        raise InvalidEventError(Reason.UNKNOWN_VERSION, "version: expected major.minor, such as 1.0")
    major = int(match.group(1))
    if major == READ_MAJORS[-1] + 1:
        raise NewerVersionError(f"version {match.group()} is newer than major {READ_MAJORS[-1]}, which is read here")
    if major not in READ_MAJORS:
        raise InvalidEventError(
            Reason.UNKNOWN_VERSION, f"version: expected a major from {READ_MAJORS[0]} to {READ_MAJORS[-1]}"
        )
