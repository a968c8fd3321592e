"""``import caesura``: words in, frozen segments out; many sessions, threads and asynchronous streams at once."""

from __future__ import annotations

import asyncio
import gc
import inspect
import re
import shutil
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

import caesura
from caesura.model import Model
from caesura.worker.adapters.memory.engine import ScriptedEngine, marked_words
from caesura.worker.core.language.labelling import LabelRequest, Probabilities
from caesura.worker.core.language.rules import DecodingRules
from caesura.worker.core.session.stream import StreamingLabeller
from tests.harness.engines import FaultyEngine
from tests.harness.places import SHIPPED

SPOKEN = "so uh this is the first-stop and here comes a second one with more words than fit"


def model() -> Model:
    return Model(ScriptedEngine(script=marked_words))


def texts(segments: list[caesura.Segment]) -> list[str]:
    return [word.text for segment in segments for word in segment.words]


def test_a_segment_has_its_text_its_marked_text_and_its_words() -> None:
    session = model().session()
    frozen = session.feed(SPOKEN)
    assert [(one.text, one.marked, one.verbatim) for one in frozen] == [
        ("So this is the first-stop.", "So {uh} this is the first-stop.", "so uh this is the first-stop")
    ]
    assert [(word.text, word.punctuation, word.disfluency) for word in frozen[0].words][1] == ("uh", "none", "B-IM")
    assert (frozen[0].cause, frozen[0].sentence_end, frozen[0].index) == (caesura.Cause.SENTENCE, True, 0)
    assert str(frozen[0]) == frozen[0].text
    rest = session.end()
    assert texts(frozen + rest) == SPOKEN.split()
    assert rest[-1].published.session_end


@pytest.mark.parametrize("size", [1, 2, 5, 100])
def test_however_words_are_fed_the_segments_are_those_of_the_core(size: int) -> None:
    spoken = [f"w{number}" for number in range(60)]
    core = StreamingLabeller(ScriptedEngine(), "en", DecodingRules(probabilities=Probabilities.WORDS))
    expected = [*core.add(spoken), *core.end()]
    session = Model(ScriptedEngine()).session()
    found = [one for start in range(0, 60, size) for one in session.feed(spoken[start : start + size])] + session.end()
    assert [(one.cause, one.words) for one in found] == [(one.cause, one.words) for one in expected]


def test_words_keep_their_times_and_a_pause_freezes_them() -> None:
    session = model().session(emission="settled", punctuation=False)
    session.feed([caesura.Word(text="yes", start_ms=100, end_ms=300, confidence=0.5)])
    (paused,) = session.pause()
    assert (paused.words[0].start_ms, paused.words[0].end_ms, paused.words[0].confidence) == (100, 300, 0.5)
    assert paused.cause == caesura.Cause.UTTERANCE
    assert paused.published.punctuated is False


def test_unfrozen_words_can_be_looked_at() -> None:
    session = model().session()
    session.feed("one uh two-comma three")
    assert session.unfrozen is not None
    assert session.unfrozen.marked == "One {uh} two-comma, three"
    assert (len(session.unfrozen.words), session.unfrozen.labelled_words) == (4, 3)
    ended = session.end()
    assert texts(ended) == ["one", "uh", "two-comma", "three"]
    assert not isinstance(session.unfrozen, caesura.Unfrozen)


def test_many_sessions_share_batches_without_affecting_each_other() -> None:
    engine = ScriptedEngine(script=marked_words)
    many = Model(engine)
    sessions = [many.session() for _ in range(20)]
    many.feed({session: f"one two n{number}" for number, session in enumerate(sessions)})
    assert max(engine.batch_sizes) == 20
    ended = many.end(sessions)
    assert [texts(ended[one]) for one in sessions] == [["one", "two", f"n{number}"] for number in range(20)]
    assert many.punctuate(["uh yes", "", "no-stop why-ask"]) == ["Yes.", "", "No-stop. Why-ask?"]


def test_invalid_words_and_options_are_refused_by_name() -> None:
    session = model().session()
    with pytest.raises(ValueError, match="word 1: a word holds no white space"):
        session.feed(["one", "two three"])
    with pytest.raises(ValueError, match="there is no option emision; there are emission"):
        model().session(emision="settled")
    with pytest.raises(ValueError, match=r"option emission is 'setled': .*; there are sentence, clause, settled$"):
        model().session(emission="setled")
    with pytest.raises(ValueError, match=r"option look_ahead_words is -1: .*>= 0$"):
        model().session(look_ahead_words=-1)
    session.end()
    with pytest.raises(ValueError, match="has ended"):
        session.feed("more")
    with pytest.raises(ValueError, match=r"no model for tlh, there is one for de, en, es, fr and zh$"):
        caesura.load("tlh")
    with pytest.raises(ValueError, match=r"no model for klingon, there is one for en and zh$"):
        model().session("klingon")


async def spoken_slowly(words: str) -> AsyncIterator[str]:
    for word in words.split():
        await asyncio.sleep(0)
        yield word


def test_streams_that_run_at_once_share_batches() -> None:
    engine = ScriptedEngine(script=marked_words)
    many = Model(engine)

    async def heard(number: int) -> list[caesura.Segment]:
        return [segment async for segment in many.stream(spoken_slowly(f"n{number} {SPOKEN}"))]

    async def all_of_them() -> list[list[caesura.Segment]]:
        return await asyncio.gather(*(heard(number) for number in range(8)))

    for number, segments in enumerate(asyncio.run(all_of_them())):
        assert texts(segments) == [f"n{number}", *SPOKEN.split()]
    assert max(engine.batch_sizes) > 1
    assert len(many._pool) == 0


def test_a_stream_that_is_given_up_leaves_nothing_behind_and_disturbs_no_other() -> None:
    many = model()

    async def endless() -> AsyncIterator[str]:
        while True:
            yield "more"
            await asyncio.sleep(0)

    async def first(stream: AsyncIterator[caesura.Segment]) -> caesura.Segment:
        return await anext(stream)

    async def both() -> list[caesura.Segment]:
        given_up = asyncio.create_task(first(many.stream(endless(), max_buffer_words=500)))
        other = [segment async for segment in many.stream(spoken_slowly(SPOKEN))]
        given_up.cancel()
        await asyncio.gather(given_up, return_exceptions=True)
        return other

    assert texts(asyncio.run(both())) == SPOKEN.split()


def test_an_engine_that_fails_is_told_to_every_stream_of_the_turn() -> None:
    def fail(requests: Sequence[LabelRequest]) -> None:
        raise caesura.CaesuraError(f"{len(requests)} requests, and no model")

    many = Model(FaultyEngine(fail))

    async def heard() -> None:
        async for _ in many.stream(spoken_slowly(SPOKEN)):
            pass

    async def both() -> list[BaseException | None]:
        return list(await asyncio.gather(heard(), heard(), return_exceptions=True))

    assert all(isinstance(one, caesura.CaesuraError) for one in asyncio.run(both()))


def test_threads_may_share_a_model() -> None:
    many, start = model(), threading.Barrier(4)

    def heard(number: int) -> list[str]:
        session = many.session()
        start.wait(60)
        spoken = f"n{number} {SPOKEN}".split()
        return texts([one for word in spoken for one in session.feed([word])] + session.end())

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(heard, range(4))) == [[f"n{number}", *SPOKEN.split()] for number in range(4)]


def test_the_shipped_models_are_found_and_chinese_is_cut_by_itself() -> None:
    assert caesura.languages() == ["de", "en", "es", "fr", "zh"]
    loaded = caesura.load("zh", threads=1)
    session = loaded.session()
    segments = [*session.feed("大家早上好我刚刚到办公室昨天的照片我已经发给客户了"), *session.end()]
    assert "".join(one.verbatim for one in segments) == "大家早上好我刚刚到办公室昨天的照片我已经发给客户了"
    assert len([word for one in segments for word in one.words]) > 5
    assert segments[-1].text.endswith("。")
    assert loaded.punctuate(["can you hear me"], lang="en") == ["Can you hear me?"]


def test_another_model_than_the_manifests_may_be_the_one_that_decodes(tmp_path: Path) -> None:
    shutil.copytree(SHIPPED / "en-small", tmp_path / "en-small")
    with pytest.raises(ValueError, match="there is no model for en"):
        caesura.load("en", models=tmp_path)
    for active_models in ("en-ct-3x384", ["en-ct-3x384"]):
        loaded = caesura.load("en", models=tmp_path, active_models=active_models, threads=1)
        assert loaded.punctuate(["can you hear me"]) == ["Can you hear me?"]
    with pytest.raises(caesura.CaesuraError, match="active_models: tiny names no one model; there are en-ct-3x384@"):
        caesura.load("en", models=tmp_path, active_models=["tiny"])


@pytest.mark.slow
def test_the_documented_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    document = inspect.getdoc(caesura) or ""
    example = "\n".join(line[4:] for line in document.splitlines() if line.startswith("    "))
    exec(compile(example, "example", "exec"), {})  # noqa: S102
    assert capsys.readouterr().out == "So I think we should ship it on Friday.\n"


def test_a_dropped_session_goes_from_the_model() -> None:
    many = model()
    kept = many.session()
    kept.feed("one two")
    for _ in range(20):
        many.session().feed("hello")
    gc.collect()
    kept.feed("three")
    assert len(many._pool) == 1
    assert texts(kept.end()) == ["one", "two", "three"]


def test_chinese_texts_have_no_spaces_between_their_sentences() -> None:
    (text,) = model().punctuate(["你好-stop 再见-stop"], lang="zh")
    assert text == "你好-stop。再见-stop。"


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (lambda: model().session().feed(b"hello"), "not bytes"),  # type: ignore[arg-type]
        (lambda: model().session().feed(None), "not NoneType"),  # type: ignore[arg-type]
        (lambda: model().session().feed([b"hello"]), "word 0: a str or a caesura.Word is wanted, not bytes"),  # type: ignore[list-item]
        (lambda: model().punctuate("hello there"), "a list of texts"),
        (lambda: caesura.load(threads=0), "threads is 0"),
        (lambda: caesura.load(None), "a language is a text (en), not NoneType"),  # type: ignore[arg-type]
        (lambda: caesura.load(threads="two"), "threads is 'two'"),  # type: ignore[arg-type]
    ],
)
def test_a_wrong_text_word_or_thread_is_named(wrong: Callable[[], object], told: str) -> None:
    with pytest.raises(ValueError, match=re.escape(told)):
        wrong()


def test_sessions_that_cannot_all_be_ended_are_not_ended_and_keep_their_words() -> None:
    many = model()
    one, over = many.session(), many.session()
    one.feed("some words")
    over.end()
    with pytest.raises(ValueError, match="has ended"):
        many.end([one, over])
    assert texts(many.end([one, one])[one]) == ["some", "words"]


def test_sessions_that_cannot_all_be_fed_miss_no_event() -> None:
    many = model()
    one, other = many.session(punctuation=False), many.session()
    with pytest.raises(ValueError, match="white space"):
        many.feed({one: "hello", other: ["two words"]})
    one.feed("hello")
    (segment,) = one.end()
    assert (segment.published.gaps, segment.published.punctuated) == ((), False)


@pytest.mark.parametrize(
    ("word", "told"),
    [
        (caesura.Word(text=""), "is not empty"),
        (caesura.Word(text="a b"), "no white space"),
        (caesura.Word(text="a", start_ms=5, end_ms=1), "does not end before it begins"),
        (caesura.Word(text="a", start_ms=-4), "times run from 0"),
        (caesura.Word(text="a", confidence=7.0), "confidence is 0 to 1"),
    ],
)
def test_an_impossible_word_is_refused_by_place(word: caesura.Word, told: str) -> None:
    with pytest.raises(ValueError, match=f"word 1: .*{told}"):
        model().session().feed(["so", word])


def test_feed_refuses_sessions_without_words() -> None:
    many = model()
    with pytest.raises(ValueError, match=r"feed\(\{session: words\}\)"):
        many.feed([many.session()])  # type: ignore[arg-type]


def test_a_session_that_two_threads_feed_loses_no_word() -> None:
    session, both = Model(ScriptedEngine()).session(), threading.Barrier(2)

    def spoken(word: str) -> Iterator[str]:
        with suppress(threading.BrokenBarrierError):
            both.wait(1)
        yield word

    with ThreadPoolExecutor(2) as pool:
        fed = list(pool.map(lambda word: session.feed(spoken(word)), ["one", "two"]))
    assert sorted(texts([*fed[0], *fed[1], *session.end()])) == ["one", "two"]


CALL = """WEBVTT

00:00:01.000 --> 00:00:02.000
<v Ada>uh hello-stop

00:00:02.500 --> 00:00:04.000
<v Bo>yes-stop so it goes
"""


@pytest.fixture
def call(tmp_path: Path) -> Path:
    (tmp_path / "call.vtt").write_text(CALL, encoding="utf-8")
    return tmp_path / "call.vtt"


def test_a_recording_is_read_and_transcribed(call: Path) -> None:
    recording = caesura.read(call)
    assert recording.sessions == {"call/Ada": 2, "call/Bo": 4}
    transcript = model().transcribe(recording)
    assert transcript.text == "[00:00:01] Ada: Hello-stop.\n\n[00:00:02] Bo: Yes-stop. So it goes.\n"
    assert "{Uh}" in transcript.marked
    assert "<v Bo>Yes-stop." in transcript.vtt
    assert "Bo: Yes-stop." in transcript.srt
    assert str(model().transcribe(call)) == transcript.text, "a path is read first, and a recording may be used again"
    assert [side.name for side in transcript.characteristics.sides] == ["Ada", "Bo"]
    assert transcript.refused == {}
    spoken = [word.text for one in transcript.segments for word in one.words]
    assert " ".join(spoken) == "uh hello-stop yes-stop so it goes"


def test_every_library_error_is_a_caesura_error(call: Path, tmp_path: Path) -> None:
    session = model().session()
    for wrong in (
        lambda: caesura.read(tmp_path / "missing.json"),
        lambda: caesura.read(call, format="vt"),
        lambda: caesura.read(7),  # type: ignore[arg-type]
        lambda: caesura.read(call, lang=7),  # type: ignore[arg-type]
        lambda: model().transcribe(7),  # type: ignore[arg-type]
        lambda: session.feed(["two words"]),
        lambda: model().session(emision="settled"),
        lambda: caesura.load("xx"),
    ):
        with pytest.raises(caesura.CaesuraError):
            wrong()
    with pytest.raises(ValueError, match="there is no format 'vt'; there are auto, text"):
        caesura.read(call, format="vt")


def test_feed_says_that_its_keys_are_sessions() -> None:
    with pytest.raises(caesura.ArgumentError, match=r"sessions are wanted, which model.session\(\) makes, not str"):
        model().feed({"agent": "hello"})  # type: ignore[dict-item]
    with pytest.raises(caesura.ArgumentError, match=r"sessions are wanted, which model.session\(\) makes, not str"):
        model().end(["agent"])  # type: ignore[list-item]


def test_captions_of_a_text_are_refused(tmp_path: Path) -> None:
    (tmp_path / "talk.txt").write_text("good day\n", encoding="utf-8")
    with pytest.raises(caesura.CaesuraError, match="has no times of words"):
        _ = model().transcribe(tmp_path / "talk.txt").vtt


def test_every_library_object_has_a_telling_repr(call: Path) -> None:
    many = model()
    session = many.session()
    (frozen, *_) = session.feed("uh yes-stop one two three four five six seven eight nine")
    assert repr(many) == "<caesura.Model en of en, zh>"
    assert repr(session) == "<caesura.Session session-1 en>"
    assert repr(frozen) == "<caesura.Segment session-1 #0, sentence: '{Uh} yes-stop.'>"
    assert repr(session.unfrozen).startswith("<caesura.Unfrozen session-1, ")
    session.end()
    assert repr(session) == "<caesura.Session session-1 en, ended>"
    recording = caesura.read(call)
    assert repr(recording) == f"<caesura.Recording {call}: vtt, 2 sessions, 6 words>"
    assert repr(many.transcribe(recording)) == f"<caesura.Transcript {call}: 2 sessions, 3 segments>"


class Interrupted(FaultyEngine):
    """Is interrupted at its first batch."""

    def __init__(self) -> None:
        super().__init__(self._interrupt)
        self._interrupts = [KeyboardInterrupt()]

    def _interrupt(self, requests: Sequence[LabelRequest]) -> None:
        if requests and self._interrupts:
            raise self._interrupts.pop()


def test_words_frozen_in_an_interrupted_tick_go_out_next() -> None:
    many = Model(Interrupted())
    one, other = many.session(), many.session()
    spoken = [f"w{number}" for number in range(60)]
    with pytest.raises(KeyboardInterrupt):
        one.feed(spoken)
    other.feed("hello")
    assert texts([*one.feed("more"), *one.end()]) == [*spoken, "more"]


def test_an_interrupted_end_can_be_asked_for_again() -> None:
    session = Model(Interrupted()).session()
    frozen = session.feed("one two")
    with pytest.raises(KeyboardInterrupt):
        session.end()
    with pytest.raises(ValueError, match="has ended"):
        session.feed("three")
    assert texts([*frozen, *session.end()]) == ["one", "two"]
    with pytest.raises(ValueError, match="has ended"):
        session.end()
