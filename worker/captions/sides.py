"""The cues of a session, or of all sides of a conversation as they freeze, each side named where it begins to speak."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from caesura.schemas.segments import Segment
from caesura.worker.captions.cues import Cue, CueWriter
from caesura.worker.captions.limits import CaptionLimits
from caesura.worker.core.overlays.rules import NO_OVERLAYS, OverlayRules
from caesura.worker.core.rendering.conversation import side_name
from caesura.worker.core.rendering.rendering import Style
from caesura.worker.errors import FatalError


@dataclass(slots=True, kw_only=True)
class SideCues:
    """Writes the cues of a session or of a conversation, one of which is named. FatalError: none is, or both are."""

    session: str | None
    conversation: str | None
    limits: CaptionLimits
    style: Style = Style.FLUENT
    overlays: OverlayRules = NO_OVERLAYS
    _writers: dict[str, CueWriter] = field(default_factory=dict)
    _open: set[str] = field(default_factory=set)
    _last: str = ""

    def __post_init__(self) -> None:
        """Refuse if not exactly one of the two is named."""
        if (self.session is None) == (self.conversation is None):
            raise FatalError("captions are of one session or of one conversation: --session or --conversation")

    @property
    def shown(self) -> str:
        """What is shown, for people."""
        return f"session {self.session}" if self.conversation is None else f"conversation {self.conversation}"

    @property
    def have_ended(self) -> bool:
        """Whether all sides that were heard have ended."""
        return bool(self._writers) and not self._open

    def write(self, segment: Segment) -> Iterator[Cue]:
        """Yield the cues of a segment; none where it is not of what is shown."""
        name = segment.session
        if name != self.session if self.conversation is None else segment.conversation != self.conversation:
            return
        writer = self._writers.setdefault(name, CueWriter(self.limits, self.style, overlays=self.overlays))
        (self._open.discard if segment.session_end else self._open.add)(name)
        leads = self.conversation is not None and name != self._last and bool(segment.words)
        for cue in writer.write(segment, lead=f"{side_name(segment)}: " if leads else ""):
            self._last = name
            yield cue
