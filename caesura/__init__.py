"""Punctuation restored, fillers and repairs marked, of a recogniser's word stream; and never a label taken back.

    import caesura

    session = caesura.load("en").session()
    for segment in session.feed("so um I think we should uh we should ship it on friday"):
        print(segment.text)
    for segment in session.end():
        print(segment.text)

The decoding is the worker's: the same words give the same segments, however they are fed. ``docs/library.md`` has the
rest: many sessions in one batch, asynchronous streams, unfrozen words.
"""

from __future__ import annotations

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
