"""How a language writes: its marks, its spaces, its capitals; and which marks of the recogniser's make way for ours.

Rendering joins and marks words by these rules alone, so a new language is a row here.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace

from caesura.schemas.segments import PunctuationName
from caesura.worker.core.language.rules import primary_language

_MARKS = ".,?!;:…。，？！、；：．¿¡"
_CLOSERS = "\"'”’»)]}）】」』》"
_OPENERS = "\"'“‘«([{（【「『《"
_LEADING = re.compile(f"^[{re.escape(_MARKS + _OPENERS)}]+")
_TRAILING = re.compile(f"[{re.escape(_MARKS + _CLOSERS)}]+$")
_MARK_RUN = re.compile(f"[{re.escape(_MARKS)}]+")
# A dot that belongs to the word: U.S., a.m., Ph.D., and the titles and short forms that are always written with one.
_DOTTED = re.compile(
    r"(?:[^\W\d_]{1,3}\.){2,}|(?:mr|mrs|ms|dr|prof|st|jr|sr|vs|etc|inc|ltd|corp|vol|approx)\.", re.IGNORECASE
)
# Scripts that are written without spaces between words.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u303f\u3040-\u30ff\u3100-\u312f\u31a0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\uf900-\ufaff\ufe30-\ufe4f\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff9f"
    "\U00020000-\U0003ffff]"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Typography:
    """How one language is written. ``marks`` has every punctuation but ``none``; spaced: a space between all words.

    opens_questions: what stands before a question, if its sentence is whole.
    """

    marks: dict[PunctuationName, str]
    spaced: bool
    sentence_capitals: bool
    capital_i: bool
    opens_questions: str = ""


_LATIN_MARKS: dict[PunctuationName, str] = {"comma": ",", "period": ".", "question": "?", "enumeration_comma": ","}
_CHINESE_MARKS: dict[PunctuationName, str] = {
    "comma": "，",
    "period": "。",
    "question": "？",
    "enumeration_comma": "、",
}
_JAPANESE_MARKS: dict[PunctuationName, str] = {**_CHINESE_MARKS, "comma": "、"}

ENGLISH_TYPOGRAPHY = Typography(marks=_LATIN_MARKS, spaced=True, sentence_capitals=True, capital_i=True)
CHINESE_TYPOGRAPHY = Typography(marks=_CHINESE_MARKS, spaced=False, sentence_capitals=False, capital_i=False)
_JAPANESE = Typography(marks=_JAPANESE_MARKS, spaced=False, sentence_capitals=False, capital_i=False)
_OTHER_SPACED = Typography(marks=_LATIN_MARKS, spaced=True, sentence_capitals=True, capital_i=False)
_OTHER_UNSPACED = Typography(marks=_LATIN_MARKS, spaced=False, sentence_capitals=False, capital_i=False)
_SPANISH = replace(_OTHER_SPACED, opens_questions="¿")
_SPACED_FRENCH = replace(_OTHER_SPACED, marks={**_LATIN_MARKS, "question": "\u202f?"})
_BY_LANGUAGE = {
    "en": ENGLISH_TYPOGRAPHY,
    "es": _SPANISH,
    "ja": _JAPANESE,
    **dict.fromkeys(("zh", "yue", "wuu", "nan", "hak", "gan"), CHINESE_TYPOGRAPHY),
    **dict.fromkeys(("th", "lo", "km", "my"), _OTHER_UNSPACED),
}


def typography_of(lang: str, *, french_spaces: bool = False) -> Typography:
    """Return how ``lang`` (BCP-47) is written, by its primary subtag; spaces and Latin marks where it is unknown.

    french_spaces: a French question mark stands behind a narrow no-break space.
    """
    primary = primary_language(lang)
    if primary == "fr" and french_spaces:
        return _SPACED_FRENCH
    return _BY_LANGUAGE.get(primary, _OTHER_SPACED)


def unspaced(char: str) -> bool:
    """Tell whether the character is of a script, or a full-width mark, that takes no spaces around it."""
    return _UNSPACED.match(char) is not None


def written_in_latin(texts: Sequence[str]) -> bool:
    """Tell whether there is a letter, and none of a script without spaces: English said in a Chinese session."""
    letters = [char for text in texts for char in text if unicodedata.category(char).startswith("L")]
    return bool(letters) and not any(unspaced(char) for char in letters)


def keeps_its_dot(text: str) -> bool:
    """Tell whether a final dot belongs to the word itself, as in ``U.S.``, ``a.m.``, ``Mr.``."""
    return _DOTTED.fullmatch(text.lstrip(_OPENERS)) is not None


def bare(text: str) -> str:
    """Return the word without the recogniser's own marks before and after it; empty where it was marks alone.

    What is inside a word stays (``3.5``, ``don't``, ``1,000``), and so do the dot of an abbreviation, a decimal's
    leading dot, brackets, quotation marks, hyphens and signs such as ``%``. Baring a bare word changes nothing.
    """
    text = _LEADING.sub(_without_leading_marks, text)
    match = _TRAILING.search(text)
    if match is None:
        return text
    stem, tail = text[: match.start()], match.group()
    if tail.startswith(".") and keeps_its_dot(stem + "."):
        stem, tail = stem + ".", tail[1:]
    kept = stem + _MARK_RUN.sub("", tail)
    return kept if kept.strip(_OPENERS + _CLOSERS) else ""


def _without_leading_marks(match: re.Match[str]) -> str:
    cluster = match.group()
    follows = match.string[match.end() : match.end() + 1]
    decimal = cluster.endswith(".") and cluster[-2:-1] not in set(_MARKS) and follows.isalnum()
    return _MARK_RUN.sub("", cluster) + ("." if decimal else "")
