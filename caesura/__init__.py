"""Restore punctuation and mark fillers and repairs in a recogniser's words; a published label never changes.

    import caesura

    session = caesura.load("en").session()
    for segment in session.feed("so um I think we should uh we should ship it on friday"):
        print(segment.text)
    for segment in session.end():
        print(segment.text)

It decodes as the worker does: the same words give the same segments, in any grouping. ``docs/library.md`` describes
many sessions in one batch, asynchronous streams and unfrozen words, too.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from caesura.installed import languages, models_folder
    from caesura.model import Model, load
    from caesura.schemas.events import Emission, Word
    from caesura.schemas.segments import Cause, SegmentWord
    from caesura.segments import Segment, Unfrozen
    from caesura.sessions import Session
    from caesura.transcripts import Transcript
    from caesura.transcripts import read_recording as read
    from caesura.worker.core.rendering.conversation import Characteristics
    from caesura.worker.errors import ArgumentError, CaesuraError
    from caesura.worker.transcripts.recording import Recording

__all__ = [
    "ArgumentError",
    "CaesuraError",
    "Cause",
    "Characteristics",
    "Emission",
    "Model",
    "Recording",
    "Segment",
    "SegmentWord",
    "Session",
    "Transcript",
    "Unfrozen",
    "Word",
    "languages",
    "load",
    "models_folder",
    "read",
]

_HOMES = {
    "ArgumentError": ("caesura.worker.errors", "ArgumentError"),
    "CaesuraError": ("caesura.worker.errors", "CaesuraError"),
    "Cause": ("caesura.schemas.segments", "Cause"),
    "Characteristics": ("caesura.worker.core.rendering.conversation", "Characteristics"),
    "Emission": ("caesura.schemas.events", "Emission"),
    "Model": ("caesura.model", "Model"),
    "Recording": ("caesura.worker.transcripts.recording", "Recording"),
    "Segment": ("caesura.segments", "Segment"),
    "SegmentWord": ("caesura.schemas.segments", "SegmentWord"),
    "Session": ("caesura.sessions", "Session"),
    "Transcript": ("caesura.transcripts", "Transcript"),
    "Unfrozen": ("caesura.segments", "Unfrozen"),
    "Word": ("caesura.schemas.events", "Word"),
    "languages": ("caesura.installed", "languages"),
    "load": ("caesura.model", "load"),
    "models_folder": ("caesura.installed", "models_folder"),
    "read": ("caesura.transcripts", "read_recording"),
}
"""Where each name comes from: its module and its name there. ``import caesura`` loads none of them."""


def __getattr__(name: str) -> object:
    """Import a public name when it is first used (PEP 562)."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, own = _HOMES[name]
    value = globals()[name] = getattr(import_module(module), own)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
