"""The streaming engine beside the full run of the same weights: whatever was asked before, the labels are the same."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from caesura.worker.adapters.onnx.engine import OnnxEngine
from caesura.worker.errors import EngineError
from caesura.worker.inference.attention.attention import VisibleRange
from caesura.worker.inference.attention.compiled_attention import COMPILED
from caesura.worker.inference.kv_cache.kv_cache import Rows
from caesura.worker.inference.network.row_network import RowStep
from caesura.worker.inference.network.streamed_network import StreamedNetwork
from tests.harness.places import SHIPPED
from tests.harness.shipped_models import ENGLISH
from tests.unit.inference.attentions import (
    MODELS,
    WAYS,
    a_request,
    same_scores,
    some_words,
    streaming,
    used_before,
    whole_buffers,
)

pytestmark = pytest.mark.slow

EXAMPLES = settings(max_examples=15)


seeds = st.integers(0, 10_000)
grown_by = st.lists(st.integers(1, 14), min_size=1, max_size=8)


@EXAMPLES
@given(steps=grown_by, seed=seeds, data=st.data(), model=st.sampled_from(MODELS))
def test_a_buffer_that_grows_is_labelled_as_the_full_run_labels_it(
    steps: list[int], seed: int, data: st.DataObject, model: str
) -> None:
    words, engine = some_words(sum(steps), seed), used_before(model, COMPILED)
    engine.forget("one")
    size = known = 0
    for step in steps:
        size += step
        end = data.draw(st.integers(known, size), label="end")
        if end > known:
            request = a_request(engine, words[:size], first=known, end=end)
            (streamed,), (whole,) = engine.score([request]), whole_buffers(model).score([request])
            assert same_scores(streamed, whole, model=model)
        known = max(known, min(end, size - 9))


@EXAMPLES
@given(seed=seeds, data=st.data())
def test_cached_rows_always_equal_those_of_a_fresh_engine(seed: int, data: st.DataObject) -> None:
    engine = used_before(ENGLISH, COMPILED)
    words = {name: some_words(70, seed + number) for number, name in enumerate("abc")}
    starts, ends = dict.fromkeys(words, 0), dict.fromkeys(words, 3)
    for _ in range(data.draw(st.integers(1, 6), label="rounds")):
        requests = []
        for name, said in words.items():
            what = data.draw(st.sampled_from(["grow", "cut", "roll back", "other words", "forget", "wait"]), label=name)
            if what == "wait":
                continue
            if what == "forget":
                engine.forget(name)
            if what == "cut":
                starts[name] = min(starts[name] + data.draw(st.integers(1, 20)), 60)
            if what == "roll back":
                ends[name] -= data.draw(st.integers(1, 9))
            if what == "other words":
                said[ends[name] - 1] += "x"
            ends[name] = min(max(ends[name] + data.draw(st.integers(0, 12)), starts[name] + 1), 70)
            size = ends[name] - starts[name]
            first = data.draw(st.integers(0, size - 1))
            end = data.draw(st.integers(first + 1, size))
            requests.append(a_request(engine, said[starts[name] : ends[name]], session=name, first=first, end=end))
        for request, streamed in zip(requests, engine.score(requests), strict=True):
            (whole,) = whole_buffers(ENGLISH).score([request])
            assert same_scores(streamed, whole)


@pytest.mark.parametrize("compiled", WAYS)
@pytest.mark.parametrize("model", MODELS)
def test_cached_and_recomputed_rows_are_bit_identical(model: str, *, compiled: bool) -> None:
    """Up to 385 pieces: beyond 320 NumPy's products were halved on an EPYC without AVX-512."""
    kept = used_before(model, compiled)
    anew = streaming(max_kept_bytes=0, compiled=compiled, model=model)
    kept.forget("one")
    words = some_words(384, 7) if kept.models[0].language == "zh" else _long_words(48)
    for size in range(len(words) // 4, len(words) + 1, len(words) // 4):
        request = a_request(kept, words[:size], first=size - 2)
        (mine,), (yours,) = kept.score([request]), anew.score([request])
        for one, other in zip(mine, yours, strict=True):
            np.testing.assert_array_equal(one, other)


def _long_words(count: int) -> list[str]:
    """Return words of eight pieces each, which is as many as one may have."""
    return ["".join(random.Random(number).choices("bcdfghjklmnpqrstvwxz", k=30)) for number in range(count)]


def test_a_settled_word_computes_one_row_a_layer_and_an_early_one_more() -> None:
    """docs/design.md, *The engine*, for twelve layers, of which six look a word ahead: three words a step.

    Where T is L, a row a layer: 36. At T = 3 a tail of three words in each layer but the two lowest, 33 rows more.
    """
    for look_ahead, a_step in ((6, 36), (3, 69)):
        engine, words = streaming(), some_words(60, 1)
        engine.label([a_request(engine, words[:30], end=30 - look_ahead)])
        before = engine.work.layer_rows
        engine.label([a_request(engine, words[:33], first=24, end=33 - look_ahead)])
        assert engine.work.layer_rows - before == a_step
        assert engine.work.begun_buffers == 1


def test_a_buffer_is_recomputed_only_if_it_begins_with_other_words() -> None:
    engine, words = streaming(), some_words(60, 2)
    begun = []
    for start, size in ((0, 12), (0, 15), (0, 15), (4, 11), (4, 14), (4, 13), (4, 14)):
        engine.label([a_request(engine, words[start : start + size], first=size - 3)])
        begun.append(engine.work.begun_buffers)
    assert begun == [1, 1, 1, 2, 2, 3, 3]


def test_settled_labels_that_are_asked_again_are_recomputed() -> None:
    engine, words = streaming(), some_words(20, 3)
    (first,) = engine.label([a_request(engine, words)])
    assert engine.label([a_request(engine, words, first=14)]) == [first.part(14, 20)]
    assert engine.work.begun_buffers == 1
    assert engine.label([a_request(engine, words)]) == [first]
    assert engine.work.begun_buffers == 2


def test_two_buffers_of_one_name_in_one_call_are_both_answered() -> None:
    engine = streaming()
    requests = [a_request(engine, some_words(20, seed)) for seed in (4, 5, 4)]
    for request, streamed in zip(requests, engine.score(requests), strict=True):
        assert same_scores(streamed, whole_buffers(ENGLISH).score([request])[0])


def test_a_session_that_changes_its_model_reuses_no_rows() -> None:
    engine, words = OnnxEngine(SHIPPED, threads=1), some_words(30, 6)
    for model, size in ((MODELS[0], 12), (MODELS[1], 15), (MODELS[0], 18)):
        request = a_request(engine, words[:size], model=model)
        (streamed,), (whole,) = engine.score([request]), whole_buffers(model).score([request])
        assert same_scores(streamed, whole)
    assert engine.work.begun_buffers == 3


def test_kept_bytes_stay_bounded_and_the_least_recent_session_goes_first() -> None:
    engine = streaming(max_kept_bytes=2**21)
    for _ in range(2):
        for seed, name in enumerate(("a", "b", "c", "a")):
            engine.label([a_request(engine, some_words(20, seed % 3), session=name)])
            assert engine.work.kept_bytes <= 2**21
    assert 1 <= engine.work.kept_sessions <= 2
    assert engine.work.evicted_sessions > 0
    begun = engine.work.begun_buffers
    engine.label([a_request(engine, some_words(20, 0), session="a", first=14)])
    assert engine.work.begun_buffers == begun, "the one used last is still there"


def test_rows_are_counted_while_a_pass_computes_and_not_after_a_failure() -> None:
    engine, words = streaming(max_kept_bytes=3 * 2**20), some_words(30, 9)
    network = engine._networks[engine.models[0].name]
    assert isinstance(network, StreamedNetwork)
    engine.label([a_request(engine, words, session=name) for name in ("a", "b")])
    alone, run, during = engine.work.kept_bytes // 2, network._network.run, []

    def watched(batch: Sequence[RowStep]) -> list[NDArray[np.float32]]:
        during.append(engine.work)
        if len(during) > 1:
            raise RuntimeError
        return run(batch)

    network._network.run = watched  # type: ignore[method-assign]
    engine.label([a_request(engine, words, session=name) for name in ("c", "d")])
    assert during[0].kept_sessions == 0, "two go for the two that are computed"
    assert alone < during[0].kept_bytes <= 3 * 2**20 < 4 * alone
    with pytest.raises(EngineError):
        engine.label([a_request(engine, words, session="e")])
    for name in ("c", "d"):
        engine.forget(name)
    assert engine.work.kept_bytes == 0, "what failed is not counted for ever"


def test_a_session_that_alone_is_too_much_takes_no_room_from_the_others() -> None:
    engine = streaming(max_kept_bytes=2**20)
    engine.label([a_request(engine, some_words(20, 11), session="small")])
    engine.label([a_request(engine, some_words(120, 12), session="large")])
    assert (engine.work.kept_sessions, engine.work.evicted_sessions) == (1, 1)
    begun = engine.work.begun_buffers
    engine.label([a_request(engine, some_words(20, 11), session="small", first=14)])
    assert engine.work.begun_buffers == begun


def test_an_engine_that_may_keep_nothing_labels_all_the_same() -> None:
    engine, words = streaming(max_kept_bytes=0), some_words(30, 7)
    for size in (12, 15, 30):
        request = a_request(engine, words[:size])
        assert same_scores(engine.score([request])[0], whole_buffers(ENGLISH).score([request])[0])
    assert (engine.work.kept_sessions, engine.work.kept_bytes) == (0, 0)


def test_a_forgotten_session_leaves_no_cache() -> None:
    engine = streaming()
    engine.label([a_request(engine, some_words(20, 8), session=name) for name in ("a", "b")])
    engine.forget("a")
    engine.forget("b")
    assert (engine.work.kept_sessions, engine.work.kept_bytes) == (0, 0)


@given(seeds, grown_by, st.integers(0, 9))
@EXAMPLES
def test_the_rows_that_wait_are_counted(seed: int, grown: list[int], behind: int) -> None:
    engine, size = used_before(ENGLISH, COMPILED), 0
    words = some_words(sum(grown), seed)
    for more in grown:
        size += more
        engine.label([a_request(engine, words[:size], first=max(0, size - 10), end=max(1, size - behind))])
        network = engine._networks[engine.models[0].name]
        assert isinstance(network, StreamedNetwork)
        for _, kept, nbytes in network._cache._kept.values():
            waiting = sum(map(len, kept.waiting))
            assert waiting == kept.waiting_rows * 2 * network._network.width * 4
            assert nbytes == kept.nbytes == kept.room.nbytes + waiting


@pytest.mark.parametrize("compiled", WAYS)
def test_a_word_computed_again_says_what_it_said_before_to_the_last_bit(*, compiled: bool) -> None:
    kept, anew = streaming(compiled=compiled), streaming(max_kept_bytes=0, compiled=compiled)
    words = some_words(80, 10)
    for size in (*range(3, 60, 3), 61, 62, 70, 71, 80):
        request = a_request(kept, words[:size], first=max(0, size - 12), end=max(1, size - 6))
        others = [a_request(anew, some_words(30, seed), session=f"other-{seed}") for seed in range(3)]
        (streamed,), (computed, *_) = kept.score([request]), anew.score([request, *others])
        assert all((one == two).all() for one, two in zip(streamed, computed, strict=True))


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
        assert same_scores(engine.score([request])[0], whole_buffers(ENGLISH).score([request])[0])
    assert engine.work.begun_buffers == 4, "a's rows are gone, b's are not"


@pytest.mark.parametrize("compiled", WAYS)
@pytest.mark.parametrize("number", [np.nan, np.inf])
@pytest.mark.parametrize("layer", [0, 2, -1])
def test_a_non_finite_attention_output_is_an_error_in_any_layer(
    layer: int, number: float, *, compiled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = used_before(ENGLISH, compiled)
    engine.forget("one")
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
def test_a_non_finite_score_is_an_error_never_a_label(
    column: int, number: float, *, compiled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An int8 product would make it a number again, but for the first column; and a key may have no weight."""
    engine = used_before(ENGLISH, compiled)
    engine.forget("one")
    network = engine._networks[engine.models[0].name]
    assert isinstance(network, StreamedNetwork)
    entrance = network._network._entrance

    class Broken:
        def run(self, names: Sequence[str], given: dict[str, Any]) -> list[Any]:
            fresh, key_value = entrance.run(names, given)
            key_value[1, column] = number
            return [fresh, key_value]

    with monkeypatch.context() as patch:
        patch.setattr(network._network, "_entrance", Broken())
        with pytest.raises(EngineError, match="ArithmeticError"):
            engine.label([a_request(engine, some_words(3, 1))])
    engine.label([a_request(engine, some_words(3, 1))])
