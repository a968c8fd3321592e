"""The measures of stability and latency on cases small enough to count by hand."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from caesura.models.data.recogniser_units import as_units
from caesura.models.decoding.labelled_stream import LabelledStep, Stream, active_model
from caesura.models.evaluation.label_history import (
    History,
    frozen_history,
    raw_history,
    screen_history,
    time_to_detection,
)
from caesura.models.evaluation.look_ahead_ablation import another_mask, masked_otherwise, shortened
from caesura.models.evaluation.position_plot import drawn, shares
from caesura.models.evaluation.stability import growing_input
from caesura.models.networks.full_transformer import UNLIMITED
from caesura.schemas.state import HeldBack
from caesura.worker.adapters.onnx.engine import OnnxEngine
from caesura.worker.core.language.segmentation import segmenters
from tests.harness.models.networks import document, exported, tiny_config, tiny_network
from tests.harness.places import SHIPPED


def growing(*labellings: list[int]) -> History:
    """Return the history of labellings that all begin at the first word."""
    return raw_history((0, labels) for labels in labellings)


def test_a_word_that_is_labelled_once_has_changed_nowhere() -> None:
    history = growing([0], [0, 1], [0, 1, 2])
    assert history.last_changes() == Counter({0: 3})
    assert history.position_changes() == Counter()
    assert history.normalised_erasure() == 0
    assert history.edit_overhead() == 0
    assert history.final == [0, 1, 2]


def test_a_change_counts_where_it_happened_and_not_where_the_word_was_heard() -> None:
    # The first word changes as the third is heard: two words stand after it. It had changed as the second was, too.
    history = growing([0], [1, 0], [2, 0, 0])
    assert history.last_changes() == Counter({2: 1, 0: 2})
    assert history.position_changes() == Counter({1: 1, 2: 1})


def test_of_words_that_change_together_the_farthest_counts_for_the_moment() -> None:
    history = growing([0, 0, 0], [1, 1, 0, 0])
    assert history.last_changes() == Counter({3: 1, 2: 1, 0: 2})
    assert history.position_changes() == Counter({3: 1})


def test_erasure_is_all_that_was_shown_from_the_first_word_that_changed() -> None:
    # Of the four words shown, the second changes: it and the two after it are erased, of five in the end.
    history = growing([0, 0, 0, 0], [0, 1, 0, 0, 0])
    assert history.normalised_erasure() == pytest.approx(3 / 5)


def test_edit_overhead_is_the_share_of_edits_beyond_one_a_word() -> None:
    history = growing([0, 0], [1, 0, 0], [2, 0, 0])
    assert history.edit_overhead() == pytest.approx(2 / 5)


def test_a_wait_ends_when_a_word_is_first_shown() -> None:
    history = growing([0, 0, 0], [0, 0, 0, 0, 0, 0])
    assert history.average_wait() == pytest.approx((2 + 1 + 0 + 2 + 1 + 0) / 6)


def test_delayed_labels_are_those_shown_so_many_words_later() -> None:
    history = growing([0], [1, 0], [2, 0, 0])
    assert history.delayed(0) == [0, 0, 0]
    assert history.delayed(1) == [1, 0, 0]
    assert history.delayed(2) == [2, 0, 0]


def test_a_word_without_a_label_yet_counts_as_unmarked() -> None:
    history = frozen_history([1, 2], [3, 3])
    assert history.delayed(0) == [0, 0]
    assert history.delayed(1) == [0, 2]
    assert history.delayed(2) == [1, 2]


def test_published_words_are_never_erased() -> None:
    history = frozen_history([0, 2, 1, 0], [2, 2, 4, 4])
    assert history.normalised_erasure() == 0
    assert history.edit_overhead() == 0
    assert history.last_changes() == Counter({0: 4})


def test_a_screen_shows_raw_labels_until_they_freeze() -> None:
    # The second step freezes two words; in the third the raw label of the second one is another, and is not shown.
    stream = Stream(
        marks=[1, 2, 0, 3],
        tags=[0] * 4,
        frozen_at=[3, 3, 4, 4],
        steps=[
            LabelledStep(start=0, marks=bytes([0, 2]), tags=bytes(2)),
            LabelledStep(start=0, marks=bytes([1, 2, 1]), tags=bytes(3)),
            LabelledStep(start=1, marks=bytes([0, 0, 3]), tags=bytes(3)),
        ],
    )
    history = screen_history(stream, stream.marks, lambda step: step.marks)
    assert history.shown == [[(2, 0), (3, 1)], [(2, 2)], [(3, 1), (4, 0)], [(4, 3)]]


def test_time_to_detection_begins_at_the_runs_last_word() -> None:
    # The run is words 1 and 2; the label stands on its second word when two more words have been heard.
    history = growing([0, 0, 0], [0, 0, 0, 0, 0], [0, 0, 3, 0, 0, 0])
    assert time_to_detection(history, [(1, 3)], frozenset((3,))) == [3]
    assert time_to_detection(growing([0, 3, 0]), [(1, 3)], frozenset((3,))) == [0]


def test_a_run_that_is_never_found_has_no_time() -> None:
    assert time_to_detection(growing([0, 1]), [(0, 1)], frozenset((3,))) == []


def test_a_detection_that_is_taken_back_still_was_one() -> None:
    assert time_to_detection(growing([3], [0, 0]), [(0, 1)], frozenset((3,))) == [0]


TEXTS = {
    "en": (
        """so what we saw in the first week was that nobody used the lift i mean not even the people on the top floor
        and when we asked them why they said well it takes too long you know""",
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


def test_bars_are_shares_of_what_changed() -> None:
    heights = shares(Counter({0: 1000, 1: 3, 2: 1}))
    assert heights[1] == pytest.approx(75)
    assert heights[2] == pytest.approx(25)
    assert sum(heights.values()) == pytest.approx(100)


def test_what_changed_far_back_stands_in_the_last_bar() -> None:
    heights = shares(Counter({1: 1, 40: 2, 63: 1}))
    assert heights[max(heights)] == pytest.approx(75)


def test_a_plot_names_each_network_and_how_far_back_it_changed() -> None:
    counts = {"CT": Counter({0: 5, 1: 2, 9: 1}), "BLSTM": Counter({1: 1, 63: 1})}
    root = ET.fromstring(drawn({"by word": counts}))  # noqa: S314 - our own text
    texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert "CT, at most 9" in texts
    assert "BLSTM, at most 63" in texts


def test_a_plot_of_labels_that_never_change_is_drawn_too() -> None:
    assert "at most 0" in drawn({"by word": {"rules": Counter({0: 5})}})


def test_look_ahead_is_taken_from_the_top_layers() -> None:
    assert list(shortened((1, 1, 1, 2, 2, 2), (9, 6, 3, 0))) == [
        (1, 1, 1, 2, 2, 2),
        (1, 1, 1, 2, 1, 0),
        (1, 1, 1, 0, 0, 0),
        (0, 0, 0, 0, 0, 0),
    ]


def test_no_mask_also_removes_the_look_back_and_a_mask_keeps_it() -> None:
    config = replace(tiny_config(), look_back=3)
    assert another_mask(config, None) == replace(config, look_ahead=(UNLIMITED,) * 3, look_back=None)
    assert another_mask(config, (0, 0, 1)) == replace(config, look_ahead=(0, 0, 1))


def test_a_shorter_look_ahead_adds_no_loss() -> None:
    assert list(shortened((0, 2), (9, 3, 2, 1))) == [(0, 2), (0, 1)]


def test_the_stored_weights_look_as_far_as_they_are_told_to(tmp_path: Path) -> None:
    exported(tiny_network(replace(tiny_config(look_ahead=(2, 3, 4)), look_back=30)), tmp_path / "en", int8=False)
    words = [document(60).words[:60]]
    farthest = {
        look_ahead: max(growing_input(masked_otherwise(tmp_path, look_ahead), "ct@checkpoint", words)[0])
        for look_ahead in ((0, 0, 0), (0, 1, 2), None)
    }
    assert farthest[0, 0, 0] == 0
    assert 0 < farthest[0, 1, 2] <= 3
    assert farthest[None] > 9
