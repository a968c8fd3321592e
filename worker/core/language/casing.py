"""The case of a word: told from how a text writes it, and given to a word that a recogniser sent without.

What counts are the word's letters that have a case; marks, digits and Chinese characters are passed over.

1. No such letter: nothing is known, and nothing changes.
2. All small: ``SMALL``. The first a capital and the others small, or one letter alone, a capital ("I", "B12"):
   ``CAPITAL_FIRST``. Two or more, all capitals ("U.S.", "TV"): ``ALL_CAPITALS``.
3. Names with O' and Mc, and a list of known words, have a spelling of their own ("O'Brien", "PhD") where a recogniser
   wrote none (``mixed_case``).
4. Anything else is a spelling of its own ("iPhone", "O'Brien", "TVs"): ``AS_GIVEN``, the text stays as it came.
"""

from __future__ import annotations

import re

from caesura.schemas.labels import Casing

_MIXED = """AirDrop AirPlay AirPods AliExpress AstraZeneca BlackBerry BSc BuzzFeed CarPlay ChatGPT DeepMind DevOps
    DoorDash DreamWorks DuckDuckGo eBay ExxonMobil FaceTime FedEx Gbps GHz GitHub GitLab GlaxoSmithKline GoFundMe
    HarperCollins HomePod HubSpot iCloud iMac iMessage iOS iPad iPhone iPod iTunes JavaScript kbps kHz kWh LaTeX
    LinkedIn MacBook macOS MasterChef Mbps MHz MongoDB MPhil mRNA MSc MySQL NatWest NoSQL OneDrive OneNote OpenAI PayPal
    PepsiCo PhD PlayStation PostgreSQL PowerPoint PyTorch QuickBooks QuickTime SaaS SharePoint SoundCloud SpaceX
    SurveyMonkey TikTok TypeScript WeChat WeWork WhatsApp WordPress YouGov YouTube YouTuber"""
_PLURALS = """ APIs ATMs CDs CEOs CFOs CPUs CTOs CVs DJs DVDs EVs FAQs GPUs IDs LEDs LLMs MBAs MPs MRIs NGOs PCs PDFs
    RVs SUVs TVs UFOs URLs USBs VIPs"""
_SPELLINGS = {word.casefold(): word for word in (_MIXED + _PLURALS).split()}
_NAME = re.compile(r"(o['’]|mc)([^\W\d_])([^\W\d_]+(?:['’]s)?)", re.IGNORECASE)


def casing_of(text: str) -> Casing | None:
    """Return the case that ``text`` is written in, None where it has no letter of either case."""
    letters = [char for char in text if char.isupper() or char.islower()]
    if not letters:
        return None
    capitals = sum(char.isupper() for char in letters)
    if not capitals:
        return Casing.SMALL
    if capitals == 1 and letters[0].isupper():
        return Casing.CAPITAL_FIRST
    return Casing.ALL_CAPITALS if capitals == len(letters) else Casing.AS_GIVEN


def cased(text: str, casing: Casing) -> str:
    """Return ``text`` written in a case; ``cased(x, casing_of(x))`` is ``x`` but for letters that have no one capital.

    A letter whose capital is no single one ("ß", "ŉ") stays as it is, so a text never changes its length.
    """
    if casing is Casing.AS_GIVEN:
        return text
    if casing is Casing.SMALL:
        return "".join(map(_small, text))
    if casing is Casing.ALL_CAPITALS:
        return "".join(map(_capital, text))
    first = next((place for place, char in enumerate(text) if char.isupper() or char.islower()), len(text))
    return text[:first] + "".join(map(_capital, text[first : first + 1])) + "".join(map(_small, text[first + 1 :]))


def mixed_case(text: str, casing: Casing) -> str | None:
    """Return ``text`` in a spelling that has capitals inside: a known one ("PhD"), or of a name ("O'Brien", "McKay").

    casing: the word's label. A word that a model takes for a spelling of its own is ``AS_GIVEN``, and the recogniser
    may have written it small. None where there is no such spelling.
    """
    folded = text.casefold()
    if (spelling := _SPELLINGS.get(folded)) is not None:
        return spelling
    stem = folded[: -2 if folded[-2:-1] in "'’" else -1] if folded.endswith("s") else ""
    if stem in _SPELLINGS:
        return _SPELLINGS[stem] + folded[len(stem) :]
    named = casing in (Casing.CAPITAL_FIRST, Casing.AS_GIVEN) and folded not in ("o'clock", "o’clock", "o'er", "o’er")
    if named and (name := _NAME.fullmatch(text)):
        before, first, rest = name.groups()
        return cased(before, Casing.CAPITAL_FIRST) + _capital(first) + cased(rest, Casing.SMALL)
    return None


def _small(char: str) -> str:
    lowered = char.lower()
    return lowered if len(lowered) == 1 else char


def _capital(char: str) -> str:
    raised = char.upper()
    return raised if len(raised) == 1 else char
