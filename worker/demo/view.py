"""The demo's picture: grey while a word may still get its labels, its final look once it is frozen."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.text import Text

from schemas.segments import Cause, TranslationSegment
from worker.core.rendering import Style, render_segment
from worker.core.typography import typography_of
from worker.demo.stage import Speaker, Stage

__all__ = ["picture", "plain_lines"]

_LOOK = {"RM": "red strike dim", "IM": "yellow strike dim"}
_COLOURS = ("cyan", "magenta", "green", "yellow")
_MARK = "bold bright_green"
_WHY = {
    Cause.SENTENCE: "a sentence ended",
    Cause.SILENCE: "silence",
    Cause.LENGTH: "buffer full",
    Cause.END: "session ended",
}


def picture(stage: Stage, parts: str) -> RenderableType:
    """Return the whole screen: what runs, a panel a speaker, how to read it."""
    legend = Text.assemble(
        ("grey", "grey50"),
        ": heard, not yet frozen   ",
        ("white", "bright_white"),
        ": frozen for good   ",
        ("strike", "yellow strike dim"),
        "/",
        ("strike", "red strike dim"),
        ": filler, repair   ",
        ("▸ ", "bold"),
        "the caption, as sent to translation",
        style="dim",
    )
    head = Text.assemble(("caesura ", "bold"), (parts, "dim"))
    panels = [_panel(speaker, _COLOURS[i % len(_COLOURS)]) for i, speaker in enumerate(stage.speakers.values())]
    return Group(head, *panels, legend)


def _panel(speaker: Speaker, colour: str) -> Panel:
    last = speaker.segments[-1] if speaker.segments else None
    why = f" {_WHY.get(last.cause, last.cause.value)} " if last is not None else ""
    return Panel(
        Group(_heard(speaker), _captions(speaker, colour)),
        title=f"[bold]{speaker.name}[/] [dim]{speaker.lang}[/]",
        title_align="left",
        subtitle=f"[dim]{why}[/]" if why else None,
        subtitle_align="right",
        border_style=colour,
    )


def _heard(speaker: Speaker) -> Text:
    """Return every word: frozen ones with marks and what they are, the others in grey."""
    typography = typography_of(speaker.lang)
    gap = " " if typography.spaced else ""
    text = Text()
    for word in speaker.published:
        kind = word.disfluency.partition("-")[2]
        text.append(word.text, style=_LOOK.get(kind, "bright_white"))
        if word.punctuation != "none":
            text.append(typography.marks[word.punctuation], style=_MARK)
        text.append(gap)
    text.append(gap.join(speaker.pending), style="grey50")
    return text


def _captions(speaker: Speaker, colour: str) -> Text:
    gap = " " if typography_of(speaker.lang).spaced else ""
    caption = gap.join(segment.text for segment in speaker.segments if segment.text)
    return Text.assemble(("▸ ", f"bold {colour}"), (caption, colour))


def plain_lines(segment: TranslationSegment, elapsed_s: float) -> Iterator[str]:
    """Yield a segment for a reader without a terminal: all words with their labels, then the caption."""
    if not segment.words:
        return
    why = _WHY.get(segment.cause, segment.cause.value)
    yield f"{elapsed_s:5.1f} s  {segment.session:6} {render_segment(segment, Style.MARKED).text}   ({why})"
    yield f"{'':15} > {segment.text}"
