"""What fails in the midst of a pass, or is not finite, is an error: never a label, and never kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from caesura.worker.errors import EngineError
from caesura.worker.inference.attention.attention import VisibleRange
from caesura.worker.inference.kv_cache.kv_cache import Rows
from caesura.worker.inference.network.streamed_network import StreamedNetwork
from tests.unit.inference.streams import WAYS, a_request, same_scores, some_words, streaming, whole_buffers


class _Failing:
    """A graph that answers with what is no score, or not at all."""

    def __init__(self, inner: Any, *, raises: bool) -> None:  # noqa: ANN401 - onnxruntime ships without types
        self._inner = inner
        self._raises = raises
        self.on = False

    def run(self, names: Sequence[str], given: dict[str, Any]) -> list[Any]:
        if self.on and self._raises:
            raise RuntimeError("the canary word sings")
        answers = self._inner.run(names, given)
        return [np.full_like(one, np.nan) for one in answers] if self.on else list(answers)


@pytest.mark.parametrize("raises", [False, True])
@pytest.mark.parametrize("where", ["step", "exit"])
def test_rows_of_a_pass_that_failed_are_never_used_again(where: str, *, raises: bool) -> None:
    engine, words = streaming(), some_words(40, 9)
    network = engine._networks[engine.models[0].name]
    assert isinstance(network, StreamedNetwork)
    rows = network._network
    failing = _Failing(rows._exit if where == "exit" else rows._steps[2], raises=raises)
    if where == "exit":
        rows._exit = failing
    else:
        rows._steps[2] = failing
    engine.label([a_request(engine, words[:12], session=name) for name in ("a", "b")])
    failing.on = True
    with pytest.raises(EngineError, match="RuntimeError" if raises else "not finite|ArithmeticError") as caught:
        engine.label([a_request(engine, words[:15], session="a")])
    assert "canary" not in str(caught.value)
    failing.on = False
    for name in ("a", "b"):
        request = a_request(engine, words[:18], session=name, first=9)
        assert same_scores(engine.score([request])[0], whole_buffers().score([request])[0])
    assert engine.work.begun_buffers == 4, "a's rows are gone, b's are not"


@pytest.mark.parametrize("compiled", WAYS)
@pytest.mark.parametrize("number", [np.nan, np.inf])
@pytest.mark.parametrize("layer", [0, 2, -1])
def test_one_number_of_what_attention_mixes_that_is_not_finite_is_an_error_in_any_layer(
    layer: int, number: float, *, compiled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = streaming(compiled=compiled)
    network = engine._networks[engine.models[0].name]
    assert isinstance(network, StreamedNetwork)
    attention, broken_layer = network._network._attention, range(len(network._network.look_ahead))[layer]
    attend = attention.attend

    def broken(k: int, query: Rows, visible_range: VisibleRange) -> Rows:
        context = attend(k, query, visible_range)
        if k == broken_layer:
            context[-1, 11] = number
        return context

    monkeypatch.setattr(attention, "attend", broken)
    with pytest.raises(EngineError, match="ArithmeticError"):
        engine.label([a_request(engine, some_words(12, 1))])


@pytest.mark.parametrize("compiled", WAYS)
@pytest.mark.parametrize("number", [np.nan, 7e4, -7e4])
@pytest.mark.parametrize("column", [7, 49, 383, 384, 767])
def test_one_number_of_one_head_that_is_not_finite_is_an_error_and_never_a_label(
    column: int, number: float, *, compiled: bool
) -> None:
    """An int8 product would make it a number again, but for the first column; and a key may have no weight."""
    engine = streaming(compiled=compiled)
    network = engine._networks[engine.models[0].name]
    assert isinstance(network, StreamedNetwork)
    entrance = network._network._entrance

    class Broken:
        def run(self, names: Sequence[str], given: dict[str, Any]) -> list[Any]:
            fresh, key_value = entrance.run(names, given)
            key_value[1, column] = number
            return [fresh, key_value]

    network._network._entrance = Broken()
    with pytest.raises(EngineError, match="ArithmeticError"):
        engine.label([a_request(engine, some_words(3, 1))])
    network._network._entrance = entrance
    engine.label([a_request(engine, some_words(3, 1))])
