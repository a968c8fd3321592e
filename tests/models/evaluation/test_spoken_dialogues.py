"""Dialogues as they are spoken and heard (``spoken_dialogues``)."""

from __future__ import annotations

import random
from pathlib import Path

import msgspec

from caesura.models.evaluation.spoken_dialogues import HeardDialogue, disfluent, read_heard, spoken_words
from caesura.models.evaluation.translation import bare_words
from caesura.schemas.events import Word

TURNS = (
    "Well, I think that we should go to the market tomorrow.",
    "Could you tell me when it opens?",
    "It opens at seven, and it is closed on Sunday.",
)


def test_a_disfluent_turn_holds_the_words_of_the_fluent_one_in_order() -> None:
    put_in = 0
    for seed in range(40):
        spoken = disfluent(TURNS, random.Random(seed))
        assert len(spoken) == len(TURNS)
        for said, turn in zip(spoken, TURNS, strict=True):
            rest = iter(bare_words(said))
            assert all(word in rest for word in bare_words(turn))
            put_in += len(bare_words(said)) - len(bare_words(turn))
    share = put_in / (40 * sum(len(bare_words(turn)) for turn in TURNS))
    assert 0.05 < share < 0.2  # Switchboard: about one word in ten is a filler or taken back


def test_marks_stay_and_a_filler_is_set_off() -> None:
    (plain,) = disfluent(("Yes, it is.",), random.Random(3))
    assert plain == "yes, it is."
    said = " ".join(" ".join(disfluent(TURNS, random.Random(seed))) for seed in range(40))
    assert " um, " in said
    assert " opens? " in said


def test_words_as_spoken_share_out_their_turns_time_by_letters_and_marks() -> None:
    words = list(spoken_words(("Um, we - we go.", "No!"), ((0, 2_600), (4_000, 4_500))))
    assert [(word.text, word.start_ms, word.end_ms) for word in words] == [
        ("um", 0, 900),  # of 26 letters: 2, and 2 for a word, and 5 for a mark
        ("we", 900, 1_300),
        ("we", 1_300, 1_700),
        ("go", 1_700, 2_600),
        ("no", 4_000, 4_500),
    ]


def test_what_was_heard_is_read_as_a_dialogue(tmp_path: Path) -> None:
    heard = HeardDialogue(
        name="a",
        turns=("Yes.",),
        references=("Oui.",),
        spoken=("um, yes.",),
        times=((0, 900),),
        words=(Word(text="Yes.", start_ms=300, end_ms=800, confidence=0.5),),
    )
    (tmp_path / "heard.jsonl").write_bytes(msgspec.json.encode(heard) + b"\n")
    (found,) = read_heard(tmp_path / "heard.jsonl")
    assert (found.words, found.times, found.reference) == (heard.words, heard.times, "Oui.")
