"""A language says all of itself in one file, and what it says fits together."""

from __future__ import annotations

import pytest

from caesura.models.languages.language import Language
from caesura.models.languages.registry import LANGUAGES
from caesura.schemas.labels import Punctuation
from caesura.worker.inference.model.model_folder import read_models_folder
from tests.harness.places import ROOT

WITHOUT_WEIGHTS = {"de", "es", "fr"}
"""Languages that can be trained, and that no shipped model labels yet."""

every_language = pytest.mark.parametrize("language", LANGUAGES.values(), ids=list(LANGUAGES))


def test_what_is_shipped_is_a_model_of_each_language() -> None:
    manifests = [stored.manifest for stored in read_models_folder(ROOT / "models" / "shipped")]
    shipped = {manifest.language: manifest for manifest in manifests if manifest.active}
    assert shipped.keys() == LANGUAGES.keys() - WITHOUT_WEIGHTS
    for code, manifest in shipped.items():
        model = LANGUAGES[code].model
        assert (manifest.id, manifest.licence) == (model.id, model.licence)
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
