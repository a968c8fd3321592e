"""Today's worker against another commit's, end to end, by turns: what a word costs, and how late it is.

    python -m bench.against --baseline d077453 throughput
    python -m bench.against --baseline d077453 delay --sessions 100

The load, the brokers, Redis and the reader are today's in every run; only the worker's process runs the baseline's
sources, unpacked into a temporary folder. Both have the network of their own commit: ``same_network``
says whether its weights are the same file. What a process spends before its first word (``start_cpu_s``, an idle
worker's whole life) is measured once a commit and taken off. Of the rounds the cheapest counts: others only add.
"""

from __future__ import annotations

import argparse
import json
import time
import uuid
from pathlib import Path

from bench.end_to_end import measure
from bench.machine import write_result
from bench.worker_process import ROOT, WorkerProcess, wait_until_joined
from tests.harness.command import release
from tests.harness.parts.kafka_part import Kafka
from tests.harness.parts.real_parts import real_parts
from tests.harness.parts.redis_part import RedisServer
from tests.harness.real_world import RealWorld

_PRICE = "cpu_s_per_million_words"
_WEIGHTS = Path("models/shipped/en/manifest.json")


def fresh_world(kafka: Kafka, redis: RedisServer) -> RealWorld:
    """Return topics and keys that nobody has used."""
    return RealWorld(kafka, redis.url, f"bench-{uuid.uuid4().hex[:8]}", partitions=4)


def start_cpu_s(world: RealWorld, code: Path) -> float:
    """Return what a worker spends that joins its group and stops without a word."""
    with WorkerProcess(world, code=code) as worker:
        wait_until_joined(world, [worker])
        time.sleep(1.0)
        return worker.finish()


def redis_load(server: RedisServer) -> dict[str, int]:
    """Return the bytes that a Redis has received so far, and its calls by command, those of scripts among them."""
    with server.client() as client:
        calls = client.info("commandstats")
        received = client.info("stats")["total_net_input_bytes"]
    return {"bytes": received, **{name.removeprefix("cmdstat_"): one["calls"] for name, one in calls.items()}}


def weights(code: Path) -> object:
    """Return the digests of the files of a commit's English model."""
    return json.loads((code / _WEIGHTS).read_text(encoding="utf-8"))["files"]


def compare(kafka: Kafka, redis: RedisServer, options: argparse.Namespace, baseline: Path) -> dict[str, object]:
    """Run both by turns."""
    codes = {"baseline": baseline, "now": ROOT}
    start_s = {name: start_cpu_s(fresh_world(kafka, redis), code) for name, code in codes.items()}
    runs: dict[str, list[dict[str, object]]] = {name: [] for name in codes}
    for _ in range(options.rounds):
        for name, code in codes.items():
            before = redis_load(redis)
            measured = measure(fresh_world(kafka, redis), options, code=code)
            taken = {call: count - before.get(call, 0) for call, count in redis_load(redis).items()}
            measured["redis"] = {call: count for call, count in taken.items() if count}
            words, cpu_s = options.sessions * options.words, float(str(measured["cpu_s"]))
            measured["without_start_" + _PRICE] = round((cpu_s - start_s[name]) / words * 1e6, 1)
            runs[name].append(measured)
    prices = (_PRICE, "without_start_" + _PRICE)
    best = {
        name: {price: min(float(str(run[price])) for run in made) for price in prices} for name, made in runs.items()
    }
    return {
        "baseline": options.baseline,
        "same_network": weights(baseline) == weights(ROOT),
        "start_cpu_s": {name: round(seconds, 2) for name, seconds in start_s.items()},
        "times_fewer_cpu_s": {price: round(best["baseline"][price] / best["now"][price], 2) for price in prices},
        "best": best,
        "runs": runs,
    }


def main() -> None:
    """Measure, print, and write the result beside this file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("delay", "throughput"))
    parser.add_argument("--baseline", default="d077453", help="a commit")
    parser.add_argument("--sessions", type=int, default=100)
    parser.add_argument("--words", type=int, default=100, help="words a session")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--timeout-s", type=float, default=900.0)
    options = parser.parse_args()
    with real_parts() as (kafka, redis), release(options.baseline, compiled=True) as baseline:
        measured = compare(kafka, redis, options, baseline)
    command = (
        f"python -m bench.against --baseline {options.baseline} {options.what} --sessions {options.sessions} "
        f"--words {options.words} --rounds {options.rounds}"
    )
    write_result(f"against_{options.what}", command, measured)


if __name__ == "__main__":
    main()
