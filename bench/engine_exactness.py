"""Whether the streaming engine says what the full run says, on long text of many kinds.

    python -m bench.engine_exactness --corpora PATH --words 1000000

Sessions of both languages are decoded together, as a worker does it. At every step the labels that the decoder asks for
are computed twice: by the streaming engine, from what it keeps and batched with the other sessions, and by the full run
of the stored graph. Labels may differ only where the full run's two best scores are closer than ``EPSILON``, or
``EPSILONS`` of its model; those are counted. Every ``--again`` th step is computed a third time, by an engine that
keeps nothing: it must agree to the bit.

The result file is written after every round of sessions, so that a run that was cut off says how far it came; the same
command goes on there, with the same models on the same processor.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime
from itertools import count, islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from bench.machine import cpu_name
from caesura.models.decoding.labelling_runs import label_streams
from caesura.models.decoding.passing_engine import PassingEngine
from caesura.models.languages.registry import LANGUAGES
from caesura.schemas.labels import Labels
from caesura.worker.adapters.onnx.engine import OnnxEngine
from caesura.worker.core.language.labelling import LabelRequest
from caesura.worker.core.language.rules import DecodingRules
from caesura.worker.inference.model.model_folder import read_models_folder

EPSILON = 0.5
EPSILONS = {"zh-ct-6x768": 1.25}
"""Of a model whose scores are rounded by more than the others' (ADR 0019)."""
TEXTS = {
    "en": ("bitcointranscripts", "earnings22", "ami", "changelog", "crd3", "cabnc", "rev16"),
    "zh": ("tw1999_conference", "crosswoz", "kdconv", "vcsum"),
}
SESSIONS, SESSION_WORDS = 48, 400
ROUNDS = (("en", "zh"), ("zh",), ("en",))
"""Whose sessions are decoded together, round by round: a run that is cut off has both languages."""


@dataclass(slots=True)
class Agreement:
    """What was compared. flips: labels that differ; clear_flips: where the two best scores are not as good as equal."""

    steps: int = 0
    labels: int = 0
    flips: int = 0
    clear_flips: int = 0
    largest_score_difference: float = 0.0
    largest_margin_of_a_flip: float = 0.0
    steps_computed_again: int = 0
    steps_that_differ_in_a_bit: int = 0
    words: dict[str, int] = field(default_factory=dict)

    def compare(
        self, streamed: Sequence[NDArray[np.float32]], full: Sequence[NDArray[np.float32]], *, epsilon: float = EPSILON
    ) -> None:
        """Count one request's scores, by both."""
        self.steps += 1
        for mine, yours in zip(streamed, full, strict=True):
            self.labels += len(yours)
            self.largest_score_difference = max(self.largest_score_difference, float(np.abs(mine - yours).max()))
            ranked = np.sort(yours, axis=-1)
            margins = (ranked[:, -1] - ranked[:, -2])[mine.argmax(axis=-1) != yours.argmax(axis=-1)]
            self.flips += len(margins)
            self.clear_flips += int((margins >= epsilon).sum())
            self.largest_margin_of_a_flip = max(self.largest_margin_of_a_flip, float(margins.max(initial=0.0)))

    @classmethod
    def so_far(cls, path: Path, told: dict[str, object]) -> tuple[Agreement, int]:
        """Return what a result file counts, and after how many rounds; nothing where it is of another command."""
        result = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        if any(result.get(name) != value for name, value in told.items()):
            return cls(), 0
        names = {one.name for one in fields(cls)} - {"words"}  # counted again as the texts are read again
        return cls(**{name: result[name] for name in names}), result["rounds"]


class ComparedEngine(PassingEngine):
    """A streaming engine whose every answer is compared."""

    def __init__(self, models: Path, agreement: Agreement, *, again: int) -> None:
        self._streamed = OnnxEngine(models, threads=1)
        super().__init__(self._streamed)
        self._full = OnnxEngine(models, threads=1, streams=False)
        self._anew = OnnxEngine(models, threads=1, max_kept_bytes=0)
        self._agreement = agreement
        self._again = again

    @override
    def label(self, requests: Sequence[LabelRequest]) -> list[Labels]:
        """Answer from what is kept, and compare."""
        streamed, full = self._streamed.score(requests), self._full.score(requests)
        for request, mine, yours in zip(requests, streamed, full, strict=True):
            name = request.model_id.partition("@")[0]
            self._agreement.compare(mine, yours, epsilon=EPSILONS.get(name, EPSILON))
            if self._agreement.steps % self._again == 0:
                (anew,) = self._anew.score([request])
                same = all((one == other).all() for one, other in zip(mine, anew, strict=True))
                self._agreement.steps_computed_again += 1
                self._agreement.steps_that_differ_in_a_bit += not same
        return self._streamed.labels(requests, streamed)

    @override
    def warm_up(self) -> None:
        """Do nothing."""


def sessions(corpora: Path, language: str, agreement: Agreement) -> Iterator[list[str]]:
    """Yield texts of ``SESSION_WORDS`` words, Chinese as characters, the corpora by turns."""
    recipe = LANGUAGES[language].recipe
    readers = {name: recipe.documents(corpora, name, training=True) for name in TEXTS[language]}
    while readers:
        for name in list(readers):
            document = next(readers[name], None)
            if document is None:
                del readers[name]
                continue
            words = document.words[: 4 * SESSION_WORDS]
            agreement.words[name] = agreement.words.get(name, 0) + len(words)
            for start in range(0, len(words), SESSION_WORDS):
                said = words[start : start + SESSION_WORDS]
                # Character by character, as recognisers may send them: who cuts them into words is the worker.
                yield said if language == "en" else [*"".join(said)]


def main() -> int:
    """Compare round after round, write the result after each; 1 where a label differs that may not."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpora", type=Path, required=True)
    parser.add_argument("--models", type=Path, default=Path("models/shipped"))
    parser.add_argument("--words", type=int, default=1_000_000)
    parser.add_argument("--again", type=int, default=20, help="every how many steps one is computed anew")
    parser.add_argument("--out", type=Path, default=Path("bench/results/engine_exactness.json"))
    options = parser.parse_args()
    command = f"python -m bench.engine_exactness --words {options.words} --again {options.again}"
    models = [one.manifest.name for one in read_models_folder(options.models)]
    told: dict[str, object] = {
        "command": command,
        "models": models,
        "cpu": cpu_name(),
        "epsilon": EPSILON,
        "epsilons": EPSILONS,
    }
    agreement, before = Agreement.so_far(options.out, told)
    engine = ComparedEngine(options.models, agreement, again=options.again)
    texts = {language: sessions(options.corpora, language, agreement) for language in TEXTS}
    done = 0
    for number in count():
        languages = ROUNDS[number % len(ROUNDS)]
        given = [
            (language, text) for language in languages for text in islice(texts[language], SESSIONS // len(languages))
        ]
        done += sum(len(text) for _, text in given)
        if number < before:
            continue
        label_streams(
            engine, [text for _, text in given], language=[language for language, _ in given], rules=DecodingRules()
        )
        now = datetime.now(UTC).isoformat(timespec="seconds")
        result = told | {"at": now, "rounds": number + 1, "words_decoded": done, **asdict(agreement)}
        options.out.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
        if done >= options.words:
            break
    print(options.out.read_text(encoding="utf-8"))
    return 1 if agreement.clear_flips else 0


if __name__ == "__main__":
    sys.exit(main())
