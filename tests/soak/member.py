"""``python -m tests.soak.member CONFIG``: a worker of the soak, whose engine costs next to nothing.

What is soaked is the worker, not a network: its labels are looked up word by word, so that millions of words
go through.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from caesura.schemas.labels import Labels, Punctuation
from caesura.worker.adapters.memory.engine import ScriptedEngine
from caesura.worker.core.language.labelling import LabelRequest
from tests.chaos.member import work
from tests.soak.vocabulary import VOCABULARY

_MARKS = {
    word: Punctuation.PERIOD.value if number % 13 == 0 else Punctuation.COMMA.value if number % 7 == 0 else 0
    for number, word in enumerate(VOCABULARY)
}


class LookUpEngine(ScriptedEngine):
    """Labels each word by itself: one in thirteen of the vocabulary ends a sentence."""

    def label(self, requests: Sequence[LabelRequest]) -> list[Labels]:
        """Label the wanted words of each request, in their order."""
        return [Labels(bytes(_MARKS[request.words[place]] for place in request.wanted)) for request in requests]


if __name__ == "__main__":
    work(json.loads(Path(sys.argv[1]).read_text()), LookUpEngine())
