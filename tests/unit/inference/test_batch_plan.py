"""The plan of a pass: what was compiled says what Python says, of every buffer, and refuses what is none."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from caesura.worker.inference.schedule.batch_plan import COMPILED, BatchPlan, StepRequest, plan_batch
from tests.harness.places import ROOT

_LOOK_AHEADS = st.lists(st.integers(0, 3), min_size=1, max_size=7).map(tuple)
needs_compiled = pytest.mark.skipif(not COMPILED, reason="nothing was compiled at installation")


@st.composite
def _asked(draw: st.DrawFn, look_ahead: Sequence[int]) -> StepRequest:
    ends, word_of = [1], [0]
    for word, count in enumerate(draw(st.lists(st.integers(1, 4), max_size=40)), start=1):
        word_of += [word] * count
        ends.append(len(word_of))
    words = len(ends) - 1
    done = draw(st.none() | st.integers(0, words))
    first = draw(st.integers(min(max(0, (done or 0) - sum(look_ahead)), words), words))
    return StepRequest(ends, word_of, done, first, draw(st.integers(first, words)))


def _told(plan: BatchPlan) -> dict[str, Any]:
    seen = [(own.queries.tolist(), own.begins.tolist(), own.ends.tolist()) for own in plan.visible_ranges]
    alike = [k for k, own in enumerate(plan.visible_ranges[1:]) if own is plan.visible_ranges[k]]
    arrays = {name: getattr(plan, name) for name in ("places", "spans", "entering", "picks")}
    assert {array.dtype for array in arrays.values()} == {np.dtype(np.int32)}
    numbers = {"needed": plan.needed, "waiting": plan.waiting_rows, "layer_rows": plan.layer_rows}
    return {name: (array.shape, array.tolist()) for name, array in arrays.items()} | numbers | {"sights": (seen, alike)}


@needs_compiled
@given(_LOOK_AHEADS, st.data())
def test_what_is_compiled_plans_as_python_does(look_ahead: tuple[int, ...], data: st.DataObject) -> None:
    asked = data.draw(st.lists(_asked(look_ahead), min_size=1, max_size=4))
    back = data.draw(st.none() | st.integers(0, 30), label="look-back")
    compiled, plain = (plan_batch(look_ahead, back, asked, compiled=one) for one in (True, False))
    assert _told(compiled) == _told(plain)


@pytest.mark.parametrize("compiled", [False, pytest.param(True, marks=needs_compiled)])
def test_a_wanted_row_that_is_gone_is_refused(compiled: bool) -> None:
    ends, word_of = [*range(1, 22)], [*range(21)]
    plan_batch((2, 1), None, [StepRequest(ends, word_of, 10, 7, 20)], compiled=compiled)
    with pytest.raises(ValueError, match="gone"):
        plan_batch((2, 1), None, [StepRequest(ends, word_of, 10, 6, 20)], compiled=compiled)


@pytest.mark.parametrize(
    ("look_ahead", "look_back"),
    [((0,) * 65, None), ((2**18,), 2**18), ((2**18 + 1,), None), ((0, 2**70), None), ((0, 1), 2**70)],
)
def test_python_plans_what_the_compiled_planner_refuses(look_ahead: tuple[int, ...], look_back: int | None) -> None:
    asked = [StepRequest([1, 2, 3], [0, 1, 2], None, 0, 2)]
    assert plan_batch(look_ahead, look_back, asked, compiled=True).layer_rows == 2 * len(look_ahead)


@pytest.mark.parametrize(("there", "told"), [("None", "False"), ("ModuleType('without a plan')", "ValueError")])
def test_without_compiled_code_python_plans(there: str, told: str) -> None:
    """In a process of its own, to which the compiled module is not there, or is none."""
    script = f"""
import sys
from types import ModuleType
sys.modules["caesura.worker.inference.native.schedule_kernels"] = {there}
from caesura.worker.inference.schedule.batch_plan import COMPILED, StepRequest, plan_batch
plan_batch((1, 1), None, [StepRequest([1, 2], [0, 1], None, 0, 1)], compiled=True)
print(COMPILED)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False, timeout=60
    )
    assert told in (done.stdout + done.stderr)


def _buffer(**changed: Any) -> tuple[Any, ...]:  # noqa: ANN401 - what no type allows is the point
    kept = {"ends": [1, 2, 4, 5], "word_of": [0, 1, 2, 2, 3], "done": 1, "first": 1, "end": 3}
    return tuple((kept | changed).values())


class _Clears:
    """A number whose own code empties a list that was handed over before it."""

    def __init__(self, given: list[Any]) -> None:
        self.given = given

    def __index__(self) -> int:
        self.given.clear()
        return 1


WRONG: dict[str, tuple[Any, Any, Any]] = {
    "no layers": ((), 5, [_buffer()]),
    "65 layers": ((1,) * 65, 5, [_buffer()]),
    "layers in a list": ([1, 1], 5, [_buffer()]),
    "a layer that looks back": ((1, -1), 5, [_buffer()]),
    "a layer that looks too far": ((1, 2**30), 5, [_buffer()]),
    "a layer in words": ((1, "one"), 5, [_buffer()]),
    "buffers in a tuple": ((1, 1), 5, (_buffer(),)),
    "a buffer in a list": ((1, 1), 5, [list(_buffer())]),
    "a buffer of four": ((1, 1), 5, [_buffer()[:4]]),
    "rows in a tuple": ((1, 1), 5, [_buffer(ends=(1, 2, 4, 5))]),
    "words in a tuple": ((1, 1), 5, [_buffer(word_of=(0, 1, 2, 2, 3))]),
    "no rows": ((1, 1), 5, [_buffer(ends=[])]),
    "rows that are no numbers": ((1, 1), 5, [_buffer(ends=[1, 2, 4, "5"])]),
    "rows that descend": ((1, 1), 5, [_buffer(ends=[1, 9, 4, 5])]),
    "rows below none": ((1, 1), 5, [_buffer(ends=[1, 2, 4, -5])]),
    "rows beyond all memory": ((1, 1), 5, [_buffer(ends=[1, 2, 4, 2**40])]),
    "rows beyond all numbers": ((1, 1), 5, [_buffer(ends=[1, 2, 4, 2**80])]),
    "fewer words than rows": ((1, 1), 5, [_buffer(word_of=[0, 1])]),
    "a word below the first": ((1, 1), 5, [_buffer(word_of=[0, 1, 2, -2, 3])]),
    "a word that is not there": ((1, 1), 1, [_buffer(word_of=[0, 1, 2, 99, 3])]),
    "more words done than there are": ((1, 1), 5, [_buffer(done=4)]),
    "words done in words": ((1, 1), 5, [_buffer(done="one")]),
    "wanted from before the first": ((1, 1), 5, [_buffer(first=-1)]),
    "wanted up to before the first": ((1, 1), 5, [_buffer(end=0)]),
    "wanted up to beyond the last": ((1, 1), 5, [_buffer(end=4)]),
}


@needs_compiled
@pytest.mark.parametrize("wrong", WRONG)
def test_what_does_not_fit_is_refused_and_never_read(wrong: str) -> None:
    from caesura.worker.inference.native import schedule_kernels  # noqa: PLC0415 - not there where nothing was compiled

    schedule_kernels.plan((1, 1), 5, [_buffer()])
    with pytest.raises((ValueError, TypeError, IndexError)):
        schedule_kernels.plan(*WRONG[wrong])


@needs_compiled
def test_a_list_that_is_emptied_while_it_is_read_is_refused() -> None:
    from caesura.worker.inference.native import schedule_kernels  # noqa: PLC0415 - as above

    ends, buffers = [1, 2, 4, 5], list[Any]()
    buffers += [_buffer(ends=ends), _buffer(first=_Clears(ends)), _buffer(first=_Clears(buffers))]
    with pytest.raises(IndexError):
        schedule_kernels.plan((1, 1), 5, buffers)
