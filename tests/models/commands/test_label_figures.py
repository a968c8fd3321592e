"""Figures are headed by the models that they are of."""

from __future__ import annotations

import pytest

from caesura.models.commands.label_figures import names_of, scored_models
from caesura.worker.ports.engine import EngineModel

SERVED = [
    EngineModel(name="zh-large@1", language="zh", active=True, look_ahead_words=9),
    EngineModel(name="zh-small@1", language="zh", active=False, look_ahead_words=9),
    EngineModel(name="en@2", language="en", active=True, look_ahead_words=9),
]


@pytest.mark.parametrize(
    ("language", "heading"), [(None, "en@2, zh-large@1"), ("zh", "zh-large@1"), ("en", "en@2"), ("de", "")]
)
def test_a_table_is_headed_by_the_active_models_alone(language: str | None, heading: str) -> None:
    assert names_of(scored_models(SERVED, language)) == heading
