"""What German, Spanish and French have in common: a network, spaces between words, three marks, the split of text.

A corpus is split by document: one in ``one_in`` is held out and scored, another is development text (the corpus's name
with ``.dev``), by which constants are chosen; the rest is trained on.
"""

from __future__ import annotations

import json
import lzma
import random
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby, islice
from pathlib import Path

from caesura.models.data.aligned_words import UNKNOWN, AlignedDocument, move_marks
from caesura.models.data.calls import run_hashes
from caesura.models.data.calls.european import european_frames, has_frames
from caesura.models.data.corpora import place
from caesura.models.data.disfluencies import insert_disfluencies
from caesura.models.data.recipes import DISFLUENT_SHARE, DocumentReader, Recipe
from caesura.models.data.recogniser_errors import MisheardWords, Sounds
from caesura.models.data.running_text import RunningText
from caesura.models.data.spelled_numbers import SPELLED, with_spelled_numbers
from caesura.models.data.spoken_patterns import add_spaced, pattern_documents
from caesura.models.evaluation.english import evaluate_held_out
from caesura.models.evaluation.everyday import read_everyday
from caesura.models.evaluation.figures import MARK_CLASSES
from caesura.models.languages.language import Language, LanguageModel, OwnText
from caesura.models.languages.own_sentences import own_document, own_session
from caesura.schemas.labels import Disfluency, Punctuation
from caesura.worker.core.language.normalisation import model_view

DEVELOPMENT = ".dev"
EUROPEAN_MODEL = LanguageModel(
    id="eu-ct-12x384",
    width=384,
    heads=12,
    inner_width=1536,
    look_ahead=(1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0),
    positions="learned",
    punctuation_classes=4,
    languages=("de", "es", "fr"),
)
_ONE_IN = 40
_SPELLED_SHARE = 0.5
_CALL_WORDS = 250_000
_MISHEARD_DOCUMENTS = 100
_MARKS = {",": Punctuation.COMMA, ".": Punctuation.PERIOD, "?": Punctuation.QUESTION, "!": Punctuation.PERIOD}
_TAGS = {"RM": (Disfluency.B_RM, Disfluency.I_RM), "IM": (Disfluency.B_IM, Disfluency.I_IM)}


def european(
    text: RunningText,
    mix: Mapping[str, int],
    *,
    one_in: Mapping[str, int],
    tagged: Mapping[str, str],
    parity_corpora: tuple[str, ...],
    sounds: Sounds | None = None,
) -> Language:
    """Return a language whose corpora ``text`` reads. mix: words of each corpus.

    one_in: of a corpus with few documents, one of how many is held out; 1: it is only scored, and by name. tagged:
    corpora with people's labels of disfluencies, and the file of each. sounds: what sounds alike.
    """
    documents = partial(_documents, text, one_in, tagged)
    calls = {f"calls_{text.language}": _CALL_WORDS} if has_frames(text.language) else {}
    judged = [name for name in tagged if one_in.get(name) == 1]
    names = [name for name in (*text.corpora, *tagged) if name not in judged]
    recipe = Recipe(
        mix={**mix, **calls},
        documents=documents,
        fluent=frozenset(name for name, rules in text.corpora.items() if not rules.verbatim),
        disfluent=partial(_disfluent, text),
        tests=lambda _: iter(()),  # what is held out is parted by document; sittings share their formulas
        chooses=tuple(name + DEVELOPMENT for name in (*names, *calls)),
        misheard=None if sounds is None else partial(_misheard, sounds, documents, parity_corpora[0]),
    )
    return Language(
        code=text.language,
        model=EUROPEAN_MODEL,
        recipe=recipe,
        own_text=OwnText(
            joiner=" ",
            han_share=(0.0, 0.2),
            unit="words",
            marks=lambda paragraph: own_document(text, "", [paragraph], fluent=True).punctuation,
            document=partial(own_document, text),
            session=partial(own_session, text),
        ),
        marks=(Punctuation.COMMA, Punctuation.PERIOD, Punctuation.QUESTION),
        mark_classes=MARK_CLASSES,
        parity_corpora=parity_corpora,
        scored={"open_text": dict.fromkeys(names, evaluate_held_out)},
        scored_by_name=dict.fromkeys((*recipe.chooses, *judged), evaluate_held_out),
    )


def _documents(
    text: RunningText,
    one_in: Mapping[str, int],
    tagged: Mapping[str, str],
    corpora: Path,
    corpus: str,
    *,
    training: bool,
) -> Iterator[AlignedDocument]:
    name = corpus.removesuffix(DEVELOPMENT)
    wanted = "training" if training else "development" if corpus.endswith(DEVELOPMENT) else "held out"
    every = one_in.get(name, _ONE_IN)

    def keep(document_name: str) -> bool:
        return _part(document_name, every) == wanted

    if name == f"calls_{text.language}":
        for document in _calls(text, name):
            if keep(document.name):
                yield document
    elif name in tagged:
        for document in _read_tagged(corpora / text.language, name, tagged[name]):
            if keep(document.name):
                yield document
    else:
        for document in text.read(corpora, name, keep):
            yield _said(document, text.language) if training else document


def _misheard(sounds: Sounds, documents: DocumentReader, corpus: str, corpora: Path, _: Sequence[str]) -> MisheardWords:
    """Return the words of the language's own text: the network's vocabulary has those of other languages too."""
    read = islice(documents(corpora, corpus, training=True), _MISHEARD_DOCUMENTS)
    words = (word for document in read for word in document.words)
    return MisheardWords(dict.fromkeys(words), sounds)


def _calls(text: RunningText, corpus: str) -> Iterator[AlignedDocument]:
    """Yield calls of our own making that share no run of five words with the lines that score (``everyday``)."""
    scored = {run for line in read_everyday(text.language) for run in run_hashes(line.document.words)}
    add = partial(add_spaced, writing=text.writing)
    for document in pattern_documents(european_frames(text.language), add, corpus=corpus):
        if not scored & run_hashes(document.words):
            yield document


def _said(document: AlignedDocument, language: str) -> AlignedDocument:
    """Return a training document, half of them with their numbers in words, if the language's are known."""
    rng = random.Random(f"numbers {document.name}")
    spelled = language in SPELLED and rng.random() < _SPELLED_SHARE
    return with_spelled_numbers(document, language, rng, share=1.0) if spelled else document


def _part(document_name: str, every: int) -> str:
    """Return what a document is for: parts of one sitting, debate or conference are for the same."""
    whole = document_name.partition("#")[0].partition("--Partie")[0]
    return {0: "held out", 1: "development"}.get(place(whole) % every, "training")


def _read_tagged(folder: Path, corpus: str, file: str) -> Iterator[AlignedDocument]:
    """Yield speech that people tagged: a line an utterance, ``words`` with RM, IM or O, ``marks`` and the ``end``.

    A line without an ``id`` is a document of its own, and its marks are the words' last characters. One without words
    could not be aligned.
    """
    with lzma.open(folder / f"{file}.jsonl.xz", "rt", encoding="utf-8") as lines:
        read = ({"id": f"{number}_", **json.loads(line)} for number, line in enumerate(lines))
        records = [record for record in read if "words" in record]
    for name, told in groupby(records, key=lambda record: record["id"].rpartition("_")[0]):
        document = AlignedDocument(corpus, name)
        for record in told:
            before = ""
            written = [word[-1:] for word, _ in record["words"]]
            marks = [*record.get("marks", written)[:-1], record.get("end", written[-1])]
            for (word, kind), mark in zip(record["words"], marks, strict=True):
                view = model_view(word)
                if view:
                    tag = _TAGS[kind][kind == before] if kind in _TAGS else Disfluency.O
                    document.add(view, _MARKS.get(mark, Punctuation.NONE), tag, UNKNOWN)
                before = kind
            if document.words:
                document.turn_ends.add(len(document.words) - 1)
        move_marks(document)
        yield document


def _disfluent(text: RunningText, document: AlignedDocument, rng: random.Random) -> AlignedDocument:
    return insert_disfluencies(document, rng, share=DISFLUENT_SHARE, habits=text.signs.habits)
