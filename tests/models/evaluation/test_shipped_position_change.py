"""The promise that the delay rests on, on the models that are shipped: no label looks further than L words ahead."""

from __future__ import annotations

import pytest

from caesura.models.data.recogniser_units import as_units
from caesura.models.decoding.labelled_stream import active_model
from caesura.models.evaluation.stability import growing_input
from caesura.schemas.state import HeldBack
from caesura.worker.adapters.onnx.engine import OnnxEngine
from caesura.worker.core.language.segmentation import segmenters
from tests.harness.places import SHIPPED

TEXTS = {
    "en": (
        """so what we saw in the first week was that nobody used the lift i mean not even the people on the top floor
        and when we asked them why they said well it takes too long you know""",
        """do you want to take the early train or uh the late one because if it is the early one then we should leave
        now otherwise there is time for a coffee and perhaps a sandwich don't you think""",
        """the bridge was closed on monday on tuesday it was open again but only for bicycles which made my neighbour
        very happy and his brother who drives a lorry rather less so did they ask anybody no they did not""",
    ),
    "zh": (
        "我们昨天去了河边的那家饭馆菜很好吃但是等了很久你下次要不要一起去我觉得周末人可能会更多还是星期三去吧",
        "这个问题其实不难先把数据整理好然后再看图表如果还有不明白的地方可以问他他以前做过类似的项目对吗",
    ),
}


@pytest.fixture(scope="module")
def engine() -> OnnxEngine:
    return OnnxEngine(SHIPPED, threads=1)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_no_raw_mark_of_the_shipped_model_changes_more_than_nine_words_back(language: str, engine: OnnxEngine) -> None:
    texts = [_words(text, language) for text in TEXTS[language]]
    changed, moments = growing_input(engine, active_model(engine, language), texts)
    assert 0 < max(changed) <= 9
    assert 0 < max(moments) <= 9


def _words(text: str, language: str) -> list[str]:
    segmenter = segmenters(language, HeldBack())
    units = text.split() if language == "en" else list(text)
    return [word.view for word in (*segmenter.push(as_units(units)), *segmenter.flush())]
