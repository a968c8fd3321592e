"""The languages there are, by code: a new one is a file beside this one and its name here."""

from __future__ import annotations

from caesura.models.languages.chinese import CHINESE
from caesura.models.languages.english import ENGLISH
from caesura.models.languages.french import FRENCH
from caesura.models.languages.german import GERMAN
from caesura.models.languages.language import Language
from caesura.models.languages.spanish import SPANISH

LANGUAGES: dict[str, Language] = {one.code: one for one in (ENGLISH, CHINESE, GERMAN, SPANISH, FRENCH)}
