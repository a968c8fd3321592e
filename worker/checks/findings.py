"""Findings of the checks: one for each promise, with its reason."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class FindingLevel(StrEnum):
    """``good``, ``warning`` (it works; read why it may not later), ``bad`` (a promise does not hold)."""

    GOOD = "good"
    WARNING = "warning"
    BAD = "bad"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """subject: what was looked at. verdict: how it stands. reason: why, and what to do about it."""

    subject: str
    verdict: FindingLevel
    reason: str
