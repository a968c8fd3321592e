"""Finds corrections that a model tags only in part: two words of one kind with an editing term between them.

Rules:

1. Of two numbers, two days, two colours, ... with an editing term between them, the first was taken back, together with
   the words before it that also stand before the second: "on the second no on the twelfth", "the red one I mean the
   blue one". A sound also corrects a pronoun ("him um her"). A model must have tagged one of the words.
2. If the repair begins with an article and the tagged words lack theirs, the words from their article on go too:
   "a window [seat] no an aisle seat". With the same article no term is needed: "a [pen] uh a pencil".
3. If the repair begins with the first of the tagged words, up to two words between these and the term go too: "[my]
   sister I mean my cousin".
4. A piece of a word goes if the word follows: "w w we", "he d doesn't", "sh sh she", "i re reply".
5. If a short word is said three times or more and a model tagged the first copies, only the last stays: "[you] you you
   go".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from caesura.schemas.labels import Disfluency
from caesura.worker.core.decoding.unfrozen_tags import IN_FILLER, IN_REPARANDUM, OUT, UnfrozenTags
from caesura.worker.core.language.normalisation import word_set
from caesura.worker.core.numbers.spoken_numbers import is_number_word

SOUNDS = word_set("um umm uh uhh er erm ah eh hm hmm mm 嗯 呃 啊")
MOST_UNITS = 2
"""So many words at most stand behind a number, or a word of a kind, that are said again with it."""
_MOST_LEAD_IN, _MOST_BETWEEN = 3, 2
_NEGATIONS = word_set("not never 不是 没 没有")
_PRONOUNS = tuple(map(word_set, ("he she they", "him her them", "his her their")))
_ALIKE = (
    *_PRONOUNS,
    *map(
        word_set,
        (
            "monday tuesday wednesday thursday friday saturday sunday",
            "mondays tuesdays wednesdays thursdays fridays saturdays sundays",
            "january february march april may june july august september october november december",
            "yesterday today tonight tomorrow",
            "morning afternoon evening night",
            "breakfast lunch dinner",
            "red blue green yellow black white brown grey gray orange purple pink",
            "left right",
            "up down",
            "on off",
            "north south east west",
            "hot cold",
            "small medium large",
            "brother sister",
            "son daughter",
            "sons daughters",
            "mother father mum mom dad",
            "husband wife",
            "upstairs downstairs",
            "arrival departure",
            "昨天 今天 明天 后天 前天",
            "去年 今年 明年 前年 后年",
            "上周 这周 下周",
            "春天 夏天 秋天 冬天",
            "早上 上午 中午 下午 晚上",
            "红色 蓝色 绿色 黄色 黑色 白色 灰色",
            "左 右",
            "左边 右边",
            "哥哥 弟弟 姐姐 妹妹",
            "东 南 西 北",
        ),
    ),
)
_ARTICLES = word_set("a an the my your his her our their")
_FRAGMENTS = word_set("sh th wh ch tr pr pl bl br cl cr fl fr gl gr sp sk sw str thr scr spr")
_BEFORE_A_FRAGMENT = word_set(
    """i you he she it we they my your his her our their and but so because that to for it's i'm he's she's we're
    they're you're was were is are can could would will just really very in on at with of"""
)
_SYLLABLES = re.compile("(?:[bcdfghjklmnpqrstvwz]|[scptwg]h|[bcfgp]l|[bcdfgpt]r|s[kptlnm])[aeiou]")
_WORDS_OF_A_SYLLABLE = word_set(
    """be bi bo bra bro co da do du fa flu go ha he hi ho jo la le li lo ma me mi mo na no nu pa pi pro sea she si
    ski so spa ta the ti to two we who"""
)
_LONGEST_PIECE = max(map(len, _FRAGMENTS))
_SAID_AGAIN = _ARTICLES | word_set("i you he she it we they and but if in on at to of for with it's i'm")
_MORE_LETTERS = 2
"""So many letters at least a word has more than its piece."""


def pieces_among(words: Sequence[str], start: int, end: int) -> list[int]:
    """Return which words from ``start`` to ``end`` the next word begins with: no other is a piece."""
    followed = zip(range(start, end), words[start:end], words[start + 1 : end + 1], strict=False)
    return [place for place, word, behind in followed if behind.startswith(word)]


def take_back_pieces(words: Sequence[str], tags: bytearray, start: int) -> None:
    """Take the pieces of a word back that stand before it (rule 4), from the word ``start`` on, in place.

    words: the model's view of each word of a buffer. tags: of its first words, as a model gave them.
    """
    for place in pieces_among(words, start, len(tags)):
        if tags[place] == OUT and _is_piece(words, place):
            continues = place > 0 and tags[place - 1] in IN_REPARANDUM
            tags[place] = Disfluency.I_RM if continues else Disfluency.B_RM


def _is_piece(words: Sequence[str], place: int) -> bool:
    piece, behind, before = words[place], place + 1, place - 1
    if len(piece) > _LONGEST_PIECE or not (piece.isascii() and piece.isalpha()) or piece in ("a", "i", "o"):
        return False
    while behind < len(words) and words[behind] == piece:
        behind += 1
    while before >= 0 and words[before] == piece:
        before -= 1
    whole = words[behind] if behind < len(words) else ""
    if not whole.startswith(piece) or not whole[len(piece) :].replace("'", "").isalpha():
        return False
    earlier = words[before] if before >= 0 else ""
    if len(piece) > 1:
        shortened = piece in ("re", "ve") and earlier in ("we", "you", "they")  # "you're", sent as two words
        syllable = _SYLLABLES.fullmatch(piece) and not shortened and piece not in _WORDS_OF_A_SYLLABLE
        follows = earlier in _BEFORE_A_FRAGMENT | _ARTICLES and len(whole) > len(piece) + 1
        return piece in _FRAGMENTS or (bool(syllable) and follows)
    if (len(earlier) == 1 and earlier not in "ai") or is_number_word(earlier):
        return False  # letters that are spelled
    twice = behind - before > _MORE_LETTERS
    return len(whole) >= _MORE_LETTERS and (twice or (earlier in _BEFORE_A_FRAGMENT and len(whole) > _MORE_LETTERS))


class Corrections(UnfrozenTags):
    """Words with their tags; all places are the buffer's."""

    def __init__(self, words: Sequence[str], tags: bytearray, unfrozen: range, editing: frozenset[int]) -> None:
        """editing: where the words of editing terms stand."""
        super().__init__(tags, unfrozen)
        self._words = words
        self._editing = editing

    def correct_alike(self, near: range) -> None:
        """Take back what an editing term corrects to a word of its kind (rules 1 to 3)."""
        kinds = {place: kind for place in near if (kind := _KINDS.get(self._words[place]))}
        for wrong, kind in kinds.items():
            right = next((place for place, other in kinds.items() if place > wrong and kind & other), wrong)
            if self._words[wrong] != self._words[right]:
                self._correct(range(wrong, wrong + 1), range(right, right + 1))
        self._take_back_articles()
        for place in self._unfrozen:
            if self._words[place] in _ARTICLES and self._tag(place) == OUT and self._is_said_again_behind(place):
                self._tags[place], self._tags[place + 1] = Disfluency.B_RM, Disfluency.I_RM
            elif place < len(self._tags) and not self._tags[place] and self._is_a_copy_between(place):
                self._tags[place] = Disfluency.I_RM

    def _is_a_copy_between(self, place: int) -> bool:
        """Tell whether a word is the same as the one before it, which was taken back, and as the next one."""
        near = list(self._words[max(place - 1, 0) : place + 2])
        return (
            self._words[place] in _SAID_AGAIN
            and near == [self._words[place]] * 3
            and self._tag(place - 1) in IN_REPARANDUM
        )

    def _is_said_again_behind(self, article: int) -> bool:
        """Tell whether the words taken back behind an article are replaced by words with the same article."""
        behind = article + 1
        if behind >= self._unfrozen.stop or self._words[behind] in _ARTICLES or self._tag(behind) != Disfluency.B_RM:
            return False
        behind += 1
        while self._tag(behind) == Disfluency.I_RM:
            behind += 1
        while self._is_filler(behind):
            behind += 1
        return behind < len(self._words) and self._words[behind] == self._words[article]

    def _take_back_articles(self) -> None:
        """Apply rule 2 to each editing term, in time by the number of words."""
        last = -1
        begins: dict[int, int] = {}  # where the words taken back begin that end at a place
        for cue in sorted(self._editing):
            if cue - 1 in self._editing:
                continue
            if cue >= last:  # else it is in the same row of cues and fillers as the one before
                last = cue
                while last in self._editing or self._is_filler(last):
                    last += 1
            repair = self._words[last] if last < len(self._words) else ""
            if self._tag(cue) == OUT:
                continue
            self._take_back_up_to(cue, repair)
            if repair not in _ARTICLES:
                continue
            end = cue
            while self._is_filler(end - 1) and end - 1 not in self._editing:
                end -= 1
            begin = end
            while self._tag(begin - 1) in IN_REPARANDUM:
                begin = begins.get(begin, begin - 1)
            begins[end] = begin
            if begin != end and self._words[begin] not in _ARTICLES:
                self._take_back_article_before(begin, end)

    def _take_back_up_to(self, cue: int, repair: str) -> None:
        """Apply rule 3 to the words before an editing term."""
        for last in (cue - 2, cue - 1 - _MOST_BETWEEN):
            if self._tag(last) in IN_REPARANDUM and not any(map(self._tag, range(last + 1, cue))):
                begin = last
                while self._tag(begin) == Disfluency.I_RM and last - begin < _MOST_LEAD_IN:
                    begin -= 1
                if begin >= self._unfrozen.start and self._words[begin] == repair:
                    self._take_back(begin, cue, Disfluency.B_RM, Disfluency.I_RM)

    def _take_back_article_before(self, begin: int, end: int) -> None:
        for place in (begin - 1, begin - 2):
            if place >= self._unfrozen.start and self._words[place] in _ARTICLES:
                self._take_back(place, end, Disfluency.B_RM, Disfluency.I_RM)
                return

    def _correct(self, wrong: range, right: range) -> None:
        """Take ``wrong`` back, and no more, where an editing term corrects it to ``right``."""
        cue = [place for place in range(wrong.stop, right.start) if self._is_cue(place, wrong, right)]
        if not cue:
            return
        last = cue[-1] + 1
        while last < right.start and self._is_filler(last):
            last += 1
        first = cue[0]
        while first > wrong.stop and self._is_filler(first - 1):
            first -= 1
        begin, units = wrong.start - (right.start - last), first - wrong.stop
        repeated = list(self._words[max(begin, 0) : wrong.start]) == list(self._words[last : right.start])
        same_unit = list(self._words[wrong.stop : first]) == list(self._words[right.stop : right.stop + units])
        doubted = any(self._tag(place) for place in range(wrong.start, last))
        if not (repeated and same_unit and doubted) or begin < self._unfrozen.start or units > MOST_UNITS:
            return
        if right.start - last > _MOST_LEAD_IN or (begin and self._words[begin - 1] in _NEGATIONS):
            return
        before = begin
        while self._tag(before - 1) in IN_REPARANDUM and self._tag(before) == Disfluency.I_RM:
            before -= 1
        self._keep(before, begin)
        self._take_back(begin, first, Disfluency.B_RM, Disfluency.I_RM)
        self._take_back(first, last, Disfluency.B_IM, Disfluency.I_IM)
        self._keep(last, right.stop)

    def _is_cue(self, place: int, wrong: range, right: range) -> bool:
        if place in self._editing:
            return True
        pronouns = any({self._words[wrong.start], self._words[right.start]} <= kind for kind in _PRONOUNS)
        return pronouns and self._words[place] in SOUNDS and right.start - wrong.stop == 1

    def _is_filler(self, place: int) -> bool:
        return 0 <= place < len(self._words) and (self._words[place] in SOUNDS or self._tag(place) in IN_FILLER)

    def _take_back(self, begin: int, end: int, first: Disfluency, other: Disfluency) -> None:
        for place in range(begin, min(end, self._unfrozen.stop, len(self._tags))):
            self._tags[place] = first if place == begin else other


def _numbered_kinds() -> Iterator[tuple[str, frozenset[int]]]:
    for word in frozenset().union(*_ALIKE):
        yield word, frozenset(number for number, words in enumerate(_ALIKE) if word in words)


_KINDS = dict(_numbered_kinds())
