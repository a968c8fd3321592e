"""Warnings about the language: it has no model, or the text is in another one."""

from __future__ import annotations

import re
from collections.abc import Iterable

from caesura.worker.commands.terminal import echo
from caesura.worker.core.language.rules import primary_language
from caesura.worker.core.language.served_languages import unserved
from caesura.worker.inference.model.model_folder import languages_of
from caesura.worker.runtime.settings.settings import RuntimeSettings
from caesura.worker.settings.tree import models_folder_if_any

_LETTER = re.compile(r"[^\W\d_]")
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]")
_LATIN = re.compile(r"[A-Za-z\u00c0-\u024f\u1e00-\u1eff]")
_ENOUGH_LETTERS = 8
_ENOUGH_HAN = 2
"""A character is a word, or half of one."""


def tell_unserved(lang: str, worker: RuntimeSettings) -> None:
    """Say on stderr where none of the models here is for a language; nothing where no models are here."""
    folder = models_folder_if_any(worker)
    served = languages_of(folder, active=worker.active_models) if folder is not None else []
    if served and (told := unserved(lang, served)) is not None:
        echo(told, err=True)


class LanguageOfText:
    """Watches text go by and says once where its script is not its language's: Chinese characters under English."""

    def __init__(self, lang: str) -> None:
        self._primary = primary_language(lang)
        self._lang = lang
        self._han = self._latin = self._others = 0
        self._said = False

    def notice(self, texts: Iterable[str]) -> str | None:
        """Return what is to be said after these texts; None where nothing is, or it was said before."""
        for text in texts:
            han, latin = len(_HAN.findall(text)), len(_LATIN.findall(text))
            self._han += han
            self._latin += latin
            self._others += len(_LETTER.findall(text)) - han - latin
        told = None if self._said else self._wrong()
        self._said = self._said or told is not None
        return told

    def _wrong(self) -> str | None:
        said = f"and its language is said to be {self._lang}"
        if self._others >= _ENOUGH_LETTERS and self._others > self._han + self._latin:
            known = self._primary in ("en", "zh")
            return f"the text is mostly of another script, {said}: its labels mean nothing" if known else None
        if self._primary == "zh":
            wrong, script, other = self._latin > 9 * self._han, "Latin letters", "en"
            enough = self._latin >= _ENOUGH_LETTERS
        else:
            wrong, script, other = self._han > self._latin, "Chinese characters", "zh"
            enough = self._han >= _ENOUGH_HAN
        return f"the text is mostly {script}, {said}: did you mean --lang {other}?" if wrong and enough else None
