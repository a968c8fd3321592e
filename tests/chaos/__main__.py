"""``python -m tests.chaos --seed 1 --faults 100``: a run of the fault runner; its last line is one JSON object."""

from __future__ import annotations

import argparse
import json
import secrets
import sys
import time
from collections import Counter
from pathlib import Path

from tests.chaos.plan import Plan
from tests.chaos.runner import Report, percentile, run
from tests.chaos.schedule import FaultKind
from tests.harness.checker import tally


def main() -> int:
    """Run, report, and return 1 where anything was violated or did not end well."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--seed", type=int, default=None, help="which run; drawn and printed where it is not given")
    parser.add_argument("--faults", type=int, default=100)
    parser.add_argument("--protocol", choices=("classic", "consumer"), default="classic")
    parser.add_argument("--redis", choices=("pair", "cluster"), default="pair")
    parser.add_argument("--rate", type=float, default=40.0, help="events a second")
    parser.add_argument("--minutes", type=float, default=None, help="begin no more faults after so long")
    parser.add_argument(
        "--folder", type=Path, default=None, help="where to keep the workers' diaries, and the brokers' logs"
    )
    parser.add_argument("--before", default=None, help="commit or tag of the release that every other worker runs")
    parser.add_argument(
        "--only", type=FaultKind, choices=tuple(FaultKind), nargs="+", default=(), help="kinds of fault"
    )
    parser.add_argument("--timed", action="store_true", help="timers fire; labels and cuts are not compared")
    parser.add_argument("--crowd", type=int, default=0, help="sessions a partition that stay open all the while")
    parser.add_argument("--every", type=float, default=0.0, help="seconds from one fault to the next at least")
    parser.add_argument("--lasts", type=float, default=None, help="seconds that each fault lasts; else as drawn")
    parser.add_argument("--changes", action="store_true", help="rules and models change; labels are not compared")
    given = parser.parse_args()
    seed = given.seed if given.seed is not None else secrets.randbelow(1_000_000)
    began_s = time.monotonic()

    def say(line: str) -> None:
        sys.stdout.write(f"{time.monotonic() - began_s:7.1f} s  {line}\n")
        sys.stdout.flush()

    fleet = f"every other worker of release {given.before}" if given.before else "all workers of this release"
    say(f"seed {seed}, {given.faults} faults, group protocol {given.protocol}, Redis as {given.redis}, {fleet}")
    plan = Plan(
        seed=seed,
        faults=given.faults,
        protocol=given.protocol,
        redis=given.redis,
        events_a_s=given.rate,
        minutes=given.minutes,
        folder=given.folder,
        before=given.before,
        only=given.only,
        timed=given.timed,
        crowd=given.crowd,
        every_s=given.every,
        lasts_s=given.lasts,
        changes=given.changes,
        say=say,
    )
    report = run(plan)
    _tell(report, say_line=lambda line: sys.stdout.write(f"{line}\n"))
    sys.stdout.write(json.dumps(_summary(seed, report)) + "\n")
    return 1 if report.violations or report.complaints else 0


def _tell(report: Report, *, say_line: object) -> None:
    assert callable(say_line)
    say_line(f"{report.sessions} sessions, {report.events} events, {report.words} words, {report.took_s:.0f} s")
    say_line(f"ends of processes by status: {report.ends}")
    say_line(f"in the workers: {dict(sorted(report.happened.items()))}")
    say_line(f"memory, last quarter above second: {report.growth}")
    say_line(f"faults without a recovery to measure: {report.unmeasured}")
    say_line(f"{'fault':24}{'count':>6}{'p50 s':>8}{'p95 s':>8}{'alone':>7}{'p95 s':>8}")
    for kind, count in sorted(Counter(str(strike.kind) for strike in report.strikes).items()):
        every, alone = report.recoveries_s.get(kind, []), report.alone_s.get(kind, [])
        figures = f"{_shown(every, 0.5)}{_shown(every, 0.95)}{len(alone):>7}{_shown(alone, 0.95)}"
        say_line(f"{kind:24}{count:>6}{figures}")
    for complaint in report.complaints:
        say_line(f"COMPLAINT {complaint}")
    for violation in report.violations[:50]:
        say_line(f"VIOLATION {violation.kind} in {violation.where}: {violation.detail}")


def _shown(values: list[float], share: float) -> str:
    found = percentile(values, share)
    return f"{'-':>8}" if found is None else f"{found:8.2f}"


def _summary(seed: int, report: Report) -> dict[str, object]:
    by_kind = Counter(str(strike.kind) for strike in report.strikes)
    return {
        "seed": seed,
        "faults": len(report.strikes),
        "by_kind": dict(sorted(by_kind.items())),
        "violations": tally(report.violations),
        "complaints": len(report.complaints),
        "recovery_p50_s": _rounded(report.percentile_s(0.5)),
        "recovery_p95_s": _rounded(report.percentile_s(0.95)),
        "growth": report.growth,
    }


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 2)


if __name__ == "__main__":
    sys.exit(main())
