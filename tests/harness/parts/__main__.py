"""Start the real parts, print what to export, and keep them until interrupted: ``python -m tests.harness.parts``."""

from __future__ import annotations

import signal
import sys

from tests.harness.parts.real_parts import real_parts


def main() -> None:
    """Run until SIGINT or SIGTERM."""
    with real_parts() as (kafka, redis):
        sys.stdout.write(f"export KAFKA_BOOTSTRAP_SERVERS={kafka.bootstrap}\nexport REDIS_URL={redis.url}\n")
        sys.stdout.flush()
        signal.sigwait({signal.SIGINT, signal.SIGTERM})


if __name__ == "__main__":
    main()
