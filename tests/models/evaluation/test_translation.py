"""How dialogues are cut for a translator, and what is counted (``translation``)."""

from __future__ import annotations

import json
import lzma
import math
from pathlib import Path

import pytest
from typing_extensions import override

from caesura.models.commands.translation import translation_table
from caesura.models.data.recipes import is_held_out
from caesura.models.evaluation.translation import (
    CutSegment,
    CutText,
    Dialogue,
    bare_words,
    cut_by_marks,
    cut_by_pauses,
    cut_by_stream,
    cut_by_turns,
    cut_by_windows,
    emissions,
    read_dialogues,
    read_lines,
    read_talks,
    typed,
)
from caesura.models.evaluation.translation_scores import Interval, TranslationScore, erasure, joined, lags, score
from caesura.models.evaluation.translators import KnownTranslations, Translated, Translator
from caesura.schemas.events import Emission, Word
from caesura.worker.adapters.memory.engine import ScriptedEngine, marked_words
from caesura.worker.core.language.rules import DecodingRules

SHOP = typed("shop", ("Good morning. Two loaves, please.", "That’s four euros!"), ("Bonjour.", "Oui."))
HEARD = Dialogue(
    "heard",
    ("So yes.", "No."),
    ("Alors oui.", "Non."),
    (
        Word(text="So", start_ms=0, end_ms=200),
        Word(text="yes.", start_ms=300, end_ms=500),
        Word(text="no", start_ms=1_400, end_ms=1_600),
    ),
    ((0, 500), (1_400, 1_600)),
)


class Shouting(Translator):
    def __init__(self) -> None:
        self.asked: list[str] = []

    @override
    def translate(self, text: str) -> str:
        self.asked.append(text)
        return text.upper()


def test_bare_words_have_no_marks_and_no_capitals_and_keep_their_apostrophes() -> None:
    assert bare_words("That’s four euros, Ann!") == ["that's", "four", "euros", "ann"]


def test_every_word_is_in_one_segment_whatever_cuts() -> None:
    engine = ScriptedEngine(look_ahead_words=4, script=marked_words)
    words = bare_words(" ".join(SHOP.turns))
    rules = emissions(settled=(1,), clause=(2,))
    cuts = [cut_by_windows(SHOP, 3), cut_by_turns(SHOP), *(cut_by_stream(engine, SHOP, one) for one in rules.values())]
    for cut in (*cuts, cut_by_marks(SHOP)):
        assert bare_words(" ".join(cut.texts)) == words
        assert len(cut.delays) == len(words)
        assert min(cut.delays) >= 0


def test_windows_turns_and_marks_cut_where_they_say() -> None:
    assert [len(text.split()) for text in cut_by_windows(SHOP, 3).texts] == [3, 3, 2]
    assert cut_by_turns(SHOP).texts == ["good morning two loaves please", "that's four euros"]
    assert cut_by_marks(SHOP).texts == ["Good morning.", "Two loaves, please.", "That’s four euros!"]
    assert cut_by_marks(SHOP).delays == [1, 0, 2, 1, 0, 2, 1, 0]


def test_typed_words_are_spoken_evenly_until_their_segment_is_there() -> None:
    assert SHOP.times == ((0, 5 * 375), (5 * 375, 8 * 375))
    assert [(one.end, one.at_ms) for one in cut_by_windows(SHOP, 3).segments] == [(3, 1125), (6, 2250), (8, 3000)]


def test_heard_words_are_cut_at_their_pauses() -> None:
    assert cut_by_pauses(HEARD).segments == (CutSegment("So yes.", 2, 2, 1_300), CutSegment("no", 3, 3, 2_400))


def test_a_stream_goes_out_at_a_pause_once_it_has_lasted() -> None:
    engine = ScriptedEngine(look_ahead_words=4, script=marked_words)
    cut = cut_by_stream(engine, HEARD, emissions(settled=(), clause=())["sentence"])
    assert [(one.end, one.heard, one.at_ms) for one in cut.segments] == [(2, 2, 1_300), (3, 3, 1_600)]


def test_a_pause_is_a_silence_and_no_utterance_end() -> None:
    engine = ScriptedEngine(look_ahead_words=4, script=marked_words)
    rules = DecodingRules(silence_end_offset=0.0, utterance_end_offset=math.inf)
    assert [text[-1] for text in cut_by_stream(engine, HEARD, rules).texts] == ["s", "."]  # "So yes", then the end


def test_a_stream_is_rendered_fluently_and_its_delay_counts_further_words() -> None:
    engine = ScriptedEngine(look_ahead_words=4, script=marked_words)
    spoken = typed("own", ("one uh two three four five six seven eight nine ten eleven",), ("",))
    rules = emissions(settled=(), clause=())["sentence"]
    cut = cut_by_stream(engine, spoken, rules)
    assert "uh" not in " ".join(cut.texts).lower().split()
    assert "uh" in " ".join(cut_by_stream(engine, spoken, rules, keep=True).texts).lower().split()
    assert cut.delays == list(reversed(range(12)))


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


def test_a_text_is_translated_once_and_kept_from_run_to_run(tmp_path: Path) -> None:
    first = Shouting()
    known = KnownTranslations(first, tmp_path / "known.jsonl")
    assert [one.text for one in known.translate(["yes", "no", "yes"])] == ["YES", "NO", "YES"]
    assert first.asked == ["yes", "no"]
    later = Shouting()
    again = KnownTranslations(later, tmp_path / "known.jsonl")
    assert again.translate(["no", "so"])[0] == known.translate(["no"])[0]
    assert later.asked == ["so"]


def test_each_output_extends_the_last_one_by_a_segment() -> None:
    outputs = joined([Translated("Bon jour.", 0.1), Translated("C’est tout.", 0.1)])
    assert outputs == ["Bon jour.", "Bon jour. C'est tout."]
    assert erasure(outputs) == 0.0


def test_erasure_counts_the_words_that_an_output_takes_back() -> None:
    assert erasure(["a b", "a c d", "a c d e"]) == 0.25
    assert erasure([]) == 0.0


def test_a_translation_lags_by_when_its_segment_came_and_by_the_work_before_it() -> None:
    pytest.importorskip("omnisteval")
    dialogue = typed("own", ("one two three four",), ("un deux trois quatre",))
    cut = CutText((CutSegment("one two", 2, 2, 750), CutSegment("three four", 4, 4, 1_500)))
    translated = [Translated("un deux", 0.0), Translated("trois quatre", 0.0)]
    unaware_s, aware_s = lags([dialogue], [cut], [translated])
    # 750 - 0, 750 - 375; the two words that come when all is said are not counted
    assert unaware_s == aware_s == pytest.approx((0.75 + 0.375) / 2)
    slow = [Translated("un deux", 0.3), Translated("trois quatre", 0.0)]
    assert lags([dialogue], [cut], [slow]) == pytest.approx((unaware_s, unaware_s + 0.3))


def test_a_condition_is_compared_with_another_on_the_same_draws_of_dialogues() -> None:
    pytest.importorskip("sacrebleu")
    dialogues = [typed(str(n), ("one two three four five",), (f"un deux trois quatre {n}",)) for n in range(6)]
    cuts = [cut_by_turns(dialogue) for dialogue in dialogues]
    right = [[Translated(dialogue.reference, 0.0)] for dialogue in dialogues]
    wrong = [[Translated("un deux trois cinq six", 0.0)] for _ in dialogues]
    than = [joined(pieces)[-1] for pieces in wrong]
    found = score(cuts, right, dialogues, than=than, draws=50, latency=False)
    assert found.bleu.value == pytest.approx(100)
    assert found.bleu == score(cuts, right, dialogues, draws=50, latency=False).bleu
    assert 0 < found.more.low <= found.more.value <= found.more.high < 100
    assert score(cuts, wrong, dialogues, than=than, draws=50, latency=False).more == Interval(0, 0, 0)
    assert (found.words_a_segment, found.delay_words, found.erasure) == (5, 2, 0)


def test_dialogues_are_read_from_json_lines_and_from_two_files_of_lines(tmp_path: Path) -> None:
    _pack(tmp_path / "own.jsonl.xz", {"id": "a", "turns": [{"en": "Yes.", "fr": "Oui."}, {"en": "No.", "fr": "Non."}]})
    assert list(read_dialogues(tmp_path / "own.jsonl.xz")) == [typed("a", ("Yes.", "No."), ("Oui.", "Non."))]
    (tmp_path / "own.en").write_text("Yes.\nNo.\nWell.\n", encoding="utf-8")
    (tmp_path / "own.pt").write_text("Sim.\nNão.\nBem.\n", encoding="utf-8")
    found = list(read_lines(tmp_path / "own.en", tmp_path / "own.pt", lines_a_dialogue=2))
    assert [(one.turns, one.references) for one in found] == [
        (("Yes.", "No."), ("Sim.", "Não.")),
        (("Well.",), ("Bem.",)),
    ]


def test_a_talk_is_a_held_out_document_and_its_own_reference(tmp_path: Path) -> None:
    held_out = next(f"t{n}" for n in range(1_000) if is_held_out("ted", f"t{n}"))
    other = next(f"t{n}" for n in range(1_000) if not is_held_out("ted", f"t{n}"))
    text = "One two. Three\nfour? Five six."
    _pack(tmp_path / "ted.jsonl.xz", {"id": other, "text": text}, {"id": held_out, "text": text})
    (talk,) = read_talks(tmp_path / "ted.jsonl.xz", talks=5, words=3)
    assert (talk.name, talk.turns) == (held_out, ("One two.", "Three four?"))
    assert talk.references == talk.turns


def test_the_table_has_a_line_a_way_to_cut() -> None:
    row = TranslationScore(
        bleu=Interval(31.26, 29.0, 33.5),
        more=Interval(-1.04, -1.5, 0.2),
        bare_bleu=32.0,
        chrf=Interval(60.0, 58.0, 62.0),
        words_a_segment=6.9,
        delay_words=8.0,
        unaware_s=2.34,
        aware_s=2.5,
        erasure=0.0,
    )
    assert translation_table({"clause": row}).splitlines()[-1] == (
        "| clause | 6.9 | 8.0 | 2.3 | 2.5 | 31.3 | 29.0 to 33.5 | -1.0 | -1.5 to +0.2 | 32.0 | 60.0 | 58.0 to 62.0 |"
    )


def _pack(file: Path, *rows: dict[str, object]) -> None:
    with lzma.open(file, "wt", encoding="utf-8") as lines:
        lines.writelines(json.dumps(row) + "\n" for row in rows)
