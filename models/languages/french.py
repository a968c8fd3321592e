"""French: elided words are one word with what follows ("l'été"), *bon*, *ben* and *voilà* are never fillers."""

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
    filled_pauses=frozenset("euh heu euhm hum hm hmm mmh".split()),
    function_words=frozenset(
        "je tu il elle on nous vous ils elles j'ai c'est qu'il qu'on c'était n'est le la les un une des du de au aux "
        "ce cet cette ces et mais ou donc car si que qui quoi dont où quand comme parce dans en sur sous avec sans "
        "pour par chez à est sont était étaient suis es sera a ont avait avons avez ai peut peuvent va vont fait "
        "mon ma mes ton ta tes son sa ses notre nos votre vos leur leurs me te se lui y ne pas plus très aussi "
        "bien là ça tout d'un d'une l'on".split()
    ),
    fillers=((("euh",), 62), (("heu",), 7), (("hum",), 4), (("hm",), 3), (("euh", "euh"), 1)),
    corrections=(
        ("non",),
        ("pardon",),
        ("je", "veux", "dire"),
        ("euh",),
        ("enfin",),
        ("ou", "plutôt"),
        ("non", "pardon"),
        ("euh", "non"),
        ("excusez-moi",),
        ("pardon", "non"),
        ("je", "voulais", "dire"),
    ),
    shortest_broken=4,
    kept_unsaid=2,
    number_words=frozenset(
        "zéro un une deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize vingt "
        "trente quarante cinquante soixante septante huitante nonante cent cents mille million millions milliard "
        "milliards".split()
    ),
    conjunction="et",
)
_TEXT = RunningText(
    language="fr",
    corpora={
        "assemblee_mariage": CorpusRules(drop=ASIDE + r"|^\.\s+"),
        "fredsum_debats": CorpusRules(verbatim=True, drop=ASIDE),
    },
    writing=Writing(
        never_ends=frozenset("m mm mme mlle mmes dr me art p st ste".split()),
        seldom_ends=frozenset("etc cf".split()),
        letters_end=False,
    ),
    signs=SlipSigns(
        habits=_SPEECH,
        meant_twice=frozenset("nous vous très oui non si bien jamais tout plus merci voilà allez".split()),
    ),
    spelled_out=(
        (r"\bM\. (?=[A-ZÀ-Ý])", "monsieur "),
        (r"\bMM\. (?=[A-ZÀ-Ý])", "messieurs "),
        (r"\bMme (?=[A-ZÀ-Ý])", "madame "),
        (r"\bMlle (?=[A-ZÀ-Ý])", "mademoiselle "),
        (r"\bn[°º] ?(?=\d)", "numéro "),
        (r"\bnos (?=\d)", "numéros "),
        (r"\b1er\b", "premier"),
    ),
)
FRENCH = european(
    _TEXT,
    {"assemblee_mariage": 700_000, "fredsum_debats": 300_000, "parisstories": 60_000},
    one_in={"assemblee_mariage": 8, "fredsum_debats": 10, "parisstories": 5, "disco_fr": 1},
    tagged={"parisstories": "ud_parisstories_labelled", "disco_fr": "disco_labelled_eval"},
    parity_corpora=("assemblee_mariage", "fredsum_debats"),
    sounds=Sounds(
        same=(
            ("(?<=..)[sxztdp]+$", ""),
            ("x", "ks"),
            ("ch", "x"),
            ("ph", "f"),
            ("qu|gu(?=[eiéè])", "k"),
            ("ç|c(?=[eiyéèê])", "s"),
            ("gn", "n"),
            ("œ", "e"),
        ),
        added=("et", "la", "de", "le", "à", "que", "il", "un"),
    ),
)
