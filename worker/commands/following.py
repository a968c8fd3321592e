"""Follows the words that a command has sent, in segments and dead letters, until each is published or refused."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from types import TracebackType
from typing import Annotated, Self

import typer

from caesura.schemas.codec import decode_event, decode_segment
from caesura.schemas.errors import InvalidEventError, NewerVersionError
from caesura.schemas.events import WordsEvent
from caesura.schemas.state import SessionStatus, decode_ledger
from caesura.worker.adapters.kafka.topic_reader import KafkaReader, Start
from caesura.worker.commands.letter import Letter
from caesura.worker.commands.terminal import echo
from caesura.worker.commands.word_fates import WordFates
from caesura.worker.errors import CaesuraError
from caesura.worker.ports.records import Record
from caesura.worker.settings.tree import BrokerSettings
from caesura.worker.whole_numbers import MAX_OFFSET, whole_number

_POLL_S = 0.1
_LOOK_UP_S = 5.0
_TOLD_SESSIONS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitOptions:
    """Whether a command waits for what becomes of its words."""

    wait: Annotated[
        bool | None,
        typer.Option(
            "--wait/--no-wait",
            help="Wait until the words are published or refused, and count them; exit with 1 if one was refused. The "
            "default at a terminal.",
            show_default=False,
        ),
    ] = None
    wait_for: Annotated[
        float, typer.Option(min=0, max=2_592_000, help="With --wait: give up after so many seconds without news.")
    ] = 60.0

    def follow(self, settings: BrokerSettings) -> FollowedWords | None:
        """Return what follows the words that are sent from now on; None where nobody waits."""
        wanted = sys.stderr.isatty() if self.wait is None else self.wait
        if not wanted:
            return None
        followed = FollowedWords(settings, quiet_s=self.wait_for)
        try:
            followed.open()
        except CaesuraError as error:
            followed.close()
            if self.wait:
                raise
            echo(f"what becomes of the words is not followed: {error}", err=True)
            return None
        return followed


class FollowedWords:
    """Reads segments and dead letters in a thread of its own, as no member of a group. A context manager once open."""

    def __init__(self, settings: BrokerSettings, *, quiet_s: float) -> None:
        self._settings = settings
        self._quiet_s = quiet_s
        self._fates = WordFates()
        self._changed = threading.Condition()
        self._news_s = 0.0
        self._fault: CaesuraError | None = None
        self._stack = ExitStack()
        self._takers: list[tuple[KafkaReader, Callable[[Record], bool]]] = []
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="following", daemon=True)

    def open(self) -> None:
        """Begin at the topics' ends of now. BrokerError, FatalError: a topic is not there, or may not be read."""
        worker = self._settings.worker
        for topic, take in ((worker.segment_topic, self._take_segment), (worker.dead_letter_topic, self._take_letter)):
            reader = self._stack.enter_context(KafkaReader(self._settings.kafka, topic))
            reader.assign(Start(at_end=True, exact=True))
            self._takers.append((reader, take))
        self._thread.start()

    def sending(self, event: WordsEvent) -> None:
        """Take note of an event that is about to be sent."""
        with self._changed:
            self._fates.sending(event)

    def taken(self, key: bytes, offset: int) -> None:
        """Take note of the offset at which the broker took a record."""
        with self._changed:
            self._fates.taken(key.decode(), offset)
            self._changed.notify()

    def wait(self) -> None:
        """Wait until all is known, or no news came for so long; say what became of the words. Ctrl-C ends it.

        typer.Exit with 1 where a word was refused, or neither published nor refused. CaesuraError: reading failed.
        """
        self._news_s = time.monotonic()
        try:
            with self._changed:
                while not self._fates.is_known and self._fault is None and self._left_s > 0:
                    self._changed.wait(min(1.0, self._left_s))
        except KeyboardInterrupt:
            echo("not waited for any longer", err=True)
        with self._changed:
            known, told = self._fates.is_known, self._fates.told()
            failed = bool(self._fates.refused or self._fates.missing)
        if self._fault is not None:
            raise self._fault
        if not known and self._left_s <= 0:
            echo(f"no news for {self._quiet_s:g} s: does a worker run? See `caesura check`", err=True)
        echo(told, err=True)
        if failed:
            raise typer.Exit(1)

    def close(self) -> None:
        """Stop reading."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join()
        self._stack.close()

    @property
    def _left_s(self) -> float:
        return self._news_s + self._quiet_s - time.monotonic()

    def _run(self) -> None:
        try:
            while not self._stopping.is_set():
                for reader, take in self._takers:
                    self._read(reader, take)
        except CaesuraError as error:
            with self._changed:
                self._fault = error
                self._changed.notify()

    def _read(self, reader: KafkaReader, take: Callable[[Record], bool]) -> None:
        """Take all that has come to one topic."""
        wait_s = _POLL_S
        while (came := reader.poll(wait_s)) is not None and not self._stopping.is_set():
            wait_s = 0.0
            if not isinstance(came, Record):
                continue
            with self._changed:
                if take(came):
                    self._news_s = time.monotonic()
                    self._changed.notify()

    def _take_segment(self, record: Record) -> bool:
        try:
            return self._fates.publish(decode_segment(record.value or b""))
        except (InvalidEventError, NewerVersionError, ValueError):  # another program's
            return False

    def _take_letter(self, record: Record) -> bool:
        letter = Letter.of(record)
        try:
            event = decode_event(record.value or b"")
        except (InvalidEventError, NewerVersionError):
            return False
        offset = whole_number(letter.origin.rpartition(":")[2], MAX_OFFSET)
        return self._fates.refuse(event, offset or 0, letter.reason)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def tell_sessions(names: Iterable[str]) -> None:
    """Say on stderr which sessions the words went to."""
    listed = list(names)
    if not listed:
        return
    more = f", and {len(listed) - _TOLD_SESSIONS} more" if len(listed) > _TOLD_SESSIONS else ""
    echo(f"sessions: {', '.join(listed[:_TOLD_SESSIONS])}{more}", err=True)


def tell_ended(settings: BrokerSettings, is_ours: Callable[[str], bool], partitions: Iterable[int]) -> None:
    """Say on stderr which of the sessions that words are about to go to have ended; the ledger knows.

    partitions: those that the sessions lie in. Looks for five seconds at most. Where the ledger may not be read,
    nothing is said: words to an ended session come back as dead letters all the same.
    """
    until_s = time.monotonic() + _LOOK_UP_S
    ended: dict[str, None] = {}
    try:
        with KafkaReader(settings.kafka, settings.worker.ledger) as reader:
            for partition in partitions:
                for record in reader.read(Start(partition=partition), follow=False):
                    name = (record.key or b"").decode(errors="replace")
                    if is_ours(name):
                        ended.pop(name, None)
                        if _says_ended(record):
                            ended[name] = None
                    if time.monotonic() > until_s:
                        break
    except CaesuraError:
        pass
    for name in list(ended)[:_TOLD_SESSIONS]:
        echo(
            f"session {name} has ended: its words will be refused (session_ended), in any epoch, until it is "
            "forgotten (decoding.forget_after_ms). Another name begins another session.",
            err=True,
        )
    if len(ended) > _TOLD_SESSIONS:
        echo(f"{len(ended) - _TOLD_SESSIONS} more sessions have ended", err=True)


def _says_ended(record: Record) -> bool:
    try:
        return record.value is not None and decode_ledger(record.value).admission.status is SessionStatus.ENDED
    except ValueError:
        return False
