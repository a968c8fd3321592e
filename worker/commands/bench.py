"""``caesura bench``: measures how many sessions this machine can serve, and prints settings; no Kafka or Redis."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from typing import Annotated

import typer

from caesura.worker.adapters.onnx.cpu_quota import threads_allowed
from caesura.worker.adapters.onnx.engine import OnnxEngine
from caesura.worker.commands.options import ConfigOption, SetOption, origin_of
from caesura.worker.commands.terminal import echo, write
from caesura.worker.core.language.dictionary import load_dictionary
from caesura.worker.errors import FatalError
from caesura.worker.option_groups import grouped
from caesura.worker.ports.engine import served_languages
from caesura.worker.settings.tree import load_local_settings, models_folder
from caesura.worker.sizing.advice import SHARE_GIVEN, Advice, advise
from caesura.worker.sizing.measuring import OVERHEAD, OWN_DELAY_MS, Measured, Measurement
from caesura.worker.sizing.speech import SPOKEN, WORDS_A_SECOND

_ALL_ROWS = 2**40
_BUSY_MACHINE = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class SpokenLoad:
    """What is spoken: in which language, for how long in a stage, and by how many."""

    language: Annotated[
        str, typer.Option("--language", "--lang", help=f"Language of the speech: {' or '.join(SPOKEN)}.")
    ] = "en"
    seconds: Annotated[
        float, typer.Option(min=0.5, max=60, help="Seconds of speech a stage; more gives steadier figures.")
    ] = 4.0
    first: Annotated[int, typer.Option(min=1, max=1_000_000, help="Sessions of the first stage.")] = 64
    most: Annotated[int, typer.Option(min=1, max=1_000_000, help="Sessions of the last stage.")] = 8192
    delay_ms: Annotated[
        int, typer.Option(min=1, max=60_000, help="Delay allowed for a word of the worker's own, milliseconds.")
    ] = OWN_DELAY_MS

    def require_speech(self) -> None:
        """Raise FatalError where nothing could be said, or the rise would have no stage."""
        if self.language not in SPOKEN:
            raise FatalError(f"there is no speech in {self.language!r}, only in {', '.join(SPOKEN)}")
        if self.first > self.most:
            raise FatalError(
                f"--first {self.first} is more than --most {self.most}: the rise would end before it began"
            )


@grouped
def bench(
    load: SpokenLoad,
    *,
    config: ConfigOption = None,
    assignments: SetOption = None,
    sessions: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=1_000_000_000,
            help="Live sessions to plan for; by default those of one worker.",
            show_default=False,
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
) -> None:
    """Measure in a minute how many sessions this machine carries.

    It prints replicas, CPU and memory to set. Synthetic speech goes through the worker's decoding and the model, on one
    core, without Kafka and Redis: a backlog, then live sessions in rising numbers. A measured factor adds the cost of
    the Kafka and Redis clients (docs/capacity.md). The brokers' own machines are not measured.
    """
    settings = load_local_settings(origin_of(config, assignments))
    load.require_speech()
    if settings.worker.commit_interval_ms >= load.delay_ms:
        told = f"worker.commit_interval_ms is {settings.worker.commit_interval_ms}"
        raise FatalError(
            f"{told}: words wait for a checkpoint, and {load.delay_ms} ms of delay are all that is allowed"
        )
    load_dictionary()
    # Rows of every session are kept, whatever worker.engine_memory_mib says: what it should be is measured here.
    engine = OnnxEngine(
        models_folder(settings.worker), active=settings.worker.active_models, threads=1, max_kept_bytes=_ALL_ROWS
    )
    if load.language not in served_languages(engine.models):
        raise FatalError(f"{load.language} is to be spoken (--language), and no model for it is active")
    engine.warm_up()
    measurement = Measurement(
        engine, settings.worker, settings.decoding, language=load.language, delay_ms=load.delay_ms
    )
    measured = measurement.run(seconds=load.seconds, first_sessions=load.first, most_sessions=load.most)
    if measured.live_sessions == 0:
        least = measured.stages[0]
        told = (
            f"{least.sessions} live sessions are {least.late_ms:g} ms late, beyond {load.delay_ms} ms with a checkpoint"
        )
        raise FatalError(f"this core carries none: {told}; is it busy with other work?")
    advice = advise(measured, sessions)
    if as_json:
        figures = {
            "language": load.language,
            "measured": asdict(measured),
            "around": OVERHEAD,
            "advice": asdict(advice),
        }
        write(json.dumps(figures, indent=2) + "\n")
        return
    for line in (*_measured_lines(measured, load.delay_ms), "", *_advice_lines(advice)):
        echo(line)


def _measured_lines(measured: Measured, delay_ms: int) -> list[str]:
    """Return what was measured, for people."""
    start_mib, session_kib, rows_kib = (
        measured.start_bytes / 2**20,
        measured.session_bytes / 2**10,
        measured.row_bytes / 2**10,
    )
    lines = [
        "Measured on one core, one thread, without Kafka and Redis:",
        f"  words a second of a backlog      {measured.words_a_second:,.0f}",
        f"  CPU seconds a million words      {measured.cpu_s_per_million_words:,.0f}",
        f"  live sessions that fit           {measured.live_sessions:,}",
        f"  memory with the models           {start_mib:,.0f} MiB",
        f"  memory a session                 {session_kib:,.0f} KiB, of them {rows_kib:,.0f} KiB rows of the engine",
        "",
        f"Live, at {WORDS_A_SECOND} words a second, with a factor of {OVERHEAD} for the clients of Kafka and Redis:",
        "  sessions  of a core  p99 until labelled  CPU s a million words",
    ]
    for one in measured.stages:
        told = "" if one.fits else f"  too late for {delay_ms} ms"
        lines.append(
            f"  {one.sessions:8,}  {one.busy:9.0%}  {one.late_ms:15,.0f} ms  {one.cpu_s_per_million_words:21,.0f}{told}"
        )
    cores = os.cpu_count() or 1
    if measured.load_average > _BUSY_MACHINE * cores:
        lines.append(
            f"The machine was busy, load average {measured.load_average} on {cores} cores: a quiet one takes more."
        )
    return lines


def _advice_lines(advice: Advice) -> list[str]:
    """Return what to set, for people."""
    given = f"{advice.sessions_a_worker:,} a worker ({SHARE_GIVEN:.0%} of what fits), one worker to spare"
    return [
        f"For {advice.sessions:,} live sessions: {given}, at least {advice.partitions} partitions.",
        "The chart's values (deploy/chart):",
        "",
        *(f"  {line}" for line in advice.values().splitlines()),
        "",
        f"The engine takes its threads from the CPU limit: {advice.threads} here, on this machine {threads_allowed()}.",
        "The brokers and Redis were not measured: docs/capacity.md says what they need.",
    ]
