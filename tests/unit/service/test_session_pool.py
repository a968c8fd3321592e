"""Sessions decoded together give what each gives alone; looking at unfrozen words changes nothing."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from caesura.schemas.events import Word, WordsEvent
from caesura.schemas.segments import Cause, Segment
from caesura.schemas.versions import EVENT_VERSION
from caesura.worker.adapters.memory.engine import ScriptedEngine
from caesura.worker.core.language.rules import DecodingRules
from caesura.worker.core.session.stream import StreamingLabeller
from caesura.worker.service.clients.session_pool import SessionPool
from tests.harness.in_memory_world import ManualClock

RULES = DecodingRules(flush_after_ms=800, idle_after_ms=10_000)


def event(session: str, seq: int, texts: list[str], *, end: bool = False) -> WordsEvent:
    words = tuple(Word(text=text) for text in texts)
    return WordsEvent(version=EVENT_VERSION, session=session, seq=seq, lang="en", words=words, session_end=end)


def labels(segments: list[Segment]) -> list[tuple[str, str, str]]:
    return [(word.text, word.punctuation, word.disfluency) for one in segments for word in one.words]


speech = st.lists(st.lists(st.sampled_from(["so", "uh", "yes", "box", "I"]), min_size=1, max_size=7), max_size=12)


@settings(max_examples=60, deadline=None)
@given(speeches=st.lists(speech, min_size=1, max_size=4), look=st.booleans())
def test_sessions_together_give_what_each_gives_alone(speeches: list[list[list[str]]], look: bool) -> None:
    pool = SessionPool(ScriptedEngine(), clock=ManualClock(), rules=RULES)
    found: dict[str, list[Segment]] = {str(number): [] for number in range(len(speeches))}
    for seq in range(13):
        for number, spoken in enumerate(speeches):
            if seq <= len(spoken):
                said = spoken[seq] if seq < len(spoken) else []
                pool.offer(event(str(number), seq, said, end=seq == len(spoken)))
        turn = pool.turn(10)
        for segment in turn.segments:
            found[segment.session].append(segment)
        for name in found if look else ():
            pool.tentative(name)

    for number, spoken in enumerate(speeches):
        alone = StreamingLabeller(ScriptedEngine(), "en", RULES)
        expected = [segment for said in spoken for segment in alone.add(said)] + alone.end()
        assert labels(found[str(number)]) == labels(expected)
        assert [one.cause for one in found[str(number)]] == [one.cause for one in expected]
    assert len(pool) == 0


def test_unfrozen_and_frozen_words_are_all_words() -> None:
    pool = SessionPool(ScriptedEngine(), clock=ManualClock(), rules=RULES)
    spoken, frozen = [f"w{number}" for number in range(100)], list[str]()
    for seq, word in enumerate(spoken):
        pool.offer(event("a", seq, [word]))
        frozen += [one.text for segment in pool.turn(10).segments for one in segment.words]
        tentative = pool.tentative("a")
        assert tentative is not None
        assert tentative.first_word == len(frozen)
        assert frozen + [one.text for one in tentative.words] == spoken[: seq + 1]
        assert tentative.labelled_words <= len(tentative.words)


def test_silence_freezes_and_idleness_ends_a_session_by_this_processs_time() -> None:
    clock = ManualClock()
    pool = SessionPool(ScriptedEngine(), clock=clock, rules=RULES)
    pool.offer(event("a", 0, ["one", "two"]))
    assert pool.turn(10).segments == []
    assert pool.due_in_s == 0.8

    clock.pass_s(0.801)
    assert [one.cause for one in pool.turn(10).segments] == [Cause.SILENCE]

    clock.pass_s(10)
    turn = pool.turn(10)
    assert [one.cause for one in turn.segments] == [Cause.IDLE]
    assert turn.ended == {"a"}
    assert len(pool) == 0
    assert pool.due_in_s is None


def test_a_session_that_is_dropped_is_gone_with_what_waits_in_it() -> None:
    pool = SessionPool(ScriptedEngine(), clock=ManualClock(), rules=RULES)
    pool.offer(event("a", 0, [f"w{number}" for number in range(200)]))
    pool.drop("a")
    pool.drop("a")
    assert pool.turn(10).segments == []
    assert pool.tentative("a") is None
    assert not pool.is_busy


def test_no_trace_of_ended_sessions_stays() -> None:
    pool = SessionPool(ScriptedEngine(), clock=ManualClock(), rules=RULES)
    for number in range(500):
        pool.offer(event(f"s{number}", 0, ["one"], end=True))
        assert pool.turn(10).ended == {f"s{number}"}
    kept = [len(value) for value in vars(pool._sessions).values() if isinstance(value, dict | set | list)]
    assert max(kept) == 0
