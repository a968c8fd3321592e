"""The same segments on both sides of the benchmark against FunASR: of nothing nobody says that it is the same."""

from __future__ import annotations

import pytest

pytest.importorskip("torch", reason="the benchmark exports networks")


def test_segments_agree_up_to_what_one_side_alone_has_cut() -> None:
    from bench.funasr.__main__ import agree  # noqa: PLC0415 - needs torch

    assert agree([[3, 4]], [[3, 4, 5], [9]])
    assert not agree([[3, 4]], [[3, 5, 4]])
    assert not agree([], [[3]])
    assert not agree([[]], [[3]])
    with pytest.raises(ValueError, match="shorter"):
        agree([[3], [3]], [[3]])
