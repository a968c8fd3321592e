"""What probabilities and overlays cost a word: each alone, and all of them.

    python -m bench.overlay_cost

``labelled``: sessions through the engine and the core, with no probabilities, those of turns, and those of words; large
English. ``written``: segments of twelve words, every sixteenth with a sum of money and every fortieth with an address,
are made into a route's records; ``plain`` is a route without digits, spellings and redaction. Microseconds of CPU a
word, by turns, the median of the rounds; what is added is the median of the differences within a round, so that other
load on the machine slows both alike. ``of_a_word`` is what everything adds, as a share of a word that is labelled and
written without any of it; a worker's whole word costs more than that.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from statistics import median

from bench.machine import write_result
from caesura.models.decoding.labelling_runs import published_segments
from caesura.schemas.segments import Cause, ModelRef, NumberForm, Segment, SegmentWord, Source, Timing
from caesura.worker.adapters.onnx.engine import OnnxEngine
from caesura.worker.core.decoding.segment_writer import OutSegment
from caesura.worker.core.language.labelling import Probabilities
from caesura.worker.core.language.normalisation import model_view
from caesura.worker.core.language.rules import DecodingRules
from caesura.worker.core.overlays.beside import Beside
from caesura.worker.core.overlays.redaction import Redacted
from caesura.worker.runtime.ledger.output_records import OutputRecords
from caesura.worker.runtime.settings.routes import Route
from caesura.worker.runtime.settings.settings import RuntimeSettings

_SPEECH = """we came back from the lake on friday and the car would not start so we asked the neighbour to
    help us and he said that the battery was too old for this weather i think we should buy
    another one before the winter comes because the last time it took half a day until somebody
    came and the children were cold and hungry by then do you remember how they sang all the way
    home after that it was one of those evenings that i will never forget"""
_WORDS = 12
_SEGMENTS = 100
_SESSIONS, _SESSION_WORDS = 8, 60
_NUMBER = "that is six hundred and forty seven dollars and fifty cents please".split()  # noqa: SIM905
_ADDRESS = "write to ada dot king at example dot com for the rest".split()  # noqa: SIM905


def segments() -> list[OutSegment]:
    """Return the segments of a session, as a worker writes them."""
    said = _SPEECH.split()
    made, words = [], 0
    for number in range(_SEGMENTS):
        texts = [said[(number * _WORDS + place) % len(said)] for place in range(_WORDS)]
        texts = _NUMBER if number % 16 == 0 else _ADDRESS if number % 40 == 1 else texts
        views = tuple(map(model_view, texts))
        made.append(
            OutSegment(
                segment=Segment(
                    version="1.3",
                    session="call-4711-agent",
                    since=0,
                    index=number,
                    first_word=words,
                    sentence=number,
                    sentence_start=True,
                    sentence_end=True,
                    cause=Cause.SENTENCE,
                    lang="en-US",
                    words=tuple(
                        SegmentWord(
                            text=text,
                            punctuation="period" if place == len(texts) - 1 else "none",
                            disfluency="O",
                            start_ms=310 * (words + place),
                            end_ms=310 * (words + place) + 280,
                            casing="small",
                        )
                        for place, text in enumerate(texts)
                    ),
                    source=Source(topic="asr.words", partition=0, first_offset=0, last_offset=0),
                    timing=Timing(appended_ms=0, polled_ms=0, frozen_ms=0),
                    model=ModelRef(id="en", version="1"),
                ),
                routes={"de": None},
                beside=Beside(views, views),
            )
        )
        words += len(texts)
    return made


def records(*, numbers: bool = False, spellings: bool = False, redact: bool = False) -> OutputRecords:
    """Return what makes the records of one route."""
    names = tuple(f"{first} {last}" for first in _NAMES for last in _NAMES)
    route = Route(
        target="de",
        topic="translate.de",
        numbers=NumberForm.DIGITS if numbers else NumberForm.WORDS,
        redact=tuple(Redacted) if redact else (),
    )
    settings = RuntimeSettings(
        routes=(route,),
        spellings={f"{first} {last}": f"{first}{last}".title() for first in _NAMES for last in _NAMES[:4]}
        if spellings
        else {},
        redacted_names=names,
    )
    return OutputRecords(settings=settings)


_NAMES = "anna bert carla dora emil frida gustav hanna igor jana karl lena moritz nora otto paula".split()  # noqa: SIM905
_CASES = {
    "plain": records(),
    "digits": records(numbers=True),
    "spellings": records(spellings=True),
    "redaction": records(redact=True),
    "all": records(numbers=True, spellings=True, redact=True),
}


def micros(made: OutputRecords, said: list[OutSegment]) -> float:
    """Return the microseconds of CPU a word."""
    began_s = time.process_time()
    for one in said:
        made.segment(0, one)
    return (time.process_time() - began_s) * 1e6 / sum(len(one.segment.words) for one in said)


def labelled_micros(engine: OnnxEngine, probabilities: Probabilities) -> float:
    """Return the microseconds of CPU a word of sessions that are labelled and cut."""
    said = _SPEECH.split()
    texts = [[said[(number + at) % len(said)] for at in range(_SESSION_WORDS)] for number in range(_SESSIONS)]
    began_s = time.process_time()
    published_segments(engine, texts, language="en", rules=DecodingRules(probabilities=probabilities))
    return (time.process_time() - began_s) * 1e6 / (_SESSIONS * _SESSION_WORDS)


def _differences(without: list[float], having: list[float]) -> list[float]:
    return [more - less for less, more in zip(without, having, strict=True)]


def main() -> None:
    """Measure, print and write the result."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--models", type=Path, default=Path("models/shipped"))
    parser.add_argument("--out", type=Path, default=None)
    options = parser.parse_args()
    said, engine = segments(), OnnxEngine(options.models, threads=1)
    labelled: dict[str, list[float]] = {wanted.value: [] for wanted in Probabilities}
    written: dict[str, list[float]] = {name: [] for name in _CASES}
    for turn in range(options.rounds + 1):
        for wanted in Probabilities:
            labelled[wanted.value].append(labelled_micros(engine, wanted))
        for name, made in _CASES.items():
            written[name].append(micros(made, said))
        if turn == 0:  # the first turn warms up
            for found in (*labelled.values(), *written.values()):
                found.clear()
    probabilities = median(_differences(labelled["off"], labelled["words"]))
    overlays = median(_differences(written["plain"], written["all"]))
    whole = median(labelled["off"]) + median(written["plain"])
    result = {
        "labelled_cpu_micros_a_word": {name: round(median(found), 2) for name, found in labelled.items()},
        "written_cpu_micros_a_word": {name: round(median(found), 2) for name, found in written.items()},
        "probabilities_add": round(probabilities, 2),
        "overlays_add": round(overlays, 2),
        "of_a_word": round((probabilities + overlays) / whole, 4),
    }
    write_result("overlay_cost", "python -m bench.overlay_cost", result, out=options.out)


if __name__ == "__main__":
    main()
