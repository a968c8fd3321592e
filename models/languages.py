"""The model of each language: its name, its network's shape, and the licence of its weights."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["LANGUAGES", "LanguageModel"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LanguageModel:
    """What ``train`` builds and ``export`` names. look_ahead: L_i of each layer, in words."""

    id: str
    width: int
    heads: int
    inner_width: int
    look_ahead: tuple[int, ...]
    positions: str
    punctuation_classes: int
    licence: str = "CC-BY-SA-4.0"


LANGUAGES = {
    "en": LanguageModel(
        id="en-ct-6x384",
        width=384,
        heads=12,
        inner_width=1536,
        look_ahead=(1, 1, 1, 2, 2, 2),
        positions="sinusoidal",
        punctuation_classes=4,
    ),
    "zh": LanguageModel(
        id="zh-ct-4x512",
        width=512,
        heads=8,
        inner_width=2048,
        look_ahead=(2, 2, 2, 3),
        positions="learned",
        punctuation_classes=5,
    ),
}
