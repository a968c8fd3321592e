"""German: nouns have a capital, a number with a dot is an ordinal, *also* and *ja* are words and never fillers."""

# ruff: noqa: SIM905 - a list of words reads best as words
from __future__ import annotations

from caesura.models.data.corpora import ASIDE, CorpusRules
from caesura.models.data.derived_tags import SlipSigns
from caesura.models.data.disfluencies import SpeechHabits
from caesura.models.data.marks import Writing
from caesura.models.data.recogniser_errors import Sounds
from caesura.models.data.running_text import RunningText
from caesura.models.languages.european import european

_SPEECH = SpeechHabits(
    filled_pauses=frozenset("äh ähm öh öhm ehm hm hmm hmhm".split()),
    function_words=frozenset(
        "ich du er sie es wir ihr man der die das den dem des ein eine einen einem einer eines dieser diese dieses "
        "und aber oder denn wenn weil dass ob als wie zu in im an am auf aus bei beim mit nach von vom vor für über "
        "unter um durch gegen ohne ist sind war waren bin bist wird werden wurde hat habe haben hatte hatten kann "
        "können könnte muss müssen soll sollen sollte will wollen würde würden mein meine unser unsere ihre sein "
        "seine nicht auch noch nur schon so da dann hier was wer wo wann warum mir mich dir dich uns euch sich".split()
    ),
    fillers=((("äh",), 38), (("ähm",), 34), (("öh",), 3), (("ehm",), 3), (("hm",), 4), (("äh", "ähm"), 1)),
    corrections=(
        ("nein",),
        ("ich", "meine"),
        ("äh",),
        ("ähm",),
        ("entschuldigung",),
        ("nein", "entschuldigung"),
        ("äh", "nein"),
        ("quatsch",),
        ("ich", "meinte"),
        ("beziehungsweise",),
        ("besser", "gesagt"),
        ("nein", "moment"),
        ("pardon",),
    ),
    shortest_broken=4,
    kept_unsaid=2,
    number_words=frozenset(
        "null eins ein zwei zwo drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn "
        "sechzehn siebzehn achtzehn neunzehn zwanzig dreissig vierzig fünfzig sechzig siebzig achtzig neunzig "
        "hundert tausend million millionen milliarde milliarden".split()
    ),
    conjunction="und",
)
_TEXT = RunningText(
    language="de",
    corpora={
        "bundestag_fragen": CorpusRules(drop=ASIDE),
        "bundestag_debatten": CorpusRules(drop=ASIDE),
        "nationalrat_at": CorpusRules(drop=ASIDE),
    },
    writing=Writing(
        never_ends=frozenset(
            "dr prof mr mrs abs art nr ca bzw vgl sog st hl inkl max min mag ing dipl hon lit kap".split()
        ),
        seldom_ends=frozenset("usw etc mio mrd jh z.b d.h u.a u.s".split()),
        letters_end=False,
        ordinals=True,
    ),
    signs=SlipSigns(
        habits=_SPEECH,
        answers=frozenset(("hm hm",)),
        across_commas=False,
        meant_twice=frozenset("die der das den sie sehr ja nein doch so da viel nie immer gut bitte nun".split()),
    ),
    spelled_out=(
        (r"\b[zZ]\. ?B\.", "zum Beispiel"),
        (r"\b[dD]\. ?h\.", "das heißt"),
        (r"\b[uU]\. ?a\.", "unter anderem"),
        (r"\bDr\.", "Doktor"),
        (r"\bProf\.", "Professor"),
        (r"\bNr\.", "Nummer"),
        (r"\bAbs\.", "Absatz"),
        (r"\bArt\.", "Artikel"),
        (r"\bbzw\.", "beziehungsweise"),
        (r"\bMio\.", "Millionen"),
        (r"\bMrd\.", "Milliarden"),
        (r"\bca\.", "circa"),
        (r"§§? ?", "Paragraf "),
    ),
)
GERMAN = european(
    _TEXT,
    {"bundestag_fragen": 2_200_000, "bundestag_debatten": 2_800_000, "nationalrat_at": 450_000},
    one_in={"nationalrat_at": 20, "disco_de": 1},
    tagged={"disco_de": "disco_labelled_eval"},
    parity_corpora=("bundestag_fragen", "bundestag_debatten"),
    sounds=Sounds(
        same=(
            ("x|chs", "ks"),
            ("s?ch", "x"),
            ("ph", "f"),
            ("qu", "kw"),
            ("ck", "k"),
            ("tz|z", "ts"),
            ("dt", "t"),
            ("ß", "ss"),
            ("w", "v"),
            ("j", "y"),
        ),
        added=("und", "die", "der", "ja", "da", "es", "in", "so"),
    ),
)
