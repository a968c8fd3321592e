from __future__ import annotations

from pathlib import Path

import pytest

from caesura.models.data.aligned_words import UNKNOWN
from caesura.models.data.benchmark_corpora import read_benchmark_corpus
from caesura.models.data.swda import Role, SpeakerSide, read_sides, read_swda_test
from caesura.models.evaluation.scoring import Score, scored
from caesura.models.evaluation.switchboard import count_both_ways, gold_tags
from caesura.schemas.labels import Disfluency
from tests.harness.models.corpora import write_archive

FLUENT, RM, IM = int(Disfluency.O), int(Disfluency.B_RM), int(Disfluency.B_IM)
ALL = frozenset((Role.FILLED_PAUSE, Role.EDITING_TERM, Role.DISCOURSE_MARKER))


def side(*texts: str) -> SpeakerSide:
    (read,) = read_sides(f"sd          A.{number} utt1: {text}" for number, text in enumerate(texts, 1))
    return read


def scores(read: SpeakerSide, tags: list[int]) -> dict[str, Score]:
    return {label: scored(counts) for label, counts in count_both_ways([read], tags).items()}


def tagged(read: SpeakerSide, interregna: frozenset[Role] = ALL) -> str:
    """Return the words, of reparanda as [word] and of interregna as {word}."""
    shown = {FLUENT: "{}", RM: "[{}]", IM: "{{{}}}"}
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


def test_scores_count_discourse_markers_as_interregna_and_in_rows_of_their_own_as_fluent() -> None:
    read = side("{D So, } [ we, + {F uh, } we ] left. /")
    careful = scores(read, [FLUENT, RM, IM, FLUENT, FLUENT])
    assert (careful["reparandum"].f1, careful["interregnum"].recall, careful["either"].precision) == (100, 50, 100)
    assert (careful["interregnum without {D}"].f1, careful["either without {D}"].f1) == (100, 100)
    eager = scores(read, [IM, RM, IM, FLUENT, FLUENT])
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
