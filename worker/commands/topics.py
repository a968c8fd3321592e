"""``caesura topics``: make the topics of a deployment."""

from __future__ import annotations

from typing import Annotated

import typer

from caesura.worker.adapters.kafka.topics import KafkaTopics
from caesura.worker.checks.topic_plan import differing, retention_of, wanted_topics
from caesura.worker.commands.brokers import reached_brokers
from caesura.worker.commands.options import ConfigOption, SetOption, origin_of
from caesura.worker.commands.terminal import echo
from caesura.worker.errors import FatalError

topics = typer.Typer(no_args_is_help=True, help="Make the topics of a deployment.")


@topics.callback()
def _of_topics() -> None:
    """Keep ``create`` a command of its own."""


@topics.command("create")
def create(
    config: ConfigOption = None,
    assignments: SetOption = None,
    *,
    partitions: Annotated[
        int,
        typer.Option(min=1, max=10_000, help="Partitions of every topic. A later change parks the deployment."),
    ] = 12,
    replication: Annotated[
        int | None,
        typer.Option(
            min=1, max=32_767, help="Copies of each partition; by default 3, or as many as there are brokers."
        ),
    ] = None,
    retention_days: Annotated[
        int, typer.Option(min=1, max=36_500, help="How long words, segments and dead letters stay.")
    ] = 7,
    alter: Annotated[bool, typer.Option("--alter", help="Also fix the options of topics that exist.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only print what would be done.")] = False,
) -> None:
    """Make the missing topics of a deployment.

    They are input, segments, routes, dead letters, ledger and claims. Time stamps, limits and compaction are set as the
    guarantees need them. A topic that exists is not changed, but its faults are reported.
    """
    settings = reached_brokers(origin_of(config, assignments))
    admin = KafkaTopics(settings.kafka)
    brokers = len(admin.brokers())
    copies = min(3, brokers) if replication is None else replication
    retention_ms = retention_days * 86_400_000
    found = admin.find([topic.name for topic in wanted_topics(settings.worker, partitions=partitions)])
    there = found.get(settings.worker.input_topic)
    if there is not None:
        retention_ms = retention_of(there, otherwise_ms=retention_ms)
    wanted = wanted_topics(settings.worker, partitions=partitions, retention_ms=retention_ms)
    if there is not None and there.partitions != partitions:
        raise FatalError(
            f"{there.name} has {there.partitions} partitions: all topics need that many (--partitions "
            f"{there.partitions})"
        )
    wrong = 0
    for topic in wanted:
        if topic.name not in found:
            safe = {"min.insync.replicas": "2"} if copies >= 3 else {}
            if not dry_run:
                admin.create(topic, replication=copies, options=safe)
            echo(
                f"{topic.name}: {'would be made' if dry_run else 'made'} ({topic.purpose}, "
                f"{partitions} partitions, replication {copies})"
            )
            continue
        options = differing(topic, found[topic.name])
        told = ", ".join(f"{name}={value}" for name, value in options.items())
        if not options:
            echo(f"{topic.name}: there, and as it must be")
        elif alter:
            if not dry_run:
                admin.alter(topic.name, options)
            echo(f"{topic.name}: {'would be set' if dry_run else 'set'} {told}")
        else:
            wrong += 1
            echo(f"{topic.name}: there, but must be {told} (--alter sets it)", err=True)
    if wrong:
        raise typer.Exit(1)
