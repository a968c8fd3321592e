"""Other decoding rules, and another model, in the midst of a run: what the workers are told, drawn as faults are.

Timers stay what they are, because the oracle counts by them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from caesura.worker.ports.engine import EngineModel

FIRST_VERSION = 1
_LANGUAGES = ("en", "zh")
_LOOK_AHEAD_WORDS = 9

RULE_SETS: Sequence[Mapping[str, object]] = (
    {"step_words": 3, "look_ahead_words": 6, "context_words": 10, "max_buffer_words": 120, "min_settled_words": 1},
    {"step_words": 1, "look_ahead_words": 0, "context_words": 0, "max_context_words": 0},
    {"step_words": 5, "look_ahead_words": 9, "max_buffer_words": 40, "min_settled_words": 4, "emission": "settled"},
    {"step_words": 2, "look_ahead_words": 12, "context_words": 30, "max_buffer_words": 60, "emission": "sentence"},
)
"""The first is what a run begins with."""


def served_models(active: int, *others: int) -> list[EngineModel]:
    """Return the models of an engine that has these versions loaded, one of which is active. L differs by version."""
    return [
        EngineModel(
            name=f"scripted-{language}@{version}",
            language=language,
            active=version == active,
            look_ahead_words=_LOOK_AHEAD_WORDS + (version - FIRST_VERSION) % 3,
        )
        for version in (active, *others)
        for language in _LANGUAGES
    ]


def model_names(versions: range) -> frozenset[str]:
    """Return the names of all models of these versions."""
    return frozenset(model.name for version in versions for model in served_models(version))
