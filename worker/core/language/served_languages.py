"""The message for a language that has no model."""

from __future__ import annotations

from collections.abc import Collection

from caesura.worker.core.language.rules import named_language, primary_language


def unserved(lang: str, served: Collection[str], *, so: str = ": the words come out unlabelled") -> str | None:
    """Return the message for a language without a model; None if it has one. so: the consequence."""
    languages = sorted({primary_language(one) for one in served})
    if primary_language(lang) in languages:
        return None
    listed = " and ".join(filter(None, (", ".join(languages[:-1]), *languages[-1:])))
    there = f"there is one for {listed}" if languages else "there is none at all"
    meant = named_language(lang)
    hint = f" (did you mean {meant}? Languages are BCP-47 tags)" if meant else ""
    return f"there is no model for {lang or repr(lang)}, {there}{so}{hint}"
