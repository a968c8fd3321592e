"""Chinese through a whole session, with the real segmenter, whatever units the recogniser sends."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from caesura.schemas.events import Word
from caesura.schemas.segments import Segment
from caesura.worker.core.language.segmentation import segmenters
from tests.harness.partition_driver import Driver, event, however_grouped
from tests.harness.speech import said

TEXT = "我们今天下午去北京大学开会然后呃他说明天可能会下雨所以我们要早一点出发请大家带好雨伞和身份证"


def _segments(units: list[str], events: list[int], *, restarts: list[bool]) -> list[Segment]:
    driver = Driver(segmenters=segmenters)
    for seq, size in enumerate(events):
        taken, units = units[:size], units[size:]
        driver.give(event(seq, [Word(text=text) for text in taken], lang="zh"))
        if restarts[seq % len(restarts)]:
            driver.restart()
    driver.give(event(len(events), [Word(text=text) for text in units], lang="zh", session_end=True))
    return driver.segments


sizes = st.lists(st.integers(0, 9), max_size=12)


@settings(max_examples=40)
@given(
    cuts=st.sets(st.integers(1, len(TEXT) - 1)), one=sizes, other=sizes, restarts=st.lists(st.booleans(), min_size=1)
)
def test_grouping_and_restarts_change_nothing_and_no_character_is_lost(
    cuts: set[int], one: list[int], other: list[int], restarts: list[bool]
) -> None:
    ends = [*sorted(cuts), len(TEXT)]
    units = [TEXT[start:end] for start, end in zip([0, *ends], ends, strict=False)]

    segments = _segments(units, one, restarts=[False])

    assert however_grouped(segments) == however_grouped(_segments(units, other, restarts=restarts))
    assert "".join(said(segments)) == TEXT
