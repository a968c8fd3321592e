"""The texts of the papers' tables that ``prepare`` does not pack: joint marks to learn from, and every test.

Joint marks are learnt from novels and unscripted talk and tested on documents kept from training: of novels, of which
there are few, one in ten by name, of talk one in forty. ``runs.json`` beside the text is the table of their runs.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import accumulate
from pathlib import Path

from caesura.models.data.corpora import place
from caesura.models.data.joint_marks import MarkedText, as_documents, read_joint_text, run_table
from caesura.models.data.packed_tests import PackedTest, iwslt_test, packed_test, switchboard_test, talks_test
from caesura.models.data.packing import pack
from caesura.worker.inference.model.wordpiece import WordPiece

JOINT = {"novels": ("eltec_novels_fifth", 10), "talk": ("crd3", 40)}
"""Each kind of text: its corpus, and how many documents one is held out of."""

_CLASSES = 120
_TEST_WORDS = 30_000
_TALK_WORDS = 20_000


def pack_joint_text(corpora: Path, data: Path, tests: Path, tokenizer: WordPiece, *, max_words: int) -> Iterator[str]:
    """Pack the text of joint marks, both parts of each kind, and yield what was packed. max_words: of a kind."""
    read = {
        (kind, training): _first(list(read_joint_text(corpora, corpus, _keep(one_in, training))), words)
        for kind, (corpus, one_in) in JOINT.items()
        for training, words in ((True, max_words), (False, _TEST_WORDS))
    }
    learnt = [text for (_, training), texts in read.items() if training for text in texts]
    table = run_table(learnt, classes=_CLASSES)
    data.mkdir(parents=True, exist_ok=True)
    (data / "runs.json").write_text(json.dumps(table), encoding="utf-8")
    for (kind, training), texts in read.items():
        documents = list(as_documents(f"joint_{kind}", texts, table))
        words = sum(len(document.words) for document in documents)
        if training:
            pack(documents, tokenizer).save(data / f"joint_{kind}.npz")
        else:
            ends = ([end + 1 for end in sorted(document.turn_ends)] for document in documents)
            packed_test(documents, ends, tokenizer).save(tests / f"joint {kind}.npz")
        yield f"{kind}, {'learnt' if training else 'test'}: {len(documents)} documents, {words} words"


def _keep(one_in: int, training: bool) -> Callable[[str], bool]:
    return lambda name: (place(name) % one_in == 0) != training


def _first(texts: list[MarkedText], max_words: int) -> list[MarkedText]:
    """Return documents up to ``max_words``, the last one cut there."""
    before = accumulate((len(words) for _, words, _ in texts), initial=0)
    left = [(text, max_words - words) for text, words in zip(texts, before, strict=False) if words < max_words]
    return [(name, words[:rest], runs[:rest]) for (name, words, runs), rest in left]


def pack_tests(corpora: Path, tests: Path, tokenizer: WordPiece) -> Iterator[str]:
    """Pack the tests of marks and tags, and yield what was packed."""
    made: dict[str, Callable[[], PackedTest]] = {
        "REF": lambda: iwslt_test(corpora, "test2011", tokenizer),
        "ASR": lambda: iwslt_test(corpora, "test2011asr", tokenizer),
        "dev tuning": lambda: talks_test(corpora, tunes=True, max_words=_TALK_WORDS, tokenizer=tokenizer),
        "dev reported": lambda: talks_test(corpora, tunes=False, max_words=_TALK_WORDS, tokenizer=tokenizer),
        "swda": lambda: switchboard_test(corpora, tokenizer),
    }
    for name, make in made.items():
        test = make()
        test.save(tests / f"{name}.npz")
        yield f"{name}: {test.text.words} words, {len(test.sentences)} sentences"
