"""How far a session is decoded, as its stored state says it."""

from __future__ import annotations

from dataclasses import dataclass, field

from schemas.labels import Disfluency
from schemas.state import HeldBack

__all__ = ["DecodingProgress"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DecodingProgress:
    """How far a session is decoded, beside its buffer; ``schemas.state`` says what each field is."""

    held: HeldBack = field(default_factory=HeldBack)
    model: str | None = None
    tag: int = Disfluency.O.value
    audio_end_ms: int | None = None
    unrecorded_offset: int | None = None
