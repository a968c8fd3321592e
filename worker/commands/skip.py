"""``caesura skip``: make a record that stops its partition a dead letter."""

from __future__ import annotations

from typing import Annotated

import typer

from caesura.worker.adapters.kafka.log_reader import KafkaLogReader
from caesura.worker.adapters.kafka.reachability import await_sign_of_life
from caesura.worker.commands.options import ConfigOption, SetOption, origin_of
from caesura.worker.commands.terminal import echo
from caesura.worker.errors import FatalError
from caesura.worker.ports.log_reader import LogReader
from caesura.worker.ports.records import Record
from caesura.worker.runtime.claim.skips import skip_request
from caesura.worker.runtime.ledger.output_records import ledger_probe
from caesura.worker.runtime.settings.settings import RuntimeSettings
from caesura.worker.settings.tree import load_settings
from caesura.worker.whole_numbers import MAX_OFFSET, MAX_PARTITION


def skip(
    topic: Annotated[str, typer.Argument(metavar="TOPIC", help="The input topic.")],
    partition: Annotated[
        int, typer.Argument(metavar="PARTITION", min=0, max=MAX_PARTITION, help="As the logs name it.")
    ],
    offset: Annotated[
        int,
        typer.Argument(metavar="OFFSET", min=0, max=MAX_OFFSET, help="The record's offset, as the logs name it."),
    ],
    config: ConfigOption = None,
    assignments: SetOption = None,
) -> None:
    """Set one record aside that stops its partition.

    All sessions are kept. The worker that claims the partition next makes the record a dead letter with its bytes, and
    continues after it. A parked partition is claimed at once. A record that was already applied stays as it is.
    """
    settings = load_settings(origin_of(config, assignments))
    if topic != settings.worker.input_topic:
        raise FatalError(f"{topic} is not the input topic, which is {settings.worker.input_topic}")
    await_sign_of_life(settings.kafka)
    reader = KafkaLogReader(settings.kafka)
    try:
        request_skip(reader, settings.worker, partition, offset)
    finally:
        reader.close()
    echo(f"{topic} [{partition}] offset {offset}: to be skipped by the next claim of the partition")


def request_skip(reader: LogReader, settings: RuntimeSettings, partition: int, offset: int) -> None:
    """Leave the request for the partition's owner, and let a parked partition be claimed again. FatalError."""
    record = _record_at(reader, settings, partition, offset)
    reader.bounds_behind(skip_request(settings.claims, record), settings.claim_timeout_s)
    reader.bounds_behind(ledger_probe(settings.ledger, partition), settings.claim_timeout_s)


def _record_at(reader: LogReader, settings: RuntimeSettings, partition: int, offset: int) -> Record:
    low, end = reader.bounds(settings.input_topic, partition, settings.claim_timeout_s)
    if not low <= offset < end:
        raise FatalError(f"{settings.input_topic} [{partition}] has no offset {offset}: its offsets are {low} to {end}")
    found = reader.read(settings.input_topic, partition, offset, offset + 1, settings.rebuild_stall_s)
    record = next(iter(found), None)
    if record is None:
        raise FatalError(f"{settings.input_topic} [{partition}] has no record at {offset}, only a transaction's marker")
    return record
