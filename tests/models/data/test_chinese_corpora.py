"""Chinese corpora made up on the spot: read, held out, checked against the test set, packed, scored by character."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from typer.testing import CliRunner

from caesura.models.__main__ import app
from caesura.models.data.chinese_corpora import CHINESE_TEST, read_chinese_corpus, read_cs2w
from caesura.models.data.chinese_marks import LabelledUnit
from caesura.models.data.packing import PackedText
from caesura.models.data.preparation import held_out, prepare
from caesura.models.decoding.ways import OFFLINE, STREAMING, Decoding, ahead
from caesura.models.evaluation.chinese import COPIES_ALIKE, by_character, evaluate_chinese, first_copies
from caesura.models.evaluation.scoring import Score
from caesura.models.languages.chinese import CHINESE
from caesura.schemas.labels import Disfluency, Punctuation
from caesura.worker.adapters.memory.engine import ScriptedEngine
from caesura.worker.inference.model.wordpiece import WordPiece
from tests.harness.models.corpora import write_archive, write_corpus

LINES = ("我们{}昨天去了仓库，箱子都在那里。", "你知道谁来过吗？门口有脚印、纸片和绳子。")
LEAKED = "这段话只在测试里面出现而且一共有很多很多个不同的词语所以谁也不会碰巧说出同样的句子来。"


def talk(name: str, lines: int = 6) -> str:
    return "\n".join(line.format(name * (k + 1)) for k in range(lines) for line in LINES)


def made_up_corpora(folder: Path) -> Path:
    documents = {f"talk-{k}": talk(f"第{k}次") for k in range(80)}
    documents["leak"] = talk("又") + "\n" + LEAKED
    write_corpus(folder, "kdconv", documents, language="zh")
    write_corpus(folder, CHINESE_TEST, {"test": LEAKED}, language="zh")
    records = [
        {"id": 1, "content": "我我们，嗯走吧", "disfluency_label": "2000100"},
        {"id": 2, "content": "太短", "disfluency_label": "0"},
    ]
    text = "\n".join(json.dumps(record, ensure_ascii=False) for record in records)
    write_archive(folder, "cs2w", {"data/train.jsonl": text, "data/test.jsonl": text})
    pairs = {"dis.raw.3k": "我我们走吧。\n门开了。\n", "flu.raw.3k": "我们走吧。\n窗户开了。\n"}
    write_archive(folder, "zh_disfluency3k", {f"chinese_disfluency/{name}": text for name, text in pairs.items()})
    return folder


def tokenizer() -> WordPiece:
    return WordPiece(["[UNK]", "[CLS]"], max_pieces=8)


def test_all_that_is_held_out_is_packed_by_one_command(tmp_path: Path) -> None:
    folder = made_up_corpora(tmp_path)
    for name in CHINESE.recipe.mix.keys() - {"cs2w", "kdconv", "patterns"}:
        write_corpus(folder, name, {f"talk-{k}": talk(f"第{k}次") for k in range(80)}, language="zh")
    (tmp_path / "vocab.txt").write_text("[UNK]\n[CLS]\n", encoding="utf-8")
    command = [
        "prepare",
        "--language",
        "zh",
        "--vocabulary",
        str(tmp_path / "vocab.txt"),
        "--held-out",
        "--max-words=200",
    ]
    told = CliRunner().invoke(app, [*command, "--corpora", str(folder), "--data", str(tmp_path / "out")])
    assert told.exit_code == 0, told.output
    assert {path.stem for path in (tmp_path / "out").glob("*.npz")} == CHINESE.recipe.mix.keys()


def test_no_document_is_held_out_and_trained_on_and_leaks_are_dropped(tmp_path: Path) -> None:
    folder = made_up_corpora(tmp_path)
    (counts,) = prepare(CHINESE.recipe, folder, tmp_path / "out", tokenizer(), {"kdconv": 10**6}, seed=1)
    kept = held_out(CHINESE.recipe, folder, "kdconv", max_words=10**6)
    assert kept
    assert (counts.documents + len(kept), counts.dropped) == (80, 1)
    assert PackedText.load(tmp_path / "out" / "kdconv.npz").words == counts.words + counts.inserted_words


def test_asides_and_links_are_no_words(tmp_path: Path) -> None:
    line = "我们[去过](http://a.example)那个（笑）仓库，【音乐】箱子都在那里。"
    write_corpus(tmp_path, "tatoeba", {"one": "\n".join([line] * 8)}, language="zh")
    (document,) = read_chinese_corpus(tmp_path, "tatoeba", lambda _: True)
    assert "".join(document.words) == "我们去过那个仓库箱子都在那里" * 8


def test_a_gold_sentence_is_read_by_stretches_or_left_out(tmp_path: Path) -> None:
    ((name, units),) = read_cs2w(made_up_corpora(tmp_path), "test")
    assert name == "test-1"
    tagged = [(unit.text, Disfluency(unit.tag).published) for unit in units]
    assert tagged == [("我", "B-RM"), ("我们", "O"), ("嗯", "B-IM"), ("走吧", "O")]


def test_in_training_a_labelled_sentence_is_read_with_other_words_too(tmp_path: Path) -> None:
    record = {"id": 1, "content": "我们去医医院嗯看朋友", "disfluency_label": "0002001000"}
    write_archive(tmp_path, "cs2w", {"data/train.jsonl": json.dumps(record, ensure_ascii=False)})
    documents = list(CHINESE.recipe.documents(tmp_path, "cs2w", training=True))
    assert len({document.name for document in documents}) == len(documents) == 12
    said = ["".join(document.words) for document in documents]
    assert said[:2] == ["我们去医医院嗯看朋友"] * 2
    assert len(set(said)) > 4
    assert all(len(one) == 10 and one[3] == one[4] and one[6] == "嗯" for one in said)
    again = CHINESE.recipe.documents(tmp_path, "cs2w", training=True)
    assert list(again) == documents  # whoever packs it, whenever


def test_characters_stand_one_by_one_and_the_last_has_the_mark() -> None:
    text = by_character([LabelledUnit("好的", Punctuation.COMMA), LabelledUnit("OK", Punctuation.PERIOD)])
    assert (text.units, text.marks) == (["好", "的", "OK"], [0, Punctuation.COMMA, Punctuation.PERIOD])


ENDS = {
    "仓库": Punctuation.COMMA,
    "吗": Punctuation.QUESTION,
    "脚印": Punctuation.ENUMERATION_COMMA,
    "那里": Punctuation.PERIOD,
    "绳子": Punctuation.PERIOD,
}
SLIPS = {"我": Disfluency.B_RM, "嗯": Disfluency.B_IM}


def knowing(model: str, words: Sequence[str], position: int, look_ahead_words: int) -> tuple[int, int]:  # noqa: ARG001
    """Label as the made-up documents are marked, and a lone 我 or 嗯 as disfluent."""
    return ENDS.get(words[position], Punctuation.NONE), SLIPS.get(words[position], Disfluency.O)


def scores(folder: Path, name: str, *, decoding: Decoding) -> dict[str, Score]:
    engine = ScriptedEngine(script=knowing)
    return {
        row.label: row.score
        for row in evaluate_chinese(engine, folder, name, language=CHINESE, decoding=decoding, limit=10**6)
    }


@pytest.mark.parametrize("decoding", [STREAMING, OFFLINE, ahead(9)])
def test_an_engine_that_knows_the_marks_scores_all_of_them(decoding: Decoding, tmp_path: Path) -> None:
    rows = scores(made_up_corpora(tmp_path), "kdconv", decoding=decoding)
    assert rows["overall"].f1 == 100
    assert rows["enumeration comma"].gold == rows["question"].gold > 0


@pytest.mark.parametrize("decoding", [STREAMING, OFFLINE, ahead(9)])
def test_disfluencies_are_scored_by_character_on_gold_labels_and_on_pairs(decoding: Decoding, tmp_path: Path) -> None:
    folder = made_up_corpora(tmp_path)
    labelled = scores(folder, "cs2w", decoding=decoding)
    assert (labelled["reparandum"].f1, labelled["interregnum"].f1, labelled["either"].gold) == (100, 100, 2)
    assert scores(folder, "cs2w, training part", decoding=decoding)["reparandum"].f1 == 100
    assert scores(folder, "zh_disfluency3k", decoding=decoding)["either"].gold == 1


@pytest.mark.parametrize(
    ("said", "marked", "wanted"),
    [
        ("这个很很好", "00010", "00100"),
        ("体育舞蹈体育舞蹈包括", "0000222200", "2222000000"),
        ("就会被就会会被遗弃", "000222200", "022220000"),
        ("会会会去", "0010", "1000"),
        ("我我们走", "2000", "2000"),
    ],
)
def test_of_two_equal_copies_the_first_is_taken_back(said: str, marked: str, wanted: str) -> None:
    moved = first_copies(said, [int(tag) for tag in marked])
    assert "".join(map(str, moved)) == wanted
    left = ["".join(unit for unit, tag in zip(said, tags, strict=True) if tag == "0") for tags in (marked, wanted)]
    assert left[0] == left[1]


def test_equal_copies_count_as_one_slip_whichever_is_marked(tmp_path: Path) -> None:
    record = {"id": 1, "content": "我我们走吧", "disfluency_label": "02000"}
    write_archive(tmp_path, "cs2w", {"data/test.jsonl": json.dumps(record, ensure_ascii=False)})
    rows = scores(tmp_path, "cs2w", decoding=OFFLINE)
    assert (rows["either"].f1, rows[COPIES_ALIKE].f1) == (0, 100)
