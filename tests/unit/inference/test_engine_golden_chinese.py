"""What the large Chinese model makes of sentences of our own, decoded as a stream; a change here is a new version."""

from __future__ import annotations

import pytest

from caesura.schemas.model_manifest import ModelManifest
from caesura.worker.adapters.onnx.engine import OnnxEngine
from caesura.worker.core.language.dictionary import dictionary_sha256
from caesura.worker.core.language.segmentation import segmenters
from caesura.worker.core.rendering.rendering import Style, render_segment
from caesura.worker.core.session.stream import StreamingLabeller
from caesura.worker.inference.model.model_folder import read_models_folder
from tests.harness.places import SHIPPED
from tests.harness.shipped_models import one_model

FOLLOWED_BY = "好的那我们先看下一个问题大家有什么想法都可以提出来"


@pytest.fixture(scope="module")
def engine() -> OnnxEngine:
    return OnnxEngine(one_model("zh-ct-6x768"), active=("zh-ct-6x768",), threads=1)


def manifest() -> ModelManifest:
    return next(stored.manifest for stored in read_models_folder(SHIPPED) if stored.folder.name == "zh")


def streamed(engine: OnnxEngine, units: list[str]) -> str:
    """Return the units decoded as one session, [reparanda] and {fillers} shown."""
    labeller = StreamingLabeller(engine, "zh", segmenters=segmenters)
    segments = [segment for unit in units for segment in labeller.add([unit])] + labeller.end()
    return "".join(render_segment(segment, Style.MARKED).text for segment in segments)


@pytest.mark.parametrize(
    "expected",
    [
        "你明天有空吗？我想请你吃饭。",
        "谢谢大家今天来参加会议，我们有很多事情要讨论。",
        "[我]我想说的是，{嗯}这个计划下个月才开始。",
        "他说话很慢，所以我们等了他很久。",
        "如果明天下雨，我们就不去爬山了。",
        "我们打算下个星期把箱子送到仓库，因为那里已经没有多余的了。",
        "为什么会议改到星期五是因为场地的问题吗？",
    ],
)
def test_a_sentence_of_our_own_comes_out_as_it_did_when_the_model_was_shipped(
    engine: OnnxEngine, expected: str
) -> None:
    said = [character for character in expected if character not in "[]{}，。？、"]
    assert streamed(engine, [*said, *FOLLOWED_BY]).startswith(expected)


def test_how_the_recogniser_cuts_its_units_changes_no_mark(engine: OnnxEngine) -> None:
    phrases = ["我刚刚到", "办公室昨天的", "照片我已经", "发给客户了", "他们希望星期五", "以前收到新的箱子"]
    assert streamed(engine, phrases) == streamed(engine, list("".join(phrases)))


def test_the_manifest_says_what_the_network_is_and_what_cut_its_words() -> None:
    shipped = manifest()
    assert (shipped.language, shipped.look_ahead, shipped.positions) == ("zh", (2, 2, 2, 2, 1, 0), "learned")
    assert shipped.punctuation == ("none", "comma", "period", "question", "enumeration_comma")
    assert shipped.disfluency == ("O", "B-RM", "I-RM", "B-IM", "I-IM")
    assert shipped.dictionary_sha256 == dictionary_sha256()


def test_the_licence_and_the_card_lie_beside_the_weights() -> None:
    assert manifest().licence == "CC-BY-SA-4.0"
    assert "CC BY-SA 4.0" in (SHIPPED / "zh" / "LICENSE.md").read_text(encoding="utf-8")
    card = (SHIPPED / "zh" / "MODEL_CARD.md").read_text(encoding="utf-8")
    assert manifest().version in card
