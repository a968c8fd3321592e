"""What an event costs to read: as it is read, and with the walk over its structure that came first for each.

    python -m bench.event_decoding

Events of 1, 2, 4 and 20 words with times and confidence, in both forms. ``canonical``: as this project's client writes
them; ``other_order``: the same with the fields of every map in another order, as other clients may write them;
``walked``: the walk over the structure is added, which every event paid before. Microseconds of CPU, by turns, the best
of the rounds: what others do on the machine only adds.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from bench.machine import write_result
from caesura.schemas.codec import decode_event, encode_event
from caesura.schemas.events import Word, WordsEvent
from caesura.schemas.json_structure import check_json_structure
from caesura.schemas.structure import check_structure
from caesura.schemas.wire import WireFormat

TEXT = ("so", "the", "first", "thing", "everybody", "remembered", "was", "to", "ask")
WORDS = (1, 2, 4, 20)
EVENTS = 500


def event_of(words: int) -> WordsEvent:
    """Return an event of so many words."""
    said = [TEXT[number % len(TEXT)] for number in range(words)]
    return WordsEvent(
        version="1.1",
        session="call-4711-agent",
        seq=417,
        lang="en-US",
        words=tuple(
            Word(text=text, start_ms=120_000 + 310 * place, end_ms=120_280 + 310 * place, confidence=0.93)
            for place, text in enumerate(said)
        ),
    )


def in_other_order(data: bytes, wire: WireFormat) -> bytes:
    """Return the same event with the fields of every map the other way round."""
    codec = msgspec.json if wire is WireFormat.JSON else msgspec.msgpack

    def turned(value: object) -> object:
        if isinstance(value, dict):
            return {key: turned(value[key]) for key in reversed(value)}
        return [turned(one) for one in value] if isinstance(value, list) else value

    written: bytes = codec.encode(turned(codec.decode(data)))
    return written


def walked(data: bytes, wire: WireFormat) -> None:
    """Read an event, walking over it first."""
    (check_json_structure if wire is WireFormat.JSON else check_structure)(data)
    decode_event(data)


def micros(call: Callable[[], object]) -> float:
    """Return the microseconds of CPU that a call takes."""
    began_s = time.process_time()
    for _ in range(EVENTS):
        call()
    return (time.process_time() - began_s) / EVENTS * 1e6


def main() -> None:
    """Measure, print, and write the result beside this file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--out", type=Path, default=None)
    options = parser.parse_args()
    found: dict[str, dict[str, float]] = {}
    for _ in range(options.rounds):
        for wire in WireFormat:
            for words in WORDS:
                data = encode_event(event_of(words), wire)
                other = in_other_order(data, wire)
                measured = {
                    "canonical": micros(lambda data=data: decode_event(data)),  # type: ignore[misc]
                    "other_order": micros(lambda data=other: decode_event(data)),  # type: ignore[misc]
                    "walked": micros(lambda data=data, wire=wire: walked(data, wire)),  # type: ignore[misc]
                }
                best = found.setdefault(f"{wire}, {words} words", measured)
                best.update({key: min(best[key], value) for key, value in measured.items()})
    rounded = {name: {key: round(us, 2) for key, us in one.items()} for name, one in found.items()}
    write_result("event_decoding", "python -m bench.event_decoding", {"cpu_us_an_event": rounded}, out=options.out)


if __name__ == "__main__":
    main()
