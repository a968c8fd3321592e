"""The frames of ``models.data.spoken_patterns`` and the words that are drawn into them."""

# ruff: noqa: SIM905 - a list of words reads best as words
from __future__ import annotations

__all__ = ["DRAWN_WORDS", "EARNEST", "REPAIRED"]


def _said_twice(words: str) -> list[str]:
    return [f"{word} and {word}" for word in words.split()]


_DIGITS = "zero oh one two three four five six seven eight nine".split()

DRAWN_WORDS: dict[str, list[str]] = {
    "digit": _DIGITS,
    "pair": [f"{digit}, {digit}" for digit in _DIGITS] + [f"double {digit}" for digit in _DIGITS],
    "number": "three four five six seven eight ten twelve fifteen twenty thirty forty fifty sixty ninety".split(),
    "name": "Tom Sara Kofi Mei Olga Ravi Pedro Ingrid Yusuf Chloe Dmitri Amara Lukas Noor Hiroshi Siobhan".split(),
    "surname": "Okafor Lindqvist Murakami Achebe Kowalczyk Ferreira Nguyen Papadakis Haddad Szymborska".split(),
    "who": ["he", "she", "they", "we", "I", "my brother", "our teacher", "the driver", "her sister", "the team"],
    "noun": "ticket key report letter bicycle garden kitchen meeting contract password engine camera recipe".split(),
    "nouns": "people students cars letters towns farmers phones tourists mistakes offices".split(),
    "adj": "cold late heavy broken empty quiet strange cheap ready dangerous lovely difficult".split(),
    "comparative": "bigger colder louder faster smaller worse darker slower richer thinner warmer".split(),
    "unit": "days weeks months miles pages nights minutes".split(),
    "colour": "green yellow black white purple brown orange grey".split(),
    "day": "Tuesday Wednesday Thursday Friday Saturday Sunday".split(),
    "place": "bank station church school museum airport library bakery harbour".split(),
    "city": "Oslo Nairobi Lima Cairo Dublin Osaka Prague Tunis Boston".split(),
    "verb": "close finish sell move paint cancel repair check win leave".split(),
    "done": "stayed called waited helped paid noticed agreed".split(),
    "part": "evening afternoon winter spring summer".split(),
    "twice": _said_twice(
        "days weeks months miles pages nights minutes decades centuries layers rows boxes piles crowds "
        "streets fields floors kilometres generations rounds stairs bottles emails thousands millions"
    ),
    "twice_as": _said_twice(
        "bigger colder louder faster smaller worse darker slower richer thinner warmer deeper higher "
        "longer shorter harder easier older younger cheaper closer nicer stronger weaker more less fewer"
    ),
    "twice_done": _said_twice(
        "tried talked waited laughed cried walked ran looked grew rang read swam danced argued drove "
        "knocked pushed asked called"
    ),
    "twice_on": _said_twice("on round down further farther over deeper out by"),
}
EARNEST = [
    "<who> had had (a|that|another) <noun> for a while.",
    "If they had had (more time|any luck|a <noun>), they would have <done>.",
    "By then she had had (two|three|enough) <noun> lessons, and it showed.",
    "I (know|think|doubt|heard) that that <noun> (is|was) <adj>.",
    "They (said|told us|found out) that that was (<adj>|not true|why).",
    "What it is is a <noun>, and what it does is save <unit>.",
    "(We|They|I) (lent|handed|brought) her her <noun> (back|on <day>).",
    "<name> (cost|told|showed) her her own <noun>.",
    "The <noun> (comes|came|goes) in in the <part>.",
    "You can (drop|call|check) in in <city>.",
    "We (drove|walked|pushed) on on <day> (and|but) it was <adj>.",
    "The (light|heating|radio) came on on its own.",
    "The things (we|they|you) do do (are|seem) <adj>.",
    "When they do do it, they <verb> it well.",
    "(We|They|I) (talked|drove|read|slept) for <unit> and (stopped|then left) on <day>.",
    "She (waited|walked|worked) for days and days.",
    "It took (weeks and weeks|months and months|miles and miles|pages and pages) before they <done>.",
    "He (went|talked|drove) on and on (until <day>|about the <noun>).",
    "The road goes (round and round|down and down|further and further).",
    "It (got|grew|is getting) <comparative> and (colder|worse|warmer) every <part>.",
    "The <noun> got (louder and louder|bigger and bigger|slower and slower|worse and worse|smaller and smaller).",
    "(More and more|Fewer and fewer) <nouns> (come to|leave) <city>.",
    "(Again and again|Over and over), they <done> too late.",
    "We tried (again and again|over and over|time and time again) to <verb> it.",
    "(We|They|I) (waited|drove|searched|went on) for <twice> (and nobody came|and it was <adj>|before we <done>).",
    "There (were|are) <twice> of (it|<nouns>).",
    "(We|They|I|She) <twice_done> (and nobody came|but it was <adj>|until <day>).",
    "(It|The <noun>) (got|gets|is getting|became) <twice_as> (every <part>|and nobody knew why|when they <verb> it).",
    "The <noun> (went|goes|kept going) <twice_on> (and nobody <done>|until <day>|and we never <done>).",
    "(They|We) <done>, and <twice_as> (people|of them) came.",
    "We <done>, and <twice_done>, but it was <adj>.",
    "And <twice_on> it went, (until <day>|and nobody <done>).",
    "It was (very very|really really|far far too|much much too) <adj>.",
    "(Many many|Lots and lots of) <nouns> came to the <place>.",
    "That was a (long long|very very long) time ago.",
    "I (really really|very very much) want to <verb> it.",
    "(No no|Yes yes|Okay okay|Fine fine), I will <verb> it.",
    "(Night night|There there), and drive safely.",
    "Will will (call|help|meet us) at the <place>.",
    "(Bill bills|Mark marks|Grace graces|Pat pats) (us|them) every <day>.",
    "It is not a toy (car|train), it is a (car car|train train).",
    "Is it (a date date|a job job|coffee coffee) or (not|just work)?",
    "We flew to (Bora Bora|Walla Walla|Pago Pago|Baden Baden|New York New York).",
    "(The code|Her pin|His room|The key) is <digit>, <pair>, <digit>, <pair>, <digit>.",
    "(Dial|Try|Type) <digit>, <digit>, <pair>, <digit>, <digit>.",
    "(The|Your) (invoice|case|seat) number is (B|F as in fish|T), <pair>, <digit>, <pair>.",
    "Take <number> from <number> and divide by two.",
    "(Do you|Does he) know <name> <surname>?",
    "(You know|They know) (the way|the rules|this <noun>) (well|by heart).",
    "I hope you know (what|how|where) to <verb>.",
    "He asked (if|when) you know (her|the <place>|how it works).",
    "I mean it.",
    "I mean (what I say|no harm|the other <noun>).",
    "That is (what I mean|not what I mean|all you know).",
    "A well (behind|near) the <place> is <adj>.",
    "It went well (in <city>|on <day>).",
    "He is well (again|now|and sends his love).",
    "I like (this|that|the <colour>) <noun>.",
    "It (looks|feels|sounds) like a <noun>.",
    "Turn right (at|after|behind) the <place>.",
    "What kind of <noun> (is it|do you need)?",
    "It was (okay|right|fine) (then|on <day>) and it will be.",
    "Have you (met|seen|read|heard) <name> <surname>?",
    "What is on on <day>?",
    "I know you know (the <place>|how <adj> it is|her).",
    "The word (an|for|of) is (short|spelled alike).",
]
REPAIRED = [
    "Park on the [left] {(sorry|no|I mean|uh|no sorry)} right side of the <place>.",
    "Go [north] {(sorry|no|I mean)} south at the <place>.",
    "(Ask|Call|Tell) [<name>] {(no|sorry|I mean|uh no)} <name> (first|on <day>).",
    "She painted it [<colour>] {(no|sorry|uh|I mean)} <colour> on <day>.",
    "We (saw|met|counted) [<number>] <number> <nouns> at the <place>.",
    "They (hired|asked|lost) [<number>] {(uh|no|sorry)} <number> <nouns>.",
    "The <noun> (weighs|takes|lasts) [<number>] {(uh|um|no|sorry)} <number> (kilos|minutes|years).",
    "[She] he (left|called|paid) on <day>.",
    "[You are] they are (trying|about|going) to <verb> the <noun>.",
    "[We are] I am (happy|ready|going) to <verb> it.",
    "(Will they|Did you) [lock the] (paint|move|wash) the <noun> on <day>?",
    "[Why we] the reason they (left|stayed|called) is the <noun>.",
    "[If you] when they (come|call), tell <name>.",
    "We (meet|leave|start) on [<day>] {(no|uh|sorry|I mean)} <day>.",
    "We (meet|leave|start) [on <day>] on <day>.",
    "[I went] I drove to <city> (on <day>|last week).",
    "[They live in <city>] {(no|sorry)} they live in <city>.",
    "My flight is [to <city>] {(uh|I mean|no)} to <city>.",
    "I (need|want|bought) [a <noun>] {(no|uh|I mean|or rather)} a <noun>.",
    "{(Well|So|Uh|Um|Okay so)} the <noun> is <adj>.",
    "{(Well you know|I mean|You know)} it (happens|is <adj>|was late).",
    "It was {(like|you know|kind of)} really <adj>.",
    "He is {(like|uh|um)} <number> (years old|feet tall|minutes late).",
    "They (waited|stayed) for {(like|uh|you know)} <number> <unit>.",
    "The <noun> is {(uh|um|you know)} <adj>.",
    "[The the] the <noun> is <adj>.",
    "[I] I (think|know|hope) [it] it is <adj>.",
    "[We can] we can <verb> [the] the <noun>.",
    "[In] in the <part> [we] {uh} we <verb> it.",
    "(Is|Was) [the] the <noun> <adj>?",
    "[And then] and then (we|they) <done>.",
    "[And we] and we <done> on <day>.",
]
