"""A loaded model: makes sessions, and decodes many of them in one batch; usable from any thread and from asyncio."""

from __future__ import annotations

import asyncio
import itertools
import threading
import warnings
from collections import deque
from collections.abc import AsyncIterable, AsyncIterator, Collection, Iterable, Mapping, Sequence
from pathlib import Path

from typing_extensions import override

from caesura.installed import as_names, chosen_folder, languages
from caesura.schemas.tentative import Tentative
from caesura.segments import Segment
from caesura.sessions import Said, Session, Spoken, options_of
from caesura.transcripts import Transcript, read_recording
from caesura.worker.adapters.onnx.engine import OnnxEngine
from caesura.worker.core.language.labelling import Probabilities
from caesura.worker.core.language.rules import DecodingRules
from caesura.worker.core.language.segmentation import segmenters
from caesura.worker.core.language.served_languages import unserved
from caesura.worker.core.rendering.conversation import in_order
from caesura.worker.core.rendering.joined_text import joined_text
from caesura.worker.errors import ArgumentError
from caesura.worker.ports.clock import Clock
from caesura.worker.ports.engine import Engine, served_languages
from caesura.worker.service.clients.session_pool import SessionPool
from caesura.worker.transcripts.decoding import RecordingDecoder
from caesura.worker.transcripts.recording import Recording

__all__ = ["Model", "load"]

_WITHOUT_END_S = 1e9
_RULES = DecodingRules(max_open_sessions=10_000_000, probabilities=Probabilities.WORDS)
"""How many sessions there are is for the caller to bound: the worker's bound would refuse words here.

Probabilities cost no bytes on a wire here, so words have them.
"""


def load(
    lang: str = "en",
    *,
    models: str | Path | None = None,
    active_models: str | Sequence[str] = (),
    threads: int | None = None,
) -> Model:
    """Load the models and return them, ready for sessions of ``lang`` (BCP-47) and of every other language there is.

    models: a models folder; None takes the one that came with this installation. active_models: of the folder, those
    that decode their language whatever the manifests say, by id or name (``en-ct-3x384``). threads: of one inference;
    None takes what the machine's quota allows. ArgumentError where there is no model for the language or no thread
    to run it, CaesuraError where a model cannot be used or is not there. A model that this processor computes wrongly
    is a UserWarning.
    """
    given: object = threads
    if given is not None and (not isinstance(given, int) or given < 1):
        raise ArgumentError(f"threads is {given!r}: 1 or more of one inference, or None")
    folder = chosen_folder(models)
    _refuse_unserved(lang, languages(folder, active_models=active_models))
    engine = OnnxEngine(folder, active=as_names(active_models), threads=threads)
    for model, doubt in engine.doubts.items():
        warnings.warn(f"model {model}: {doubt}", stacklevel=2)
    return Model(engine, lang)


class Model:
    """Models of some languages, and the sessions decoded by them. One inference at a time, whoever asks."""

    def __init__(self, engine: Engine, lang: str = "en", *, rules: DecodingRules | None = None) -> None:
        self.lang = lang
        self._engine = engine
        self._rules = rules or _RULES
        self._served = served_languages(engine.models)
        self._pool = SessionPool(engine, clock=_NoTime(), rules=self._rules, segmenters=segmenters)
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)
        self._abandoned: deque[str] = deque()
        self._frozen: dict[str, list[Segment]] = {}
        self._turns: dict[asyncio.AbstractEventLoop, _Turns] = {}

    def session(self, lang: str | None = None, **options: object) -> Session:
        """Begin a session. options: ``emission``, ``look_ahead_words``, ``max_buffer_words``, ``punctuation``, ...

        ArgumentError for an option that there is not, and for a language that there is no model for.
        """
        chosen = lang or self.lang
        _refuse_unserved(chosen, self._served)
        return Session(self, f"session-{next(self._numbers)}", chosen, options_of(options))

    def feed(self, words: Mapping[Session, Spoken]) -> dict[Session, list[Segment]]:
        """Add words to many sessions at once: they share the model's batches. Returns what froze, by session.

        ArgumentError where one of them has ended, or is given what are no words; nothing is added then.
        """
        given: object = words
        if not isinstance(given, Mapping):
            raise ArgumentError("sessions with their words are wanted: feed({session: words})")
        _refuse_others(given)
        frozen = self.decode([session.says(spoken) for session, spoken in words.items()])
        return {session: frozen.get(session.name, []) for session in words}

    def end(self, sessions: Iterable[Session]) -> dict[Session, list[Segment]]:
        """End many sessions at once. Returns what froze, by session."""
        ending = list(dict.fromkeys(sessions))
        _refuse_others(ending)
        frozen = self.decode([Said(session=session, session_end=True) for session in ending])
        return {session: frozen.get(session.name, []) for session in ending}

    def punctuate(self, texts: Iterable[str], lang: str | None = None) -> list[str]:
        """Return texts punctuated, fillers and repairs left out; each is decoded as a session, all in one batch.

        ArgumentError where it is one text and no list of them.
        """
        if isinstance(texts, str):
            raise ArgumentError("a list of texts is wanted: punctuate([text])")
        spoken = {self.session(lang): text for text in texts}
        first, last = self.feed(spoken), self.end(spoken)
        frozen = [[*first[session], *last[session]] for session in spoken]
        return [joined_text([one.text for one in each], [one.published for one in each]) for each in frozen]

    def transcribe(self, recording: Recording | str | Path) -> Transcript:
        """Decode a recording, or the file of one, and return its transcript: all its sessions are one conversation.

        The recording's own time passes in it, so pauses freeze as they would in a worker. CaesuraError where a file
        cannot be read.
        """
        read = recording if isinstance(recording, Recording) else read_recording(recording, lang=self.lang)
        decoder = RecordingDecoder(self._engine, self._rules)
        with self._lock:
            segments = [segment for batch in decoder.decoded(read.events) for segment in batch.segments]
        return Transcript(in_order(segments), name=read.name, refused=dict(decoder.refused))

    async def stream(
        self, words: AsyncIterable[Spoken], lang: str | None = None, **options: object
    ) -> AsyncIterator[Segment]:
        """Yield segments as the words come; streams that run at once share the model's batches, in another thread."""
        session = self.session(lang, **options)
        turns = self._turns_of(asyncio.get_running_loop())
        try:
            async for spoken in words:
                for segment in await turns.decode(session.says(spoken)):
                    yield segment
            for segment in await turns.decode(Said(session=session, session_end=True)):
                yield segment
        finally:
            with self._lock:
                self._pool.drop(session.name)

    def decode(self, said: Sequence[Said]) -> dict[str, list[Segment]]:
        """Decode what was said in sessions in one batch; return what froze, by session. Blocks.

        ArgumentError where one of them has ended: then nothing of it is said.
        """
        with self._lock:
            for one in said:
                one.session.refuse_ended()
            over = ""
            for one in said:
                admission = self._pool.offer(one.session.next_event(one))
                # One whose end was interrupted takes no words, and its end may be asked for again.
                over = one.session.name if admission.reason is not None and not one.session_end else over
            for segment in self._pool.turn(_WITHOUT_END_S).segments:
                self._frozen.setdefault(segment.session, []).append(Segment(segment))
            for one in said:
                one.session.done(one)
            if over:
                raise ArgumentError(f"session {over} has ended")
            # What froze in a turn that was interrupted comes with its session's next words, or with its end.
            frozen = {one.session.name: self._frozen.pop(one.session.name, []) for one in said}
            while self._abandoned:  # behind the turn: of a stream that was cancelled words may have been in it
                name = self._abandoned.popleft()
                self._pool.drop(name)
                self._frozen.pop(name, None)
        return frozen

    def __repr__(self) -> str:
        """Return the languages that there is a model for, and the one that sessions have unless they say another."""
        return f"<caesura.Model {self.lang} of {', '.join(sorted(self._served))}>"

    def let_go(self, session: str) -> None:
        """Have the next turn drop a session that nobody holds any more. Waits for nothing: a collector calls it."""
        self._abandoned.append(session)

    def look(self, session: str) -> Tentative | None:
        """Return a session's unfrozen words; None where there is no such session."""
        with self._lock:
            return self._pool.tentative(session)

    def _turns_of(self, loop: asyncio.AbstractEventLoop) -> _Turns:
        with self._lock:
            self._turns = {one: turns for one, turns in self._turns.items() if not one.is_closed()}
            return self._turns.setdefault(loop, _Turns(self))


def _refuse_unserved(lang: str, served: Collection[str]) -> None:
    given: object = lang
    if not isinstance(given, str):
        raise ArgumentError(f"a language is a text (en), not {type(given).__name__}")
    if (told := unserved(lang, served, so="")) is not None:
        raise ArgumentError(told)


def _refuse_others(given: Iterable[object]) -> None:
    """Raise ArgumentError where something is no session, such as a session's name."""
    for one in given:
        if not isinstance(one, Session):
            raise ArgumentError(f"sessions are wanted, which model.session() makes, not {type(one).__name__}")


class _Turns:
    """Gathers what streams of one event loop want while an inference runs, and does it in the next one."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._lock = asyncio.Lock()
        self._waiting: list[tuple[Said, asyncio.Future[list[Segment]]]] = []

    async def decode(self, said: Said) -> list[Segment]:
        """Return what froze in the session."""
        done: asyncio.Future[list[Segment]] = asyncio.get_running_loop().create_future()
        self._waiting.append((said, done))
        async with self._lock:
            if not done.done():  # a stream that is cancelled takes nobody's answer with it
                await asyncio.shield(asyncio.create_task(self._turn()))
        return await done

    async def _turn(self) -> None:
        taken, self._waiting = self._waiting, []
        try:
            frozen = await asyncio.to_thread(self._model.decode, [said for said, _ in taken])
        except Exception as error:  # noqa: BLE001 - whatever it is, everybody who waits is told
            for _, done in taken:
                if not done.done():
                    done.set_exception(error)
            return
        for said, done in taken:
            if not done.done():
                done.set_result(frozen.get(said.session.name, []))


class _NoTime(Clock):
    """Time does not pass: nothing freezes for silence that nobody noticed."""

    @override
    def wall_ms(self) -> int:
        """Return milliseconds since the epoch: always the same."""
        return 0

    @override
    def monotonic_s(self) -> float:
        """Return seconds: always the same."""
        return 0.0

    @override
    def sleep_s(self, seconds: float) -> None:
        """Return at once."""
