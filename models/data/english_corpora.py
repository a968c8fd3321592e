"""The open English corpora, and for each what its text needs (``running_text`` reads them).

Only corpora whose licence allows a trained model to be given away stand here (``models/shipped/en/LICENSE.md``
lists the licences). Where they lie is settable: ``CAESURA_CORPORA`` or ``--corpora``.
"""

from __future__ import annotations

from caesura.models.data.corpora import ASIDE, CorpusRules
from caesura.models.data.running_text import RunningText

_MARKUP = r"\*\*|__|`|\[[^\]]*\]|<[^>]*>|https?://\S+"
_TITLED = r"Mr|Mrs|Ms|Dr|Senator|Speaker|Secretary|Chairman|Chairwoman|President|Governor|Representative|Congressman"
_SPEAKER = rf"^(?:(?:The )?(?:{_TITLED})\.? [A-Z][\w'-]+|The (?:President|Chairman|Chairwoman))\.\s+(?=[A-Z\"])"
_INQUIRY = ASIDE + r"|\b[A-Z]{3,4}\d{6,}(?:[_/.]\d+)*\b"
_HEADING = r"^[^a-z]*$|^\W*\d[\d/. -]*-?$|/\d{4} -\s*$"
ENGLISH_CORPORA: dict[str, CorpusRules] = {
    "changelog": CorpusRules(drop=_MARKUP, drop_lines=r"^(#|\||!\[|<)"),
    "crd3": CorpusRules(verbatim=True, drop=r"\([^)]*\)|\[[^\]]*\]"),
    "cabnc": CorpusRules(verbatim=True, drop=r"\(\([^)]*\)\)|[&+<>\[\]]"),
    "earnings21": CorpusRules(verbatim=True, drop=r"<[^>]*>"),
    "earnings22": CorpusRules(verbatim=True, drop=r"<[^>]*>"),
    "ami": CorpusRules(verbatim=True, drop=r"<[^>]*>|_"),
    "bitcointranscripts": CorpusRules(
        drop=r"\[([^\]]*)\]\([^)]*\)|" + _MARKUP + r"|^(Q|A|[A-Z][\w. ]{0,30}):\s",
        drop_lines=r"^(#|\||!\[|<|[-*>]\s|\d+\.|Speaker|Slides|Video|Transcript|.{0,60}\d\d:\d\d|.{0,40}$)",
        marks_a_word=(0.08, 0.2),
    ),
    "eltec_novels_fifth": CorpusRules(one_turn=True, drop=r"_|\*", drop_lines=r"^[^a-z]*$"),
    "us_congress_hearings": CorpusRules(drop=ASIDE + "|" + _SPEAKER, drop_lines=_HEADING),
    "whitehouse_briefings": CorpusRules(verbatim=True, drop=ASIDE + "|" + _SPEAKER, drop_lines=_HEADING),
    "audreyt_english": CorpusRules(drop=_MARKUP + "|" + ASIDE, drop_lines=_HEADING),
    "inquiry_covid": CorpusRules(verbatim=True, drop=_INQUIRY, drop_lines=_HEADING),
    "inquiry_pohi": CorpusRules(verbatim=True, drop=_INQUIRY, drop_lines=_HEADING),
    "inquiry_lampard": CorpusRules(verbatim=True, drop=_INQUIRY, drop_lines=_HEADING),
    "president_news_conferences": CorpusRules(verbatim=True, drop=ASIDE + "|" + _SPEAKER, drop_lines=_HEADING),
    "president_speeches_miller": CorpusRules(drop=ASIDE, drop_lines=_HEADING),
    "europarl_debates": CorpusRules(drop=ASIDE, drop_lines=_HEADING),
    "un_general_debate": CorpusRules(drop=ASIDE, drop_lines=_HEADING),
    "gutenberg_lectures": CorpusRules(drop=ASIDE + r"|_|\*", drop_lines=_HEADING),
    "uk_commons_hansard": CorpusRules(drop=ASIDE, drop_lines=_HEADING),
}

ENGLISH_TEXT = RunningText(language="en", corpora=ENGLISH_CORPORA)
