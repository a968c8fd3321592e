"""The demo's picture: grey while a word may still get its labels, its final look once it is frozen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.console import Console, Group, RenderableType
from rich.panel import Panel
from rich.text import Text

from caesura.schemas.labels import kind_of
from caesura.schemas.segments import Cause, TranslationSegment
from caesura.worker.core.rendering.rendering import Style, render_segment
from caesura.worker.core.rendering.typography import typography_of
from caesura.worker.demo.stage import Speaker, Stage

_LOOK = {"RM": "red strike dim", "IM": "yellow strike dim"}
_COLOURS = ("cyan", "magenta", "green", "yellow")
_HEAD_LINES, _LEGEND_LINES, _PANEL_LINES, _PANEL_COLUMNS = 2, 1, 2, 4
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
    head = Text("\n").join(Text.assemble(("caesura  ", "bold"), (parts, "dim")).wrap(_MEASURE, width)[:_HEAD_LINES])
    speakers = list(stage.speakers.values())
    inner = width - _PANEL_COLUMNS
    texts = [text for one in speakers for text in (_heard(one), _captions(one, "default"))]
    needs = [
        max(1, len(text.wrap(_MEASURE, inner - sign))) for text, sign in zip(texts, (0, 2) * len(speakers), strict=True)
    ]
    spare = height - _HEAD_LINES - _LEGEND_LINES - _PANEL_LINES * len(speakers)
    lines = shares(needs, spare)
    panels = [
        _panel(speaker, _COLOURS[i % len(_COLOURS)], _Room(width=inner, heard=lines[2 * i], captions=lines[2 * i + 1]))
        for i, speaker in enumerate(speakers)
    ]
    return Group(head, *panels, legend)


def shares(needs: Sequence[int], lines: int) -> list[int]:
    """Return how many of the lines each text gets: one at least, none more than it needs, the shortest first."""
    given = [1] * len(needs)
    for _ in range(lines - len(needs)):
        wanting = [at for at, need in enumerate(needs) if given[at] < need]
        if not wanting:
            break
        given[min(wanting, key=lambda at: (given[at], at))] += 1
    return given


@dataclass(frozen=True, slots=True, kw_only=True)
class _Room:
    """What the texts have within a panel: columns, and lines, of which each shows its last ones."""

    width: int
    heard: int
    captions: int

    def fit_heard(self, text: Text) -> Text:
        """Return the last lines of what was heard."""
        return Text("\n").join(text.wrap(_MEASURE, self.width)[-self.heard :])

    def fit_captions(self, sign: Text, text: Text) -> Text:
        """Return the last lines of the captions, a sign before the first and its width of space before the others."""
        lines = text.wrap(_MEASURE, self.width - sign.cell_len)[-self.captions :] or [Text()]
        margins = [sign, *[Text(" " * sign.cell_len)] * (len(lines) - 1)]
        return Text("\n").join(Text.assemble(margin, line) for margin, line in zip(margins, lines, strict=True))


def _panel(speaker: Speaker, colour: str, room: _Room) -> Panel:
    last = speaker.segments[-1] if speaker.segments else None
    why = f" {_WHY.get(last.cause, last.cause.value)} " if last is not None else ""
    unlabelled = " · no model yet: words alone" if last is not None and last.model is None else ""
    return Panel(
        Group(
            room.fit_heard(_heard(speaker)), room.fit_captions(Text("▸ ", f"bold {colour}"), _captions(speaker, colour))
        ),
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
        text.append(word.text, style=_LOOK.get(kind_of(word.disfluency), "bright_white"))
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
