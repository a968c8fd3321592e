"""The tags of a buffer, some of them frozen, for the rules that remove tags."""

from __future__ import annotations

from caesura.schemas.labels import Disfluency

OUT = Disfluency.O.value
IN_REPARANDUM = (Disfluency.B_RM.value, Disfluency.I_RM.value)
IN_FILLER = (Disfluency.B_IM.value, Disfluency.I_IM.value)


class UnfrozenTags:
    """tags: as far as there are any. unfrozen: the words to decide about."""

    def __init__(self, tags: bytearray, unfrozen: range) -> None:
        self._tags = tags
        self._unfrozen = unfrozen
        self._follower = -1

    def _tag(self, place: int) -> int:
        return self._tags[place] if 0 <= place < len(self._tags) else OUT

    def _keep(self, begin: int, end: int) -> None:
        for place in range(max(begin, self._unfrozen.start), min(end, self._unfrozen.stop, len(self._tags))):
            self._tags[place] = OUT

    def _follows_reparandum(self, place: int) -> bool:
        """Tell whether the fillers around ``place``, all in a row, begin right behind words taken back."""
        at = place
        while place != self._follower and self._tag(place - 1) in IN_FILLER:
            place -= 1
        follows = place == self._follower or self._tag(place - 1) in IN_REPARANDUM
        if follows:
            self._follower = at  # fillers behind this one in the same row need not go back further
        return follows
