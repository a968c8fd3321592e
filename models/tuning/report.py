"""What a user is told at the end of a tune: the figures before and after, what to mind, and the setting to set."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from caesura.models.evaluation.figures import Figure, table
from caesura.models.evaluation.scoring import difference
from caesura.models.tuning.tuning import Tuned


def report(tuned: Tuned, out: Path) -> str:
    """Return the report of a tune in the folder ``out``, as text with a Markdown table."""
    return "\n".join(_lines(tuned, out))


def _lines(tuned: Tuned, out: Path) -> Iterator[str]:
    parity, looks = tuned.parity, tuned.looks
    best = min(looks, key=lambda look: look.loss)
    yield f"Watched text: loss {looks[0].loss:.4f} at first, {best.loss:.4f} at the best of {len(looks) - 1} looks."
    differ = f"{parity.int8_labels_differing} of {2 * parity.words} int8 labels differ from fp32"
    yield f"Exported: {tuned.manifest.name}. The gate compared {parity.words} words: {differ}."
    yield ""
    yield table(tuned.figures)
    yield ""
    yield _verdict(tuned.figures)
    yield tuned.changed_tags
    yield f"To use it: CAESURA_WORKER_MODELS_DIR={(out / 'models').resolve()}"


def _verdict(figures: list[Figure]) -> str:
    before, after = (figure for figure in figures if figure.label == "overall")
    gain = difference(after.counts, before.counts)
    said = f"Overall F1 {gain.delta:+.1f} (95 % interval {gain.low:+.1f} to {gain.high:+.1f})"
    if gain.low > 0:
        return f"{said}: better than the model that it began at."
    if gain.high < 0:
        return f"{said}: worse than the model that it began at. Keep that one."
    return f"{said}: no difference that this much text can show."
