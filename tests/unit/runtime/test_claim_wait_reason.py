"""Why a partition waits: a failed call is published by its place in the error tree, whatever raised it."""

from __future__ import annotations

import inspect

import caesura.worker.errors
from caesura.worker.errors import RetriableError, StoreError
from caesura.worker.ports.reasons import ClaimWaitReason


def test_a_failed_call_is_named_as_its_error_is() -> None:
    kinds = [
        kind
        for _, kind in inspect.getmembers(caesura.worker.errors, inspect.isclass)
        if issubclass(kind, RetriableError)
    ]
    assert {ClaimWaitReason.of_fault(kind("away")) for kind in kinds} == {kind.__name__ for kind in kinds}


def test_an_error_without_a_name_of_its_own_is_called_by_what_it_is_one_of() -> None:
    class TimeOutError(StoreError):
        pass

    assert ClaimWaitReason.of_fault(TimeOutError("away")) is ClaimWaitReason.STORE_FAILED


def test_of_all_reasons_a_refused_save_alone_says_that_something_newer_may_own_the_state() -> None:
    assert [reason for reason in ClaimWaitReason if reason.fenced] == [ClaimWaitReason.SAVE_REFUSED]
