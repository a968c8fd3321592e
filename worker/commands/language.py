"""What a person is told about the language asked for: that nobody serves it, or that the text is in another one."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from worker.core.rules import primary_language

__all__ = ["LanguageOfText", "unserved"]

_NAMES = {"english": "en", "chinese": "zh", "mandarin": "zh", "putonghua": "zh", "german": "de", "french": "fr"}
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]")
_LATIN = re.compile(r"[A-Za-z]")
_ENOUGH_LATIN = 8
_ENOUGH_HAN = 2
"""A character is a word, or half of one."""


def unserved(lang: str, served: Collection[str]) -> str | None:
    """Return what is to be said where no model is there for a language; None where one is."""
    languages = sorted({primary_language(one) for one in served})
    if primary_language(lang) in languages:
        return None
    there = f"there is one for {' and '.join(languages)}" if languages else "there is none at all"
    meant = _NAMES.get(lang.lower())
    hint = f" (did you mean {meant}? Languages are BCP-47 tags)" if meant else ""
    return f"there is no model for {lang}, {there}: the words come out unlabelled{hint}"


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
