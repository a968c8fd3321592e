"""What a person is told where no model is there for the language asked for."""

from __future__ import annotations

from collections.abc import Collection

from caesura.worker.core.language.rules import primary_language

__all__ = ["unserved"]

_NAMES = {"english": "en", "chinese": "zh", "mandarin": "zh", "putonghua": "zh"} | {
    "german": "de",
    "deutsch": "de",
    "french": "fr",
    "fran\u00e7ais": "fr",
    "spanish": "es",
    "espa\u00f1ol": "es",
    "castellano": "es",
}


def unserved(lang: str, served: Collection[str], *, so: str = ": the words come out unlabelled") -> str | None:
    """Return what is to be said where no model is there for a language; None where one is. so: what comes of it."""
    languages = sorted({primary_language(one) for one in served})
    if primary_language(lang) in languages:
        return None
    there = f"there is one for {' and '.join(languages)}" if languages else "there is none at all"
    meant = _NAMES.get(lang.lower())
    hint = f" (did you mean {meant}? Languages are BCP-47 tags)" if meant else ""
    return f"there is no model for {lang or repr(lang)}, {there}{so}{hint}"
