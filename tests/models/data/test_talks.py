"""TED and the benchmark's development talks: what a transcript's lines become, and where a talk begins and ends."""

from __future__ import annotations

import json
import lzma
from pathlib import Path

import pytest

from caesura.models.data.benchmark_corpora import read_benchmark_corpus, ted_text
from caesura.models.data.dev_talks import dev_half, dev_talks
from caesura.models.data.iwslt import read_iwslt
from caesura.schemas.labels import Punctuation
from tests.harness.models.corpora import write_archive, write_corpus


def test_a_talk_is_one_line_without_stage_directions_speakers_and_entities() -> None:
    text = "Thank you. (Applause)\nCA: It&amp;#39;s late --\nTom Rielly: [Music] Note: we go."
    assert ted_text(text).split() == ["Thank", "you.", "It's", "late", "--", "Note:", "we", "go."]


def test_a_ted_document_has_sentences_and_not_subtitle_lines(tmp_path: Path) -> None:
    write_corpus(tmp_path, "ted", {"kept": "We saw the\ndog, and then\nwe left. " * 12, "left": "We left. " * 40})
    (document,) = read_benchmark_corpus(tmp_path, "ted", lambda name: name == "kept")
    assert document.words[:7] == ["we", "saw", "the", "dog", "and", "then", "we"]
    assert document.punctuation[3] == Punctuation.COMMA
    assert document.sentence_starts()[:3] == [0, 8, 16]


def talk(number: int, words: int = 30) -> list[str]:
    return [f"w{number}x{k}" for k in range(words)]


@pytest.fixture
def corpora(tmp_path: Path) -> Path:
    """Six talks in one stream, with words of nobody's between the third and the fourth."""
    stream = [*talk(0), *talk(1), *talk(2), *talk(99, 12), *talk(3), *talk(4), *talk(5)]
    rows = "".join(f"{word}\t{'PERIOD' if k % 10 == 9 else 'O'}\n" for k, word in enumerate(stream))
    write_archive(tmp_path, "iwslt2011", {"dev2012": rows})
    with lzma.open(tmp_path / "labelled" / "ted_dev2012_originals.jsonl.xz", "wt", encoding="utf-8") as file:
        for number in (5, 3, 0, 1, 4, 2, 7):
            file.write(json.dumps({"id": f"talk-{number}", "text": " ".join(talk(number)).upper()}) + "\n")
    return tmp_path


def test_talks_are_found_in_the_order_of_the_stream(corpora: Path) -> None:
    found = dict(dev_talks(corpora))
    assert list(found) == [f"talk-{number}" for number in range(6)]
    assert all(part.words == tuple(talk(number)) for number, part in enumerate(found.values()))
    assert [sum(mark > 0 for mark in part.marks) for part in found.values()] == [3] * 6


def test_the_halves_share_no_talk_and_leave_none_out(corpora: Path) -> None:
    tuning, reported = dev_half(corpora, tunes=True), dev_half(corpora, tunes=False)
    assert len(tuning) + len(reported) == 6
    assert len({part.words for part in (*tuning, *reported)}) == 6


def test_a_part_keeps_its_words_tokens_and_joins_letterless_ones(tmp_path: Path) -> None:
    rows = "we\tO\ndo\tO\nn't\tCOMMA\n\tCOMMA\nit\tO\n's\tPERIOD\nso\tQUESTION\n"
    write_archive(tmp_path, "iwslt2011", {"dev2012": rows})
    text = read_iwslt(tmp_path, "dev2012")
    assert text.words == ("we", "don't", "it's", "so")
    assert text.last_tokens == (0, 3, 5, 6)
    middle = text.part(1, 3)
    assert (middle.words, middle.last_tokens) == (("don't", "it's"), (2, 4))
    assert middle.marks == text.marks[1:6]
    assert middle.spread([1, 2]) == [0, 0, 1, 0, 2]
