"""The words that are said in the soak."""

from __future__ import annotations

VOCABULARY = tuple(
    f"{first}{second}"
    for first in ("ba", "de", "fi", "go", "hu", "ka", "le", "mi", "no", "pu", "ra", "se", "ti", "vo", "wu", "za")
    for second in ("bel", "dan", "fer", "gim", "kol", "lun", "mar", "nes", "pit", "rok", "sal", "tem", "vin", "wok")
)
