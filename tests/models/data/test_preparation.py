"""Corpora made up on the spot, read, checked against a made-up test set, and packed."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

from caesura.models.__main__ import app
from caesura.models.data.aligned_words import UNKNOWN
from caesura.models.data.disfluent_pairs import read_disfl_qa, read_rev16
from caesura.models.data.english_corpora import ENGLISH_TEXT
from caesura.models.data.frame_notation import CHOICE, bare, labelled_spans, tags_of, word_tags
from caesura.models.data.iwslt import read_iwslt
from caesura.models.data.packing import PackedText, pack
from caesura.models.data.preparation import CorpusCounts, SharedText, held_out, prepare, prepare_held_out
from caesura.models.data.recipes import is_held_out
from caesura.models.data.recogniser_errors import DocumentErrors, MisheardWords
from caesura.models.data.resident_text import IGNORED, ResidentText, batches
from caesura.models.languages.english import ENGLISH
from caesura.schemas.labels import Disfluency, Punctuation
from caesura.worker.inference.network.full_network import PADDING_WORD
from tests.harness.models.corpora import write_archive, write_corpus
from tests.harness.models.networks import LEADING, VOCABULARY, document, tokenizer

TEST_WORDS = [f"item{k}" for k in range(30)]
SENTENCE = "Well, the {} dog saw a bird; then we left. Where is it?"


def made_up_corpora(folder: Path, *, documents: int = 120) -> Path:
    talk = {f"talk-{k}": "\n".join(SENTENCE.format(f"dog{k}x{line}") for line in range(8)) for k in range(documents)}
    talk["leak"] = talk["talk-1"] + "\n" + " ".join(TEST_WORDS[:20]) + "."
    talk["quote"] = talk["talk-2"] + "\n" + " ".join(TEST_WORDS[:13]) + "."
    write_corpus(folder, "changelog", talk)
    rows = "\n".join(f"{word}\t{'PERIOD' if k % 10 == 9 else 'O'}" for k, word in enumerate(TEST_WORDS))
    write_archive(
        folder,
        "iwslt2011",
        {"test2011": rows, "test2011asr": "it\tO\n's\tCOMMA\ndone\tPERIOD\n", "dev2012": "so\tO\nit\tPERIOD\n"},
    )
    return folder


def prepared(folder: Path, out: Path, *, max_words: int = 1_000_000) -> CorpusCounts:
    (counts,) = prepare(ENGLISH.recipe, folder, out, tokenizer(), {"changelog": max_words}, seed=1)
    return counts


def test_a_document_with_test_text_is_dropped_a_quotation_reported(tmp_path: Path) -> None:
    counts = prepared(made_up_corpora(tmp_path), tmp_path / "out")
    assert (counts.dropped, counts.shared) == (1, 1)
    assert counts.documents + len(held_out(ENGLISH.recipe, tmp_path, "changelog", max_words=10**6)) == 121


def test_no_document_is_both_held_out_and_trained_on(tmp_path: Path) -> None:
    folder = made_up_corpora(tmp_path)
    kept = {document.name for document in held_out(ENGLISH.recipe, folder, "changelog", max_words=10**6)}
    trained = {document.name for document in ENGLISH_TEXT.read(folder, "changelog", lambda name: name not in kept)}
    assert kept
    assert not kept & trained
    assert len(kept) < 20


def test_a_share_of_the_documents_carries_a_recognisers_errors(tmp_path: Path) -> None:
    folder = made_up_corpora(tmp_path)
    prepared(folder, tmp_path / "plain")
    errors = DocumentErrors(MisheardWords(tokenizer().vocabulary), share=0.5)
    (counts,) = prepare(
        ENGLISH.recipe, folder, tmp_path / "half", tokenizer(), {"changelog": 10**6}, seed=1, errors=errors
    )
    plain, half = (PackedText.load(tmp_path / name / "changelog.npz") for name in ("plain", "half"))
    assert counts.words + counts.inserted_words == plain.words
    assert 0.9 < half.words / plain.words < 1.1
    assert half.pieces.tolist() != plain.pieces.tolist()
    assert half.starts_sentence.sum() == plain.starts_sentence.sum()


def test_preparation_goes_on_where_it_was_stopped_and_stops_at_the_words_wanted(tmp_path: Path) -> None:
    folder = made_up_corpora(tmp_path)
    first = prepared(folder, tmp_path / "out", max_words=500)
    written = (tmp_path / "out" / "changelog.npz").stat().st_mtime_ns
    assert prepared(folder, tmp_path / "out", max_words=500) == first
    assert (tmp_path / "out" / "changelog.npz").stat().st_mtime_ns == written
    assert 500 <= first.words < 700
    assert PackedText.load(tmp_path / "out" / "changelog.npz").words == first.words + first.inserted_words


def test_the_corpora_that_are_named_are_prepared_and_an_unknown_one_is_refused(tmp_path: Path) -> None:
    folder, out = made_up_corpora(tmp_path), tmp_path / "out"
    (tmp_path / "vocab.txt").write_text("\n".join(VOCABULARY) + "\n", encoding="utf-8")
    command = ["prepare", "--vocabulary", str(tmp_path / "vocab.txt"), "--corpora", str(folder), "--data", str(out)]
    done = CliRunner().invoke(app, [*command, "--corpus", "changelog"])
    assert done.exit_code == 0, done.output
    assert sorted(path.name for path in out.iterdir()) == ["changelog.json", "changelog.npz"]
    refused = CliRunner().invoke(app, [*command, "--corpus", "changelog", "--corpus", "novels"])
    assert refused.exit_code == 2
    assert "novels: not among" in refused.output.replace("\n", " ")


def test_held_out_documents_are_packed_clean_and_misheard(tmp_path: Path) -> None:
    folder = made_up_corpora(tmp_path)
    clean, misheard = tmp_path / "clean", tmp_path / "misheard"
    (counts,) = prepare_held_out(ENGLISH.recipe, folder, clean, tokenizer(), ["changelog"], max_words=200)
    errors = DocumentErrors(MisheardWords(tokenizer().vocabulary), share=1.0, rate=0.5)
    list(prepare_held_out(ENGLISH.recipe, folder, misheard, tokenizer(), ["changelog"], max_words=200, errors=errors))
    read, heard = PackedText.load(clean / "changelog.npz"), PackedText.load(misheard / "changelog.npz")
    assert counts.words == read.words == 200
    assert read.pieces.tolist() != heard.pieces.tolist()


def test_parts_of_one_meeting_are_held_out_together() -> None:
    held = {name for name in map(str, range(400)) if is_held_out("inquiry_covid", f"{name}#0")}
    assert held
    assert held == {name for name in map(str, range(400)) if is_held_out("inquiry_covid", f"{name}#7")}


@pytest.mark.parametrize(
    ("corpus", "line", "said"),
    [
        ("us_congress_hearings", "Mr. Hill. Thank you very much.", "thank you very much"),
        ("us_congress_hearings", "Mr. Hill, thank you.", "mr hill thank you"),
        ("president_news_conferences", "The President. That was one of them.", "that was one of them"),
        ("inquiry_pohi", "That is INQ00002008, page 4 of it.", "that is page 4 of it"),
        ("europarl_debates", "C6-0237/2006 -", ""),
        ("audreyt_english", "We say &quot;we&quot; again.", "we say we again"),
    ],
)
def test_what_was_not_spoken_is_left_out(tmp_path: Path, corpus: str, line: str, said: str) -> None:
    write_corpus(tmp_path, corpus, {"one": "\n".join([line, *["The cat saw us, and we left."] * 12])})
    (document,) = ENGLISH_TEXT.read(tmp_path, corpus, lambda _: True)
    rest = ["the", "cat", "saw", "us", "and", "we", "left"] * 12
    assert document.words == [*said.split(), *rest]


def test_stage_directions_and_markup_are_no_words(tmp_path: Path) -> None:
    line = "Well (laughs) the cat saw us. [applause] " * 12
    write_corpus(tmp_path, "crd3", {"one": line})
    (document,) = ENGLISH_TEXT.read(tmp_path, "crd3", lambda _: True)
    assert set(document.words) == {"well", "the", "cat", "saw", "us"}


def test_a_benchmark_mark_is_scored_on_the_last_token_of_a_joined_word(tmp_path: Path) -> None:
    text = read_iwslt(made_up_corpora(tmp_path), "test2011asr")
    assert text.words == ("it's", "done")
    assert text.spread([Punctuation.COMMA, Punctuation.PERIOD]) == [0, 1, 2] == list(text.marks)


def test_a_question_pair_is_tagged_by_its_fluent_half(tmp_path: Path) -> None:
    pair = {"original": "Where is the cat?", "disfluent": "Where is the dog no sorry the cat?"}
    write_archive(tmp_path, "disfl_qa", {"dev.json": json.dumps({"q": pair})})
    (document,) = read_disfl_qa(tmp_path, "dev")
    tags = [Disfluency(tag).published for tag in document.disfluency]
    assert tags == ["O", "O", "B-RM", "I-RM", "B-IM", "I-IM", "O", "O"]
    assert document.punctuation[-1] == Punctuation.QUESTION


def test_a_verbatim_document_is_tagged_by_its_clean_edition(tmp_path: Path) -> None:
    write_corpus(tmp_path, "rev16_verbatim", {"a/1.nlp": "So, um, we\u2026 we left the house. It was, uh, late."})
    write_corpus(tmp_path, "rev16_clean", {"b/1.nlp": "So we left the house. It was late."})
    (document,) = read_rev16(tmp_path, lambda _: True)
    tagged = [word for word, tag in zip(document.words, document.disfluency, strict=True) if tag > 0]
    assert tagged == ["um", "we", "uh"]
    assert document.punctuation[document.words.index("house")] == Punctuation.PERIOD


def test_whether_a_sentence_ends_where_another_speaker_breaks_in_is_unknown(tmp_path: Path) -> None:
    write_corpus(tmp_path, "rev16_verbatim", {"a/1.nlp": "We left the house- Yes. And, uh, w- we saw the cat."})
    write_corpus(tmp_path, "rev16_clean", {"b/1.nlp": "We left the house- Yes. And we saw the cat."})
    (document,) = read_rev16(tmp_path, lambda _: True)
    unknown = [word for word, mark in zip(document.words, document.punctuation, strict=True) if mark == UNKNOWN]
    assert unknown == ["house"]


def test_an_archive_without_the_file_wanted_is_named(tmp_path: Path) -> None:
    folder = made_up_corpora(tmp_path)
    with pytest.raises(KeyError, match="dev2010"):
        read_iwslt(folder, "dev2010")


def packed() -> PackedText:
    made = [document(20, seed=seed) for seed in range(3)]
    made[0].words[3] = "cafe"  # several pieces
    for one in made:
        one.casing = [k % 4 for k in range(len(one.words))]
    return pack(made, tokenizer())


def test_a_batch_holds_only_its_samples_pieces_and_labels() -> None:
    text = packed()
    samples = [(0, 9), (5, 30), (text.words - 4, text.words)]
    batch = ResidentText(text, LEADING).batch(samples)
    for row, (begin, end) in enumerate(samples):
        first, after = int(text.first_piece[begin]), int(text.first_piece[end])
        size = after - first + 1
        assert batch.pieces[row, :size].tolist() == [LEADING, *text.pieces[first:after].tolist()]
        last = torch.from_numpy(text.first_piece[begin + 1 : end + 1] - first)
        assert batch.word_index[row, last].tolist() == list(range(1, end - begin + 1))
        assert (batch.word_index[row, size:] == PADDING_WORD).all()
        for labels, known in (
            (batch.punctuation, text.punctuation),
            (batch.disfluency, text.disfluency),
            (batch.casing, text.casing),
        ):
            assert labels[row, last].tolist() == known[begin:end].tolist()
            assert int((labels[row] != IGNORED).sum()) == end - begin


def test_a_teacher_s_rows_stand_at_the_last_pieces_of_their_words() -> None:
    text = packed()
    rows = np.random.default_rng(1).random((text.words, 13)).astype(np.float16)
    batch = ResidentText(text, LEADING, rows).batch([(2, 12)])
    assert batch.taught is not None
    assert np.array_equal(batch.taught[0, batch.punctuation[0] != IGNORED].numpy(), rows[2:12].astype(np.float32))
    assert not batch.taught[0, batch.punctuation[0] == IGNORED].any()


def test_no_sample_is_longer_than_the_longest_that_is_asked_for() -> None:
    text = packed()
    read = list(batches(ResidentText(text, LEADING), max_pieces=400, seed=3, tails=0.0, longest=12))
    assert sum(batch.words for batch in read) >= text.words - 3 * 12
    assert max(int(batch.word_index[batch.word_index < PADDING_WORD].max()) for batch in read) <= 12


TEST = [f"word{k}" for k in range(40)]


def test_distinct_twelve_grams_shared_with_a_test_set_are_counted_once() -> None:
    tests = SharedText([TEST])
    assert tests.shared(["before", *TEST[3:18], "after"]) == 4
    assert tests.shared(TEST[3:18] * 3) == 4


def test_eleven_words_in_common_are_no_overlap() -> None:
    assert SharedText([TEST]).shared(["x", *TEST[:11], "y"]) == 0


FILLED = "turn [left at] {uh, sorry,} right, please."


def test_brackets_are_tags_of_the_words_in_them() -> None:
    o, rm, im = Disfluency.O, Disfluency.B_RM, Disfluency.B_IM
    assert [(span.strip(), begin) for span, begin in labelled_spans(FILLED)] == [
        ("turn", o),
        ("left at", rm),
        ("", o),
        ("uh, sorry,", im),
        ("right, please.", o),
    ]
    assert word_tags(FILLED) == [o, rm, Disfluency.I_RM, im, Disfluency.I_IM, o, o]
    assert bare(FILLED) == "turn left at uh, sorry, right, please."


def test_a_token_of_marks_alone_is_no_word() -> None:
    assert word_tags("[a ,] {-} b .") == [Disfluency.B_RM, Disfluency.O]
    assert tags_of([], Disfluency.B_IM) == []


def test_the_innermost_choice_is_made_first() -> None:
    found = CHOICE.search("(take (a|b)|leave)")
    assert found is not None
    assert found[1] == "a|b"
