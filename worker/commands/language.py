"""What a person is told about the language asked for: that nobody serves it, or that the text is in another one."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import typer

from worker.adapters.onnx.model_folder import languages_of
from worker.adapters.onnx.shipped import shipped_models
from worker.core.rules import primary_language
from worker.core.served_languages import unserved
from worker.runtime.settings import RuntimeSettings

__all__ = ["LanguageOfText", "tell_unserved"]

_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]")
_LATIN = re.compile(r"[A-Za-z]")
_ENOUGH_LATIN = 8
_ENOUGH_HAN = 2
"""A character is a word, or half of one."""


def tell_unserved(lang: str, worker: RuntimeSettings) -> None:
    """Say on stderr where none of the models here is for a language; nothing where no models are here."""
    folder = Path(worker.models_dir) if worker.models_dir else shipped_models()
    served = languages_of(folder, active=worker.active_models) if folder is not None else []
    if served and (told := unserved(lang, served)) is not None:
        typer.echo(told, err=True)


class LanguageOfText:
    """Watches text go by and says once where its script is not its language's: Chinese characters under English."""

    def __init__(self, lang: str) -> None:
        self._chinese = primary_language(lang) == "zh"
        self._lang = lang
        self._han = self._latin = 0
        self._said = False

    def notice(self, texts: Iterable[str]) -> str | None:
        """Return what is to be said after these texts; None where nothing is, or it was said before."""
        for text in texts:
            self._han += len(_HAN.findall(text))
            self._latin += len(_LATIN.findall(text))
        if self._chinese:
            wrong = self._latin >= _ENOUGH_LATIN and self._latin > 9 * self._han
        else:
            wrong = self._han >= _ENOUGH_HAN and self._han > self._latin
        if self._said or not wrong:
            return None
        self._said = True
        script, other = ("Latin letters", "en") if self._chinese else ("Chinese characters", "zh")
        return f"the text is mostly {script}, and its language is said to be {self._lang}: did you mean --lang {other}?"
