"""The open Chinese corpora: readers of running text and of CS2W, and what Chinese speakers put in.

Only corpora whose licence allows a trained model to be given away stand here (``models/shipped/zh/LICENSE.md``
lists the licences). ``audreyt_2023_test`` is the held-out spoken test: it is read for figures, never for training.
"""

# ruff: noqa: SIM905 - a list of words reads best as words; the marks are Chinese ones
from __future__ import annotations

import json
import re
import tarfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from caesura.models.data.aligned_words import UNKNOWN, AlignedDocument
from caesura.models.data.chinese_marks import LabelledUnit, add_turn, read_chinese_marks
from caesura.models.data.corpora import CorpusRules, marked_well, read_in_order
from caesura.models.data.disfluencies import SpeechHabits
from caesura.schemas.labels import Disfluency
from caesura.worker.core.language.dictionary import HAN

_LINK = re.compile(r"\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])")
_ASIDE = r"（[^）]*）|\([^)]*\)|\[[^\]]*\]|【[^】]*】|<[^>]*>|https?://\S+|\*\*|__|`"
_TEXT = CorpusRules(drop=_ASIDE)
_CHAIR = r"^主席（[^）]*）："
_TECHNICAL = (
    r"^\s*(?:[=\-#|!>*+~`\d$/]|via|作者|译者|校对|选题|本文|[^。？！]*$)|[`{}<>|=\\]"
    rf"|^[^{HAN}]*(?:[{HAN}][^{HAN}]*){{0,9}}$"
)
CHINESE_CORPORA: dict[str, CorpusRules] = {
    "audreyt_train": _TEXT,
    "ly_gazette_8": CorpusRules(drop=rf"{_CHAIR}|{_ASIDE}"),
    "tw1999_conference": _TEXT,
    "vcsum": CorpusRules(verbatim=True, drop=_ASIDE),
    "crosswoz": _TEXT,
    "kdconv": _TEXT,
    "smilechat": _TEXT,
    "tatoeba": _TEXT,
    "lctt": CorpusRules(drop=_ASIDE, drop_lines=_TECHNICAL),
    "cmrc2018": _TEXT,
}
CHINESE_TEST = "audreyt_2023_test"

CHINESE_SPEECH = SpeechHabits(
    filled_pauses=frozenset("嗯 呃 额 啊 哦 唔 诶 哎".split()),
    function_words=frozenset(
        "我 你 他 她 它 我们 你们 他们 她们 大家 咱们 自己 这 那 这个 那个 这些 那些 这样 那样 这边 那边 一个 一些 "
        "的 了 在 是 有 就 就是 也 都 还 还是 很 要 会 能 可以 可能 应该 想 觉得 认为 说 跟 和 与 对 把 被 给 让 从 到 "
        "因为 所以 但是 可是 不过 如果 虽然 然后 而且 或者 以及 并且 其实 比如 比如说 什么 怎么 为什么 哪 谁 不 没 "
        "没有 不是 不会 不能 已经 正在 再 又 只 只是 才 才能 去 来 做 用 当 当时 现在 时候 之后 以后 之前 今天".split()
    ),
    fillers=(
        (("嗯",), 22),
        (("呃",), 20),
        (("啊",), 12),
        (("那个",), 12),
        (("这个",), 8),
        (("就是",), 8),
        (("就是说",), 5),
        (("额",), 4),
        (("哦",), 3),
        (("诶",), 3),
        (("然后",), 4),
        (("怎么", "说", "呢"), 2),
        (("呃", "那个"), 2),
        (("你", "知道"), 2),
        (("对", "吧"), 1),
    ),
    corrections=(
        ("不",),
        ("不是",),
        ("不对",),
        ("哦", "不"),
        ("呃",),
        ("应该", "说"),
        ("或者", "说"),
        ("我", "是", "说"),
        ("不好意思",),
        ("我", "的", "意思", "是"),
    ),
    shortest_broken=2,
    kept_unsaid=1,
)

_CS2W_TAGS = {"0": Disfluency.O, "1": Disfluency.B_IM, "2": Disfluency.B_RM}
_CONTINUED = {Disfluency.O: Disfluency.O, Disfluency.B_IM: Disfluency.I_IM, Disfluency.B_RM: Disfluency.I_RM}


def read_chinese_units(
    corpora: Path, name: str, keep: Callable[[str], bool]
) -> Iterator[tuple[str, list[list[LabelledUnit]]]]:
    """Yield (document name, turns of units) of a corpus: marks as the text has them, no disfluencies."""
    rules = CHINESE_CORPORA.get(name, _TEXT)
    drop, drop_lines = re.compile(rules.drop), re.compile(rules.drop_lines)
    for document_name, text in read_in_order(corpora, "zh", name, keep):
        lines = (line for line in text.splitlines() if line.strip() and not drop_lines.search(line))
        turns = [read_chinese_marks(drop.sub(" ", _LINK.sub(r"\1", line))) for line in lines]
        if rules.verbatim:
            for turn in turns:
                for unit in turn:
                    unit.tag = UNKNOWN
        yield document_name, [turn for turn in turns if turn]


def read_chinese_corpus(corpora: Path, name: str, keep: Callable[[str], bool]) -> Iterator[AlignedDocument]:
    """Yield the documents of one open corpus whose name is to be kept, as words cut the way the worker cuts them."""
    for document in _documents(corpora, name, keep):
        if marked_well(document, CHINESE_CORPORA[name]):
            yield document


def read_everything(corpora: Path, name: str) -> Iterator[AlignedDocument]:
    """Yield every document of a corpus, whatever its marks: what nothing may be shared with."""
    return _documents(corpora, name, lambda _: True)


def _documents(corpora: Path, name: str, keep: Callable[[str], bool]) -> Iterator[AlignedDocument]:
    for document_name, turns in read_chinese_units(corpora, name, keep):
        document = AlignedDocument(name, document_name)
        for turn in turns:
            add_turn(document, turn)
        yield document


def read_cs2w(corpora: Path, split: str) -> Iterator[tuple[str, list[LabelledUnit]]]:
    """Yield (name, units) of each sentence of CS2W's ``train``, ``val`` or ``test``; marks are unknown.

    A unit is a stretch of characters of one label: 1 is a filler, 2 what was repaired. A sentence with fewer or more
    labels than characters is left out.
    """
    with tarfile.open(corpora / "labelled" / "cs2w.tar.xz") as archive:
        member = archive.extractfile(f"data/{split}.jsonl")
        if member is None:
            raise ValueError(f"cs2w.tar.xz has no data/{split}.jsonl")
        records = [json.loads(line) for line in member.read().decode("utf-8").splitlines()]
    for record in records:
        text, labels = record["content"], record["disfluency_label"]
        if len(text) == len(labels) and (units := _labelled(text, labels)):
            yield f"{split}-{record['id']}", units


def _labelled(text: str, labels: Sequence[str]) -> list[LabelledUnit]:
    units: list[LabelledUnit] = []
    before = "0"
    for match in re.finditer(rf"[{HAN}]+|[^\W{HAN}_]+", text):
        start = match.start()
        for place in range(match.start() + 1, match.end() + 1):
            if place == match.end() or labels[place] != labels[place - 1]:
                label = labels[start]
                tag = _CS2W_TAGS[label]
                units.append(LabelledUnit(text[start:place], UNKNOWN, _CONTINUED[tag] if label == before else tag))
                start, before = place, label
    return units
