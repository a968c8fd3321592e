"""Sessions that speak without end, each event valid, a fresh map of plain values every time."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from tests.fuzz.message import CANARY

Fields = dict[str, object]
"""An event as the map that goes on the wire."""

_TAILS = ("", "", "", "-é", "-会话", "-🙂", "-" + "x" * 100, " with spaces ", "-\u202e\u200b")
_LANGUAGES = ("en", "en", "en-GB", "zh", "zh-Hant", "cmn", "de", "tlh", "qq")
_ENGLISH = (CANARY, f"{CANARY}s", "so", "uh", "we", "1.0", "Mr.", "don't", "(well)", "C++", "…", "?", "a" * 64)
_CHINESE = ("我们", "今天", "的", "中华人民共和国", "，", "學", CANARY, "AI时代", "不", "说说", "龘")
_ENDS = 0.02


@dataclass(slots=True)
class _Speaker:
    session: str
    lang: str
    epoch: int
    seq: int = 0


class Crowd:
    """So many sessions at once; one that ends is followed by another. may_speak: which names are allowed."""

    def __init__(
        self, draw: random.Random, *, size: int, prefix: str = "fuzz", may_speak: Callable[[str], bool] = lambda _: True
    ) -> None:
        self._draw = draw
        self._prefix = prefix
        self._may_speak = may_speak
        self._named = 0
        self._speakers = [self._newcomer() for _ in range(size)]

    def next_fields(self) -> Fields:
        """Return the next event of one of the sessions."""
        draw = self._draw
        place = draw.randrange(len(self._speakers))
        speaker = self._speakers[place]
        fields: Fields = {
            "version": "1.0" if draw.random() < 0.9 else "1.3",
            "session": speaker.session,
            "seq": speaker.seq,
            "lang": speaker.lang,
            "words": self._words(speaker.lang),
        }
        if speaker.epoch:
            fields["epoch"] = speaker.epoch
        if draw.random() < 0.3:
            self._add_rest(fields, speaker)
        speaker.seq += 1
        if draw.random() < _ENDS:
            fields["session_end"] = True
            self._speakers[place] = self._newcomer()
        return fields

    def _newcomer(self) -> _Speaker:
        while True:
            session = f"{self._prefix}-{self._named}{self._draw.choice(_TAILS)}"
            self._named += 1
            if self._may_speak(session):
                return _Speaker(session, self._draw.choice(_LANGUAGES), self._draw.choice((0, 0, 1, 7)))

    def _words(self, lang: str) -> list[Fields]:
        draw = self._draw
        texts = draw.choices(_CHINESE if lang in ("zh", "zh-Hant", "cmn") else _ENGLISH, k=draw.randrange(5))
        words: list[Fields] = [{"text": text} for text in texts]
        if draw.random() < 0.3:
            for place, word in enumerate(words):
                word |= {"start_ms": place * 200, "end_ms": place * 200 + 150, "confidence": draw.random()}
        return words

    def _add_rest(self, fields: Fields, speaker: _Speaker) -> None:
        rest: Fields = {
            "heard_until_ms": speaker.seq * 1000,
            "utterance_end": True,
            "targets": ["de"],
            "options": {"emission": self._draw.choice(("sentence", "settled")), "look_ahead_words": 4},
            "conversation": f"{CANARY}-call",
            "speaker": "Zoë",
            "attributes": {"desk": CANARY, "": "", "键": "值"},
        }
        for name in self._draw.sample(sorted(rest), self._draw.randrange(1, 4)):
            fields[name] = rest[name]
