"""What translated segments are worth, and how late they are: BLEU, chrF, LongYAAL, normalised erasure.

BLEU and chrF are sacrebleu's, over whole dialogues; intervals and paired differences are drawn over dialogues (Koehn
2004). LongYAAL is OmniSTEval's (Polák et al. 2025, arXiv:2509.17349): translations are aligned with the references of
the turns, and a word's lag is counted from an even translation of its turn. Normalised erasure is that of Arivazhagan
et al. 2020 (arXiv:2004.03643).
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from caesura.models.evaluation.translation import CutText, Dialogue, bare_words, plain_apostrophes
from caesura.models.evaluation.translators import Translated

if TYPE_CHECKING:
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.metrics.chrf import CHRF


@dataclass(frozen=True, slots=True)
class Interval:
    """A figure and the interval that holds 95 % of the draws."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TranslationScore:
    """Scores of all dialogues together.

    bleu, chrf: 0 to 100. more: BLEU above the condition it is compared with. bare_bleu: without marks and case.
    words_a_segment, delay_words: means, over segments and over words. unaware_s, aware_s: LongYAAL in seconds, without
    and with the time that the translator took; None: not measured. erasure: words taken back a word.
    """

    bleu: Interval
    more: Interval
    bare_bleu: float
    chrf: Interval
    words_a_segment: float
    delay_words: float
    unaware_s: float | None
    aware_s: float | None
    erasure: float


def joined(translated: Sequence[Translated]) -> list[str]:
    """Return what stands on the screen after each segment of a dialogue: the translations so far."""
    texts = (plain_apostrophes(piece.text) for piece in translated)
    return list(itertools.accumulate(texts, lambda before, text: f"{before} {text}".strip()))


def erasure(outputs: Sequence[str]) -> float:
    """Return how many words were taken back from one output to the next, for each word of the last one."""
    words = [output.split() for output in outputs]
    taken_back = 0
    for before, after in itertools.pairwise(words):
        kept = itertools.takewhile(lambda pair: pair[0] == pair[1], zip(before, after, strict=False))
        taken_back += len(before) - sum(1 for _ in kept)
    return taken_back / max(len(words[-1]), 1) if words else 0.0


def lags(
    dialogues: Sequence[Dialogue], cuts: Sequence[CutText], translated: Sequence[Sequence[Translated]]
) -> tuple[float, float]:
    """Return LongYAAL in seconds, computation-unaware and computation-aware. Wants the package ``omnisteval``.

    A translation begins when its segment is there and the one before it is done.
    """
    import omnisteval as omni  # noqa: PLC0415 - an extra of its own

    references: list[list[Any]] = []
    hypotheses: list[list[Any]] = []
    turns: list[dict[str, int]] = []
    texts: list[str] = []
    for number, (dialogue, cut, pieces) in enumerate(zip(dialogues, cuts, translated, strict=True)):
        recording_end = dialogue.times[-1][1]
        references.append([])
        for (start_ms, end_ms), reference in zip(dialogue.times, dialogue.references, strict=True):
            place = len(turns)
            references[-1] += [
                omni.Word(word, seq_id=place, emission_cu=start_ms) for word in reference.lower().split()
            ]
            turns.append(
                {
                    "doc_id": number,
                    "offset": start_ms,
                    "duration": end_ms - start_ms,
                    "time_to_recording_end": recording_end - start_ms,
                }
            )
            texts.append(reference)
        done_ms, words = 0.0, []
        for segment, piece in zip((one for one in cut.segments if one.text), pieces, strict=True):
            done_ms = max(done_ms, segment.at_ms) + piece.seconds * 1000
            words += [omni.Word(text, emission_cu=segment.at_ms, emission_ca=done_ms) for text in piece.text.split()]
        hypotheses.append(words)
    instances, _ = omni.resegment(references, hypotheses, turns, texts)
    instances = [one for one in instances if one.source_length]
    unaware, aware = (omni.YAALScorer(computation_aware=how, is_longform=True)(instances) for how in (False, True))
    return unaware / 1000, aware / 1000


def score(
    cuts: Sequence[CutText],
    translated: Sequence[Sequence[Translated]],
    dialogues: Sequence[Dialogue],
    *,
    than: Sequence[str] | None = None,
    draws: int = 1000,
    seed: int = 1,
    latency: bool = True,
) -> TranslationScore:
    """Score the translations of some dialogues.

    than: what the condition that it is compared with made of each dialogue; None: itself. draws, seed: of dialogues.
    """
    from sacrebleu.metrics.bleu import BLEU  # noqa: PLC0415 - an extra of its own
    from sacrebleu.metrics.chrf import CHRF  # noqa: PLC0415

    outputs = [joined(pieces) for pieces in translated]
    texts = [output[-1] if output else "" for output in outputs]
    references = [dialogue.reference for dialogue in dialogues]
    drawn = np.random.default_rng(seed).integers(len(texts), size=(draws, len(texts)))
    bleu, chrf = (_drawn(metric, texts, references, drawn) for metric in (BLEU(), CHRF()))
    others = bleu if than is None else _drawn(BLEU(), than, references, drawn)
    bare = BLEU().corpus_score([_bare(text) for text in texts], [[_bare(text) for text in references]])
    delays = [delay for cut in cuts for delay in cut.delays]
    unaware_s, aware_s = lags(dialogues, cuts, translated) if latency else (None, None)
    return TranslationScore(
        bleu=_interval(bleu),
        more=_interval(bleu - others),
        bare_bleu=bare.score,
        chrf=_interval(chrf),
        words_a_segment=len(delays) / max(sum(len(cut.texts) for cut in cuts), 1),
        delay_words=sum(delays) / max(len(delays), 1),
        unaware_s=unaware_s,
        aware_s=aware_s,
        erasure=max((erasure(output) for output in outputs), default=0.0),
    )


def _drawn(metric: BLEU | CHRF, texts: Sequence[str], references: Sequence[str], drawn: np.ndarray) -> np.ndarray:
    """Return the metric of all dialogues, then of each draw of them."""
    of_each = np.array(metric._extract_corpus_statistics(list(texts), [list(references)]))  # noqa: SLF001 - sacrebleu resamples so itself
    sums = [of_each.sum(axis=0), *(of_each[places].sum(axis=0) for places in drawn)]
    return np.array([metric._compute_score_from_stats(list(stats)).score for stats in sums])  # noqa: SLF001


def _interval(drawn: np.ndarray) -> Interval:
    low, high = np.percentile(drawn[1:], [2.5, 97.5])
    return Interval(float(drawn[0]), float(low), float(high))


def _bare(text: str) -> str:
    return " ".join(bare_words(text))
