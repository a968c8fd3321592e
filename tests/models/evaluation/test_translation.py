"""How dialogues are cut for a translator, and what is counted (``translation``)."""

from __future__ import annotations

import json
import lzma
from collections.abc import Sequence
from pathlib import Path

from typing_extensions import override

from caesura.models.commands.translation import translation_table
from caesura.models.evaluation.translation import (
    Dialogue,
    TranslationScore,
    Translator,
    bare_words,
    cut_by_marks,
    cut_by_stream,
    cut_by_turns,
    cut_by_windows,
    emissions,
    read_dialogues,
    read_lines,
    translate,
)
from caesura.schemas.events import Emission
from caesura.worker.adapters.memory.engine import ScriptedEngine, marked_words

SHOP = Dialogue("shop", ("Good morning. Two loaves, please.", "That’s four euros!"), "Bonjour.")


class Shouting(Translator):
    @override
    def translate(self, texts: Sequence[str]) -> list[str]:
        return [text.upper() for text in texts]


def test_bare_words_have_no_marks_and_no_capitals_and_keep_their_apostrophes() -> None:
    assert bare_words("That’s four euros, Ann!") == ["that's", "four", "euros", "ann"]


def test_every_word_is_in_one_segment_whatever_cuts() -> None:
    engine = ScriptedEngine(look_ahead_words=4, script=marked_words)
    words = bare_words(" ".join(SHOP.turns))
    rules = emissions(settled=(1,), clause=(2,))
    cuts = [cut_by_windows(SHOP, 3), cut_by_turns(SHOP), *(cut_by_stream(engine, SHOP, one) for one in rules.values())]
    for cut in (*cuts, cut_by_marks(SHOP)):
        assert bare_words(" ".join(cut.segments)) == words
        assert len(cut.delays) == len(words)
        assert min(cut.delays) >= 0


def test_windows_turns_and_marks_cut_where_they_say() -> None:
    assert [len(segment.split()) for segment in cut_by_windows(SHOP, 3).segments] == [3, 3, 2]
    assert cut_by_turns(SHOP).segments == ("good morning two loaves please", "that's four euros")
    assert cut_by_marks(SHOP).segments == ("Good morning.", "Two loaves, please.", "That’s four euros!")
    assert cut_by_marks(SHOP).delays == (1, 0, 2, 1, 0, 2, 1, 0)


def test_a_stream_is_rendered_fluently_and_its_delay_counts_further_words() -> None:
    engine = ScriptedEngine(look_ahead_words=4, script=marked_words)
    spoken = Dialogue("own", ("one uh two three four five six seven eight nine ten eleven",), "")
    cut = cut_by_stream(engine, spoken, emissions(settled=(), clause=())["sentence"])
    assert "uh" not in " ".join(cut.segments).lower().split()
    assert cut.delays == tuple(reversed(range(12)))


def test_each_rule_is_named_by_its_emission_and_its_least_words() -> None:
    rules = emissions(settled=(1, 5), clause=(5,))
    assert [(name, one.emission) for name, one in rules.items()] == [
        ("sentence", Emission.SENTENCE),
        ("settled, at least 1", Emission.SETTLED),
        ("settled, at least 5", Emission.SETTLED),
        ("clause, at least 5", Emission.CLAUSE),
    ]
    assert [rules[name].min_settled_words for name in ("settled, at least 1", "settled, at least 5")] == [1, 5]
    assert rules["clause, at least 5"].min_clause_words == 5


def test_a_dialogues_translations_are_joined_in_order() -> None:
    cuts = [cut_by_turns(SHOP), cut_by_turns(Dialogue("one", ("Yes.",), "Oui."))]
    assert translate(Shouting(), cuts) == ["GOOD MORNING TWO LOAVES PLEASE THAT'S FOUR EUROS", "YES"]


def test_dialogues_are_read_from_json_lines_and_from_two_files_of_lines(tmp_path: Path) -> None:
    with lzma.open(tmp_path / "own.jsonl.xz", "wt", encoding="utf-8") as lines:
        lines.write(
            json.dumps({"id": "a", "turns": [{"en": "Yes.", "fr": "Oui."}, {"en": "No.", "fr": "Non."}]}) + "\n"
        )
    assert list(read_dialogues(tmp_path / "own.jsonl.xz")) == [Dialogue("a", ("Yes.", "No."), "Oui. Non.")]
    (tmp_path / "own.en").write_text("Yes.\nNo.\nWell.\n", encoding="utf-8")
    (tmp_path / "own.pt").write_text("Sim.\nNão.\nBem.\n", encoding="utf-8")
    found = list(read_lines(tmp_path / "own.en", tmp_path / "own.pt", lines_a_dialogue=2))
    assert [(one.turns, one.reference) for one in found] == [(("Yes.", "No."), "Sim. Não."), (("Well.",), "Bem.")]


def test_the_table_has_a_line_a_way_to_cut() -> None:
    row = TranslationScore(
        bleu=31.26, low=29.0, high=33.5, bare_bleu=32.0, chrf=60.0, words_a_segment=6.9, delay_words=8.0
    )
    assert translation_table({"clause": row}).splitlines()[-1] == (
        "| clause | 6.9 | 8.0 | 31.3 | 29.0 to 33.5 | 32.0 | 60.0 |"
    )
