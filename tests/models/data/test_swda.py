"""Switchboard's mark-up as words and tags; tags that a text shows itself, that are put in, and of pairs."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from caesura.models.data.aligned_words import UNKNOWN, AlignedDocument
from caesura.models.data.benchmark_corpora import read_benchmark_corpus
from caesura.models.data.derived_tags import derive_tags
from caesura.models.data.disfluencies import FUNCTION_WORDS, NUMBER_WORDS, insert_disfluencies
from caesura.models.data.disfluent_pairs import _tags
from caesura.models.data.marks import read_marks
from caesura.models.data.swda import Role, SpeakerSide, read_sides, read_swda_test
from caesura.models.evaluation.scoring import Score, scored
from caesura.models.evaluation.switchboard import count_both_ways, gold_tags
from caesura.schemas.labels import Disfluency, Punctuation
from tests.harness.models.corpora import write_archive

FLUENT, B_RM, I_RM, B_IM, I_IM = (int(tag) for tag in Disfluency)
ALL = frozenset((Role.FILLED_PAUSE, Role.EDITING_TERM, Role.DISCOURSE_MARKER))


def side(*texts: str) -> SpeakerSide:
    (read,) = read_sides(f"sd          A.{number} utt1: {text}" for number, text in enumerate(texts, 1))
    return read


def scores(read: SpeakerSide, tags: list[int]) -> dict[str, Score]:
    return {label: scored(counts) for label, counts in count_both_ways([read], tags).items()}


def tagged(read: SpeakerSide, interregna: frozenset[Role] = ALL) -> str:
    """Return the words, of reparanda as [word] and of interregna as {word}."""
    shown = {FLUENT: "{}", B_RM: "[{}]", B_IM: "{{{}}}"}
    tags = gold_tags(read, interregna)
    return " ".join(shown[tag].format(word) for word, tag in zip(read.words, tags, strict=True))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("We bought [ the, + the ] red one. /", "we bought [the] the red one"),
        ("[ [ I, + I, ] + you ] go first. /", "[i] [i] you go first"),
        ("[ He went, + [ she, + she ] went ] home /", "[he] [went] [she] she went home"),
        ("[ On Monday, + {E I mean, } on Friday ] /", "[on] [monday] {i} {mean} on friday"),
        ("[ It's {F uh, } blue, + it's green ] /", "[it's] {uh} [blue] it's green"),
        ("[ One + two + three ] /", "[one] [two] three"),
        (
            "{F Uh, } {C and } {D you know } that's {A as they say } it. /",
            "{uh} and {you} {know} that's as they say it",
        ),
        ("{D Well {F um, } } no. /", "{well} {um} no"),
        ("[ [ Th-, + th- ] + the ] cat w-, sat -self, down. /", "the cat sat down"),
        ("# Yes, # <laughter> ((maybe)) *[[slash; typo]] <<very faint>> on uh-huh ##. /", "yes maybe on uh-huh"),
    ],
)
def test_mark_up_becomes_words_and_what_they_are(text: str, expected: str) -> None:
    assert tagged(side(text)) == expected


def test_without_discourse_markers_they_are_what_the_brackets_make_them() -> None:
    read = side("{D So, } [ {D like, } we, + {F uh, } we ] left. /")
    assert tagged(read) == "{so} {like} [we] {uh} we left"
    assert tagged(read, ALL - {Role.DISCOURSE_MARKER}) == "so [like] [we] {uh} we left"


def test_a_unit_goes_on_after_the_other_speaker_and_so_does_its_bracket() -> None:
    lines = [
        "sd          A.1 utt1: We drove [ to the, -- ",
        "b           @B.2 utt1: Uh-huh. /",
        "+           A.3 utt1: -- + to a ] town. /",
        "sd          A.3 utt2: It rained. /",
    ]
    first, second = read_sides(["TOPIC#: 1", "A remark of nobody's.", *lines])
    assert tagged(first) == "we drove [to] [the] to a town it rained"
    assert first.units() == [["we", "drove", "to", "the", "to", "a", "town"], ["it", "rained"]]
    assert second.units() == [["uh-huh"]]


def test_what_a_unit_leaves_open_ends_with_it() -> None:
    read = side("[ {D Well, we saw. /", "A bird + there ] fly. /", "<laughter> /", "Away")
    assert tagged(read) == "{well} {we} {saw} a bird there fly away"
    assert [len(unit) for unit in read.units()] == [3, 4, 1]


def test_only_conversations_of_the_test_part_are_read(tmp_path: Path) -> None:
    text = "sd          A.1 utt1: Word {}. /\n"
    numbers = {"2005": "training", "4101": "later", "4000": "earlier", "4617": "development"}
    files = {f"annot/sw00utt/sw_000{k}_{number}.utt": text.format(numbers[number]) for k, number in enumerate(numbers)}
    write_archive(tmp_path, "swda_utt", files)
    assert [read.words for read in read_swda_test(tmp_path)] == [["word", "earlier"], ["word", "later"]]


def test_the_training_part_is_documents_with_tags_and_no_known_marks(tmp_path: Path) -> None:
    lines = "sd          A.1 utt1: {D Well, } {F uh, } [ we went, + we ] left, /\nsd          A.1 utt2: home. /\n"
    files = {f"annot/sw00utt/sw_000{k}_{number}.utt": lines for k, number in enumerate(("2005", "3999", "4000"))}
    write_archive(tmp_path, "swda_utt", files)
    documents = list(read_benchmark_corpus(tmp_path, "swda", lambda name: name != "sw3999-0"))
    assert [document.name for document in documents] == ["sw2005-0"]
    assert documents[0].words == ["well", "uh", "we", "went", "we", "left", "home"]
    tags = [Disfluency.B_IM, Disfluency.B_IM, Disfluency.B_RM, Disfluency.I_RM, *3 * [Disfluency.O]]
    assert documents[0].disfluency == [int(tag) for tag in tags]
    assert set(documents[0].punctuation) == {UNKNOWN}
    assert documents[0].sentence_starts() == [0, 6]


def test_scores_count_discourse_markers_as_interregna_and_as_fluent() -> None:
    read = side("{D So, } [ we, + {F uh, } we ] left. /")
    careful = scores(read, [FLUENT, B_RM, B_IM, FLUENT, FLUENT])
    assert (careful["reparandum"].f1, careful["interregnum"].recall, careful["either"].precision) == (100, 50, 100)
    assert (careful["interregnum without {D}"].f1, careful["either without {D}"].f1) == (100, 100)
    eager = scores(read, [B_IM, B_RM, B_IM, FLUENT, FLUENT])
    assert (eager["interregnum"].f1, eager["interregnum without {D}"].precision) == (100, 50)


def test_marks_are_the_transcript_s_and_of_a_word_left_out_they_are_left_out() -> None:
    read = side("{F Uh, } we went, [ th-, + the ] way {D you know } . /", "Did you? / -- Yes! /", "<laughter> , no /")
    assert " ".join(f"{word}{' ,.?'[mark].strip()}" for word, mark in zip(read.words, read.marks, strict=True)) == (
        "uh, we went, the way you know. did you? yes. no"
    )


def test_with_marks_the_training_part_is_the_same_words_and_tags(tmp_path: Path) -> None:
    lines = "sd          A.1 utt1: {D Well, } we left, /\nsd          A.1 utt2: home. /\n"
    write_archive(tmp_path, "swda_utt", {"annot/sw00utt/sw_0001_2005.utt": lines})
    bare, marked = (
        next(iter(read_benchmark_corpus(tmp_path, name, lambda _: True))) for name in ("swda", "swda_marked")
    )
    assert (bare.words, bare.disfluency) == (marked.words, marked.disfluency)
    assert marked.punctuation == [1, 0, 1, 2]
    assert set(bare.punctuation) == {UNKNOWN}


def fluent_document(sentences: int) -> AlignedDocument:
    document = AlignedDocument("made up", "fluent")
    for number in range(sentences):
        words = f"we went to the market on day {number} , and then we came back home with a basket of pears .".split()
        for word, following in zip(words, [*words[1:], ""], strict=True):
            if word not in ",.":
                document.add(word, {",": 1, ".": 2}.get(following, 0), FLUENT)
    return document


@pytest.mark.parametrize(
    ("line", "tags"),
    [
        ("So, um, we left.", [FLUENT, B_IM, FLUENT, FLUENT]),
        ("I saw the the house.", [FLUENT, FLUENT, B_RM, FLUENT, FLUENT]),
        ("We can we can wait.", [B_RM, I_RM, FLUENT, FLUENT, FLUENT]),
        ("That is very very good.", [FLUENT, FLUENT, FLUENT, FLUENT, FLUENT]),
        ("He had had enough.", [FLUENT, FLUENT, FLUENT, FLUENT]),
        ("Uh huh, uh I know.", [FLUENT, FLUENT, B_IM, FLUENT, FLUENT]),
        ("It went on and on and on.", [FLUENT] * 7),
        ("Hours and hours and nobody came.", [FLUENT] * 6),
        ("And again and again it failed.", [FLUENT] * 6),
        ("And then and then it failed.", [B_RM, I_RM, FLUENT, FLUENT, FLUENT, FLUENT]),
        ("We and we and they came.", [B_RM, I_RM, FLUENT, FLUENT, FLUENT, FLUENT]),
        ("It was, you know, late.", [FLUENT, FLUENT, B_IM, I_IM, FLUENT]),
        ("Do you know it?", [FLUENT, FLUENT, FLUENT, FLUENT]),
        ("She says you know it.", [FLUENT, FLUENT, UNKNOWN, UNKNOWN, FLUENT]),
    ],
)
def test_only_what_the_text_itself_shows_is_tagged(line: str, tags: list[int]) -> None:
    assert derive_tags(read_marks(line), verbatim=False) == tags


def test_a_verbatim_sentence_that_shows_a_disfluency_may_hide_more() -> None:
    tags = derive_tags(read_marks("We uh we left. It was late."), verbatim=True)
    assert tags == [UNKNOWN, B_IM, UNKNOWN, UNKNOWN, FLUENT, FLUENT, FLUENT]


def test_a_number_is_never_said_twice_or_repaired_without_a_word_between() -> None:
    document = AlignedDocument("made up", "numbers")
    for _ in range(400):
        for word in ("it", "is", "two", "hundred", "and", "forty", "one", "miles"):
            document.add(word, Punctuation.PERIOD if word == "miles" else Punctuation.NONE, FLUENT)
    noisy = insert_disfluencies(document, random.Random(1), share=1.0)
    taken_back = [k for k, tag in enumerate(noisy.disfluency) if tag in (B_RM, I_RM)]
    assert len(taken_back) > 50
    for k in taken_back:
        if noisy.words[k] in NUMBER_WORDS and noisy.disfluency[k + 1] == FLUENT:
            assert noisy.words[k + 1] not in NUMBER_WORDS


def test_taking_the_inserted_words_away_gives_the_fluent_text_back() -> None:
    document = fluent_document(200)
    noisy = insert_disfluencies(document, random.Random(1), share=1.0)
    kept = [k for k, tag in enumerate(noisy.disfluency) if tag == FLUENT]
    assert len(noisy.words) > len(document.words)
    assert [noisy.words[k] for k in kept] == document.words
    assert [noisy.punctuation[k] for k in kept] == document.punctuation


def test_inserted_words_carry_no_mark_and_their_spans_begin_with_b() -> None:
    noisy = insert_disfluencies(fluent_document(200), random.Random(2), share=1.0)
    before = FLUENT
    for tag, mark in zip(noisy.disfluency, noisy.punctuation, strict=True):
        if tag != FLUENT:
            assert mark == Punctuation.NONE
        if tag in (I_RM, I_IM):
            assert before in (tag - 1, tag)
        before = tag
    assert {B_RM, I_RM, B_IM, I_IM} <= set(noisy.disfluency)


def test_insertion_is_the_same_for_the_same_seed() -> None:
    first, second = (insert_disfluencies(fluent_document(50), random.Random(3), share=0.5) for _ in range(2))
    assert first == second


def test_what_would_be_meant_is_not_inserted_as_a_repetition() -> None:
    document = AlignedDocument("made up", "one")
    for _ in range(3000):
        for word in ("days", "and", "we", "and", "days", "they", "left"):
            document.add(word, Punctuation.NONE, FLUENT)
    tagged = insert_disfluencies(document, random.Random(3), share=1.0)
    runs = zip(*(tagged.words[k:] for k in range(4)), *(tagged.disfluency[k:] for k in range(4)), strict=False)
    said_again = {run[:2] for run in runs if run[:2] == run[2:4] and run[4:] == (B_RM, I_RM, FLUENT, FLUENT)}
    assert ("we", "and") in said_again
    assert not {("days", "and"), ("and", "days")} & said_again


def test_one_word_that_is_no_function_word_is_seldom_said_twice() -> None:
    """People mean "really really" and "five five"; a function word alone is a slip."""
    noisy = insert_disfluencies(fluent_document(2000), random.Random(4), share=1.0)
    alone = [
        noisy.words[k]
        for k in range(1, len(noisy.words) - 1)
        if noisy.words[k] == noisy.words[k + 1] and noisy.disfluency[k] == B_RM and noisy.disfluency[k + 1] == FLUENT
    ]
    others = [word for word in alone if word not in FUNCTION_WORDS]
    assert len(alone) > 300
    assert 0 < len(others) < 0.1 * len(alone)


def test_of_two_copies_the_first_is_the_reparandum() -> None:
    words = read_marks("the plan was to to leave")
    assert _tags(words, ["the", "plan", "was", "to", "leave"], max_words=8) == [
        FLUENT,
        FLUENT,
        FLUENT,
        B_RM,
        FLUENT,
        FLUENT,
    ]


def test_a_deleted_correction_is_reparandum_and_interregnum() -> None:
    words = read_marks("meet me on monday no sorry on friday")
    fluent = ["meet", "me", "on", "friday"]
    assert _tags(words, fluent, max_words=8) == [FLUENT, FLUENT, B_RM, I_RM, B_IM, I_IM, FLUENT, FLUENT]
