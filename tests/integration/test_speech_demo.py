"""The page of ``make demo-speech`` in a real, headless Chromium, with parts of the tests: no voice, no weights."""

from __future__ import annotations

import os
from pathlib import Path

from typing_extensions import override

from bench.speech_demo import Show, marked_words, page_of, perform, played
from caesura.models.evaluation.translators import Translator
from caesura.schemas.events import Word
from caesura.worker.adapters.memory.engine import ScriptedEngine
from caesura.worker.adapters.memory.engine import marked_words as marks
from caesura.worker.core.session.stream import StreamingLabeller
from tests.harness.parts.chromium import chromium, find_chromium
from tests.harness.parts.lookup import missing

SPOKEN = "well-comma i think uh that we go now-stop and then we come back here and eat our bread-stop".split()  # noqa: SIM905 - words read best as words
WORDS = [Word(text=text, start_ms=place * 300, end_ms=place * 300 + 250) for place, text in enumerate(SPOKEN)]
ROWS = "[...document.querySelectorAll('#{} tr')].map((row) => [...row.cells].map((cell) => cell.textContent.trim()))"


class Shouting(Translator):
    @override
    def translate(self, text: str) -> str:
        return text.upper()


def _engine() -> ScriptedEngine:
    return ScriptedEngine(look_ahead_words=4, script=marks)


def test_a_word_is_shown_with_its_mark_and_what_it_is() -> None:
    labeller = StreamingLabeller(_engine(), "en")
    (segment,) = [*labeller.add(["so-comma", "uh", "yes-stop"]), *labeller.end()]
    assert [kind for _, kind in marked_words(segment)] == ["", "IM", ""]
    assert marked_words(segment)[1][0] == "uh"


def test_every_word_is_heard_once_cut_by_caesura_and_cut_every_ten() -> None:
    shown = list(played(_engine(), WORDS))
    assert [message["text"] for _, message in shown if message["kind"] == "word"] == SPOKEN
    assert [at_ms for at_ms, _ in shown] == sorted(at_ms for at_ms, _ in shown)
    blind = [str(message["text"]).split() for _, message in shown if message["kind"] == "blind"]
    assert [len(words) for words in blind] == [10, len(SPOKEN) - 10]
    assert [word for words in blind for word in words] == SPOKEN
    assert sum(message["kind"] == "segment" for _, message in shown) >= 2


def test_the_page_shows_both_cuts_with_their_translations_and_ends() -> None:
    if (path := find_chromium()) is None:
        missing("no Chromium on the PATH to open the page in (Debian: apt-get install chromium)")
    show = Show()
    with page_of(show, b"") as address, chromium(path) as browser, browser.page() as page:
        page.resize(1280, 900)
        page.open(address)
        perform(show, _engine(), Shouting(), WORDS, speed=100)
        page.wait_for("document.getElementById('state').textContent === 'that was all'")
        heard = page.value("document.getElementById('heard').textContent").split()
        ours, blind = (page.value(ROWS.format(kind)) for kind in ("segment", "blind"))
        if folder := os.environ.get("PICTURES"):
            page.screenshot(Path(folder) / "speech-demo.png")
        complaints = [complaint for complaint in page.complaints if "voice.wav" not in complaint]
    assert heard == SPOKEN
    assert [row[2] for row in blind] == [row[1].upper() for row in blind]
    assert all(translated for _, _, translated in ours)
    assert "UH" not in " ".join(translated for _, _, translated in ours).split()
    assert complaints == []
