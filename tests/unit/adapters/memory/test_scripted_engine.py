"""The scripted engine is honest about its look-ahead, or the tests that lean on it would show nothing."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from caesura.schemas.labels import Labels
from caesura.worker.adapters.memory.engine import ScriptedEngine
from caesura.worker.core.language.labelling import LabelRequest

words = st.lists(st.sampled_from([f"w{number}" for number in range(9)]), min_size=1, max_size=30)


def _label(engine: ScriptedEngine, said: list[str], model: str = "scripted-en@1") -> Labels:
    (labels,) = engine.label([LabelRequest(session="s", model_id=model, buffer_start=0, words=tuple(said))])
    return labels


@given(said=words, more=words, look_ahead=st.integers(0, 10))
def test_a_label_with_look_ahead_words_after_it_is_not_changed_by_what_follows(
    said: list[str], more: list[str], look_ahead: int
) -> None:
    engine = ScriptedEngine(look_ahead_words=look_ahead)
    settled = max(len(said) - look_ahead, 0)
    before, after = _label(engine, said), _label(engine, said + more)

    assert before.punctuation[:settled] == after.punctuation[:settled]
    assert before.disfluency[:settled] == after.disfluency[:settled]


def test_a_label_depends_on_its_last_look_ahead_word_and_buffer_start() -> None:
    engine = ScriptedEngine(look_ahead_words=4)
    said = [f"w{number}" for number in range(200)]
    other = [f"{word}'" if place % 5 == 4 else word for place, word in enumerate(said)]
    firsts = range(0, 195, 5)

    marks, other_marks = _label(engine, said).punctuation, _label(engine, other).punctuation
    assert [marks[place] for place in firsts] != [other_marks[place] for place in firsts]
    assert marks[10:] != _label(engine, said[10:]).punctuation
