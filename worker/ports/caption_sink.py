"""A place for live captions: a meeting, a stream."""

from __future__ import annotations

from typing import Protocol


class CaptionSink(Protocol):
    """Takes captions one after another. A caption that cannot be taken in time is no use later."""

    def post(self, text: str) -> None:
        r"""Show a caption, its lines separated by ``\n``; may block for as long as it is tried.

        RetriableError: it was given up, and the next one may be taken. FatalError: none will be taken any more, until
        somebody mends what the message names; what a service refuses at times and takes a moment later is none of it.
        """
        ...
