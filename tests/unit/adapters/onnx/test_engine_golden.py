"""What the shipped English model makes of sentences of our own, decoded as a stream; a change here is a new version."""

from __future__ import annotations

import pytest

from caesura.schemas.labels import Disfluency, Punctuation
from caesura.schemas.model_manifest import ModelManifest
from caesura.worker.adapters.onnx.engine import OnnxEngine
from caesura.worker.core.language.labelling import LabelRequest
from caesura.worker.inference.model.model_folder import StoredModel, read_models_folder
from tests.harness.places import SHIPPED
from tests.harness.shipped_models import ENGLISH, one_model

MARKS = {
    Punctuation.NONE: "",
    Punctuation.COMMA: ",",
    Punctuation.PERIOD: ".",
    Punctuation.QUESTION: "?",
}
FOLLOWED_BY = ("okay", "what", "should", "we", "talk", "about", "next", "do", "you", "have", "any", "idea")


@pytest.fixture(scope="module")
def engine() -> OnnxEngine:
    return OnnxEngine(one_model(ENGLISH), threads=1)


def manifest() -> ModelManifest:
    return next(stored.manifest for stored in read_models_folder(SHIPPED) if stored.folder.name == "en")


def labelled(engine: OnnxEngine, text: str) -> str:
    """Return the text with its marks, reparanda as [word] and interregna as {word}; other words follow it."""
    words = text.split()
    request = LabelRequest(session="one", model_id=manifest().name, buffer_start=0, words=(*words, *FOLLOWED_BY))
    (labels,) = engine.label([request])
    shown: list[str] = []
    for word, mark, tag in zip(words, labels.punctuation, labels.disfluency, strict=False):
        kept = {"R": f"[{word}]", "I": f"{{{word}}}"}.get(Disfluency(tag).published[2:3], word)
        shown.append(kept + MARKS[Punctuation(mark)])
    return " ".join(shown)


@pytest.mark.parametrize(
    "expected",
    [
        "he had had enough of it, so he went home and slept.",
        "it was very very cold that day. and nobody wanted to go out.",
        "i like this one, but my sister likes the other one better.",
        "do you know where the station is? i think it's behind the old library.",
        "well, i think that that is the problem we should have solved last year.",
        "i want a flight [to] [boston] {um} to denver.",
        "thank you all for coming today. we have a lot to discuss.",
    ],
)
def test_a_sentence_of_our_own_is_labelled_as_it_was_when_the_model_was_shipped(
    engine: OnnxEngine, expected: str
) -> None:
    words = "".join(char for char in expected if char not in "[]{},.?")
    assert labelled(engine, words) == expected


def test_the_weights_and_all_beside_them_stay_within_the_size_promised() -> None:
    for stored in read_models_folder(SHIPPED):
        promised = {"en": 35_000_000, "eu": 45_000_000, "zh": 60_000_000}.get(stored.folder.name, 25_000_000)
        assert sum(path.stat().st_size for path in stored.folder.iterdir()) <= promised


def test_the_manifest_says_what_the_network_is() -> None:
    shipped = manifest()
    assert (shipped.language, shipped.look_ahead, shipped.positions) == ("en", (*(1,) * 6, *(0,) * 6), "learned")
    assert shipped.punctuation == ("none", "comma", "period", "question")
    assert shipped.disfluency == ("O", "B-RM", "I-RM", "B-IM", "I-IM")
    assert shipped.casing == ("as_given", "small", "capital_first", "all_capitals")
    assert shipped.licence == "CC-BY-SA-4.0"


@pytest.mark.parametrize("stored", read_models_folder(SHIPPED), ids=lambda stored: stored.folder.name)
def test_the_licence_and_the_card_lie_beside_the_weights(stored: StoredModel) -> None:
    assert (stored.folder / "LICENSE.md").is_file()
    card = (stored.folder / "MODEL_CARD.md").read_text(encoding="utf-8")
    assert f"# {stored.manifest.id}, version {stored.manifest.version}" in card


@pytest.mark.parametrize(
    ("folder", "name", "look_ahead", "active"),
    [("en-small", "en-ct-3x384", (2, 2, 2), False), ("zh-small", "zh-ct-4x512", (2, 2, 2, 3), True)],
)
@pytest.mark.slow
def test_a_small_model_has_its_name_and_can_be_chosen(
    folder: str, name: str, look_ahead: tuple[int, ...], *, active: bool
) -> None:
    small = next(stored.manifest for stored in read_models_folder(SHIPPED) if stored.folder.name == folder)
    assert (small.id, small.active, small.look_ahead) == (name, active, look_ahead)
    chosen = OnnxEngine(SHIPPED, active=[small.id], threads=1)
    assert {model.name: model.active for model in chosen.models}[small.name]
    active_languages = [model.language for model in chosen.models if model.active]
    assert sorted(active_languages) == ["de", "en", "es", "fr", "zh"]
