"""Which words are never left out, whatever a model's tags say: a guard over the tags of words about to freeze.

A filler left in costs the reader a glance, a word left out by mistake changes what was said. So each rule here but one
takes a tag away. It reads the words that are there, their marks and their tags, and decides about unfrozen words alone.

Rules:

1. Answers stay: "uh huh", "mm hmm", "nuh uh", and "uh oh" and "uh uh" where a sentence begins.
2. A sound that is no filler stays: "er" behind "the", "mm" behind a number, and one that is named ("the word um").
3. The two words of "you know" and "I mean" stay or go together. Where one of them stays, both do.
4. "you know" stays as a relative clause or with its object ("the man you know from work", "as you know"); so does
   "I mean" ("what I mean", "when I say free I mean free"), and a second one beside one that stays.
5. What is said twice on purpose stays: "very very", "so so good", "come on come on", "come in in a minute",
   "what you do do well", 很大很大, 不不不, 吃没吃; so do letters that are spelled ("w w w dot").
6. An editing term (no, sorry, actually, 不对) goes only with words taken back right before it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from caesura.schemas.labels import Disfluency, Punctuation
from caesura.worker.core.decoding.kept_numbers import keep_numbers
from caesura.worker.core.numbers.spoken_numbers import is_number_word
from caesura.worker.core.rendering.cleaning import compared, phrases

__all__ = ["guard_tags", "join_answers"]

_WINDOW = 12
"""Words before the first and behind the last word to decide about that the rules read."""

_OUT = Disfluency.O.value
_REPARANDUM = (Disfluency.B_RM.value, Disfluency.I_RM.value)
_FILLER = (Disfluency.B_IM.value, Disfluency.I_IM.value)
_GOES_ON = dict.fromkeys(_REPARANDUM, Disfluency.I_RM.value) | dict.fromkeys(_FILLER, Disfluency.I_IM.value)
_SENTENCE_ENDS = frozenset(mark.value for mark in Punctuation if mark.ends_sentence)


class _Phrases:
    """Phrases, and all their beginnings, as they are compared, so that a search ends at the first word mostly."""

    __slots__ = ("_beginnings", "_whole")

    def __init__(self, texts: Iterable[str]) -> None:
        self._whole = phrases(texts)
        self._beginnings = frozenset(phrase[:end] for phrase in self._whole for end in range(1, len(phrase) + 1))

    def places(self, words: Sequence[str]) -> Iterator[tuple[int, int]]:
        """Yield where the phrases stand among compared words, whole words alone."""
        if self._beginnings.isdisjoint(words):
            return
        for start, word in enumerate(words):
            said, end = word, start + 1
            while said in self._beginnings:
                if said in self._whole:
                    yield start, end
                if end == len(words):
                    break
                said, end = said + words[end], end + 1


def _words(*texts: str) -> frozenset[str]:
    return frozenset(compared(word) for text in texts for word in text.split())


_ANSWERS = _Phrases(("uh huh", "unh huh", "mm hm", "mm hmm", "mhm", "mhmm", "nuh uh", "嗯哼", "嗯嗯"))
_ANSWER_BEGINNINGS = _words("uh unh mm nuh")
_ANSWERS_AT_START = _Phrases(("uh uh", "unh unh", "uh oh"))
_SOUNDS = _words("um umm uh uhh er erm err ah eh hm hmm mm mmm mhm 嗯 呃 啊 哦 唔 额 诶")
_NAMES_OF_SOUNDS = _words("word words sound sounds syllable letters 字 个字 个词 这个字 这个词")
_SAID = _words("say says said saying go goes went write wrote type typed 说 写")
_BEHIND_A_SAID_SOUND = _words(
    "and or but when while too every instead again before after all because twice 了 着 的 一声 就 然后"
) | {""}
_BEHIND_A_VERB = _words("了 着 一声 了一声")
_KNOW, _MEAN = _Phrases(("you know",)), _Phrases(("i mean",))
_BEFORE_YOU_KNOW = _words(
    """as if whether than what whatever who whom let lets letting once unless until wish hope glad how all everything
    anyone everyone someone anybody everybody somebody nobody"""
)
_CLAUSE_BEGINS = _words(
    "i we he she it they there you it's there's they're we're you're i'm i've that's and but well like say so"
)
_OPEN_CLAUSES = _words("if whether than once unless until everyone anyone everybody anybody")
_ASKS = _words("do does did don't doesn't didn't")
_SUBJECTS = _words("i we he she it they you")
_BEHIND_YOU_KNOW = _words("about from best who whom personally better")
_LIKED = _words("love hate trust like")
_BEFORE_I_MEAN = _words("what who whom which whatever how do did that's")
_BEHIND_MEAN_WELL = _words("by to towards") | {""}
_SAY, _SAY_WHEN = _words("say says said"), _words("when whenever if where")
_LINKS = _words("and but so well") | {""}
_DEFINITION_WORDS = 7
_URGENT, _TIMES = frozenset("快来走好行等停看对是嗯吃"), 3
_FUNCTION_WORDS = _words(
    """i you we they he she it me him her us them a an the this that these those my your our their his its and or but so
    if because as than when while where who what which how why in on at to of for from with by about into up out off
    over is are am was were be been has have had do does did can could will would shall should may might must not there
    here just i'm you're we're they're he's she's it's that's there's i've we've you've i'll we'll you'll i'd don't
    didn't well like"""
)
_EMPHATIC_TERMS = "very;really;much;many;far;long;come on;go;bye;ha;blah;hey;please;hello;no;不"
_EMPHATIC = _Phrases(_EMPHATIC_TERMS.split(";"))
_BEHIND_SO = _words(
    """i you we he she it they that this the a if when what how why where there then my your our his her so and but um
    uh yeah anyway basically now there's that's it's i'm we're you're he's she's they're i've we've what's"""
) | {""}
_PARTICLES = _words("in on out up over off")
_PHRASAL_VERBS = _words(
    """come comes came coming log logs logged logging go goes went going sign signs signed check checks checked get gets
    got put puts move moves moved drop drops dropped turn turns turned call called hand handed"""
)
_VERBS = _words("do did had has have is was are were")
_CLAUSE_OPENERS, _CLAUSE_WORDS = _words("what whatever whoever whichever all everything anything"), 4
_EXCLAIMS = _words("how what that isn't aren't look")
_NEGATIONS, _DEGREES = _words("没 不"), _words("很 好 太 真 挺 特 非")
_EDITING_TERMS = """no;nope;wait;sorry;oh sorry;actually;rather;or rather;oh no;scratch that;strike that;correction;
excuse me;pardon me;i meant;make that;let me rephrase;my mistake;my bad;oops;不对;不;不是;说错了;说错;错了;我说错了;
哦不;啊不;哦不对;应该是;不好意思;对不起;抱歉;更正"""
_EDITING = _Phrases(_EDITING_TERMS.split(";"))


def guard_tags(words: Sequence[str], marks: Sequence[int], tags: bytearray, start: int, end: int) -> None:
    """Change the tags of the words from ``start`` to ``end`` that would leave out what has to stay, in place.

    words: the model's view of each word of a buffer. marks, tags: their labels as far as there are any; those before
    ``start`` are frozen.
    """
    if any(tags[start:]):
        _Guard(words, marks, tags, start, end).apply()


def join_answers(words: Sequence[str], marks: bytearray, first: int) -> None:
    """Take away marks inside of an answer of two words ("mm hmm"), from the word ``first`` on, in place.

    words: the model's view of each word of a buffer. marks: of its first words.
    """
    for place in range(first, min(len(marks), len(words) - 1)):
        if marks[place] and words[place] in _ANSWER_BEGINNINGS:
            pair = [compared(word) for word in words[place : place + 2]]
            if (0, len(pair)) in _ANSWERS.places(pair):
                marks[place] = Punctuation.NONE.value


def _is_letter(word: str) -> bool:
    return len(word) == 1 and word.isascii() and word.isalpha() and word not in "ai"


class _Guard:
    """A stretch of a buffer around the words to decide about; all places are the buffer's."""

    def __init__(self, words: Sequence[str], marks: Sequence[int], tags: bytearray, start: int, end: int) -> None:
        self._words = words
        self._first = max(0, start - _WINDOW)
        self._texts = [compared(word) for word in words[self._first : end + _WINDOW]]
        self._marks = marks
        self._tags = tags
        self._start = start
        self._end = end

    def apply(self) -> None:
        """Apply the rules in their order."""
        self._keep_answers()
        self._keep_sounds()
        self._pair(_KNOW, self._says_what_is_known)
        self._pair(_MEAN, self._says_what_is_meant)
        self._keep_repetitions()
        editing = [place for begin, end in (*self._found(_EDITING), *self._found(_MEAN)) for place in range(begin, end)]
        keep_numbers(self._words, self._tags, self._start, self._end, frozenset(editing))
        self._keep_editing_terms()

    def _text(self, place: int) -> str:
        """Return a word as it is compared; empty where there is none."""
        at = place - self._first
        return self._texts[at] if 0 <= at < len(self._texts) else ""

    def _tag(self, place: int) -> int:
        return self._tags[place] if 0 <= place < len(self._tags) else _OUT

    def _begins_sentence(self, place: int) -> bool:
        return place == 0 or self._ends_sentence(place - 1)

    def _found(self, wanted: _Phrases) -> Iterator[tuple[int, int]]:
        for begin, end in wanted.places(self._texts):
            yield begin + self._first, end + self._first

    def _keep(self, begin: int, end: int) -> None:
        for place in range(max(begin, self._start), min(end, self._end)):
            self._tags[place] = _OUT

    def _keep_answers(self) -> None:
        for begin, end in self._found(_ANSWERS):
            self._keep(begin, end)
        for begin, end in self._found(_ANSWERS_AT_START):
            if self._begins_sentence(begin):
                self._keep(begin, end)

    def _keep_sounds(self) -> None:
        for place in range(self._start, self._end):
            if self._tags[place] in _FILLER and self._text(place) in _SOUNDS and self._is_content(place):
                self._tags[place] = _OUT

    def _is_content(self, place: int) -> bool:
        """Tell whether a sound is no filler: a place, or a word that is named."""
        before, sound, behind = self._text(place - 1), self._text(place), self._text(place + 1)
        if not sound.isascii() and behind in _BEHIND_A_VERB:
            return True
        if (sound == "er" and before == "the") or (sound == "mm" and is_number_word(before)):
            return True
        return before in _NAMES_OF_SOUNDS or (before in _SAID and behind in _BEHIND_A_SAID_SOUND)

    def _pair(self, pair: _Phrases, is_content: Callable[[int], bool]) -> None:
        """Let the two words of a phrase stay or go together; the second follows a first one that is frozen."""
        for place, end in self._found(pair):
            first, second = self._tag(place), self._tag(place + 1)
            if end != place + 2 or not (first or second):
                continue
            if place >= self._start:
                disagree = place + 1 < len(self._tags) and bool(first) != bool(second)
                if disagree or is_content(place):
                    self._keep(place, end)
            elif not first:
                self._keep(place + 1, end)
            elif not second and self._start <= place + 1 < self._end:
                self._tags[place + 1] = _GOES_ON[first]

    def _says_what_is_known(self, place: int) -> bool:
        """Tell whether "you know" at ``place`` has an object or is a relative clause."""
        before, behind = self._text(place - 1), self._text(place + 2)
        if before in ("more", "less") and self._text(place - 2) == "the":
            self._keep(place - 2, place)
            return True
        if before in _OPEN_CLAUSES and behind in _CLAUSE_BEGINS:
            return False
        if before in _BEFORE_YOU_KNOW:
            return not (before == "as" and self._text(place - 2) == "such")
        if before in _ASKS and self._text(place - 2) not in _SUBJECTS:
            return True
        return behind in _BEHIND_YOU_KNOW or (behind == "and" and self._text(place + 3) in _LIKED)

    def _says_what_is_meant(self, place: int) -> bool:
        """Tell whether "I mean" at ``place`` says what something means; then all since what it defines stays too."""
        before, behind = self._text(place - 1), self._text(place + 2)
        asked = before == "think" and self._text(place - 2) == "you"
        earnest = behind == "it" and (self._text(place + 3) == "" or self._ends_sentence(place + 2))
        if behind == "well" and self._text(place + 3) in _BEHIND_MEAN_WELL:
            return True
        if before in _BEFORE_I_MEAN or asked or earnest or (before in _LINKS and self._means_again(place)):
            return True
        begin = self._definition(place)
        if begin is not None and self._text(place + 2) != self._text(begin):
            self._keep(begin, place)
            return True
        return False

    def _means_again(self, place: int) -> bool:
        """Tell whether an "I mean" that stays stands before this one in its sentence."""
        while place > self._first and not self._ends_sentence(place - 1):
            place -= 1
            if self._text(place) == "i" and self._text(place + 1) == "mean":
                return not self._tag(place)
        return False

    def _ends_sentence(self, place: int) -> bool:
        return place < len(self._marks) and self._marks[place] in _SENTENCE_ENDS

    def _definition(self, end: int) -> int | None:
        """Return where "when I say X" or, at a clause's beginning, "by X" begins that runs up to ``end``."""
        for place in range(end - 2, max(end - 1 - _DEFINITION_WORDS, -1), -1):
            if self._ends_sentence(place):
                return None
            word = self._text(place)
            if word == "by" and (self._begins_sentence(place) or self._text(place - 1) in _LINKS):
                return place
            if word in _SAY_WHEN and not _SAY.isdisjoint(self._text(behind) for behind in (place + 2, place + 3)):
                return place
        return None

    def _keep_repetitions(self) -> None:
        for begin, end in self._found(_EMPHATIC):
            if [self._text(place) for place in range(begin, end)] == [
                self._text(place) for place in range(end, 2 * end - begin)
            ] and not self._corrects(begin):
                self._keep(begin, end)
        for place in range(self._start, self._end):
            if self._tags[place] in _REPARANDUM and self._is_on_purpose(place):
                self._tags[place] = _OUT

    def _corrects(self, place: int) -> bool:
        """Tell whether a word is a filler or stands right behind words taken back: "the tram no no the bus"."""
        return self._tag(place) in _FILLER or (
            self._tag(place - 1) in _REPARANDUM and self._text(place - 1) != self._text(place)
        )

    def _is_on_purpose(self, place: int) -> bool:
        """Tell whether a word taken back is one of a pair that means more than one of them."""
        word, behind, next_one = (self._text(at) for at in (place, place + 1, place + 2))
        if word in ("so", "my"):
            return word == behind and (next_one in _EXCLAIMS if word == "my" else next_one not in _BEHIND_SO)
        if word in _VERBS and word in (behind, self._text(place - 1)) and self._ends_clause(place, word):
            return True
        if word in _PARTICLES and word == behind:  # "come in in a minute": the verb's own, then the next phrase's
            return self._text(place - 1) in _PHRASAL_VERBS
        if behind in _NEGATIONS and next_one and word[:1] == next_one[:1] and not word.isascii():
            return True
        if (
            (word == "的" != behind and self._is_lone(place))
            or (word[:1] in _DEGREES and word == behind)
            or self._said_three_times(place)
        ):
            return True
        while len(behind) == 1 and self._tag(place + 1) in _REPARANDUM:
            place += 1
            behind = self._text(place + 1)
        return _is_letter(word) and (_is_letter(behind) or behind == "dot")

    def _is_lone(self, place: int) -> bool:
        """Tell whether a word taken back is alone: none is beside it, and no cue follows."""
        return not (self._tag(place - 1) in _REPARANDUM or self._tag(place + 1))

    def _said_three_times(self, place: int) -> bool:
        """Tell whether a word or a Chinese character is said three times in a row: 快快快, "choo choo choo"."""
        word = self._text(place)
        if not word or (word in _FUNCTION_WORDS or len(word) == 1 if word.isascii() else word[0] not in _URGENT):
            return False
        unit, first, end = (word if word.isascii() else word[0]), place, place + 1

        def again(at: int) -> bool:
            return self._text(at) != "" and self._text(at).replace(unit, "") == ""

        while again(first - 1):
            first -= 1
        while again(end):
            end += 1
        said = "".join(self._text(at) for at in range(first, end))
        return again(place) and len(said) >= _TIMES * len(unit)

    def _ends_clause(self, place: int, verb: str) -> bool:
        """Tell whether a verb said twice ends one clause and begins another: "whatever you do do it well"."""
        while self._text(place - 1) == verb:
            place -= 1
        clause = [self._text(before) for before in range(place - _CLAUSE_WORDS, place)]
        return clause[-1] in _SUBJECTS and not _CLAUSE_OPENERS.isdisjoint(clause[:-1])

    def _keep_editing_terms(self) -> None:
        for begin, end in self._found(_EDITING):
            if self._tag(begin) in _FILLER and not self._follows_reparandum(begin):
                self._keep(begin, end)

    def _follows_reparandum(self, place: int) -> bool:
        """Tell whether the fillers around ``place``, all in a row, begin right behind words taken back."""
        while self._tag(place - 1) in _FILLER:
            place -= 1
        return self._tag(place - 1) in _REPARANDUM
