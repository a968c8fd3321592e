"""The demo's picture: grey while a word may still get its labels, its final look once it is frozen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rich.console import Console, Group, RenderableType
from rich.panel import Panel
from rich.text import Text

from schemas.segments import Cause, TranslationSegment
from worker.core.rendering import Style, render_segment
from worker.core.typography import typography_of
from worker.demo.stage import Speaker, Stage

__all__ = ["picture", "plain_lines"]

_LOOK = {"RM": "red strike dim", "IM": "yellow strike dim"}
_COLOURS = ("cyan", "magenta", "green", "yellow")
_FRAME_LINES, _PANEL_LINES, _PANEL_COLUMNS = 3, 2, 4
_MEASURE = Console(width=200)
_MARK = "bold bright_green"
_WHY = {
    Cause.SENTENCE: "a sentence ended",
    Cause.SILENCE: "silence",
    Cause.LENGTH: "buffer full",
    Cause.END: "session ended",
}


def picture(stage: Stage, parts: str, *, width: int, height: int) -> RenderableType:
    """Return the whole screen, within ``width`` and ``height``: what runs, a panel a speaker, how to read it."""
    legend = Text.assemble(
        ("grey", "grey50"),
        " not frozen yet · ",
        ("white", "bright_white"),
        " frozen for good · ",
        ("filler", "yellow strike"),
        " ",
        ("repair", "red strike"),
        " · ",
        ("▸", "bold"),
        " caption sent",
        style="dim",
    )
    head = Text.assemble(("caesura  ", "bold"), (parts, "dim"))
    head.truncate(width, overflow="ellipsis")
    speakers = list(stage.speakers.values())
    lines = max(1, ((height - _FRAME_LINES) // max(1, len(speakers)) - _PANEL_LINES) // 2)
    room = _Room(width=width - _PANEL_COLUMNS, lines=lines)
    panels = [_panel(speaker, _COLOURS[i % len(_COLOURS)], room) for i, speaker in enumerate(speakers)]
    return Group(head, *panels, legend)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Room:
    """What a text has within its panel: columns, and lines, of which it shows its last ones."""

    width: int
    lines: int

    def fit(self, text: Text) -> Text:
        """Return the text's last lines that there is room for."""
        return Text("\n").join(text.wrap(_MEASURE, self.width)[-self.lines :])

    def fit_after(self, sign: Text, text: Text) -> Text:
        """Return the text with a sign before its first line and its width of space before the others."""
        narrow = _Room(width=self.width - sign.cell_len, lines=self.lines)
        lines = narrow.fit(text).split("\n")
        margins = [sign, *[Text(" " * sign.cell_len)] * (len(lines) - 1)]
        return Text("\n").join(Text.assemble(margin, line) for margin, line in zip(margins, lines, strict=True))


def _panel(speaker: Speaker, colour: str, room: _Room) -> Panel:
    last = speaker.segments[-1] if speaker.segments else None
    why = f" {_WHY.get(last.cause, last.cause.value)} " if last is not None else ""
    unlabelled = " · no model yet: words alone" if last is not None and last.model is None else ""
    return Panel(
        Group(room.fit(_heard(speaker)), room.fit_after(Text("▸ ", f"bold {colour}"), _captions(speaker, colour))),
        title=f"[bold]{speaker.name}[/] [dim]{speaker.lang}{unlabelled}[/]",
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
    return Text(caption, colour)


def plain_lines(segment: TranslationSegment, elapsed_s: float) -> Iterator[str]:
    """Yield a segment for a reader without a terminal: all words with their labels, then the caption."""
    if not segment.words:
        return
    why = _WHY.get(segment.cause, segment.cause.value)
    yield f"{elapsed_s:5.1f} s  {segment.session:6} {render_segment(segment, Style.MARKED).text}   ({why})"
    yield f"{'':15} > {segment.text}"
