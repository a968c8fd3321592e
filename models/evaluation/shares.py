"""A share with its interval: so many of so many, where each is a draw of its own."""

from __future__ import annotations

import math
from dataclasses import dataclass

_Z = 1.959964  # two-sided, 95 %


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """hits of total; figures in per cent, the interval is Wilson's (95 %)."""

    hits: int
    total: int

    @property
    def percent(self) -> float:
        """Return the share; 0 of nothing is 0."""
        return 100 * self.hits / self.total if self.total else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """Return the bounds that hold the true share in 95 of 100 samples; of nothing, all that is possible."""
        if not self.total:
            return 0.0, 100.0
        share, weight = self.hits / self.total, _Z * _Z / self.total
        middle = (share + weight / 2) / (1 + weight)
        half = _Z * math.sqrt(share * (1 - share) / self.total + weight / (4 * self.total)) / (1 + weight)
        return 100 * max(middle - half, 0.0), 100 * min(middle + half, 1.0)

    def __add__(self, other: Share) -> Share:
        return Share(hits=self.hits + other.hits, total=self.total + other.total)

    def __str__(self) -> str:
        low, high = self.interval
        return f"{self.percent:.1f} ({low:.1f} to {high:.1f}), {self.hits} of {self.total}"
