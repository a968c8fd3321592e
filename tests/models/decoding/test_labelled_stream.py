"""What is seen of a stream on its way: the same labels as everywhere, when they froze, and what they cost."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from typing_extensions import override

from caesura.models.data.aligned_words import AlignedDocument
from caesura.models.decoding.checkpoint_engine import CheckpointEngine
from caesura.models.decoding.labelled_stream import WatchedEngine, run_stream
from caesura.models.decoding.labelling_runs import label_offline, label_streams
from caesura.models.decoding.overlapping_chunks import Chunk, label_chunks, split
from caesura.models.decoding.ways import OFFLINE, STREAMING, ahead
from caesura.models.evaluation.stability import growing_input, runs_of, stabilities, streams_of
from caesura.models.evaluation.sweeps import GoldText, chunks, decoded, figures_table, stream, sweep
from caesura.models.networks.blstm import BLSTM, BLSTMConfig
from caesura.models.networks.checkpoints import write_checkpoint
from caesura.models.networks.full_transformer import FullTransformer
from caesura.schemas.events import Emission
from caesura.schemas.labels import Labels
from caesura.worker.adapters.memory.engine import ScriptedEngine, marked_words
from caesura.worker.adapters.onnx.engine import OnnxEngine
from caesura.worker.core.language.labelling import NO_OFFSETS, LabelRequest, ScoreOffsets
from caesura.worker.core.language.rules import DecodingRules
from caesura.worker.errors import FatalError
from tests.harness.models.networks import VOCABULARY, buffers, document, exported, tiny_config, tiny_network


def talk(words: int, *, seed: int) -> AlignedDocument:
    """Return words of one document, about every eighth with a full stop; the tags are unknown."""
    rng = random.Random(seed)
    document = AlignedDocument("made up", f"talk {seed}")
    for number in range(words):
        document.add(f"w{rng.randint(0, 99)}", 2 if number % 8 == 7 else 0, -1)
    return document


WORDS = [f"word-{number}" if number % 7 else "word-stop" for number in range(1, 120)]


def watched() -> WatchedEngine:
    return WatchedEngine(ScriptedEngine(script=marked_words), clock=lambda: 0.0)


def test_a_watched_stream_has_the_labels_of_any_other() -> None:
    engine = ScriptedEngine()
    stream = run_stream(WatchedEngine(engine), WORDS)
    assert (stream.marks, stream.tags) == label_streams(engine, [WORDS], language="en")[0]


def test_a_sentence_of_a_stream_freezes_when_enough_words_are_after_it() -> None:
    stream = run_stream(watched(), ["a", "b-stop", *"cdefghijkl"])
    # T = 6 words are after the stop when eight are in, and F = 3 lets a step look at nine.
    assert stream.frozen_at[:2] == [9, 9]
    assert stream.delays[:2] == [8, 7]
    assert stream.delays[-1] == 0


def test_no_settled_word_waits_longer_than_the_look_ahead_and_a_step() -> None:
    stream = run_stream(watched(), WORDS, rules=DecodingRules(emission=Emission.SETTLED, min_settled_words=1))
    assert max(stream.delays) == 9 + 3 - 1


def test_every_labelling_is_seen_with_what_it_read() -> None:
    engine = watched()
    stream = run_stream(engine, ["a", "b", "c", "d"])
    assert [(step.start, step.heard) for step in stream.steps] == [(0, 3), (0, 4)]
    assert engine.buffer_words == 7


def test_published_text_scores_as_stable_and_a_screen_does_not() -> None:
    documents = [talk(300, seed=1), talk(300, seed=2)]
    streams = streams_of(WatchedEngine(ScriptedEngine(look_ahead_words=9)), documents)
    rows = {row.shown: row for row in stabilities(streams, documents) if row.kind == "marks"}
    assert rows["published, sentence"].normalised_erasure == 0
    assert rows["published, settled"].edit_overhead == 0
    assert rows["screen"].edit_overhead > 0.1
    assert rows["screen"].average_wait_words == pytest.approx(1, abs=0.1)


def test_raw_marks_of_a_growing_input_change_as_far_back_as_the_look_ahead() -> None:
    engine = ScriptedEngine(look_ahead_words=4)
    words, moments = growing_input(engine, "scripted-en@1", [WORDS])
    assert max(words) == max(moments) == 4
    assert words.total() == len(WORDS)


def test_marks_that_stand_together_are_runs_of_their_own_and_tags_are_one() -> None:
    assert list(runs_of([2, 2, 0], frozenset((2,)), kind="marks")) == [(0, 1), (1, 2)]
    assert list(runs_of([0, 1, 2, 0, 1], frozenset((1, 2)), kind="tags")) == [(1, 3), (4, 5)]


def test_a_row_counts_delay_and_cost_by_the_word() -> None:
    times = iter(range(100))
    engine = ScriptedEngine(script=marked_words)
    text = GoldText(name="own", texts=[["a", "b-stop", "c", "d-stop"]], gold=[0, 2, 0, 2])
    row = decoded(engine, text, stream(), clock=lambda: next(times))
    assert row.overall.f1 == 100
    assert row.delay_mean_words == pytest.approx((3 + 2 + 1 + 0) / 4)
    assert row.buffer_words_a_word == pytest.approx(7 / 4)
    assert row.cpu_s_a_million_words == pytest.approx(2 / 4 * 1e6)


def test_a_table_pairs_every_row_with_the_first() -> None:
    engine = ScriptedEngine(script=marked_words)
    text = GoldText(name="own", texts=[["a", "b-stop", "c", "d-stop"]], gold=[0, 2, 0, 2])
    rows = [decoded(engine, text, way) for way in (stream(), chunks())]
    first, second = figures_table(rows).splitlines()[2:]
    assert "| · |" in first
    assert "| +0.0 (+0.0 to +0.0) |" in second


def test_chunks_read_a_word_about_twice() -> None:
    engine = ScriptedEngine(script=marked_words)
    text = GoldText(name="own", texts=[WORDS * 10], gold=[0] * len(WORDS) * 10)
    assert decoded(engine, text, chunks()).buffer_words_a_word == pytest.approx(2, abs=0.05)


def test_no_decoding_of_the_sweep_is_run_twice() -> None:
    names = [way.name for way in sweep()]
    assert len(names) == len(set(names)) > 15


def requests(model: str, offsets: ScoreOffsets = NO_OFFSETS) -> list[LabelRequest]:
    return [
        LabelRequest(session=str(number), model_id=model, buffer_start=0, words=tuple(words), offsets=offsets)
        for number, words in enumerate(buffers(40))
    ]


@pytest.mark.parametrize("sentence_end", [0.0, 1.5, math.inf])
def test_a_checkpoint_labels_as_its_export_does(tmp_path: Path, sentence_end: float) -> None:
    offsets = ScoreOffsets(sentence_end=sentence_end)
    network = tiny_network()
    exported(network, tmp_path / "en", int8=False)
    ours, theirs = CheckpointEngine(network, VOCABULARY), OnnxEngine(tmp_path, threads=1)
    pairs = zip(ours.label(requests("ct@checkpoint", offsets)), theirs.label(requests("tiny@1", offsets)), strict=True)
    assert all(one == other for one, other in pairs)


def test_look_ahead_bounds_which_labels_change() -> None:
    words = [document(60).words[:60]]
    masked, full = tiny_network(tiny_config(look_ahead=(2, 3, 4))), FullTransformer(tiny_config())
    full.load_state_dict(masked.state_dict())
    assert max(growing_input(CheckpointEngine(masked, VOCABULARY), "ct@checkpoint", words)[0]) <= 9
    assert max(growing_input(CheckpointEngine(full, VOCABULARY), "full@checkpoint", words)[0]) > 9


def test_a_checkpoint_file_of_an_lstm_decodes_a_stream(tmp_path: Path) -> None:
    torch.manual_seed(1)
    network = BLSTM(BLSTMConfig(vocabulary_size=len(VOCABULARY), width=16, hidden=16, layers=2))
    write_checkpoint(tmp_path / "blstm.pt", network, {})
    (tmp_path / "vocabulary.txt").write_text("\n".join(VOCABULARY) + "\n", encoding="utf-8")
    engine = CheckpointEngine.of(tmp_path / "blstm.pt", tmp_path / "vocabulary.txt")
    words = document(20).words
    assert len(run_stream(WatchedEngine(engine), words).marks) == len(words)


def test_another_model_is_refused() -> None:
    with pytest.raises(FatalError, match="ct@checkpoint"):
        CheckpointEngine(tiny_network(), VOCABULARY).label(requests("other@1"))


@pytest.mark.parametrize("quick", [False, True])
def test_a_quick_engine_computes_in_bfloat16_where_the_machine_has_it(quick: bool) -> None:
    network, computed = tiny_network(), set[torch.dtype]()

    def note(module: torch.nn.Module, given: object, result: torch.Tensor) -> None:  # noqa: ARG001
        computed.add(result.dtype)

    for part in network.modules():
        if isinstance(part, torch.nn.Linear):
            part.register_forward_hook(note)
    CheckpointEngine(network, VOCABULARY, quick=quick).label(requests("ct@checkpoint"))
    at_hand = quick and torch.ops.mkldnn._is_mkldnn_bf16_supported()
    assert computed == ({torch.bfloat16} if at_hand else {torch.float32})


TEXT = [f"word{number}" for number in range(90)]


def test_offline_the_edges_of_a_chunk_are_context_only() -> None:
    assert OFFLINE.cut is not None
    assert OFFLINE.cut(500)[1] == Chunk(start=150, end=350, first=185, last=335)


def test_a_stream_is_not_cut() -> None:
    assert STREAMING.cut is None


@pytest.mark.parametrize("known", [0, 2, 9])
def test_ahead_each_word_is_labelled_with_so_many_known_after_it_and_64_before(known: int) -> None:
    seen: list[tuple[str, str, str]] = []

    def note(model: str, words: Sequence[str], position: int, look_ahead_words: int) -> tuple[int, int]:  # noqa: ARG001
        if position == len(words) - 1 - known or words[-1] == TEXT[-1]:
            seen.append((words[0], words[position], words[-1]))
        return int(words[position][4:]) % 3, 0

    engine = ScriptedEngine(script=note)
    cut = ahead(known).cut
    assert cut is not None
    marks, _ = label_offline(engine, engine.models[0].name, TEXT, cut=cut)
    assert marks == [number % 3 for number in range(90)]
    for place, word in enumerate(TEXT[: 90 - known]):
        assert (TEXT[max(place - 64, 0)], word, TEXT[place + known]) in seen


@given(known=st.integers(0, 12), words=st.integers(0, 150))
def test_ahead_keeps_each_word_once_in_order(known: int, words: int) -> None:
    cut = ahead(known).cut
    assert cut is not None
    chunks = cut(words)
    assert [place for chunk in chunks for place in range(chunk.first, chunk.last)] == list(range(words))
    assert all(0 <= chunk.start <= chunk.first < chunk.last <= chunk.end <= words for chunk in chunks)


def by_place(model: str, words: Sequence[str], position: int, look_ahead_words: int) -> tuple[int, int]:  # noqa: ARG001
    """Label a word by the parity of its place in its chunk: the label says which chunk it came from."""
    return position % 3, position % 2


ENGINE = ScriptedEngine(script=by_place)
MODEL = "scripted-en@1"


def test_of_two_chunks_the_second_has_the_last_ten_of_the_words_they_share() -> None:
    assert split(45) == [Chunk(start=0, end=30, first=0, last=20), Chunk(start=15, end=45, first=20, last=45)]


def test_a_chunk_between_others_keeps_fifteen_words_of_thirty() -> None:
    assert split(60)[1] == Chunk(start=15, end=45, first=20, last=35)


def test_a_text_no_longer_than_a_chunk_is_one_chunk() -> None:
    assert split(30) == [Chunk(start=0, end=30, first=0, last=30)]
    assert split(1) == [Chunk(start=0, end=1, first=0, last=1)]


def test_with_nothing_cut_the_first_chunk_keeps_all_that_is_shared() -> None:
    assert [(chunk.first, chunk.last) for chunk in split(45, min_words_cut=0)] == [(0, 30), (30, 45)]


def test_with_all_of_it_cut_the_second_chunk_keeps_all_that_is_shared() -> None:
    assert [(chunk.first, chunk.last) for chunk in split(45, min_words_cut=15)] == [(0, 15), (15, 45)]


@pytest.mark.parametrize("cut", [-1, 16])
def test_more_than_what_chunks_share_cannot_be_cut(cut: int) -> None:
    with pytest.raises(ValueError, match="min_words_cut"):
        split(45, min_words_cut=cut)


@given(words=st.integers(1, 400), chunk=st.integers(2, 40), data=st.data())
def test_what_the_chunks_keep_is_the_text_once_and_lies_inside_them(
    words: int, chunk: int, data: st.DataObject
) -> None:
    window = data.draw(st.integers((chunk + 1) // 2, chunk))
    cut = data.draw(st.integers(0, chunk - window))
    chunks = split(words, chunk=chunk, window=window, min_words_cut=cut)
    assert [place for part in chunks for place in range(part.first, part.last)] == list(range(words))
    assert all(part.start <= part.first <= part.last <= part.end <= words for part in chunks)


def test_merged_labels_are_those_of_the_chunk_that_keeps_the_word() -> None:
    chunked = label_chunks(ENGINE, MODEL, [str(number) for number in range(45)])
    assert chunked.marks == [place % 3 for place in range(20)] + [(place - 15) % 3 for place in range(20, 45)]
    assert chunked.tags == [place % 2 for place in range(20)] + [(place - 15) % 2 for place in range(20, 45)]


def test_a_word_waits_until_its_chunk_is_full() -> None:
    delays = label_chunks(ENGINE, MODEL, [str(number) for number in range(60)]).delays
    assert delays[0] == 29
    assert delays[19] == 10
    assert delays[20:35] == list(range(24, 9, -1))
    assert delays[59] == 0


def test_a_text_without_words_has_no_labels() -> None:
    assert label_chunks(ENGINE, MODEL, []).marks == []


class WrittenDown(ScriptedEngine):
    """A scripted engine that writes down what it was asked, call by call, and whom it was told to forget."""

    def __init__(self) -> None:
        super().__init__(script=by_place)
        self.calls: list[Sequence[LabelRequest]] = []
        self.forgotten: list[str] = []

    @override
    def label(self, requests: Sequence[LabelRequest]) -> list[Labels]:
        self.calls.append(requests)
        return super().label(requests)

    @override
    def forget(self, session: str) -> None:
        self.forgotten.append(session)


def test_chunks_are_asked_for_many_at_a_time_as_own_sessions() -> None:
    engine = WrittenDown()
    cut = ahead(9).cut
    assert cut is not None
    done: list[int] = []
    chunked = label_chunks(engine, MODEL, [str(number) for number in range(150)], cut=cut, progress=done.append)
    assert chunked.marks == [min(place, 64) % 3 for place in range(150)]
    assert chunked.labelled_at == [min(place + 10, 150) for place in range(150)]
    assert [len(call) for call in engine.calls] == [64, 64, 22]
    assert done == [64, 64, 22]
    for call in engine.calls:
        assert len({request.session for request in call}) == len(call)
        assert all(len(request.wanted) == 1 for request in call)
    assert engine.forgotten == [request.session for call in engine.calls for request in call]
