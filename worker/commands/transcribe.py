"""``caesura transcribe``: recordings, captions or text in, transcripts out; no broker, no store."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from caesura.schemas.segments import NumberForm
from caesura.worker.adapters.onnx.engine import OnnxEngine
from caesura.worker.commands.accuracy_warnings import print_accuracy_warnings
from caesura.worker.commands.options import ConfigOption, FormatOption, NumbersOption, SetOption, origin_of
from caesura.worker.commands.progress import SpeechCount, counted, counted_noun
from caesura.worker.commands.replay import AgreeOption
from caesura.worker.commands.tail import CaptionOptions
from caesura.worker.commands.terminal import echo, write
from caesura.worker.core.language.served_languages import unserved
from caesura.worker.core.rendering.cleaning import CleaningLevel
from caesura.worker.errors import CaesuraError, FatalError
from caesura.worker.feeds.file_format import FileFormat, format_named
from caesura.worker.feeds.lines import shown_name
from caesura.worker.feeds.timed_events import TimedEvent
from caesura.worker.option_groups import grouped
from caesura.worker.ports.engine import Engine, served_languages
from caesura.worker.settings.tree import LocalSettings, load_local_settings, models_folder
from caesura.worker.transcripts.decoding import RecordingDecoder
from caesura.worker.transcripts.recording import Recording, open_recording
from caesura.worker.transcripts.writing import TranscriptForm, TranscriptWriter

_ENDINGS = {
    TranscriptForm.TEXT: ".txt",
    TranscriptForm.MARKED: ".marked.txt",
    TranscriptForm.SRT: ".srt",
    TranscriptForm.VTT: ".vtt",
    TranscriptForm.JSONL: ".segments.jsonl",
    TranscriptForm.CONTACT_LENS: ".contact-lens.json",
    TranscriptForm.VCON: ".vcon.json",
    TranscriptForm.OMNISTEVAL: ".omnisteval.jsonl",
}
_LINES = (TranscriptForm.JSONL, TranscriptForm.OMNISTEVAL)
_OF_ONE = (TranscriptForm.SRT, TranscriptForm.VTT, TranscriptForm.CONTACT_LENS, TranscriptForm.VCON)


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptOptions:
    """What is read, and how the transcript is written."""

    given: FormatOption = FileFormat.AUTO.value
    lang: Annotated[str, typer.Option("--lang", "--language", help="Language of recordings without one (BCP-47).")] = (
        "en"
    )
    output: Annotated[
        TranscriptForm,
        typer.Option(
            metavar="FORM",
            help="text: paragraphs, fillers and repairs left out. marked: every word, with [reparanda] and {fillers}. "
            "srt, vtt: captions. jsonl: each frozen segment as a line of JSON. contact-lens: Amazon "
            "Contact Lens' form of a call, with talk time and interruptions. vcon: a vCon of its parties and words. "
            "omnisteval: a line a session for the latency measure OmniSTEval.",
        ),
    ] = TranscriptForm.TEXT
    into: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Write a file for each recording into this folder instead of printing."),
    ] = None
    times: Annotated[bool, typer.Option(help="text, marked: say when each paragraph begins.")] = True
    level: Annotated[
        CleaningLevel, typer.Option(metavar="LEVEL", help="What is left out, as in `caesura punctuate`.")
    ] = CleaningLevel.FULL
    numbers: NumbersOption = NumberForm.WORDS
    agree: AgreeOption = None


@grouped
def transcribe(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...", help="A recogniser's output, captions, word events or text; - is standard input."
        ),
    ],
    config: ConfigOption = None,
    assignments: SetOption = None,
    *,
    wanted: TranscriptOptions,
    captions: CaptionOptions,
) -> None:
    """Make a transcript of each recording, without Kafka.

    The format is recognised by what stands in a file (docs/recognisers.md). The speakers, channels and sessions of a
    file are one conversation: they stand side by side in order of time, with their names. The decoding is the worker's.
    What comes on standard input is written as soon as its place is certain. A file that cannot be read is named, the
    others are written, and the status is 1.
    """
    if wanted.output in _OF_ONE and len(files) > 1 and wanted.into is None:
        raise FatalError(
            f"{wanted.output} of {len(files)} files go into {len(files)} files: say where with --into FOLDER"
        )
    settings = load_local_settings(origin_of(config, assignments))
    targets = _targets(files, wanted)
    engine = OnnxEngine(models_folder(settings.worker), active=settings.worker.active_models)
    print_accuracy_warnings(engine.doubts)
    if (told := unserved(wanted.lang, served_languages(engine.models))) is not None:
        echo(told, err=True)
    failed = False
    for number, file in enumerate(files):
        transcription = _Transcription(engine=engine, settings=settings, wanted=wanted, captions=captions)
        headed = len(files) > 1 and file not in targets and wanted.output not in _LINES
        head = ("\n" if number else "") + f"{shown_name(file)}\n\n" if headed else ""
        try:
            failed |= not transcription.write(file, targets.get(file), head=head)
        except CaesuraError as error:
            if len(files) == 1:
                raise
            echo(f"caesura: {error}", err=True)
            failed = True
    if failed:
        raise typer.Exit(1)


def _targets(files: Iterable[str], wanted: TranscriptOptions) -> dict[str, Path]:
    """Return the file that each recording's transcript is written to. FatalError: two would be one, or no folder."""
    if wanted.into is None:
        return {}
    if not wanted.into.is_dir():
        raise FatalError(f"--into {wanted.into}: there is no such folder")
    targets: dict[str, Path] = {}
    for file in files:
        stem = "stdin" if file == "-" else Path(file).stem
        target = wanted.into / f"{stem}{_ENDINGS[wanted.output]}"
        if target in targets.values():
            raise FatalError(f"--into {wanted.into}: two recordings would be written to {target.name}")
        if target.exists() and file != "-" and target.samefile(file):
            raise FatalError(f"--into {wanted.into}: the transcript of {shown_name(file)} would replace it")
        targets[file] = target
    return targets


@dataclass(frozen=True, slots=True, kw_only=True)
class _Transcription:
    """Makes the transcript of one file."""

    engine: Engine
    settings: LocalSettings
    wanted: TranscriptOptions
    captions: CaptionOptions

    def write(self, file: str, target: Path | None, *, head: str = "") -> bool:
        """Write a file's transcript and say on stderr what came of it; False where words of it were refused.

        head: to print before a transcript, once the file is open.
        """
        wanted = self.wanted
        recording = open_recording(file, lang=wanted.lang, given=format_named(wanted.given), agreement=wanted.agree)
        write(head)
        decoder = RecordingDecoder(self.engine, self.settings.decoding)
        count = SpeechCount()
        live = file == "-" or wanted.output is TranscriptForm.OMNISTEVAL  # its delays are of each event
        events = recording.events if live or not sys.stderr.isatty() else counted(recording.events, doing="events")
        pieces = self._writer(recording).written(decoder.decoded(_noted(events, count), live=live), live=live)
        if target is None:
            for piece in pieces:
                write(piece)
        else:
            _write_whole(target, "".join(pieces))
        shown = shown_name(file)
        written = f", written to {shown_name(str(target))}" if target is not None else ""
        echo(f"{shown}: {recording.format}, {count.told(count.events, 'event')}{written}", err=True)
        for reason, refused in decoder.refused.items():
            echo(f"{shown}: {counted_noun(refused, 'event')} refused: {reason}", err=True)
        return not decoder.refused

    def _writer(self, recording: Recording) -> TranscriptWriter:
        return TranscriptWriter(
            name=shown_name(recording.name),
            form=self.wanted.output,
            limits=self.captions.limits,
            cleaning=self.settings.worker.cleaning(self.wanted.level),
            overlays=self.settings.worker.overlays(self.wanted.numbers),
            times=self.wanted.times,
            sides=not recording.is_text,
        )


def _noted(events: Iterable[TimedEvent], count: SpeechCount) -> Iterator[TimedEvent]:
    for timed in events:
        count.take(timed.event)
        yield timed


def _write_whole(target: Path, text: str) -> None:
    """Write a file in one go; one that is there is replaced. FatalError where it cannot be written."""
    try:
        target.write_text(text, encoding="utf-8")
    except OSError as error:
        raise FatalError(f"{shown_name(str(target))} cannot be written: {error.strerror}") from error
