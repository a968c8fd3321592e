"""A conversation as ``tail`` shows it: segments of all sides in order of audio time, and its statistics."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from caesura.schemas.segments import Segment, TranslationSegment
from caesura.worker.core.overlays.rules import NO_OVERLAYS, OverlayRules
from caesura.worker.core.rendering.conversation import Characteristics, ConversationOrder, Placed, in_order, side_name
from caesura.worker.core.rendering.rendering import Style, render_segment
from caesura.worker.escaping import escaped

_HOLD_MS = 10_000
_QUIET_S = 5.0


def whole_order(came: Iterable[Segment | None]) -> list[Placed]:
    """Return all segments that came, in order of audio time."""
    return in_order([segment for segment in came if segment is not None])


def live_order(came: Iterable[Segment | None], now_s: Callable[[], float]) -> Iterator[Placed]:
    """Yield segments in order of audio time while they come. None in ``came`` means that no segment came.

    A segment waits for the other sides for ten seconds of the conversation, or until nothing came for five seconds.
    """
    order = ConversationOrder(hold_ms=_HOLD_MS)
    news_s = now_s()
    for segment in came:
        if segment is not None:
            news_s = now_s()
            yield from order.add(segment)
        elif now_s() - news_s >= _QUIET_S:
            yield from order.finish()
    yield from order.finish()


def text_of(segment: Segment, style: Style, overlays: OverlayRules) -> str:
    """Return a segment's text. A route's segment keeps the text of its route."""
    if isinstance(segment, TranslationSegment):
        return segment.text
    return render_segment(segment, style, overlays=overlays).text


def conversation_line(placed: Placed, style: Style, overlays: OverlayRules = NO_OVERLAYS) -> str | None:
    """Return a segment as a line for people; None for one without words."""
    segment = placed.segment
    if not segment.words:
        return None
    text = text_of(segment, style, overlays)
    minutes, second = divmod(placed.start_ms // 1000, 60)
    hour, minute = divmod(minutes, 60)
    time = f"[{hour:02}:{minute:02}:{second:02}] " if placed.timed else ""
    return f"{time}{escaped(side_name(segment))}: {escaped(text)}"


def talk_lines(numbers: Characteristics) -> Iterator[str]:
    """Yield a conversation's statistics: a header, a line for each side, and the totals."""
    yield f"{'side':32}{'words':>8}{'turns':>8}{'talk s':>10}{'silence s':>11}{'interrupts':>12}"
    interrupts = Counter(one.by for one in numbers.interruptions)
    for side in numbers.sides:
        yield (
            f"{escaped(side.name):32}{side.words:>8}{side.turns:>8}{side.talk_ms / 1000:>10.1f}"
            f"{side.silence_ms / 1000:>11.1f}{interrupts[side.session]:>12}"
        )
    yield (
        f"{numbers.duration_ms / 1000:.1f} s, {numbers.overlap_ms / 1000:.1f} s of overlap, "
        f"{numbers.silence_ms / 1000:.1f} s of silence"
    )
