"""Spanish: opening marks are dropped in reading, *bueno*, *pues* and *o sea* are words and never fillers.

The commas are those of the texts as they are: Mexican conferences have half as many again as the Spanish congress.
"""

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
    filled_pauses=frozenset("eh em ehm mmm mm hm hmm".split()),
    function_words=frozenset(
        "yo tú él ella nosotros ustedes ellos ellas el la los las lo un una unos unas este esta estos estas ese esa "
        "eso esto y e pero o ni que si porque como cuando donde de del a al en con por para sin sobre entre hasta "
        "desde es son era eran fue ser está están estaba hay ha han he hemos había tiene tienen tengo puede pueden "
        "va vamos van mi mis tu tus su sus nuestro nuestra me te se nos le les no ya más muy también qué quién "
        "cómo cuándo dónde así".split()
    ),
    fillers=((("eh",), 52), (("em",), 8), (("mmm",), 6), (("ehm",), 3), (("este",), 9), (("eh", "este"), 1)),
    corrections=(
        ("no",),
        ("perdón",),
        ("quiero", "decir"),
        ("digo",),
        ("eh",),
        ("no", "perdón"),
        ("perdón", "no"),
        ("mejor", "dicho"),
        ("eh", "no"),
        ("disculpe",),
        ("no", "espera"),
    ),
    shortest_broken=4,
    kept_unsaid=2,
    number_words=frozenset(
        "cero uno un una dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis "
        "diecisiete dieciocho diecinueve veinte veintiuno veintidós veintitrés treinta cuarenta cincuenta sesenta "
        "setenta ochenta noventa cien ciento doscientos quinientos mil millón millones".split()
    ),
    conjunction="y",
)
_TEXT = RunningText(
    language="es",
    corpora={
        "mananeras_mx": CorpusRules(drop=ASIDE),
        "congreso_es": CorpusRules(drop=ASIDE),
        "discursos_ar": CorpusRules(drop=ASIDE),
    },
    writing=Writing(
        never_ends=frozenset("sr sra srta sres dr dra d dña ing lic art núm arq prof gral av mtro mtra".split()),
        seldom_ends=frozenset("etc ud uds vd vds ee uu ee.uu s.a".split()),
        letters_end=False,
    ),
    signs=SlipSigns(
        habits=_SPEECH,
        answers=frozenset(("mm hm",)),
        meant_twice=frozenset("muy sí no ya nada nos bueno todo poco casi mucho más así pues".split()),
    ),
    spelled_out=(
        (r"(?<=\w)([,.;:?!]+)(?=[¿¡])", r"\1 "),
        (r"\bEE\. ?UU\.", "Estados Unidos"),
        (r"\bSr\.", "señor"),
        (r"\bSra\.", "señora"),
        (r"\bDr\.", "doctor"),
        (r"\bDra\.", "doctora"),
        (r"\b[nN]úm\.", "número"),
        (r"\b[aA]rt\.", "artículo"),
    ),
)
SPANISH = european(
    _TEXT,
    {"mananeras_mx": 2_700_000, "congreso_es": 2_000_000, "discursos_ar": 500_000},
    one_in={"discursos_ar": 25, "coser": 1},
    tagged={"coser": "ud_coser_labelled_test"},
    parity_corpora=("congreso_es", "mananeras_mx"),
    sounds=Sounds(
        same=(("x", "ks"), ("ch", "x"), ("ll", "y"), ("v", "b"), ("qu|gu(?=[eiéí])", "k"), ("c(?=[eiéí])", "s")),
        added=("y", "a", "de", "la", "que", "el", "no", "en"),
    ),
)
