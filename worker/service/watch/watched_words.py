"""What a watcher of topics has heard of each session that is not frozen yet. Pure: records in, unfrozen words out.

The words come from the input topic, without labels; where somebody publishes the labels of unfrozen words
(``asr.tentative``), those are shown, and after them what was said since. Segments outdate both. Bounded: the sessions
that were silent for longest are forgotten first.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field

from caesura.schemas.events import Word, WordsEvent
from caesura.schemas.segments import Segment, SegmentWord
from caesura.schemas.tentative import Tentative
from caesura.schemas.versions import TENTATIVE_VERSION

_MOST_WORDS = 1000
_UNKNOWN_SINCE = 0


@dataclass(slots=True, kw_only=True)
class _Watched:
    """One session. pending: (input offset, word) of what is not frozen. frozen_offset: all before it are frozen."""

    lang: str
    speaker: str | None = None
    conversation: str | None = None
    role: str | None = None
    channel: str | None = None
    since: int = _UNKNOWN_SINCE
    next_word: int = 0
    sentence_start: bool = True
    frozen_offset: int = -1
    numbered: tuple[int, int] = (-1, -1)
    pending: list[tuple[int, Word]] = field(default_factory=list)
    labelled: Tentative | None = None


class WatchedWords:
    """The sessions that are watched, at most so many."""

    def __init__(self, max_sessions: int = 1000) -> None:
        self._max_sessions = max_sessions
        self._sessions: OrderedDict[str, _Watched] = OrderedDict()

    def __len__(self) -> int:
        return len(self._sessions)

    def hear(self, event: WordsEvent, offset: int) -> None:
        """Take an event of the input topic; one that was heard before says nothing."""
        session = self._session(event.session, event.lang)
        if (event.epoch, event.seq) <= session.numbered:
            return
        session.numbered = (event.epoch, event.seq)
        session.lang = event.lang
        session.speaker = event.speaker or session.speaker
        session.conversation = event.conversation or session.conversation
        session.role = event.role or session.role
        session.channel = event.channel or session.channel
        if offset > session.frozen_offset:
            session.pending += [(offset, word) for word in event.words]
            del session.pending[:-_MOST_WORDS]

    def freeze(self, segment: Segment) -> None:
        """Take a segment: its words are no longer unfrozen."""
        session = self._session(segment.session, segment.lang)
        frozen = "".join(word.text for word in segment.words)
        heard = "".join(word.text for _, word in session.pending)
        if heard.startswith(frozen):
            session.pending = _after(session.pending, len(frozen))
        else:  # some of it was said before this began to watch
            session.pending = [one for one in session.pending if one[0] > segment.source.last_offset]
        if segment.words:
            session.frozen_offset = max(session.frozen_offset, segment.source.last_offset)
        session.since = segment.since
        session.next_word = segment.first_word + len(segment.words)
        session.sentence_start = segment.sentence_end or not segment.words
        if segment.session_end:
            del self._sessions[segment.session]

    def label(self, tentative: Tentative) -> None:
        """Take the labels of unfrozen words, if they are no older than what is frozen."""
        session = self._session(tentative.session, tentative.lang)
        if tentative.first_word >= session.next_word or session.since == _UNKNOWN_SINCE:
            session.labelled = tentative

    def unfrozen(self, name: str, at_ms: int) -> Tentative | None:
        """Return a session's unfrozen words, labelled as far as is known; None where there is no such session."""
        session = self._sessions.get(name)
        if session is None:
            return None
        known = session.labelled
        words: tuple[SegmentWord, ...] = ()
        if known is not None and known.first_word <= session.next_word:
            words = known.words[session.next_word - known.first_word :]
        labelled = len(words)
        through = known.through_offset if known is not None and words else -1
        words += tuple(_unlabelled(word) for offset, word in session.pending if offset > through)
        return Tentative(
            version=TENTATIVE_VERSION,
            revisable=True,
            session=name,
            since=session.since,
            first_word=session.next_word,
            sentence_start=session.sentence_start,
            lang=session.lang,
            words=words,
            labelled_words=labelled,
            through_offset=session.pending[-1][0] if session.pending else session.frozen_offset,
            at_ms=at_ms,
            model=known.model if known is not None and labelled else None,
            conversation=session.conversation,
            speaker=session.speaker,
            role=session.role,
            channel=session.channel,
            turn_end=known.turn_end if known is not None and 0 < labelled == len(words) else None,
        )

    def _session(self, name: str, lang: str) -> _Watched:
        session = self._sessions.setdefault(name, _Watched(lang=lang))
        self._sessions.move_to_end(name)
        while len(self._sessions) > self._max_sessions:
            self._sessions.popitem(last=False)
        return session


def _after(pending: list[tuple[int, Word]], code_points: int) -> list[tuple[int, Word]]:
    """Return what follows so many code points; the rest of a word that was published in part stands first."""
    left = []
    for offset, word in pending:
        taken = min(code_points, len(word.text))
        code_points -= taken
        if taken < len(word.text):
            rest = Word(text=word.text[taken:], start_ms=word.start_ms, end_ms=word.end_ms, confidence=word.confidence)
            left.append((offset, rest))
    return left


def _unlabelled(word: Word) -> SegmentWord:
    return SegmentWord(
        text=word.text,
        punctuation="none",
        disfluency="O",
        start_ms=word.start_ms,
        end_ms=word.end_ms,
        confidence=word.confidence,
    )
