"""Figures of capitals: what is scored, what names are, and the two ways beside the network."""

from __future__ import annotations

from pathlib import Path

import pytest

from caesura.models.commands.capitals import capitals_table
from caesura.models.data.aligned_words import UNKNOWN, AlignedDocument
from caesura.models.evaluation.capitals import WAYS, CapitalFigure, Forms, evaluate_capitals, figures_of
from caesura.models.languages.english import ENGLISH
from caesura.schemas.labels import Casing
from caesura.worker.adapters.memory.engine import ScriptedEngine
from tests.harness.models.corpora import write_corpus

SMALL, FIRST, ALL = int(Casing.SMALL), int(Casing.CAPITAL_FIRST), int(Casing.ALL_CAPITALS)


def document(line: str) -> AlignedDocument:
    """Read words as they are written; one with ``^`` before it begins a sentence: its case is unknown."""
    made = AlignedDocument("made up", line[:8])
    for word in line.split():
        known = Casing.ALL_CAPITALS if word.isupper() and len(word) > 1 else FIRST if word[0].isupper() else SMALL
        made.add(word.strip("^").lower(), 0, 0, UNKNOWN if word.startswith("^") else int(known))
    return made


TRAINING = document("^We met Anna and Tom in May or they may or may not go to the BBC with Tom and the rose and a Rose")
TEXT = document("^May met Anna in may but Zoe saw the BBC and I saw a rose Tom")


def f1(found: list[CapitalFigure], way: str, group: str = "all", label: str = "overall") -> float:
    (one,) = (row for row in found if (row.way, row.group, row.label) == (way, group, label))
    return one.score.f1


def test_words_are_told_apart_by_what_training_text_does_with_them() -> None:
    forms = Forms([TRAINING])
    assert [forms.group(word) for word in ("tom", "bbc", "may", "rose", "zoe", "the")] == [
        "names",
        "names",
        "both ways",
        "both ways",
        "unseen",
        "both ways",
    ]
    assert [forms.likeliest(word) for word in ("tom", "bbc", "the", "zoe")] == [FIRST, ALL, SMALL, SMALL]


def test_sentence_starts_and_i_are_not_scored_as_capitals() -> None:
    right = [SMALL if casing == UNKNOWN else casing for casing in TEXT.casing]
    found = list(figures_of("made up", [TEXT], right, Forms([TRAINING])))
    assert f1(found, WAYS[0]) == 100
    assert f1(found, WAYS[1]) == pytest.approx(100 * 2 * 3 / (3 + 4))  # Zoe is unseen
    assert f1(found, WAYS[2]) == 0
    assert f1(found, WAYS[0], "names") == f1(found, WAYS[1], "names") == 100
    assert f1(found, WAYS[1], "unseen") == 0
    (gold,) = (row.score.gold for row in found if (row.way, row.group, row.label) == (WAYS[0], "all", "overall"))
    assert gold == 4  # Anna, Zoe, BBC, Tom: neither the first word nor "I"

    shouted = [ALL if casing == FIRST else casing for casing in right]
    found = list(figures_of("made up", [TEXT], shouted, Forms([TRAINING])))
    assert f1(found, WAYS[0], label="all_capitals") == pytest.approx(100 * 2 / (4 + 1))  # "I" is not scored
    assert f1(found, WAYS[0]) < 40


def test_the_table_has_a_line_a_text_group_and_way() -> None:
    found = list(figures_of("made up", [TEXT], [SMALL] * len(TEXT.words), Forms([TRAINING])))
    lines = capitals_table(found).splitlines()
    assert lines[2].startswith("| made up | all | network | 0.0 | 0.0 | 0.0 / 0.0 / 0.0")
    assert len(lines) == 2 + 3 * 3  # all, names, unseen; none that is written both ways has a capital here


def test_held_out_documents_are_decoded_as_the_worker_decodes(tmp_path: Path) -> None:
    line = "we saw Anna and Tom, and they went to the BBC in London with Peter. it was in May, I think.\n"
    write_corpus(tmp_path, "changelog", {f"talk {number}": line * 8 for number in range(120)})
    engine = ScriptedEngine(script=lambda _model, words, place, _: (0, 0, FIRST if words[place] == "anna" else SMALL))
    found = evaluate_capitals(
        engine, tmp_path, "changelog", language=ENGLISH, limit=400, table_words=2000, by_document=True
    )
    whole = [row for row in found if row.text == "changelog"]
    network, table = f1(whole, WAYS[0]), f1(whole, WAYS[1])
    assert 0 < network < table == 100
    parts = {
        row.text: row.score.gold for row in found if (row.way, row.group, row.label) == (WAYS[0], "all", "overall")
    }
    assert len(parts) > 2, "there is more than one document"
    assert parts.pop("changelog") == sum(parts.values())
