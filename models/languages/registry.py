"""The languages there are, by code: a new one is a file beside this one and its name here."""

from __future__ import annotations

from models.languages.chinese import CHINESE
from models.languages.english import ENGLISH
from models.languages.french import FRENCH
from models.languages.german import GERMAN
from models.languages.language import Language
from models.languages.spanish import SPANISH

__all__ = ["LANGUAGES"]

LANGUAGES: dict[str, Language] = {one.code: one for one in (ENGLISH, CHINESE, GERMAN, SPANISH, FRENCH)}
