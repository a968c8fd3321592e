"""``caesura punctuate``: text in, labelled text out, by the streaming core that the worker runs; no broker."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated

import msgspec
import typer

from caesura.schemas.segments import NumberForm, Segment
from caesura.worker.adapters.onnx.engine import OnnxEngine
from caesura.worker.commands.accuracy_warnings import print_accuracy_warnings
from caesura.worker.commands.language import LanguageOfText
from caesura.worker.commands.options import ConfigOption, NumbersOption, SetOption, origin_of
from caesura.worker.commands.progress import counted
from caesura.worker.commands.terminal import echo, write
from caesura.worker.core.language.rules import DecodingRules
from caesura.worker.core.language.segmentation import segmenters
from caesura.worker.core.language.served_languages import unserved
from caesura.worker.core.overlays.rules import NO_OVERLAYS, OverlayRules
from caesura.worker.core.rendering.cleaning import Cleaning, CleaningLevel
from caesura.worker.core.rendering.joined_text import joined_text
from caesura.worker.core.rendering.rendering import Style, render_segment
from caesura.worker.core.session.stream import LabelSource, StreamingLabeller
from caesura.worker.errors import FatalError
from caesura.worker.feeds.file_format import LOOKED_AT_LINES, spoken_format
from caesura.worker.feeds.foreign_files import is_lone_value
from caesura.worker.feeds.formats.text import SpokenLines
from caesura.worker.feeds.lines import read_lines, shown_name
from caesura.worker.feeds.speaker_labels import SpeakerLabels
from caesura.worker.option_groups import grouped
from caesura.worker.ports.engine import served_languages
from caesura.worker.settings.tree import load_local_settings, models_folder

_SPACE = re.compile(r"(\s+)")


class Output(StrEnum):
    """What is printed."""

    VERBATIM = "verbatim"
    MARKED = "marked"
    FLUENT = "fluent"
    JSONL = "jsonl"


@dataclass(frozen=True, slots=True, kw_only=True)
class FluentOptions:
    """What a fluent text leaves out, and how numbers are written."""

    keep_fillers: Annotated[bool, typer.Option("--keep-fillers", help="fluent: leave fillers in.")] = False
    keep_reparanda: Annotated[bool, typer.Option("--keep-reparanda", help="fluent: leave repairs in.")] = False
    level: Annotated[
        CleaningLevel,
        typer.Option(
            metavar="LEVEL",
            help="What fluent leaves out. off: nothing; light: sounds such as um; medium: all fillers and repeated "
            "words; full: also all words that were taken back.",
        ),
    ] = CleaningLevel.FULL
    numbers: NumbersOption = NumberForm.WORDS


@grouped
def punctuate(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="Text with white space between its words; - is standard input.")
    ] = "-",
    config: ConfigOption = None,
    assignments: SetOption = None,
    *,
    lang: Annotated[
        str, typer.Option("--lang", "--language", help="Language of the text (BCP-47), such as en or zh.")
    ] = "en",
    output: Annotated[
        Output,
        typer.Option(
            metavar="FORM",
            help="verbatim: the words as they came. marked: all words, with marks, [reparanda] and {fillers}. fluent: "
            "marks restored, fillers and reparanda left out. jsonl: each frozen segment as a line of JSON.",
        ),
    ] = Output.FLUENT,
    fluent: FluentOptions,
) -> None:
    """Punctuate text without Kafka and Redis.

    One line is one session. The same streaming core as in the worker decodes it, three words a step and six words of
    look-ahead at a sentence end, so the labels are those that a live session would get. A speaker's label before a line
    is kept as it is.
    """
    settings = load_local_settings(origin_of(config, assignments))
    engine = OnnxEngine(models_folder(settings.worker), active=settings.worker.active_models)
    print_accuracy_warnings(engine.doubts)
    if (told := unserved(lang, served_languages(engine.models))) is not None:
        echo(told, err=True)
    lines = Lines(
        engine=engine,
        lang=lang,
        rules=settings.decoding,
        style=None if output is Output.JSONL else Style(output.value),
        keep_fillers=fluent.keep_fillers,
        keep_reparanda=fluent.keep_reparanda,
        cleaning=settings.worker.cleaning(fluent.level),
        overlays=settings.worker.overlays(fluent.numbers),
    )
    given = _text_lines(file)
    if file != "-" and not sys.stdout.isatty():  # else the text itself shows how far it has come
        given = counted(given, doing="lines")
    language = LanguageOfText(lang)
    if file == "-" and sys.stdin.isatty():
        given = _prompted(given)
    labels = None
    if file != "-":  # what comes live is not kept waiting for its labels to recur
        whole = list(given)
        labels, given = SpeakerLabels(whole), iter(whole)
    spoken = SpokenLines(labels)
    for number, line in enumerate(given, start=1):
        speaker, said = spoken.take(line)
        if (told := language.notice([said])) is not None:
            echo(told, err=True)
        session = f"line-{number}/{speaker}" if speaker else f"line-{number}"
        label = line[: len(line) - len(said)] if output is not Output.JSONL else ""
        write(label + lines.punctuated(said, session=session))


def _text_lines(file: str) -> Iterator[str]:
    """Yield the lines of a text as they come. FatalError: it is JSON or captions."""
    lines = read_lines(file)
    head: list[str] = []
    while (line := next(lines, None)) is not None:
        head.append(line)
        if len(head) == LOOKED_AT_LINES or (file == "-" and _answered_at_once("".join(head).strip())):
            break
    if (other := spoken_format(file, head)) is not None:
        raise FatalError(f"{shown_name(file)} is {other}, not text: `caesura transcribe` makes a transcript of it")
    yield from head
    yield from lines


def _answered_at_once(text: str) -> bool:
    """Tell whether standard input is answered before more of it is read: a number alone may begin captions."""
    return bool(text) and (sys.stdin.isatty() or not (text.isdigit() or is_lone_value(text)))


def _prompted(lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines typed at a terminal, each asked for; what is asked goes to stderr, apart from the answers."""
    echo("Type or paste a line and press Enter: each line is a session of its own. Ctrl-D ends.", err=True)
    typed = iter(lines)
    while True:
        write("> ", err=True)
        line = next(typed, None)
        if line is None:
            echo(err=True)
            return
        yield line


@dataclass(frozen=True, slots=True, kw_only=True)
class Lines:
    """How lines are punctuated, each as a session of its own. style: None writes segments as JSON lines."""

    engine: LabelSource
    lang: str
    rules: DecodingRules
    style: Style | None
    keep_fillers: bool = False
    keep_reparanda: bool = False
    cleaning: Cleaning = field(default_factory=Cleaning)
    overlays: OverlayRules = NO_OVERLAYS

    def punctuated(self, line: str, *, session: str) -> str:
        """Return what is printed for a line, with its line ends; nothing for an empty line in JSON lines."""
        segments = self._segments(line.split(), session)
        if self.style is None:
            return "".join(msgspec.json.encode(segment).decode() + "\n" for segment in segments)
        if self.style is Style.VERBATIM:
            return _verbatim(line, segments)
        texts = [
            render_segment(
                segment,
                self.style,
                keep_fillers=self.keep_fillers,
                keep_reparanda=self.keep_reparanda,
                cleaning=self.cleaning,
                overlays=self.overlays,
            ).text
            for segment in segments
        ]
        return joined_text(texts, segments) + "\n"

    def _segments(self, words: Sequence[str], session: str) -> list[Segment]:
        if not words:
            return []
        labeller = StreamingLabeller(self.engine, self.lang, self.rules, segmenters=segmenters, session=session)
        return [*labeller.add(words), *labeller.end()]


def _verbatim(line: str, segments: Sequence[Segment]) -> str:
    """Return the frozen words with the line's own white space between them: byte for byte the line, if all is well."""
    published = "".join(word.text for segment in segments for word in segment.words)
    return "".join(_between(published, _SPACE.split(line)))


def _between(published: str, parts: Sequence[str]) -> Iterator[str]:
    at = 0
    for part in parts:
        if part.isspace():
            yield part
        else:
            yield published[at : at + len(part)]
            at += len(part)
