"""Joint punctuation scored: each mark for itself, and runs of two and more as wholes.

Wang et al. 2018, table II. Between two words stands a run of marks. A mark counts as found where the run that was said
has it, as often as the gold one has (so ``."`` for ``.`` has one hit and one false quotation mark); a joint mark, in a
row of its own, where a run of two and more was said exactly. ``overall`` counts each mark for itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from caesura.models.data.joint_marks import Run
from caesura.models.evaluation.scoring import BLOCK_TOKENS, Counts

__all__ = ["JOINT_CLASSES", "count_runs"]

JOINT_CLASSES = {
    "period": {2},
    "comma": {1},
    "question": {3},
    "exclamation": {4},
    "semicolon": {5},
    "colon": {6},
    "quotes": {7},
    "dash": {8},
    "brackets": {9, 10},
    "ellipsis": {11},
}
_JOINT, _OVERALL = "joint", "overall"


def count_runs(gold: Sequence[Run], said: Sequence[Run]) -> dict[str, Counts]:
    """Count each mark, joint marks as wholes, and all marks, block by block."""
    blocks = -(-len(gold) // BLOCK_TOKENS)
    counts = {name: np.zeros((blocks, 3), dtype=np.int64) for name in (*JOINT_CLASSES, _JOINT, _OVERALL)}
    names = {atom: name for name, atoms in JOINT_CLASSES.items() for atom in atoms}
    for place, (wanted, got) in enumerate(zip(gold, said, strict=True)):
        block = place // BLOCK_TOKENS
        for column, marks in enumerate((Counter(wanted) & Counter(got), Counter(got), Counter(wanted))):
            for atom, times in marks.items():
                counts[names[atom]][block, column] += times
                counts[_OVERALL][block, column] += times
        joint = (len(wanted) > 1 and wanted == got, len(got) > 1, len(wanted) > 1)
        counts[_JOINT][block] += np.array(joint, dtype=np.int64)
    return counts
