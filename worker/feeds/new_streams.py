"""Notices that a recogniser's stream began anew: its times go back."""

from __future__ import annotations

_STREAMS_KEPT = 1024
_JITTER_MS = 100
_FAR_BACK_MS = 2000


class StreamClock:
    """Up to where each channel of a recogniser was heard."""

    def __init__(self) -> None:
        self._heard: dict[str, tuple[int, int]] = {}

    def began_anew(self, stream: str, until_ms: int | None, *, final: bool) -> bool:
        """Take up to where a channel is heard now; tell whether that lies before its last final, or far back."""
        if until_ms is None:
            return False
        heard_ms, final_ms = self._heard.pop(stream, (0, 0))
        anew = until_ms < final_ms - _JITTER_MS or until_ms < heard_ms - _FAR_BACK_MS
        if anew:
            self._heard.clear()
            heard_ms = final_ms = 0
        heard_ms = max(heard_ms, until_ms)
        self._heard[stream] = (heard_ms, heard_ms if final else final_ms)
        if len(self._heard) > _STREAMS_KEPT:
            del self._heard[next(iter(self._heard))]
        return anew
