"""What ``decoding_figures`` measures, as Markdown tables; each begins with the model and how many words were read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from caesura.models.evaluation.stability import DELAYS_WORDS, Detection, Revision, Stability
from caesura.models.evaluation.sweeps import DecodingFigures, figures_table


def changes_table(
    model: str, words: int, by_word: Mapping[str, Counter[int]], by_moment: Mapping[str, Counter[int]]
) -> str:
    """Return how many marks changed and how far back, network by network."""
    rows = [
        f"| {name} | {what} | {_changed(counts[name])} |"
        for name in by_word
        for what, counts in (("words", by_word), ("moments", by_moment))
    ]
    return _table(model, words, "| network | counted | changed | more than 9 words back | at most |", rows)


def stability_table(model: str, words: int, rows: Sequence[Stability]) -> str:
    """Return stability and delayed accuracy."""
    delays = " / ".join(map(str, DELAYS_WORDS))
    return _table(
        model,
        words,
        f"| shown | normalised erasure | edit overhead | wait: mean / p50 / p95 | F1 after {delays} words, at last |",
        [
            f"| {row.shown}, {row.kind} | {row.normalised_erasure:.3f} | {100 * row.edit_overhead:.1f} % "
            f"| {_spread(row.average_wait_words, row.wait_p50_words, row.wait_p95_words)} "
            f"| {' / '.join(f'{one:.1f}' for one in (*row.delayed_f1, row.final_f1))} |"
            for row in rows
        ],
    )


def detections_table(model: str, words: int, found: Sequence[Detection]) -> str:
    """Return the time to detection by label."""
    return _table(
        model,
        words,
        "| shown | label | gold | ever found | words until found: mean / p50 / p95 |",
        [
            f"| {row.shown} | {row.label} | {row.runs} | {100 * row.detected / row.runs:.1f} % "
            f"| {_spread(row.mean_words, row.p50_words, row.p95_words)} |"
            for row in found
        ],
    )


def revisions_table(model: str, words: int, rows: Sequence[Revision]) -> str:
    """Return by the words after a word how many of the labels shown before they froze were others than the frozen."""
    by_place = {(row.kind, row.words_after): row for row in rows}
    return _table(
        model,
        words,
        "| words after it | marks that froze otherwise | tags that froze otherwise |",
        [
            f"| {words_after} | {_share(by_place['marks', words_after])} | {_share(by_place['tags', words_after])} |"
            for words_after in sorted({row.words_after for row in rows})
        ],
    )


def _share(row: Revision) -> str:
    return f"{row.changed:,} of {row.shown:,} ({100 * row.changed / max(row.shown, 1):.1f} %)"


def decodings_tables(model: str, texts: Sequence[Sequence[DecodingFigures]]) -> str:
    """Return a table a text; each has its rows."""
    parts = [f"{rows[0].text}, {model}, {rows[0].words:,} words.\n\n{figures_table(rows)}" for rows in texts]
    return "\n\n".join(parts)


def _changed(counts: Counter[int]) -> str:
    far = sum(count for distance, count in counts.items() if distance > 9)
    return f"{counts.total() - counts[0]:,} of {counts.total():,} | {far} | {max(counts)}"


def _spread(mean: float, p50: float, p95: float) -> str:
    return f"{mean:.1f} / {p50:.0f} / {p95:.0f}"


def _table(model: str, words: int, head: str, rows: Sequence[str]) -> str:
    line = "|---" * (head.count("|") - 1) + "|"
    return "\n".join([f"{model}, {words:,} words.", "", head, line, *rows])
