"""The numbers of decoding, and the choice of a model for a language.

Rules: docs/design.md, *Decoding*; the defaults are the paper's.

A session may ask for other values in its first event (``SessionOptions``). A value outside the operator's bounds is
clamped to the nearest bound and never refused, so the session's words still come out.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Annotated, Protocol

from msgspec import Meta

from caesura.schemas.events import MAX_OWN_PHRASES, MAX_SPELLINGS, Emission, SessionOptions
from caesura.schemas.segments import Cause
from caesura.schemas.state import ChosenOptions
from caesura.worker.core.language.labelling import NO_OFFSETS, Probabilities, ScoreOffsets
from caesura.worker.errors import FatalError

DEFAULT_LOOK_AHEAD_WORDS = 9
"""L, the future words that a label may depend on, where no model says it (CT-Transformer, section 4.2)."""

_LONG_CODES = {"cmn": "zh", "zho": "zh", "chi": "zh", "eng": "en"} | {
    "deu": "de",
    "ger": "de",
    "spa": "es",
    "fra": "fr",
    "fre": "fr",
}
_NAMES = {"english": "en", "chinese": "zh", "mandarin": "zh", "putonghua": "zh"} | {
    "german": "de",
    "deutsch": "de",
    "french": "fr",
    "fran\u00e7ais": "fr",
    "spanish": "es",
    "espa\u00f1ol": "es",
    "castellano": "es",
}


def named_language(name: str) -> str | None:
    """Return the tag of a language's name, such as "german"; None if the name is unknown."""
    return _NAMES.get(name.lower())


@lru_cache(maxsize=256)
def primary_language(tag: str) -> str:
    """Return the primary subtag of a BCP-47 tag in lower case; Mandarin (``cmn``) is ``zh``."""
    primary = tag.replace("_", "-").split("-", 1)[0].lower()
    return _LONG_CODES.get(primary, primary)


_Offset = Annotated[float, Meta(ge=-20, le=20)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """The smallest and the largest value that a session may choose, both allowed."""

    least: int
    most: int

    def clamp(self, value: int) -> int:
        """Return the nearest value inside."""
        return min(max(value, self.least), self.most)


@dataclass(frozen=True, slots=True, kw_only=True)
class OptionBounds:
    """What sessions may choose.

    emissions: the modes that a session may ask for; a session that asks for another keeps the operator's.
    look_ahead_words: T, the words after a sentence end. flush_after_ms: the silence that freezes words.
    max_buffer_words: the longest buffer, and so the longest segment. punctuation_may_be_off: whether a session may
    turn punctuation off. own_phrases: how many fillers, and how many kept phrases, a session may name; further ones
    are ignored. spellings: how many spellings a session may name; further ones are ignored.
    """

    emissions: frozenset[Emission] = frozenset(Emission)
    look_ahead_words: Bounds = Bounds(least=0, most=20)
    flush_after_ms: Bounds = Bounds(least=200, most=10_000)
    max_buffer_words: Bounds = Bounds(least=40, most=300)
    punctuation_may_be_off: bool = True
    own_phrases: Annotated[int, Meta(ge=0, le=MAX_OWN_PHRASES)] = MAX_OWN_PHRASES
    spellings: Annotated[int, Meta(ge=0, le=MAX_SPELLINGS)] = MAX_SPELLINGS


@dataclass(frozen=True, slots=True, kw_only=True)
class DecodingRules:
    """How sessions are decoded.

    step_words: F, words between two labellings. look_ahead_words: T, words after a sentence end before it is cut.
    max_context_words: words of ended sentences that stay as left context; more words cost memory, fewer cost time.
    context_words: how many words of ended sentences stay when ``max_context_words`` is passed; with both at 0, decoding
    is that of the paper. emission: when segments are published. min_settled_words: in emission settled, the shortest
    run of settled words that is published before its sentence ends. min_clause_words: in emission clause, the fewest
    words that are published at a mark before the sentence ends. max_clause_words: in emission clause, the number of
    words that are published without a mark. clause_look_ahead_words: in emission clause, how many words must follow a
    mark before the words up to it are published; T or the model's look-ahead if that is less. flush_after_ms: silence
    that freezes all words so far. stall_after_ms: time without an event that freezes all words so far, for sessions
    that send ``heard_until_ms``. max_buffer_words: the longest buffer that is labelled. max_open_sessions: the most
    open sessions of a partition; beyond it, events of new sessions are refused. idle_after_ms: time since the last word
    after which a session is closed. forget_after_ms: time after which a closed session's counters are dropped. routes:
    the translation routes that exist. bounds: what sessions may choose. reparandum_offset: added to a model's scores of
    words taken back; below 0, fewer words are left out. filler_offset: added to a model's scores of fillers; below 0,
    fewer fillers are left out. silence_end_offset: added to the scores of the marks that end a sentence, for the last
    word before a silence; above 0, more sentences end there. utterance_end_offset: as ``silence_end_offset``, for the
    last word before an ``utterance_end``. A session's end always takes one of these marks. digit_commas: keep a model's
    commas between single digits and single letters. probabilities: which probabilities segments and tentative words
    have. ``off``: none. ``turns``: that the speaker has finished (``turn_end``). ``words``: also those of each word's
    mark and tag, which makes records larger.
    """

    step_words: Annotated[int, Meta(ge=1, le=50)] = 3
    look_ahead_words: Annotated[int, Meta(ge=0, le=100)] = 6
    max_context_words: Annotated[int, Meta(ge=0, le=1_000)] = 64
    context_words: Annotated[int, Meta(ge=0, le=100)] = 10
    emission: Emission = Emission.SENTENCE
    min_settled_words: Annotated[int, Meta(ge=1, le=100)] = 5
    min_clause_words: Annotated[int, Meta(ge=1, le=100)] = 7
    max_clause_words: Annotated[int, Meta(ge=1, le=1_000)] = 20
    clause_look_ahead_words: Annotated[int, Meta(ge=0, le=100)] = 3
    flush_after_ms: Annotated[int, Meta(ge=1, le=600_000)] = 800
    stall_after_ms: Annotated[int, Meta(ge=1, le=3_600_000)] = 5_000
    max_buffer_words: Annotated[int, Meta(ge=2, le=1_000)] = 120
    max_open_sessions: Annotated[int, Meta(ge=1, le=10_000_000)] = 10_000
    idle_after_ms: Annotated[int, Meta(ge=1, le=604_800_000)] = 300_000
    forget_after_ms: Annotated[int, Meta(ge=0, le=7_776_000_000)] = 86_400_000
    reparandum_offset: _Offset = 0.0
    filler_offset: _Offset = 0.0
    silence_end_offset: _Offset = 0.0
    utterance_end_offset: _Offset = 0.5
    digit_commas: bool = False
    probabilities: Probabilities = Probabilities.TURNS
    routes: frozenset[str] = frozenset()
    bounds: OptionBounds = field(default_factory=OptionBounds)

    def __post_init__(self) -> None:
        """Refuse values that no session can be decoded with. FatalError, naming every one and why."""
        wrong = [reason for holds, reason in self._requirements() if not holds]
        if wrong:
            raise FatalError("decoding rules: " + "; ".join(wrong))

    def _requirements(self) -> Iterable[tuple[bool, str]]:
        bounds, stall_ms, idle_ms = self.bounds, self.stall_after_ms, self.idle_after_ms
        silence_ms = max(self.flush_after_ms, bounds.flush_after_ms.most)
        two_steps = 2 * self.step_words
        yield self.step_words >= 1, f"step_words is {self.step_words}, a step takes at least one word"
        yield self.look_ahead_words >= 0, f"look_ahead_words is {self.look_ahead_words}, it counts words"
        yield self.max_context_words >= 0, f"max_context_words is {self.max_context_words}, it counts words"
        yield self.context_words >= 0, f"context_words is {self.context_words}, it counts words"
        yield self.min_settled_words >= 1, f"min_settled_words is {self.min_settled_words}, a segment has words"
        clause = self.min_clause_words
        yield clause >= 1, f"min_clause_words is {clause}, a segment has words"
        yield self.max_clause_words >= clause, f"max_clause_words is {self.max_clause_words}, below min_clause_words"
        yield self.flush_after_ms >= 1, f"flush_after_ms is {self.flush_after_ms}, silence lasts"
        yield stall_ms >= self.flush_after_ms, f"stall_after_ms is {stall_ms}, shorter than flush_after_ms"
        yield self.max_buffer_words >= two_steps, f"max_buffer_words is {self.max_buffer_words}, less than two steps"
        yield idle_ms >= silence_ms, f"idle_after_ms is {idle_ms}, shorter than a silence of {silence_ms} ms"
        yield idle_ms >= stall_ms, f"idle_after_ms is {idle_ms}, shorter than stall_after_ms"
        yield self.forget_after_ms >= 0, f"forget_after_ms is {self.forget_after_ms}, it cannot lie in the past"
        yield bounds.max_buffer_words.least >= two_steps, "bounds.max_buffer_words.least is less than two steps"
        yield bounds.flush_after_ms.least >= 1, "bounds.flush_after_ms.least is no time at all"
        yield bounds.look_ahead_words.least >= 0, "bounds.look_ahead_words.least is negative"
        for name in ("look_ahead_words", "flush_after_ms", "max_buffer_words"):
            limits: Bounds = getattr(bounds, name)
            yield limits.least <= limits.most, f"bounds.{name}.least is above its most"

    def sentence_end_offset(self, cause: Cause) -> float:
        """Return what is added to the scores of sentence marks at the last word of a flush.

        It is infinity at a session's end. A session that closes by idleness ends as by a silence.
        """
        if cause is Cause.END:
            return math.inf
        if cause is Cause.UTTERANCE:
            return self.utterance_end_offset
        return self.silence_end_offset if cause in (Cause.SILENCE, Cause.IDLE) else 0.0

    def score_offsets(self, sentence_end: float = 0.0) -> ScoreOffsets:
        """Return the offsets of a request's scores."""
        if not (sentence_end or self.reparandum_offset or self.filler_offset):
            return NO_OFFSETS
        return ScoreOffsets(reparandum=self.reparandum_offset, filler=self.filler_offset, sentence_end=sentence_end)

    def choose(self, wishes: SessionOptions | None) -> ChosenOptions:
        """Return a session's options: its wishes clamped to the bounds, the operator's values for the rest."""
        own = ChosenOptions(
            emission=self.emission,
            look_ahead_words=self.look_ahead_words,
            flush_after_ms=self.flush_after_ms,
            max_buffer_words=self.max_buffer_words,
            punctuation=True,
        )
        return self.reconfigure(own, wishes)

    def reconfigure(self, options: ChosenOptions, wishes: SessionOptions | None) -> ChosenOptions:
        """Return a session's options after a change in its middle: the wishes within the bounds, the rest as it was."""
        if wishes is None:
            return options
        bounds = self.bounds
        allowed = wishes.emission is not None and wishes.emission in bounds.emissions
        unmarked = wishes.punctuation is False and bounds.punctuation_may_be_off
        return ChosenOptions(
            emission=wishes.emission if allowed and wishes.emission is not None else options.emission,
            look_ahead_words=_choose(wishes.look_ahead_words, options.look_ahead_words, bounds.look_ahead_words),
            flush_after_ms=_choose(wishes.flush_after_ms, options.flush_after_ms, bounds.flush_after_ms),
            max_buffer_words=_choose(wishes.max_buffer_words, options.max_buffer_words, bounds.max_buffer_words),
            punctuation=options.punctuation if wishes.punctuation is None else not unmarked,
            own_fillers=_first(wishes.own_fillers, options.own_fillers, bounds.own_phrases),
            kept_phrases=_first(wishes.kept_phrases, options.kept_phrases, bounds.own_phrases),
            numbers=options.numbers if wishes.numbers is None else wishes.numbers,
            spellings=_spellings(wishes.spellings, options.spellings, bounds.spellings),
        )


def _choose(wish: int | None, own: int, bounds: Bounds) -> int:
    return own if wish is None else bounds.clamp(wish)


def _first(wish: tuple[str, ...] | None, own: tuple[str, ...], most: int) -> tuple[str, ...]:
    return own if wish is None else wish[:most]


def _spellings(wish: dict[str, str] | None, own: dict[str, str] | None, most: int) -> dict[str, str] | None:
    return own if wish is None else dict(itertools.islice(wish.items(), most)) or None


class ServedModel(Protocol):
    """What an engine says of a model that it has loaded (``caesura.worker.ports.engine.EngineModel``)."""

    @property
    def name(self) -> str: ...  # noqa: D102 - ``id@version``
    @property
    def language(self) -> str: ...  # noqa: D102
    @property
    def active(self) -> bool: ...  # noqa: D102
    @property
    def look_ahead_words(self) -> int: ...  # noqa: D102


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSpec:
    """A loaded model. name: ``id@version``. language: a primary subtag, of several the first. look_ahead_words: L."""

    name: str
    language: str
    look_ahead_words: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelTable:
    """Which models this worker has loaded, and which is active for a language. Both are keyed by name and language."""

    loaded: Mapping[str, ModelSpec] = field(default_factory=dict)
    active: Mapping[str, ModelSpec] = field(default_factory=dict)

    @classmethod
    def of(cls, served: Iterable[ServedModel]) -> ModelTable:
        """Make the table of an engine's models. FatalError where two are active for a language or names clash."""
        seen: set[tuple[str, str]] = set()
        loaded: dict[str, ModelSpec] = {}
        active: dict[str, ModelSpec] = {}
        for model in served:
            language = primary_language(model.language)
            spec = ModelSpec(name=model.name, language=language, look_ahead_words=model.look_ahead_words)
            if (spec.name, language) in seen:
                raise FatalError(f"model {spec.name} is loaded twice")
            seen.add((spec.name, language))
            if not all(spec.name.partition("@")):
                raise FatalError(f"model {spec.name}: a name is id@version")
            if spec.look_ahead_words < 0:
                raise FatalError(f"model {spec.name}: a look-ahead counts words")
            loaded.setdefault(spec.name, spec)
            if model.active and language in active:
                raise FatalError(f"models {active[language].name} and {spec.name} are both active for {language}")
            if model.active:
                active[language] = spec
        return cls(loaded=loaded, active=active)

    def look_ahead_of(self, name: str | None) -> int:
        """Return the L of a loaded model; the default where there is no model."""
        spec = None if name is None else self.loaded.get(name)
        return DEFAULT_LOOK_AHEAD_WORDS if spec is None else spec.look_ahead_words
