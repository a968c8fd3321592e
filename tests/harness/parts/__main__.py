"""Start a real Kafka and Redis, print what to export, and keep them until interrupted: ``make parts``."""

from __future__ import annotations

import signal
import sys
from urllib.parse import urlsplit

from tests.harness.parts.real_parts import real_parts


def main() -> None:
    """Run until SIGINT or SIGTERM."""
    with real_parts() as (kafka, redis):
        exported = {
            "CAESURA_KAFKA_BOOTSTRAP_SERVERS": kafka.bootstrap,
            "CAESURA_REDIS_ADDRESSES": urlsplit(redis.url).netloc,
            "KAFKA_BOOTSTRAP_SERVERS": kafka.bootstrap,  # these two are the tests' own
            "REDIS_URL": redis.url,
        }
        sys.stdout.write("".join(f"export {name}={value}\n" for name, value in exported.items()))
        sys.stdout.flush()
        signal.sigwait({signal.SIGINT, signal.SIGTERM})


if __name__ == "__main__":
    main()
