"""Draws how far back labels change, as the CT-Transformer paper's figure 2 does, a bar a distance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Final

_WIDTH, _PANEL, _LEFT, _TOP, _GAP = 760, 190, 60, 40, 70
_COLOURS: Final = ("#1f5fa8", "#c8641b", "#5b8c3a", "#8a4fa0")
_LAST: Final = 15
"""Distances from here on share a bar."""


def shares(counts: Counter[int]) -> dict[int, float]:
    """Return, in per cent of all that changed, how much changed at each distance; what never changed is at 0, left out.

    Distances from ``_LAST`` on are added up there.
    """
    changed = {distance: count for distance, count in counts.items() if distance > 0}
    whole = sum(changed.values()) or 1
    summed = Counter[int]()
    for distance, count in changed.items():
        summed[min(distance, _LAST)] += count
    return {distance: 100 * summed[distance] / whole for distance in range(1, _LAST + 1)}


def drawn(panels: Mapping[str, Mapping[str, Counter[int]]]) -> str:
    """Return the plot as SVG. panels: title -> network -> counts by distance in words."""
    height = _TOP + len(panels) * (_PANEL + _GAP)
    size = f'width="{_WIDTH}" height="{height}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="12">',
        '<rect width="100%" height="100%" fill="white"/>',
    ]
    for number, (title, networks) in enumerate(panels.items()):
        parts += _panel(title, networks, _TOP + number * (_PANEL + _GAP))
    return "\n".join([*parts, "</svg>"]) + "\n"


def _panel(title: str, networks: Mapping[str, Counter[int]], top: int) -> list[str]:
    by_network = {name: shares(counts) for name, counts in networks.items()}
    most = max(share for heights in by_network.values() for share in heights.values()) * 1.1 or 1.0
    slot = (_WIDTH - _LEFT - 20) / _LAST
    bar = slot * 0.8 / len(networks)
    parts = [
        f'<text x="{_LEFT}" y="{top - 8}">{title}</text>',
        f'<rect x="{_LEFT}" y="{top}" width="{_WIDTH - _LEFT - 20}" height="{_PANEL}" fill="none" stroke="#999"/>',
        f'<text x="{_LEFT - 6}" y="{top + 10}" text-anchor="end">{most:.0f} %</text>',
        f'<text x="{_LEFT - 6}" y="{top + _PANEL}" text-anchor="end">0</text>',
    ]
    for place, (name, heights) in enumerate(by_network.items()):
        colour = _COLOURS[place % len(_COLOURS)]
        for distance, share in heights.items():
            if not share:
                continue
            x = _LEFT + (distance - 1) * slot + slot * 0.1 + place * bar
            y = top + _PANEL * (1 - share / most)
            size = f'width="{bar:.1f}" height="{top + _PANEL - y:.1f}"'
            parts += [
                f'<rect x="{x:.1f}" y="{y:.1f}" {size} fill="{colour}"/>',
                f'<text x="{x + bar / 2:.1f}" y="{y - 2:.1f}" text-anchor="middle" font-size="8">{share:.2g}</text>',
            ]
        at = top + 18 + 16 * place
        parts.append(f'<rect x="{_WIDTH - 320}" y="{at - 9}" width="10" height="10" fill="{colour}"/>')
        parts.append(f'<text x="{_WIDTH - 304}" y="{at}">{name}, at most {max(networks[name])}</text>')
    for distance in range(1, _LAST + 1):
        written = f"{distance}+" if distance == _LAST else str(distance)
        x = _LEFT + (distance - 0.5) * slot
        parts.append(f'<text x="{x:.1f}" y="{top + _PANEL + 16}" text-anchor="middle">{written}</text>')
    middle = (_LEFT + _WIDTH - 20) / 2
    parts.append(f'<text x="{middle:.0f}" y="{top + _PANEL + 34}" text-anchor="middle">words after it</text>')
    return parts
