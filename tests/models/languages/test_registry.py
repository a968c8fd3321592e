"""A language says all of itself in one file, and what it says fits together."""

from __future__ import annotations

import json
import lzma
import random
from itertools import islice
from pathlib import Path

import pytest

from caesura.models.data.aligned_words import AlignedDocument
from caesura.models.data.calls import run_hashes
from caesura.models.data.corpora import CorpusRules
from caesura.models.data.running_text import RunningText
from caesura.models.evaluation.everyday import read_everyday
from caesura.models.languages.european import DEVELOPMENT, european
from caesura.models.languages.french import FRENCH
from caesura.models.languages.german import GERMAN
from caesura.models.languages.language import Language
from caesura.models.languages.registry import LANGUAGES
from caesura.models.languages.spanish import SPANISH
from caesura.schemas.labels import Casing, Disfluency, Punctuation
from caesura.worker.inference.model.model_folder import read_models_folder
from tests.harness.models.corpora import write_corpus
from tests.harness.places import ROOT

WITHOUT_WEIGHTS: frozenset[str] = frozenset()
"""Languages that can be trained, and that no shipped model labels yet."""

every_language = pytest.mark.parametrize("language", LANGUAGES.values(), ids=list(LANGUAGES))


def test_each_language_has_a_shipped_model() -> None:
    manifests = [stored.manifest for stored in read_models_folder(ROOT / "models" / "shipped")]
    active = {code for manifest in manifests if manifest.active for code in manifest.languages}
    assert active == LANGUAGES.keys() - WITHOUT_WEIGHTS
    shipped = {manifest.id: manifest for manifest in manifests}
    for code in active:
        model = LANGUAGES[code].model
        manifest = shipped[model.id]
        assert (manifest.id, manifest.licence) == (model.id, model.licence)
        assert manifest.languages == (model.languages or (code,))
        assert (manifest.look_ahead, manifest.positions) == (model.look_ahead, model.positions)
        assert len(manifest.punctuation) == model.punctuation_classes


@every_language
def test_a_language_scores_the_marks_that_its_network_has(language: Language) -> None:
    marks = {int(mark) for mark in language.marks}
    assert frozenset().union(*language.mark_classes.values()) == marks
    assert marks == set(range(1, language.model.punctuation_classes))
    assert all(len(mark.published) > 0 for mark in map(Punctuation, marks))


@every_language
def test_an_export_is_checked_on_corpora_that_a_language_reads(language: Language) -> None:
    assert set(language.parity_corpora) <= set(language.recipe.mix)
    assert set(language.parity_corpora) & set(language.scored["open_text"])


@every_language
def test_a_users_own_text_is_read_to_words_marks_and_a_session(language: Language) -> None:
    paragraph = {
        "en": "We went home, and slept.",
        "zh": "我们回家，睡觉。",
        "de": "Wir gingen am 3. Mai heim, und Dr. Moos schlief.",
        "es": "Fuimos a casa, y el Sr. Moss durmió.",
        "fr": "L'été, M. Moss dormait.",
    }[language.code]
    own = language.own_text
    document, session = own.document("a", [paragraph], fluent=False), own.session([paragraph])
    assert [mark for mark in own.marks(paragraph) if mark > 0] == [Punctuation.COMMA, Punctuation.PERIOD]
    assert [mark for mark in document.punctuation if mark > 0] == [Punctuation.COMMA, Punctuation.PERIOD]
    assert own.joiner.join(session.units).replace(" ", "") == "".join(document.words)


NONE, COMMA, PERIOD, QUESTION = (int(mark) for mark in list(Punctuation)[:4])
FLUENT, B_RM, I_RM, B_IM, I_IM = (int(tag) for tag in Disfluency)
UNKNOWN = -1
SPLIT = [(GERMAN, "bundestag_fragen"), (SPANISH, "congreso_es"), (FRENCH, "fredsum_debats")]


def read(language: Language, line: str, *, fluent: bool = True) -> AlignedDocument:
    return language.own_text.document("a", [line], fluent=fluent)


@pytest.mark.parametrize(
    ("language", "line", "marked"),
    [
        (GERMAN, "Am 3. Oktober kam Prof. Moos.", {"oktober": NONE, "3": NONE, "professor": NONE, "moos": PERIOD}),
        (GERMAN, "Das gilt, z. B. hier, seit 2019. Gut.", {"gilt": COMMA, "beispiel": NONE, "2019": PERIOD}),
        (GERMAN, "Der Antrag – er ist alt – bleibt.", {"antrag": COMMA, "alt": COMMA, "bleibt": PERIOD}),
        (SPANISH, "Bueno,¿cómo está? ¡Bien!", {"bueno": COMMA, "está": QUESTION, "bien": PERIOD}),
        (SPANISH, "El Sr. Ríos vive en EE. UU. desde mayo.", {"señor": NONE, "unidos": NONE, "mayo": PERIOD}),
        (FRENCH, "M. Roux et Mme Roux, l'été, dorment.", {"monsieur": NONE, "madame": NONE, "l'été": COMMA}),
        (FRENCH, "Pourquoi\u202f? Parce que\u00a0; voilà\u202f!", {"pourquoi": QUESTION, "voilà": PERIOD}),
    ],
)
def test_a_dot_that_ends_nothing_is_no_period(language: Language, line: str, marked: dict[str, int]) -> None:
    document = read(language, line)
    assert {word: document.punctuation[document.words.index(word)] for word in marked} == marked


@pytest.mark.parametrize(
    ("language", "line", "tags"),
    [
        (GERMAN, "Wir äh wir gehen.", [FLUENT, B_IM, FLUENT, FLUENT]),
        (GERMAN, "Das ist in in Bonn.", [FLUENT, FLUENT, B_RM, FLUENT, FLUENT]),
        (GERMAN, "Was neu ist, ist gut.", [FLUENT] * 5),
        (GERMAN, "Die, die da sind, also bleiben.", [FLUENT] * 6),
        (SPANISH, "Es que, que no hay.", [FLUENT, B_RM, FLUENT, FLUENT, FLUENT]),
        (SPANISH, "Está muy muy bien, bueno.", [FLUENT] * 5),
        (FRENCH, "Nous nous sommes vus.", [FLUENT] * 4),
        (FRENCH, "C'est euh dans dans le parc.", [FLUENT, B_IM, B_RM, FLUENT, FLUENT, FLUENT]),
    ],
)
def test_a_slip_that_the_text_shows_is_tagged(language: Language, line: str, tags: list[int]) -> None:
    assert read(language, line).disfluency == tags


def test_a_german_noun_has_a_capital_in_mid_sentence() -> None:
    document = read(GERMAN, "Wir suchen das Haus am See.")
    assert document.casing == [UNKNOWN, Casing.SMALL, Casing.SMALL, *[Casing.CAPITAL_FIRST, Casing.SMALL] * 1, 2]


@pytest.mark.parametrize(("language", "corpus"), SPLIT)
def test_a_document_is_trained_on_held_out_or_for_development(tmp_path: Path, language: Language, corpus: str) -> None:
    sentence = {
        "de": "Wir gehen heute alle zusammen heim, ja das ist gut so. ",
        "es": "Hoy vamos todos juntos a casa, sí que es muy bueno. ",
        "fr": "On va tous dormir à la maison, oui c'est très bien. ",
    }[language.code]
    names = [f"{day}{part}" for day in range(300) for part in ("#001", "#002")]
    write_corpus(tmp_path, corpus, dict.fromkeys(names, sentence * 12), language=language.code)
    documents = language.recipe.documents
    trained, held, chosen = (
        {document.name for document in documents(tmp_path, name, training=training)}
        for name, training in ((corpus, True), (corpus, False), (corpus + DEVELOPMENT, False))
    )
    assert trained | held | chosen == set(names)
    assert len(trained) + len(held) + len(chosen) == len(names)
    assert min(len(held), len(chosen)) > 0
    assert all(name.replace("#001", "#002") in held for name in held)


def test_a_language_trains_before_it_has_frames_and_number_words(tmp_path: Path) -> None:
    text = RunningText(language="xx", corpora={"talks": CorpusRules()})
    language = european(text, {"talks": 1_000}, one_in={}, tagged={}, parity_corpora=("talks",))
    line = "we go home at 5 today, and that is good. "
    write_corpus(tmp_path, "talks", {f"day {k}": line * 12 for k in range(40)}, language="xx")
    assert list(language.recipe.mix) == ["talks"]
    documents = list(language.recipe.documents(tmp_path, "talks", training=True))
    assert documents
    assert all("5" in document.words for document in documents)


@pytest.mark.parametrize(
    ("language", "corpus", "alike"),
    [
        (GERMAN, "bundestag_fragen", "seid seit fiel viel dachs dax größe grösse"),
        (SPANISH, "congreso_es", "calló cayó casa caza vaca baca cena sena"),
        (FRENCH, "assemblee_mariage", "mer mère vert verre sont son faux fots"),
    ],
)
def test_a_word_is_misheard_as_one_of_the_language_s_own_text(
    tmp_path: Path, language: Language, corpus: str, alike: str
) -> None:
    line = f"{alike}. "
    write_corpus(tmp_path, corpus, {str(day): line * 6 for day in range(3)}, language=language.code)
    assert language.recipe.misheard is not None
    misheard, rng, pairs = language.recipe.misheard(tmp_path, ["mare", "case", "feet"]), random.Random(1), alike.split()
    for one, other in zip(pairs[::2], pairs[1::2], strict=True):
        assert {misheard.taken_for(one, rng) for _ in range(9)} == {other}


def test_people_s_tags_become_spans_and_marks_move_off_them(tmp_path: Path) -> None:
    line = {
        "id": "story_1",
        "words": [["on", "O"], ["va", "RM"], ["va", "RM"], ["euh", "IM"], ["part", "O"]],
        "marks": ["", "", ",", "", ""],
        "end": "?",
    }
    (tmp_path / "fr").mkdir()
    with lzma.open(tmp_path / "fr" / "ud_parisstories_labelled.jsonl.xz", "wt") as file:
        file.write("".join(json.dumps(line | {"id": f"story{k}_1"}) + "\n" for k in range(40)))
    document = next(iter(FRENCH.recipe.documents(tmp_path, "parisstories", training=True)))
    assert document.disfluency == [FLUENT, B_RM, I_RM, B_IM, FLUENT]
    assert document.punctuation == [NONE, NONE, NONE, NONE, QUESTION]


@pytest.mark.parametrize("language", [GERMAN, SPANISH, FRENCH], ids=lambda language: language.code)
def test_inserted_slips_take_nothing_from_the_text(language: Language) -> None:
    line = {
        "de": "Wir haben heute die Rechnung bezahlt, und dann sind wir nach Hause gefahren.",
        "es": "Hoy hemos pagado la factura, y luego nos hemos ido a casa.",
        "fr": "Nous avons payé la facture, et puis nous sommes rentrés à la maison.",
    }[language.code]
    fluent = read(language, " ".join([line] * 200))
    disfluent = language.recipe.disfluent(fluent, random.Random(1))
    kept = [word for word, tag in zip(disfluent.words, disfluent.disfluency, strict=True) if tag == FLUENT]
    assert kept == fluent.words
    assert {B_RM, I_RM, B_IM} <= set(disfluent.disfluency)


@pytest.mark.parametrize("language", [GERMAN, SPANISH, FRENCH], ids=lambda language: language.code)
def test_calls_of_our_own_hold_slips_and_nothing_of_the_lines_that_score(language: Language, tmp_path: Path) -> None:
    calls = list(islice(language.recipe.documents(tmp_path, f"calls_{language.code}", training=True), 60))
    said = " ".join(word for document in calls for word in document.words)
    assert not {"<", ">", "|", "(", "["} & set(said)
    assert {B_RM, B_IM} <= {tag for document in calls for tag in document.disfluency}
    scored = {run for line in read_everyday(language.code) for run in run_hashes(line.document.words)}
    assert not scored & {run for document in calls for run in run_hashes(document.words)}


def test_numbers_of_half_of_the_documents_are_said_in_words(tmp_path: Path) -> None:
    sentence = "Wir haben heute 84 Karten verkauft, und das ist doch gut. "
    write_corpus(tmp_path, "bundestag_fragen", {str(day): sentence * 6 for day in range(60)}, language="de")
    documents = list(GERMAN.recipe.documents(tmp_path, "bundestag_fragen", training=True))
    spelled = [document for document in documents if "vierundachtzig" in document.words]
    assert 10 < len(spelled) < len(documents) - 10
    assert all("84" not in document.words for document in spelled)
    assert all(document.punctuation == documents[0].punctuation for document in spelled)
    held = [*GERMAN.recipe.documents(tmp_path, "bundestag_fragen", training=False)]
    assert all("84" in document.words for document in held)
