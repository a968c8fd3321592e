"""Start the real parts, print what to export, and keep them until interrupted: ``python -m tests.harness.parts``."""

from __future__ import annotations

import signal
import sys

from tests.harness.parts.kafka_part import find_kafka
from tests.harness.parts.redis_part import find_redis


def main() -> None:
    """Run until SIGINT or SIGTERM."""
    kafka, redis = find_kafka(), find_redis()
    sys.stdout.write(f"export KAFKA_BOOTSTRAP_SERVERS={kafka.bootstrap}\nexport REDIS_URL={redis.url}\n")
    sys.stdout.flush()
    signal.sigwait({signal.SIGINT, signal.SIGTERM})
    kafka.close()
    redis.close()


if __name__ == "__main__":
    main()
