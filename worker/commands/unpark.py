"""``caesura unpark``: let a parked partition be claimed again, once what stopped it was fixed."""

from __future__ import annotations

from typing import Annotated

import typer

from caesura.worker.adapters.kafka.log_reader import KafkaLogReader
from caesura.worker.adapters.kafka.reachability import await_sign_of_life
from caesura.worker.adapters.kafka.topic_reader import KafkaReader
from caesura.worker.commands.options import ConfigOption, SetOption, origin_of
from caesura.worker.commands.terminal import echo
from caesura.worker.errors import FatalError
from caesura.worker.runtime.ledger.output_records import ledger_probe
from caesura.worker.settings.tree import load_settings
from caesura.worker.whole_numbers import MAX_PARTITION


def unpark(
    partitions: Annotated[
        list[int],
        typer.Argument(
            metavar="PARTITION...", min=0, max=MAX_PARTITION, help="Numbers of the partitions, as in the logs."
        ),
    ],
    config: ConfigOption = None,
    assignments: SetOption = None,
) -> None:
    """Release parked partitions, after their fault was fixed.

    The worker that holds a partition reads on within five seconds. If it still cannot, it parks the partition again.
    Other partitions are not changed.
    """
    settings = load_settings(origin_of(config, assignments))
    await_sign_of_life(settings.kafka)
    with KafkaReader(settings.kafka, settings.worker.input_topic) as reader:
        there = reader.partitions()
    for partition in set(partitions) - set(there):
        raise FatalError(f"{settings.worker.input_topic} has no partition {partition}, only 0 to {max(there)}")
    ledger = KafkaLogReader(settings.kafka)
    try:
        for partition in partitions:
            ledger.bounds_behind(ledger_probe(settings.worker.ledger, partition), settings.worker.claim_timeout_s)
            echo(f"partition {partition} of {settings.worker.input_topic}: to be claimed again, if it is parked")
    finally:
        ledger.close()
