"""``python -m tests.fuzz decode --messages 1000000 --seed 1``: a run of the fuzzer; its last line is one JSON object.

``decode`` takes the messages through the decode path; ``live`` through a worker on a real Kafka and Redis.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import secrets
import sys
import time
from collections.abc import Callable

from tests.fuzz.decoding import Decoding
from tests.fuzz.live import Live
from tests.fuzz.message import ACCEPTED, NEWER
from tests.harness.parts.kafka_part import unique
from tests.harness.parts.real_parts import real_parts

_MESSAGES = {"decode": 1_000_000, "live": 100_000}
_SHOWN = 20

Say = Callable[[str], None]


def main() -> int:
    """Run, report, and return 1 where anything was violated."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("path", choices=sorted(_MESSAGES))
    parser.add_argument("--messages", type=int, default=None)
    parser.add_argument("--seed", type=int, default=None, help="which run; drawn and printed where it is not given")
    given = parser.parse_args()
    seed = given.seed if given.seed is not None else secrets.randbelow(1_000_000)
    messages = given.messages if given.messages is not None else _MESSAGES[given.path]
    began_s = time.monotonic()

    def say(line: str) -> None:
        sys.stdout.write(f"{time.monotonic() - began_s:7.1f} s  {line}\n")
        sys.stdout.flush()

    say(f"{given.path}: seed {seed}, {messages} messages")
    summary, violations = _decode(seed, messages, say) if given.path == "decode" else _live(seed, messages, say)
    for violation in violations[:_SHOWN]:
        say(f"VIOLATION {violation}")
    took_s = round(time.monotonic() - began_s, 1)
    sys.stdout.write(json.dumps({"path": given.path, "seed": seed, **summary, "took_s": took_s}) + "\n")
    return 1 if violations else 0


def _decode(seed: int, messages: int, say: Say) -> tuple[dict[str, object], list[str]]:
    run = Decoding()
    run.run(seed, messages, say)
    refused = {name: count for name, count in sorted(run.outcomes.items()) if name not in {ACCEPTED, NEWER}}
    summary = {
        "messages": run.messages,
        "accepted": run.outcomes[ACCEPTED],
        "newer_version": run.outcomes[NEWER],
        "refused": refused,
        "violations": run.violations,
        "slowest_cpu_ms": round(run.slowest_cpu_ms, 1),
        "slowest_kind": run.slowest_kind,
    }
    return summary, run.told


def _live(seed: int, messages: int, say: Say) -> tuple[dict[str, object], list[str]]:
    told = io.StringIO()  # the worker tells every checkpoint
    with real_parts() as (kafka, redis):
        run = Live(kafka, redis.url, unique("fuzz"), seed=seed)
        with contextlib.redirect_stderr(told):
            run.run(messages, say)
    return {"messages": messages, **run.summary(), "violations": len(run.violations)}, run.violations


if __name__ == "__main__":
    sys.exit(main())
