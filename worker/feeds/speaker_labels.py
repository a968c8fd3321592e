"""Speakers' labels in written speech: ``SPEAKER_00:``, ``[Speaker 1]``, ``MAN 2:``, ``**Anna Berg:**``, ``Agent:``.

A label stands at the beginning of a line, or is a line of its own. What looks like one is a label where it recurs in
the text, where it counts speakers (``Speaker 1``), where it is one of several parts in a call (``Agent``,
``Customer``), or where it is written in capitals in captions. It is not spoken, and names who speaks until the next.

A number may stand before it (``1. Anna: hello``) where names recur.

Names without a colon need more: ``[JOHN] hello`` at half of all cues or lines, where no sound and no language stands in
brackets, ``Anna – hello`` at half of them, or a line of its own above the words of half of all cues or paragraphs; two
names at least, and most recur.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from unicodedata import category

from caesura.worker.feeds.spoken_text import is_sound_or_filler

_LONGEST_NAME_BYTES = 45  # it stands in a session's name
_TURN = re.compile(r"\s*(?:[-–—]{1,3}\s+|[-–—](?=[^\W\d])|>+\s*)?")
_ITEM = re.compile(r"\s*\(?\d{1,4}[.):]\s+")
_PARTED = re.compile(r"([^\n:：|<>–—]{1,40}?)(?:\s+(?:[-–—]{1,2}|\|)\s+|\s?—\s?|\t\s*)(?=\S)")
_PART = (
    r"speaker|spk|sprecher|participant|person|caller|agent|customer|client|host|guest|interviewer|interviewee|operator|"
    r"doctor|patient|man|woman|boy|girl|male|female|voice|user|channel|narrator|moderator|assistant|representative"
)
_LETTERED = (
    r"(?:speaker|spk)(?:[ _-]|(?-i:(?<=[a-z])(?=[A-Z])))[A-Z]|"
    r"(?:说话人|說話人|说话者|發言人|发言人|讲话人|講者|話者|화자|참석자)\s?(?:\d{1,3}|(?-i:[A-Z])(?!\w))"
)
_COUNTED = re.compile(rf"(?:{_PART})[ _-]?#?\d{{1,3}}|{_LETTERED}", re.IGNORECASE)
_ALONE = re.compile(rf"(?:speaker|spk|sprecher|participant)[ _-]?#?\d{{1,3}}|{_LETTERED}", re.IGNORECASE)
_TOLD = re.compile(r"SPEAKER:\s{0,3}(\w[\w .'’-]{0,39}?)\s*$")  # a line of its own in Speechmatics' texts
_DIARIZED = re.compile(
    r"[\[({<]?((?:SPEAKER|SPK)_\d{1,3}\b|(?:说话人|发言人)\s?\d{1,3}(?=[\s:：]))[\])}>]?\s{0,3}(?:\([^()\n]{1,40}\)\s{0,3}(?=[:：]))?"
    r"(?:[:：>|]|[-–—]{1,2}(?=\s))?",
    re.IGNORECASE,
)
_COUNTED_TIGHT = re.compile(r"([^:：\n]{1,20})[:：](?!\d)")
_ROLE = re.compile(rf"(?:{_PART})", re.IGNORECASE)
_BRACKETED = re.compile(
    r"(?:\[([^\[\]\n]{1,40})\]|\(([^()\n]{1,40})\)|<([^<>\n]{1,40})>|\{([^{}\n]{1,40})\}|"
    r"[【（［〔]([^【】（）［］〔〕\n]{1,20})[】）］〕])(?P<colon>:|：|(?=\s|$)|(?<=[】）］〕]))"
)
_REMARK = re.compile(
    r"\b(?:thunder\w*|rain(?:ing)?|wind|doors?|phones?|engines?|guns?|gun(?:shots?|fire)|explosions?|sirens?|alarms?|"
    r"bells?|horns?|howl\w*|rumbl\w*|rustl\w*|slams?|footsteps|speaks?|speaking|inaudible|indistinct|unintelligible|"
    r"foreign|language|cross-?talk|english|spanish|french|german|italian|portuguese|russian|ukrainian|polish|dutch|"
    r"greek|latin|turkish|arabic|hebrew|hindi|urdu|chinese|mandarin|cantonese|japanese|korean|vietnamese|thai|swedish)\b",
    re.IGNORECASE,
)  # what a remark has in it, and hardly any name
_NAMED = re.compile(
    r"([^:：\n]{1,60}?)\s{0,3}(?:[(\[][^()\[\]\n]{1,40}[)\]]\s{0,3})?(?::(?=\s|$)|(?<=\s):(?=[^\W\d_]{2})|：)"
)
_MARKED = re.compile(r"(\*{1,3})\[?([^*:：\[\]\n]{1,60})\]?(?:\s{0,3}[:：]\1|\1\s{0,3}[:：])(?=\s|$)")
_HANDLE = re.compile(r"(?:@|(?=[a-z]+[\d._-]))[a-z][a-z\d._-]{1,19}")
_ADDRESS = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+|\+?\d[\d\s()./-]{4,18}")
_MOST_WORDS = 8
_NAME_WORD = re.compile(r"[\w'’.#-]+")
_PARTICLES = frozenset(("de", "da", "di", "del", "der", "den", "la", "le", "van", "von", "of", "and", "bin", "al"))
_LONGEST_NAME, _LONGEST_DENSE = 30, 10
_SAYING = re.compile(
    r".*(?:说|說|问|問|曰|说道|說道|问道|問道|回答|言った|聞いた)|(?:.* )?(?:قال|قالت|אמר|אמרה|گفت|बोला|कहा)"
)
_CAPITALS = re.compile(r"[^\W\d_][\w .'’#-]*")
_NOT_NAMES = frozenset(
    (
        "note",
        "notes",
        "example",
        "warning",
        "tip",
        "hint",
        "ps",
        "step",
        "figure",
        "table",
        "chapter",
        "part",
        "section",
        "todo",
        "subject",
        "date",
        "time",
        "re",
        "fig",
        "title",
        "summary",
        "http",
        "https",
        "question",
        "result",
        "remember",
        "first",
        "second",
        "third",
        "finally",
        "name",
        "address",
        "phone",
        "email",
        "from",
        "to",
        "cc",
        "place",
        "agenda",
        "present",
        "pros",
        "cons",
        "price",
        "answer",
        "problem",
        "solution",
        "ingredients",
        "method",
        "round",
        "option",
        "phase",
        "level",
        "day",
        "week",
        "lesson",
        "rule",
        "exercise",
        "now",
        "so",
        "listen",
        "look",
        "well",
        "ok",
        "okay",
        "yes",
        "no",
        "wait",
        "then",
        "but",
        "and",
        "because",
        "imagine",
    )
)
_NUMBER = re.compile(r"\s+(?:\d{1,4}|[a-z])\.?\Z")
_ANSWER = re.compile(
    r"yes|no|yeah|yep|nope|ok|okay|right|sure|well|so|oh|hello|hi|hey|bye|goodbye|thanks|"
    r"thank|please|sorry|good|great|fine|what|why|who|how|when|where|which|and|but|then|now|"
    r"really|exactly|maybe|true|false|amen|welcome|wow|correct|alright|all|of|course|not|never|"
    r"nothing|again|stop|go|wait|look|listen|come|i|you|he|she|it|we|they|the|a|an|is|that|"
    r"this|there|here|ja|nein|doch|genau|danke|bitte|hallo|oui|non|merci|bonjour|si|sí|"
    r"gracias|hola|bueno|claro"
)


@dataclass(frozen=True, slots=True)
class FoundLabel:
    """A label, or a turn without one: ``-``, ``>>``. end: the place behind it in its line. name: who speaks, if known.

    labelled: there is a label, not only the sign of a turn. sure: its form alone tells that it is one. listed: a number
    stands before it.
    """

    name: str
    end: int
    labelled: bool = True
    sure: bool = False
    listed: bool = False


class SpeakerLabels:
    """Which labels a text has: notes all beginnings of lines first, then tells labels apart from other words.

    lines: those of the whole text, cues and paragraphs parted by blank ones. captions: a name in capitals is a label
    there, also where it comes once.
    """

    def __init__(self, lines: Iterable[str] = (), *, captions: bool = False) -> None:
        self._captions = captions
        self._recurring: set[str] = set()
        self._counts: Counter[str] = Counter()
        self._names: dict[str, str] = {}
        self._roles = self._lines = self._labelled = self._listed = 0
        given = [line.strip() for line in lines]
        self._shouted = _is_shouted(given)
        self._whole = bool(given)
        for line in given:
            self.add(line)
        blocks = _blocks(given)
        self._bracketed = _names_in_brackets(blocks, alone=not captions)
        known = self._recurring or self._bracketed
        self._parted = frozenset() if known else _names_parted(blocks)
        self._alone = frozenset() if known or self._parted else _names_alone([[*map(_bare, block)] for block in blocks])

    def add(self, line: str) -> None:
        """Note a line that may begin with a label."""
        if not line.strip():
            return
        found = _candidate(line)
        if found is None or not found.name or found.end < len(line.rstrip()):
            self._lines += 1  # a label on a line of its own belongs to the line below it
        if found is not None and found.name:
            folded = found.name.casefold()
            self._listed += found.listed
            self._labelled += not found.listed and not _is_account(found.name)
            self._counts[folded] += 1
            if found.sure or self._counts[folded] > 1:
                self._recurring.add(folded)
            self._names.setdefault(folded, found.name)
            self._roles += _ROLE.fullmatch(found.name) is not None

    def find(self, line: str) -> FoundLabel | None:
        """Return the label that a line begins with, or the sign of another's turn; None where it begins with neither.

        A name in capitals that does not recur, in a text without other labels, is not a label and is not spoken.
        """
        if (named := self._named_without_colon(line)) is not None:
            return FoundLabel(*named)
        found = _candidate(line)
        if found is None or not found.name:
            return found
        folded = found.name.casefold()
        turn = _turn(line)
        if self._shouted and self._counts[folded] < 2 and not (turn or found.sure or _ROLE.fullmatch(found.name)):
            return None  # THE QUESTION IS: WHAT NOW?
        if found.sure or self._is_name(folded) or (self._roles > 1 and _ROLE.fullmatch(found.name)):
            return FoundLabel(self._names.get(folded, found.name), found.end)
        if _is_capitals(found.name) and (self._captions or self._recurring):
            return FoundLabel(found.name if self._recurring else "", found.end)
        return turn

    def _named_without_colon(self, line: str) -> tuple[str, int] | None:
        """Return the name that a line begins with, or is, and where that ends; None where it recurs in no such form."""
        if (alone := _bare(line)).casefold() in self._alone:
            return alone, len(line)
        for names, found in ((self._bracketed, _bracketed_name), (self._parted, _parted_name)):
            if names and (name := found(line)) is not None and name[0].casefold() in names:
                return name
        return None

    def _is_name(self, folded: str) -> bool:
        """Tell whether a label recurs: often enough among all lines, or as one of several that do.

        Where nearly every line has one, as in short files of meetings, one need not recur; where every line of a text
        has one, a single word may be a name, too.
        """
        labelled = self._counts[folded]
        if _is_account(self._names[folded]):  # every speaker recurs, and few lines have none
            known = sum(self._counts[name] for name in self._recurring)
            return labelled > 1 and len(self._recurring) > 1 and known >= 0.5 * self._lines
        if labelled < 2:
            all_labelled = self._labelled + (self._listed if len(self._recurring) > 1 else 0)
            every = len(self._counts) > 1 and all_labelled >= (0.5 if self._recurring else 0.8) * self._lines
            alone = self._whole and self._labelled == self._lines
            return every and (self._captions or bool(self._recurring) or " " in folded or alone)
        several = labelled > 2 or len(self._recurring) > 1
        return several or labelled * 50 >= self._lines or " " in folded or _is_capitals(self._names[folded])


def _candidate(line: str) -> FoundLabel | None:
    """Return what may be a label at a line's beginning, behind a number or without one."""
    if (item := _ITEM.match(line)) is not None and (listed := _unlisted_candidate(line[item.end() :])) and listed.name:
        return replace(listed, end=item.end() + listed.end, listed=True)
    return _unlisted_candidate(line)


def _unlisted_candidate(line: str) -> FoundLabel | None:
    begin = _turn_end(line)
    diarized = _TOLD.match(line) or _DIARIZED.match(line, begin)
    if diarized is not None:  # such a name is never spoken
        return FoundLabel(diarized[1], diarized.end(), sure=True)
    if (bracketed := _BRACKETED.match(line, begin)) is not None:
        name = next(group for group in bracketed.groups()[:-1] if group is not None).strip()
        counted = _COUNTED.fullmatch(name) is not None
        if counted or (bracketed["colon"] and _is_name(name)):
            return FoundLabel(name, bracketed.end(), sure=counted)
    marked = _MARKED.match(line, begin)  # Markdown's: **Name:**
    named = marked or _NAMED.match(line, begin)
    if named is not None:
        name = named[2 if marked else 1].strip(' *_"“”')
        sure = _COUNTED.fullmatch(name) is not None
        if sure or _is_name(name) or _ROLE.fullmatch(name) or _is_account(name):
            return FoundLabel(name, named.end(), sure=sure)
    tight = _COUNTED_TIGHT.match(line, begin)
    if tight is not None and _COUNTED.fullmatch(tight[1]) is not None:
        return FoundLabel(tight[1], tight.end(), sure=True)
    if _ALONE.fullmatch(line.strip()) is not None:
        return FoundLabel(line.strip(), len(line), sure=True)
    return _turn(line)


def _is_shouted(lines: Sequence[str]) -> bool:
    """Tell whether a text is written in capitals: then they tell no names."""
    letters = Counter(char.isupper() for line in lines for char in line if char.isupper() or char.islower())
    return letters[True] >= 9 * letters[False] and bool(letters)


def _blocks(lines: Sequence[str]) -> list[list[str]]:
    """Return cues or paragraphs, each with its lines; where none has several, a block a line, without blank ones."""
    blocks: list[list[str]] = [[]]
    for line in lines:
        if line:
            blocks[-1].append(line)
        elif blocks[-1]:
            blocks.append([])
    told = [block for block in blocks if block]
    return told if len(told) > 1 else [[line] for block in told for line in block]


def _bracketed_name(line: str) -> tuple[str, int] | None:
    """Return the name in brackets that a line begins with, and where it ends; None: no name, or a sound."""
    found = _BRACKETED.match(line, _turn_end(line))
    name = next((group for group in found.groups()[:-1] if group), "").strip() if found is not None else ""
    if found is None or not _is_name(name) or is_sound_or_filler(name) or _REMARK.search(name) is not None:
        return None
    return name, found.end()


def _names_in_brackets(blocks: Sequence[Sequence[str]], *, alone: bool) -> frozenset[str]:
    """Return the names in brackets at the beginning of lines, folded; empty where they are remarks.

    alone: a name may be a whole block, before the block of what is said; in captions such a cue is a sound.
    """
    found = [
        name[0].casefold()
        for block in blocks
        for at, line in enumerate(block)
        if (name := _bracketed_name(line)) and (alone or line[name[1] :].strip() or at + 1 < len(block))
    ]
    counts = Counter(found)
    return frozenset(counts) if _are_speakers(counts, len(blocks)) else frozenset()


def _parted_name(line: str) -> tuple[str, int] | None:
    """Return the name that a dash, a bar or a tab parts from what is said, and where that begins; None: no name."""
    item = _ITEM.match(line)
    found = _PARTED.match(line, _turn_end(line) if item is None else item.end())
    name = found[1].strip() if found is not None else ""
    if found is None or not _is_name(name) or any(map(_ANSWER.fullmatch, name.casefold().split())):
        return None
    return name, found.end()


def _names_parted(blocks: Sequence[Sequence[str]]) -> frozenset[str]:
    """Return the names that are parted from what is said without a colon, folded; empty where they are no speakers."""
    names = Counter(name[0].casefold() for block in blocks for line in block if (name := _parted_name(line)))
    return frozenset(names) if _are_speakers(names, len(blocks)) else frozenset()


def _names_alone(blocks: Sequence[Sequence[str]]) -> frozenset[str]:
    """Return the names that stand on lines of their own above what is said, folded; empty where there are none."""
    if all(len(block) == 1 for block in blocks):  # name and words in turn
        lines = [block[0] for block in blocks]
        recurring = {line for line, count in Counter(lines).items() if count > 1 and _is_name_alone(line)}
        begins = [at for at, line in enumerate(lines) if line in recurring]
        parted = [lines[at:end] for at, end in pairwise([*begins, len(lines)])]
        if len(recurring) < 2 or begins[0] > 0 or any(len(block) < 2 for block in parted):
            return frozenset()
        return _names_alone(parted)
    named = [block[0] for block in blocks if len(block) > 1 and _is_name_alone(block[0])]
    if not any(" " in name or _is_capitals(name) for name in named):
        return frozenset()  # ``Absolutely`` or ``Monday`` may recur as ``Anna`` does, and is spoken
    heads = Counter(map(str.casefold, named))
    others = {line.casefold() for block in blocks for line in (block[1:] if len(block) > 1 else block)}
    return frozenset(heads) if _are_speakers(heads, len(blocks)) and not others & set(heads) else frozenset()


def _are_speakers(counts: Counter[str], blocks: int) -> bool:
    """Tell whether names are at least two, most of them recur, and half of all blocks has one."""
    labelled = counts.total()
    recurring = sum(count for count in counts.values() if count > 1)
    return len(counts) > 1 and 2 * labelled >= blocks and 3 * recurring >= 2 * labelled


def _is_name_alone(line: str) -> bool:
    """Tell whether a whole line could be a name: in a script with capitals, and no answer such as ``Yes``."""
    words = line.casefold().split()
    return _is_name(line) and line[0].isupper() and line[-1] not in ".," and not any(map(_ANSWER.fullmatch, words))


def _is_account(name: str) -> bool:
    """Tell whether a text could be what a participant is called in a call: it is a speaker only where it recurs.

    A handle in small letters, an address, a telephone number, or a name with signs (``Berg, Anna``, ``Sales & Ops``,
    ``Anna's iPhone``).
    """
    words = name.split()
    if _is_name(name) or _opens_speech(name) or _ANSWER.fullmatch(name) or not words:
        return False
    if _HANDLE.fullmatch(name) or _ADDRESS.fullmatch(name):
        return True
    fits = len(words) <= _MOST_WORDS and len(name.encode()) <= _LONGEST_NAME_BYTES
    return fits and _has_capital(words[0]) and all(map(_is_of_account, words))


def _is_of_account(word: str) -> bool:
    return _has_capital(word) or word in _PARTICLES or not any(map(str.isalpha, word))


def _has_capital(word: str) -> bool:
    return any(map(str.isupper, word))


def _bare(line: str) -> str:
    """Return a line without white space and Markdown's signs around it."""
    return line.strip(" \t\r\n#*_")


def _turn(line: str) -> FoundLabel | None:
    """Return the sign of another's turn that a line begins with; None where there is none."""
    end = _turn_end(line)
    return FoundLabel("", end, labelled=False) if line[:end].strip() else None


def _turn_end(line: str) -> int:
    found = _TURN.match(line)
    return found.end() if found is not None else 0


def _is_name(name: str) -> bool:
    """Tell whether a text could be somebody's name: a few words with capitals, or characters of a script without."""
    words = name.split()
    if not 0 < len(words) <= 5 or len(name.encode()) > _LONGEST_NAME_BYTES or _opens_speech(name):
        return False
    if not name.isascii() and not any(char.isupper() for char in name):
        dense = any(char >= "\u3040" for char in name)  # Chinese, Japanese, Korean
        fits = len(name) <= (_LONGEST_DENSE if dense else _LONGEST_NAME)
        return fits and _SAYING.fullmatch(name) is None and all(map(_is_of_name, name))
    return words[0][0].isupper() and all(map(_is_name_word, words))


def _opens_speech(name: str) -> bool:
    """Tell whether words before a colon are no name but speech: ``Note``, ``So``, ``Step 1``, ``Option B``."""
    return _NUMBER.sub("", name.casefold()).strip(".") in _NOT_NAMES


def _is_of_name(char: str) -> bool:
    """Tell whether a character of a script without capitals may stand in a name; a vowel's sign is category M."""
    return char.isalnum() or category(char).startswith("M") or char in " -־・.'’\u200c"


def _is_name_word(word: str) -> bool:
    fits = word[0].isupper() or word.isdecimal() or word in _PARTICLES
    return fits and _NAME_WORD.fullmatch(word) is not None


def _is_capitals(name: str) -> bool:
    return len(name) > 1 and name.isupper() and _CAPITALS.fullmatch(name) is not None
