"""The words beside a segment's, which a route that redacts looks at: a segment's border may cut a number in two."""

from __future__ import annotations

import msgspec


class Beside(msgspec.Struct, frozen=True, gc=False):
    """The model's view of a few words before and behind others, as far as they are known."""

    before: tuple[str, ...] = ()
    behind: tuple[str, ...] = ()


NOTHING_BESIDE = Beside()
