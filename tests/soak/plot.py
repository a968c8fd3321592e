"""``python -m tests.soak.plot docs/soak-model.csv docs/soak-model.svg``: draws a soak's samples, a panel a quantity."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.soak.samples import Sample, read_samples

_WIDTH, _PANEL, _LEFT, _TOP = 760, 130, 70, 30
_PANELS: tuple[tuple[str, Callable[[Sample], float]], ...] = (
    ("words out (thousands)", lambda sample: sample.words / 1000),
    ("resident memory of the larger worker (MiB)", lambda sample: sample.resident_mib),
    ("sessions stored in Redis", lambda sample: sample.sessions),
    ("memory used by Redis (MiB)", lambda sample: sample.redis_mib),
)


def drawn(samples: Sequence[Sample]) -> str:
    """Return the plot as SVG; every axis begins at 0, so that flat looks flat."""
    height = _TOP + len(_PANELS) * (_PANEL + 40)
    size = f'width="{_WIDTH}" height="{height}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="12">',
        '<rect width="100%" height="100%" fill="white"/>',
    ]
    longest_s = samples[-1].at_s
    for number, (title, value) in enumerate(_PANELS):
        top = _TOP + number * (_PANEL + 40)
        most = max(value(sample) for sample in samples) * 1.1 or 1.0
        places = [
            (_LEFT + sample.at_s / longest_s * (_WIDTH - _LEFT - 20), top + _PANEL * (1 - value(sample) / most))
            for sample in samples
        ]
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        parts += [
            f'<text x="{_LEFT}" y="{top - 6}">{title}</text>',
            f'<rect x="{_LEFT}" y="{top}" width="{_WIDTH - _LEFT - 20}" height="{_PANEL}" fill="none" stroke="#999"/>',
            f'<text x="{_LEFT - 6}" y="{top + 10}" text-anchor="end">{most:.0f}</text>',
            f'<text x="{_LEFT - 6}" y="{top + _PANEL}" text-anchor="end">0</text>',
            f'<polyline points="{points}" fill="none" stroke="#1f5fa8" stroke-width="1.5"/>',
        ]
    parts.append(f'<text x="{_WIDTH - 20}" y="{height - 10}" text-anchor="end">0 to {longest_s / 60:.0f} min</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


if __name__ == "__main__":
    Path(sys.argv[2]).write_text(drawn(read_samples(Path(sys.argv[1]))))
