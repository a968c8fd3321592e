"""What the demo has heard and what was published of it, by speaker. Pure; checks itself at the end."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from caesura.schemas.events import WordsEvent
from caesura.schemas.segments import SegmentWord, TranslationSegment


@dataclass(slots=True, kw_only=True)
class Speaker:
    """One session: the recogniser's units, the segments published of them."""

    name: str
    lang: str
    heard: list[str] = field(default_factory=list)
    segments: list[TranslationSegment] = field(default_factory=list)
    ended: bool = False

    @property
    def published(self) -> list[SegmentWord]:
        """The words published, in order."""
        return [word for segment in self.segments for word in segment.words]

    @property
    def pending(self) -> list[str]:
        """The units heard that are not frozen yet; the rest of one that was published in part stands first."""
        done = sum(len(word.text) for word in self.published)
        left = []
        for unit in self.heard:
            if done < len(unit):
                left.append(unit[done:])
            done = max(0, done - len(unit))
        return left


class Stage:
    """All speakers, those of the script first."""

    def __init__(self, script: Iterable[WordsEvent] = ()) -> None:
        self.speakers: dict[str, Speaker] = {}
        for event in script:
            self._speaker(event)

    def hear(self, event: WordsEvent) -> None:
        """Take note of an event that was sent."""
        self._speaker(event).heard += [word.text for word in event.words]

    def publish(self, segment: TranslationSegment) -> None:
        """Take note of a segment that was read from the route's topic."""
        speaker = self.speakers[segment.session]
        speaker.segments.append(segment)
        speaker.ended = segment.session_end

    def _speaker(self, event: WordsEvent) -> Speaker:
        return self.speakers.setdefault(event.session, Speaker(name=event.session, lang=event.lang))

    @property
    def ended(self) -> bool:
        """Whether every session is closed."""
        return bool(self.speakers) and all(speaker.ended for speaker in self.speakers.values())

    def faults(self) -> list[str]:
        """Name every session whose published words are not exactly the words heard, in order, once."""
        return [name for name, speaker in self.speakers.items() if _joined(speaker.published) != "".join(speaker.heard)]

    def summary(self) -> str:
        """Count what went in and what came out."""
        words = sum(len(speaker.heard) for speaker in self.speakers.values())
        segments = [segment for speaker in self.speakers.values() for segment in speaker.segments]
        left_out = sum(word.disfluency != "O" for segment in segments for word in segment.words)
        held = sum(len(segment.words) > 0 for segment in segments)
        return (
            f"{len(self.speakers)} sessions, {words} words heard and published once, in order: {held} segments, "
            f"{left_out} words of fillers and repairs left out of the captions."
        )


def _joined(words: Iterable[SegmentWord]) -> str:
    return "".join(word.text for word in words)
