"""The live page in a real, headless Chromium: what is frozen, what is announced, what is never markup."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from caesura.worker.adapters.onnx.engine import OnnxEngine
from caesura.worker.core.language.rules import DecodingRules
from caesura.worker.settings.serving import ServeSettings
from tests.harness.parts.chromium import Browser, Page, chromium, find_chromium
from tests.harness.parts.lookup import missing
from tests.harness.places import ROOT
from tests.harness.service import serving

CONNECTED = "document.getElementById('state').classList.contains('on')"
FOLDER = os.environ.get("PICTURES")
"""Where pictures go that somebody wants to look at; none are made without it."""


@contextmanager
def shown(
    browser: Browser, *, engine: OnnxEngine | None = None, settings: ServeSettings | None = None, fragment: str = ""
) -> Iterator[Page]:
    rules = DecodingRules(flush_after_ms=800, stall_after_ms=800) if engine is not None else None
    with serving(settings, engine=engine, rules=rules) as served, browser.page() as page:
        page.resize(1280, 800)
        page.prefer("dark")
        page.open(served.url + fragment)
        if settings is None:
            page.wait_for(CONNECTED)
        yield page


def say(page: Page, **event: object) -> None:
    page.value(f"send({json.dumps(event)})")


def text(page: Page, selector: str) -> str:
    chosen = f"[...document.querySelectorAll({json.dumps(selector)})]"
    return str(page.value(f"{chosen}.map((one) => one.textContent).join('|')"))


def picture(page: Page, name: str) -> None:
    if FOLDER:
        page.screenshot(Path(FOLDER) / f"{name}.png")


def play(page: Page, name: str, content: str, *, dropped: bool = False) -> None:
    """Give the page a file at once, chosen or dropped."""
    file = f"d.items.add(new File([{json.dumps(content)}], {json.dumps(name)}))"
    field = "const file = document.getElementById('file')"
    change = f"{field}; file.files = d.files; file.dispatchEvent(new Event('change'))"
    drop = "dispatchEvent(new DragEvent('drop', {dataTransfer: d, cancelable: true}))"
    page.value("document.getElementById('speed').value = '0'")
    page.value(f"(() => {{ const d = new DataTransfer(); {file}; {drop if dropped else change}; }})()")


HOSTILE = (
    "<img/src=x/onerror=document.title='owned'>",
    "<script>document.title='owned'</script>",
    "&lt;b&gt;",
    "<b>",
    "javascript:document.title='owned'",
    "\u202etxet",
    "{{7*7}}",
    "[x]",
    "</span><h1>big</h1>",
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    path = find_chromium()
    if path is None:
        missing("no Chromium on the PATH to open the page in (Debian: apt-get install chromium)")
    with chromium(path) as running:
        yield running


@pytest.fixture(scope="module")
def model() -> OnnxEngine:
    return OnnxEngine(ROOT / "models" / "shipped", threads=1)


def test_words_are_grey_until_they_freeze_and_slips_are_struck_through(browser: Browser) -> None:
    with shown(browser) as page:
        say(page, session="Anna", lang="en", words="so uh yes-comma we can")
        page.wait_for("document.querySelectorAll('main .w.grey').length === 5")
        assert text(page, "main .w.frozen") == ""
        assert text(page, "main .w.grey del") == "uh"
        assert (
            page.value("getComputedStyle(document.querySelector('main .w.IM del')).textDecorationLine")
            == "line-through"
        )
        assert text(page, "#log") == ""

        say(page, session="Anna", lang="en", words="do-stop", session_end=True)
        page.wait_for("document.querySelectorAll('main .w.frozen').length === 6")
        assert text(page, "main .w.grey") == ""
        assert text(page, "main .w.frozen") == "So |uh |yes-comma, |we |can |do-stop."
        assert text(page, "#log p") == "Anna: So yes-comma, we can do-stop."
        assert page.value("document.getElementById('log').getAttribute('role')") == "log"
        assert text(page, "main .why") == "end"
        assert page.value("document.querySelectorAll('.delay rect').length") == 1
        assert page.complaints == []


def test_numbers_are_shown_as_digits_where_that_is_chosen(browser: Browser) -> None:
    with shown(browser) as page:
        page.value("document.getElementById('numbers').value = 'digits'")
        say(page, session="Anna", lang="en", words="we paid twenty two dollars for-stop", session_end=True)
        page.wait_for("document.querySelectorAll('main .w.frozen').length === 4")
        assert text(page, "main .w.frozen") == "We |paid |$22 |for-stop."
        assert page.value("document.querySelectorAll('main .w.frozen')[2].title") == "twenty two dollars"


def segment_of(words: list[dict[str, object]], *, cause: str, **more: object) -> dict[str, object]:
    timing = {"appended_ms": 0, "frozen_ms": 5}
    told = {"session": "Anna", "since": 0, "index": 0, "first_word": 0, "lang": "en", "timing": timing}
    return {**told, "words": words, "cause": cause, **more}


def test_doubtful_words_are_shaded_and_a_pause_says_whether_it_ends(browser: Browser) -> None:
    words: list[dict[str, object]] = [
        {"text": "we", "punctuation": "none", "disfluency": "O"},
        {"text": "paid", "punctuation": "period", "disfluency": "O", "punctuation_probability": 0.55},
        {"text": "so", "punctuation": "none", "disfluency": "B-IM", "disfluency_probability": 0.6},
        {"text": "then", "punctuation": "none", "disfluency": "O", "disfluency_probability": 0.9},
    ]
    told = {
        "segment": segment_of(words, cause="utterance", turn_end=0.31),
        "marked": "We paid. {So} then",
        "spans": [[0, 0, 2], [1, 3, 7], [2, 10, 12], [3, 14, 18]],
    }
    with shown(browser) as page:
        assert page.value("document.getElementById('doubts').hidden") is True
        page.value(f"showSegment({json.dumps(told)})")
        assert text(page, "main .w.doubt") == "paid. |So "
        assert page.value("[...document.querySelectorAll('main .w.doubt')].map((one) => one.title).join('|')") == (
            "mark 55 % sure|word 60 % sure"
        )
        assert text(page, "main .why") == "utterance · 31 % finished"
        assert page.value("document.getElementById('doubts').checkVisibility()") is True
        assert text(page, "#doubts") == "doubtful mark or word"
        picture(page, "doubts")


def test_a_number_in_digits_is_as_doubtful_as_the_worst_of_its_words(browser: Browser) -> None:
    words: list[dict[str, object]] = [
        {"text": "we", "punctuation": "none", "disfluency": "O"},
        {"text": "paid", "punctuation": "none", "disfluency": "O"},
        {"text": "twenty", "punctuation": "none", "disfluency": "O", "disfluency_probability": 0.65},
        {"text": "two", "punctuation": "none", "disfluency": "O", "disfluency_probability": 0.97},
        {"text": "dollars", "punctuation": "period", "disfluency": "O", "punctuation_probability": 0.93},
    ]
    segment = segment_of(words, cause="sentence")
    spans = [[0, 0, 2], [1, 3, 7], [2, 8, 11], [3, 8, 11], [4, 8, 11]]
    with shown(browser) as page:
        page.value(f"showSegment({json.dumps({'segment': segment, 'marked': 'We paid $22.', 'spans': spans})})")
        assert text(page, "main .w.doubt") == "$22."
        title = page.value("document.querySelector('main .w.doubt').title")
        assert title == "twenty two dollars: mark 93 %, word 65 % sure"
        picture(page, "doubtful-digits")


def test_hostile_words_and_names_are_text_and_nothing_else(browser: Browser) -> None:
    with shown(browser) as page:
        for number, word in enumerate(HOSTILE):
            say(page, session=f"<i>{number}</i>", lang="en", words=[word, "uh"], speaker="<u>", session_end=True)
        page.wait_for(f"document.querySelectorAll('.badge:not([hidden])').length >= {2 * len(HOSTILE)}")
        assert page.value("document.title") == "caesura"
        assert page.value("document.querySelectorAll('img, h1 + h1, main script, main i, main u, main h1').length") == 0
        made = page.value("[...document.querySelectorAll('article *')].map((one) => one.tagName.toLowerCase())")
        assert set(made) <= {"header", "h2", "span", "div", "svg", "rect", "line", "button", "del", "b", "bdi"}
        names = sorted(text(page, "article h2 span").split("|"))
        assert names == [f"<i>{number}</i>" for number in range(len(HOSTILE))]
        assert "</Span><h1>big</h1> |uh" in text(page, "main .w.frozen")
        assert page.complaints == []


def test_a_page_of_another_origin_cannot_speak_to_the_service(browser: Browser) -> None:
    asked = """(address) => new Promise((done) => {
      const socket = new WebSocket(address + 'v1/words'); let told = '';
      socket.onopen = () => socket.send('{}'); socket.onmessage = (one) => { told += one.data; };
      socket.onclose = (one) => done([one.code, one.reason, told]);
    })"""
    fetched = "(address) => fetch(address + 'v1/about').then((one) => one.text(), () => 'refused')"
    posted = fetched.replace("v1/about')", "v1/words/a', {method: 'POST', body: '{}'})")
    with serving() as served, serving() as other, browser.page() as page:
        page.open(other.url)
        page.call("Page.setBypassCSP", enabled=True)
        page.open(other.url)
        address = json.dumps(served.url.replace("http", "ws", 1))
        code, reason, told = page.value(f"({asked})({address})")
        assert (code, reason) == (4001, "unknown_origin")
        assert "ready" not in told
        assert page.value(f"({fetched})({json.dumps(served.url)})") == "refused"
        assert page.value(f"({posted})({json.dumps(served.url)})") == "refused"


def test_the_sides_of_a_call_stand_side_by_side_under_their_names(browser: Browser) -> None:
    call = HOSTILE[0]
    with shown(browser) as page:
        say(page, session="other", words="alone-stop", session_end=True)
        say(
            page,
            session="7/a",
            conversation=call,
            role="agent",
            speaker="Anna Berg",
            words=[{"text": "good", "start_ms": 5000}, {"text": "day-stop", "start_ms": 5500}],
            session_end=True,
        )
        say(
            page,
            session="7/b",
            conversation=call,
            speaker="1",
            role="customer",
            words=[{"text": "hello", "start_ms": 1000}, {"text": "there-stop", "start_ms": 1500}],
            session_end=True,
        )
        say(page, session="later", words="alone too-stop", session_end=True)
        page.wait_for("document.querySelectorAll('.call .w.frozen').length === 4")
        page.wait_for("document.querySelectorAll('article').length === 4")
        assert text(page, ".call > h2") == call
        assert text(page, ".call article h2 span") == "Speaker 1, customer|Anna Berg, agent"
        assert sorted(text(page, "main > article h2 span").split("|")) == ["later", "other"]
        boxes = "[...document.querySelectorAll('.call article')].map((one) => one.getBoundingClientRect())"
        assert page.value(f"(([a, b]) => a.top === b.top && a.right <= b.left && b.right > 1200)({boxes})")
        names = "[...document.querySelectorAll('.call article h2 span')].map((one) => one.clientWidth > 50)"
        assert page.value(f"{names}.every(Boolean)")
        assert page.value("document.title") == "caesura"
        picture(page, "call")
        page.resize(360, 800)
        assert page.value(f"(([a, b]) => a.bottom <= b.top && a.left === b.left)({boxes})")
        assert page.value("document.documentElement.scrollWidth <= 360")


def test_an_ended_session_folds_and_a_long_name_is_cut_in_the_middle(browser: Browser) -> None:
    long = f"{'north-building/' * 6}left-channel"
    with shown(browser) as page:
        say(page, session=long, words="so-stop", session_end=True)
        say(page, session="b", words="we go")
        page.wait_for("document.querySelectorAll('article').length === 2")
        assert text(page, "article h2 span") == f"b|{long}"  # who speaks stands before who has ended
        ends = "[...document.querySelectorAll('article h2 bdi')].map((one) => one.scrollWidth > one.clientWidth)"
        assert page.value(ends) == [False, True, False]
        ended = "[...document.querySelectorAll('article')].find((one) => one.querySelector('h2 span').title.length > 9)"
        page.wait_for(f"!{ended}.querySelector('.shut').hidden")
        page.value("sessions.forEach((one) => { if (!one.ended.hidden) one.fold(true); })")
        assert page.value(f"{ended}.clientHeight") < 80
        page.value(f"{ended}.querySelector('.shut').click()")
        assert page.value(f"{ended}.clientHeight") > 100


def test_the_browser_itself_refuses_to_make_markup_of_text(browser: Browser) -> None:
    with shown(browser) as page:
        making = "document.body.innerHTML = '<b>x</b>'"
        assert page.value(f"(() => {{ try {{ {making}; }} catch (error) {{ return error.name; }} }})()") == "TypeError"
        styling = "s.textContent = 'body { display: none }'; document.head.append(s)"
        page.value(f"(() => {{ const s = document.createElement('style'); {styling}; }})()")
        assert page.value("getComputedStyle(document.body).display") == "flex"


def test_pause_holds_the_page_still_and_loses_nothing(browser: Browser) -> None:
    with shown(browser) as page:
        say(page, session="a", lang="en", words="one two-stop three four five six seven eight nine")
        page.wait_for("document.querySelectorAll('main .w.frozen').length === 2")
        page.press("p")
        say(page, session="a", lang="en", words="ten", session_end=True)
        page.wait_for("/\\d/.test(document.getElementById('pause').textContent)")
        assert page.value("document.querySelectorAll('main .w.frozen').length") == 2
        page.press("p")
        page.wait_for("document.querySelectorAll('main .w.frozen').length === 10")


def test_search_finds_what_was_said_across_words(browser: Browser) -> None:
    with shown(browser) as page:
        say(page, session="a", lang="en", words="the box the box the lid", session_end=True)
        page.wait_for("document.querySelectorAll('main .w.frozen').length === 6")
        page.press("/")
        page.type("the box")
        assert text(page, "#hits") == "2 found"
        assert page.value("document.querySelectorAll('main .w.hit').length") == 4
        page.press("Enter")
        assert text(page, "#hits") == "1 of 2"
        page.press("Escape")
        assert page.value("document.querySelectorAll('main .w.hit').length") == 0


def test_typed_text_is_spoken_word_by_word(browser: Browser) -> None:
    with shown(browser) as page:
        page.value("document.getElementById('say').focus()")
        page.type("good day-stop ")
        page.wait_for("document.querySelectorAll('main .w.grey').length === 2")
        page.type("yes")
        page.press("Enter")
        page.wait_for("document.querySelectorAll('main .w.frozen').length === 3")
        assert text(page, "main .w.frozen") == "Good |day-stop.|Yes"


def test_a_text_and_word_events_are_played(browser: Browser) -> None:
    with shown(browser) as page:
        play(page, "talk.txt", "[laughter] good day-stop\nso uh yes\n")
        page.wait_for("document.querySelectorAll('main .w.frozen').length === 6")
        assert sorted(text(page, "article h2 span").split("|")) == ["line 1", "line 2"]
        events = [{"session": "Anna", "words": ["so", "we", "go-stop"]}, {"session": "Anna", "session_end": True}]
        play(page, "talk.jsonl", "\n".join(map(json.dumps, events)), dropped=True)
        page.wait_for("document.querySelectorAll('main .w.frozen').length === 9")
        assert "Anna: So we go-stop." in text(page, "#log p").split("|")
        assert page.complaints == []


@pytest.mark.parametrize("dropped", [False, True])
def test_captions_and_a_recognisers_json_are_named_and_never_spoken(browser: Browser, *, dropped: bool) -> None:
    srt = "1\n00:00:01,000 --> 00:00:02,000\nSo.\n"
    foreign = {
        srt: "captions",
        "WEBVTT\n\nSo.": "WebVTT captions",
        "0:00:01.000,0:00:02.000\nSo.\n": "captions",
        '[{"Word": "hi"}]': "JSON in an array",
        '[\n {"Word": "hi"}\n]': "JSON in an array",
        "<?xml version='1.0'?><tt/>": "XML or HTML",
        "RIFF\0\0WAVE": "no text",
        'connected\n{"partial": "hi"}\n': "messages among other lines",
    }
    with shown(browser) as page:
        for content, told in foreign.items():
            page.value("document.getElementById('state-text').textContent = ''")
            play(page, "talk.txt", content, dropped=dropped)
            page.wait_for("document.getElementById('state-text').textContent !== ''")
            assert text(page, "#state-text").startswith(f"talk.txt looks like {told} and was not spoken"), content
        play(page, "vosk.json", '{"words": "so"}\n{"partial": "hi"}\n', dropped=dropped)
        page.wait_for("document.getElementById('state-text').textContent.includes('line 2 of vosk.json')")
        say(page, session="last", lang="en", words="uh yes", session_end=True)
        page.wait_for("document.querySelectorAll('main .w.frozen').length === 2")
        assert text(page, "article h2 span") == "last"


def test_keys_change_the_look_and_go_from_speaker_to_speaker(browser: Browser) -> None:
    with shown(browser) as page:
        for name in ("a", "b"):
            say(page, session=name, lang="en", words="uh yes", session_end=True)
        page.wait_for("document.querySelectorAll('main .w.frozen').length === 4")
        order = text(page, "article h2 span").split("|")  # who speaks stands before who has ended
        assert sorted(order) == ["a", "b"]
        for name in order:
            page.press("j")
            assert page.value("document.activeElement.getAttribute('aria-label')") == f"What {name} said"
        page.press("k")
        assert page.value("document.activeElement.getAttribute('aria-label')") == f"What {order[0]} said"
        page.press("d")
        assert page.value("getComputedStyle(document.querySelector('main .w.IM')).display") == "none"
        ground = page.value("getComputedStyle(document.documentElement).backgroundColor")
        page.press("t")
        assert page.value("getComputedStyle(document.documentElement).backgroundColor") != ground
        page.press("?")
        assert page.value("document.getElementById('keys').open")


def test_a_page_without_the_token_asks_for_it_and_the_address_does_not_keep_it(browser: Browser) -> None:
    settings = ServeSettings(port=0, token="open-sesame")
    with shown(browser, settings=settings) as page:
        page.wait_for("document.getElementById('ask').open")
        page.value("document.getElementById('token').focus()")
        page.type("wrong")
        page.press("Enter")
        page.wait_for("document.getElementById('ask-error').textContent")
        page.value("document.getElementById('token').focus()")
        page.type("open-sesame")
        page.press("Enter")
        page.wait_for(CONNECTED)
    with shown(browser, settings=settings, fragment="#token=open-sesame") as page:
        page.wait_for(CONNECTED)
        assert page.value("location.hash") == ""


def test_the_documented_client_shows_segments(browser: Browser) -> None:
    (client,) = re.findall(r"```javascript\n(.*?)```", (ROOT / "docs/serve.md").read_text(encoding="utf-8"), re.DOTALL)
    assert len(client.strip().splitlines()) <= 10
    with serving() as served, browser.page() as page:
        page.open(served.url)
        page.value(client.replace("ws://127.0.0.1:8765/v1/words", served.words).replace("const service", "service"))
        page.wait_for("document.body.lastChild.textContent === 'Good morning everybody can you all hear me '")


@pytest.mark.timeout(180)
def test_the_sample_shows_all_of_it_at_every_width(browser: Browser, model: OnnxEngine) -> None:
    with shown(browser, engine=model) as page:
        picture(page, "empty")
        page.value("document.getElementById('sample').click()")
        page.wait_for("document.querySelectorAll('article').length === 4", 60)
        page.wait_for("document.querySelectorAll('main .w.RM.frozen').length", 60)
        page.wait_for("document.querySelectorAll('main .w.grey del').length", 60)
        picture(page, "dark")
        page.press("t")
        picture(page, "light")
        page.resize(390, 844, mobile=True)
        assert page.value("document.documentElement.scrollWidth <= innerWidth")
        for row in (".tools > *", ".speak form > *"):
            rows = f"new Set([...document.querySelectorAll('{row}')].filter((one) => one.offsetWidth)"
            assert page.value(f"{rows}.map((one) => Math.round(one.offsetTop + one.offsetHeight / 2))).size") == 1
        picture(page, "phone")
        page.resize(1280, 800)
        over = "(one) => one.querySelectorAll('.badge:not([hidden])').length === 2"
        page.wait_for(f"[...document.querySelectorAll('article')].every({over})", 60)
        picture(page, "end")
        assert "[" not in text(page, ".said")
        assert "Anna: Good morning, everybody." in text(page, "#log p").split("|")
        assert page.complaints == []
