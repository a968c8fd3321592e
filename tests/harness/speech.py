"""What sessions say, and what of it came out: builders and checks that every test of the worker shares."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import TypedDict, Unpack

import msgspec

from caesura.schemas.events import Emission, SessionOptions, Word, WordsEvent
from caesura.schemas.segments import Segment, Timing
from caesura.worker.sizing.speech import SAID

_SENTENCES = {
    "en": (
        "so the first thing we did was to ask everybody who had been there what they remembered",
        "and uh it turned out that nobody agreed on anything at all",
        "do you know how far it is from here",
        "it's only three and a half kilometres i mean miles so we could walk",
        "well the the second box was completely wet and the label had come off",
        "i called the depot twice but they never answered",
        "if you want we can meet again on thursday morning before the others arrive",
        "no that is too early for me could we say eleven",
    ),
    "zh": (
        "我们 先 看 一下 上个月 的 情况 然后 再 谈 下一步",
        "其实 大家 嗯 大家 都 不 太 同意 这个 办法",
        "你 知道 从 这里 到 车站 要 多久 吗",
        "大概 半个 小时 不对 二十 分钟 就 够 了",
        "那个 那个 箱子 已经 湿透 了 标签 也 掉 了",
        "我 打 了 两次 电话 都 没有 人 接",
        "如果 方便 的话 星期四 上午 再 见面 吧",
        "太 早 了 能 不能 改到 十一点",
    ),
}


class Rest(TypedDict, total=False):
    epoch: int
    lang: str
    heard_until_ms: int
    utterance_end: bool
    session_end: bool
    targets: tuple[str, ...]
    options: SessionOptions
    version: str


def event(session: str, seq: int, *words: str, **rest: Unpack[Rest]) -> WordsEvent:
    """Return one event."""
    fields: Rest = {"version": "1.0", "lang": "en", **rest}
    return WordsEvent(session=session, seq=seq, words=tuple(Word(text=word) for word in words), **fields)


def speech(
    session: str,
    words: int | Sequence[str],
    *,
    a_time: int = 4,
    end: bool = True,
    emission: Emission | None = None,
    lang: str = "en",
) -> list[WordsEvent]:
    """Return a session's events, some words at a time. A number of words: each has a name of its own."""
    names = [f"{session}-w{number}" for number in range(words)] if isinstance(words, int) else words
    chunks = [names[start : start + a_time] for start in range(0, len(names), a_time)]
    events = [event(session, seq, *chunk, lang=lang) for seq, chunk in enumerate(chunks)]
    options = SessionOptions(emission=emission) if emission is not None else None
    if options is not None:
        events[0] = msgspec.structs.replace(events[0], options=options)
    if end:
        events.append(event(session, len(events), lang=lang, session_end=True))
    return events


def talk(words: int, drawn: random.Random, language: str = "en") -> list[str]:
    """Return so many words of plain sentences: a network reads them at the cost that speech has."""
    spoken: list[str] = []
    if language not in _SENTENCES:
        said = SAID[language]
        begin = drawn.randrange(len(said))
        return [said[(begin + place) % len(said)] for place in range(words)]
    while len(spoken) < words:
        spoken += drawn.choice(_SENTENCES[language]).split()
    return spoken[:words]


def by_session(segments: Iterable[Segment]) -> dict[str, list[Segment]]:
    """Return segments by session, in the order in which they came."""
    found: dict[str, list[Segment]] = defaultdict(list)
    for segment in segments:
        found[segment.session].append(segment)
    return dict(found)


def said(segments: Iterable[Segment]) -> list[str]:
    """Return the words of segments, in order."""
    return [word.text for segment in segments for word in segment.words]


def spoken_words(segment: Segment) -> int:
    """Return how many of the recogniser's words begin in a segment: one that is several of the model's counts once."""
    return sum(word.piece is None or word.piece.start == 0 for word in segment.words)


def untimed(segments: Iterable[Segment]) -> list[Segment]:
    """Return segments without what differs from run to run: when they were polled and frozen."""
    return [
        msgspec.structs.replace(one, timing=Timing(appended_ms=one.timing.appended_ms, polled_ms=0, frozen_ms=0))
        for one in segments
    ]


def comparable(segments: Iterable[Segment]) -> list[Segment]:
    """Return segments by session and index, without what differs between worlds: clocks and the topic's name."""
    bare = [
        msgspec.structs.replace(
            one,
            timing=Timing(appended_ms=0, polled_ms=0, frozen_ms=0),
            source=msgspec.structs.replace(one.source, topic=""),
            pause=None,
        )
        for one in segments
    ]
    return sorted(bare, key=lambda one: (one.session, one.since, one.index))


def check_every_word_once(events: Sequence[WordsEvent], segments: Sequence[Segment]) -> None:
    """Check that each session's words came out once, in order, in segments numbered without a hole."""
    expected: dict[str, list[str]] = defaultdict(list)
    for one in events:
        expected[one.session].extend(word.text for word in one.words)
    found = by_session(segments)
    assert set(found) == set(expected)
    for session, words in expected.items():
        assert said(found[session]) == words, session
        assert [one.index for one in found[session]] == list(range(len(found[session]))), session
        assert [one.first_word for one in found[session]] == _running_total(found[session]), session


def _running_total(segments: Sequence[Segment]) -> list[int]:
    total, starts = 0, []
    for segment in segments:
        starts.append(total)
        total += len(segment.words)
    return starts
