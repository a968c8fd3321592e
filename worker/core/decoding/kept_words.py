"""Keeps words that must stay, whatever a model's tags say: corrects the tags of words that are about to freeze.

A filler that stays costs the reader a glance; a word left out by mistake changes the meaning. So each rule removes a
tag. There are two exceptions: the second word of a pair follows the first, and ``corrections`` adds what belongs to a
repair. The rules read the words in the buffer, their marks and tags, and change only unfrozen words.

Rules:

1. Answers stay: "uh huh", "mm hmm", "nuh uh"; also "uh oh" and "uh uh" at the beginning of a sentence.
2. A sound that is not a filler stays: "er" after "the", "mm" after a number, and a sound that is named ("the word um").
3. The two words of "you know" and "I mean" stay or go together: if one stays, both do.
4. "you know" stays as a relative clause or with its object ("the man you know from work", "people you know can"); so
   does "I mean" ("what I mean", "when I say free I mean free"), and a second one beside one that stays.
5. A deliberate repetition stays: "very very", "so so good", "come on come on", "come in in a minute", "what you do do
   well", 很大很大, 不不不, 吃没吃, 看了看, 说着说着就…, 休息休息, 一步一步, 慢慢慢慢来, 八八折; also spelled letters
   ("w w w dot"), and words to which 还有 adds a copy. 很很, 比较比较 and 不应该不应该 are slips.
6. An editing term (no, sorry, actually, 不对) goes only together with tagged words right before it; these stay with it
   if no word follows to replace them. The "no" of "there is no" never goes. A Chinese term that stays is the verb of
   the words before it (这不对), which stay too; so does a lone pronoun (你不对我也不对).
7. A word that is sometimes a filler stays where it has a meaning: "so" before anything but a clause ("so tall was he"),
   就是 after 不 or a pronoun (我就是要去) or pointing at the beginning of a sentence (就是他), 那个 at its end, 嗯 and
   啊 as answer or exclamation, a pronoun always.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from caesura.schemas.labels import SENTENCE_ENDS, Disfluency, Punctuation
from caesura.worker.core.decoding.corrections import Corrections
from caesura.worker.core.decoding.kept_numbers import keep_numbers
from caesura.worker.core.decoding.unfrozen_tags import IN_FILLER, IN_REPARANDUM, OUT, UnfrozenTags
from caesura.worker.core.numbers.spoken_numbers import is_number_word
from caesura.worker.core.rendering.cleaning import compared, phrases

_WINDOW = 12
"""Words before the first and behind the last word to decide about that the rules read."""

_GOES_ON = dict.fromkeys(IN_REPARANDUM, Disfluency.I_RM.value) | dict.fromkeys(IN_FILLER, Disfluency.I_IM.value)


class _Phrases:
    """Phrases, and all their beginnings, as they are compared, so that a search ends at the first word mostly."""

    __slots__ = ("_beginnings", "_whole")

    def __init__(self, texts: Iterable[str]) -> None:
        self._whole = phrases(texts)
        self._beginnings = frozenset(phrase[:end] for phrase in self._whole for end in range(1, len(phrase) + 1))

    @property
    def beginnings(self) -> frozenset[str]:
        """Return the phrases and all that they begin with."""
        return self._beginnings

    def places(self, words: Sequence[str], starts: Iterable[int]) -> list[tuple[int, int]]:
        """Return where phrases that begin at one of ``starts`` stand among compared words, whole words alone."""
        found: list[tuple[int, int]] = []
        beginnings = self._beginnings
        for start in starts:
            said, end = words[start], start + 1
            while said in beginnings:
                if said in self._whole:
                    found.append((start, end))
                if end == len(words):
                    break
                said, end = said + words[end], end + 1
        return found


def _words(*texts: str) -> frozenset[str]:
    return frozenset(compared(word) for text in texts for word in text.split())


_ANSWERS = _Phrases(("uh huh", "unh huh", "mm hm", "mm hmm", "mhm", "mhmm", "nuh uh"))
_ANSWER_BEGINNINGS = _words("uh unh mm nuh")
_ANSWERS_AT_START = _Phrases(("uh uh", "unh unh", "uh oh", "嗯哼", "嗯嗯"))
_SOUNDS = _words("um umm uh uhh er erm err ah eh hm hmm mm mmm mhm 嗯 呃 啊 哦 唔 额 诶")
_NAMES_OF_SOUNDS = _words("word words sound sounds syllable letters 字 个字 个词 这个字 这个词")
_SAID = _words("say says said saying go goes went write wrote type typed spell spells 说 写")
_BEHIND_A_SAID_SOUND = _words(
    "and or but when while too so every instead again before after all because twice 了 着 的 一声 就 然后"
) | {""}
_BEHIND_A_VERB = _words("了 着 一声 了一声 字")
_DESCRIBED = tuple(tuple(text.split()) for text in ["is a", "is an", "is not", "is the", "means", "的 一声"])
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
_BEHIND_YOU_KNOW = _words(
    "about from best who who's whom where where's why personally better nothing everything enough little"
)
_BEHIND_WHAT = _words("happens happened else means is was")
_BEGINS_BY_KNOWING = _words("that as very well full")
_HAS_VERB = _words("is are was were will can could would should must may might has have had")
_VERBS_OR_LINKS = _words("is are was were be been it's that's he's she's they're we're i'm just like then well or if")
_BY, _END_OF_CLAUSE = _words("heart name sight"), _words("enough and or") | {""}
_LIKED = _words("love hate trust like")
_BEFORE_I_MEAN = _words("what who whom which whatever how do did that's")
_IN_EARNEST = (("every", "word"), ("it", "in"), ("that", "in"), ("this", "in"))
_BEHIND_MEAN_WELL = _words("by to towards") | {""}
_BEHIND_MEAN_TO = _words("be me him her us them you it the a an that this my your his our their some most many say")
_SAY, _SAY_WHEN = _words("say says said"), _words("when whenever if where")
_LINKS = _words("and but so well") | {""}
_DEFINITION_WORDS = 7
_URGENT, _TIMES = frozenset("快慢来走好行等停看对是嗯吃别坐不"), 3
_FUNCTION_WORDS = _words(
    """i you we they he she it me him her us them a an the this that these those my your our their his its and or but so
    if because as than when while where who what which how why in on at to of for from with by about into up out off
    over is are am was were be been has have had do does did can could will would shall should may might must not there
    here just i'm you're we're they're he's she's it's that's there's i've we've you've i'll we'll you'll i'd don't
    didn't well like"""
)
_EMPHATIC_TERMS = """very;really;much;many;far;long;come on;go;bye;ha;blah;hey;please;hello;no;knock;ho;休息;打扫;
研究;商量;讨论;考虑;收拾;介绍;了解;锻炼;整理;参观;准备;检查;放松;活动;练习;尝试;庆祝;沟通;交流;打听;体验;观察;关心;帮助;
调查;感受;运动;请教;熟悉;享受;认识"""
_EMPHATIC = _Phrases(_EMPHATIC_TERMS.split(";"))
_COURTESIES = """there;now;well;tut;night;没有;可以;知道了;是的;真的;等一下;等等;哪里;不客气;没事;好的;谢谢;再见;恭喜;
欢迎;辛苦;加油;放心;没错;明白;没关系;不用;不要;不行;不;行;对不起;不好意思;抱歉"""
_MODALS = _words("可以 没有 不要 不用")
_AT_START = _Phrases(_COURTESIES.split(";"))
_KEPT_WHOLE = _Phrases(
    ("so and so", "such and such", "我是说过", "我是说的", "那就是说", "你知道的", "你知道吗", "你知道吧")
)
_BEHIND_SO = _words(
    """i you we he she it they that this the a if when what how why where there then my your our his her so and but um
    uh yeah anyway basically now there's that's it's i'm we're you're he's she's they're i've we've what's"""
) | {""}
_PARTICLES = _words("in on out up over off")
_PHRASAL_VERBS = _words(
    """come comes came coming log logs logged logging go goes went going sign signs signed check checks checked get gets
    got put puts move moves moved drop drops dropped turn turns turned call called hand handed"""
)
_VERBS = _words("do did had has have is was are were can will could would")
_THERE_AGAIN = _VERBS | _words("there there's")
_CLAUSE_OPENERS, _CLAUSE_WORDS = _words("what whatever whoever whichever all everything anything"), 4
_EXCLAIMS = _words("how what that isn't aren't look")
_NEGATIONS, _DEGREES = _words("没 不"), _words("很 好 太 真 挺 特 非")
_TRIED, _BEHIND_GOING_ON = (
    frozenset("看想试听问摸闻尝点摇笑走转翻等数说聊谈量擦动闪跳拍敲洗吃"),
    frozenset("就突忽睡哭笑忘又也到") | {""},
)
_BEHIND_COUNTED = _words("地 来 数 一组 一起 进来 出去 进 走 说 看")
_LONE = _words("的 是")
_NUMERALS, _BEHIND_PAIRS = frozenset("一二三四五六七八九"), frozenset("一成结相配对组为分")
_EACH, _STEP = frozenset("次天年句页片滴层遍口家"), "一步"
_BEHIND_EACH, _DOUBLED = frozenset("的地来过走数说看"), _words("慢慢 爸爸 妈妈 爷爷 奶奶 哥哥 姐姐 弟弟 妹妹 宝宝")
_ADDED, _ALSO, _SPEAKERS = _words("还有 和"), frozenset("也都"), _words("我 你 他 她 它 我们 你们 他们")
_TIME_SINCE = _words("today now well")
_BEHIND_OWN_SPEECH = _words("我 我们 咱们 那个 这个 呃 嗯 啊 说 一个 有 觉得 大家")
_POINTERS, _CALLS = _words("那个 这个"), _words("哎 唉 哇 咦")
_AGREES, _BEHIND_AGREES = _words("好 行 对 可以 没问题 没 明白 知道 好的"), _words("的 吧 了 啊 问题 事 错") | {""}
_EXCLAMATION_WORDS, _SHORT_WORDS, _POINTED_AT = 8, 3, frozenset("这那他她它你您") | {""}
_EDITING_TERMS = """no;nope;wait;sorry;oh sorry;actually;rather;or rather;oh no;scratch that;strike that;correction;
excuse me;pardon me;i meant;make that;let me rephrase;my mistake;my bad;oops;不对;不;不是;说错了;说错;错了;我说错了;
哦不;啊不;哦不对;应该是;不好意思;对不起;抱歉;更正"""
_EDITING = _Phrases(_EDITING_TERMS.split(";"))
_DENIALS = _words("不 不是 应该是")
_SEARCHED = (_ANSWERS, _ANSWERS_AT_START, _KEPT_WHOLE, _KNOW, _MEAN, _EMPHATIC, _AT_START, _EDITING)
_BEGINNINGS = frozenset().union(*(wanted.beginnings for wanted in _SEARCHED))


def guard_tags(words: Sequence[str], marks: Sequence[int], tags: bytearray, start: int, end: int) -> None:
    """Change the tags of the words from ``start`` to ``end`` that would leave out what has to stay, in place.

    words: the model's view of each word of a buffer. marks, tags: their labels as far as there are any; those before
    ``start`` are frozen.
    """
    if any(tags[start:]):
        _Guard(words, marks, tags, start, end).apply()


def may_answer(words: Sequence[str]) -> bool:
    """Tell whether an answer of two words ("mm hmm") may begin with one of these words."""
    return not _ANSWER_BEGINNINGS.isdisjoint(words)


def join_answers(words: Sequence[str], marks: bytearray, first: int) -> None:
    """Set the marks of an answer of two words ("mm hmm") from the word ``first`` on, in place.

    None stands inside of it; a comma stands behind one that begins a sentence, where the model set no mark.

    words: the model's view of each word of a buffer. marks: of its first words.
    """
    for place in range(first, min(len(marks), len(words) - 1)):
        if words[place] not in _ANSWER_BEGINNINGS:
            continue
        pair = [compared(word) for word in words[place : place + 2]]
        begins = place == 0 or marks[place - 1] in SENTENCE_ENDS
        if (0, len(pair)) in _ANSWERS.places(pair, (0,)):
            marks[place] = Punctuation.NONE.value
        elif not begins or marks[place] or (0, len(pair)) not in _ANSWERS_AT_START.places(pair, (0,)):
            continue
        behind = place + len(pair)
        goes_on = behind < len(words) and compared(words[behind]) not in _SOUNDS | _ANSWER_BEGINNINGS
        if begins and goes_on and behind <= len(marks) and not marks[behind - 1]:
            marks[behind - 1] = Punctuation.COMMA.value


def _is_letter(word: str) -> bool:
    return len(word) == 1 and word.isascii() and word.isalpha() and word not in "ai"


class _Guard(UnfrozenTags):
    """A stretch of a buffer around the words to decide about; all places are the buffer's."""

    def __init__(self, words: Sequence[str], marks: Sequence[int], tags: bytearray, start: int, end: int) -> None:
        self._words = words
        self._first = max(0, start - _WINDOW)
        self._texts = [compared(word) for word in words[self._first : end + _WINDOW]]
        self._starts = [at for at, text in enumerate(self._texts) if text in _BEGINNINGS]
        self._marks = marks
        super().__init__(tags, range(start, end))
        self._start = start
        self._end = end
        self._letters_end = self._verb_at = self._verbs_begin = -1
        self._run: tuple[str, int, int, int] | None = None

    def apply(self) -> None:
        """Apply the rules in their order."""
        self._keep_answers()
        self._keep_sounds()
        self._keep_words_with_meaning()
        self._pair(_KNOW, self._says_what_is_known)
        self._pair(_MEAN, self._says_what_is_meant)
        self._keep_repetitions()
        cues = (*self._found(_EDITING), *self._found(_MEAN))
        editing = frozenset(place for begin, end in cues for place in range(begin, end))
        near = range(self._first, self._first + len(self._texts))
        Corrections(self._words, self._tags, self._unfrozen, editing).correct_alike(near)
        keep_numbers(self._words, self._tags, self._start, self._end, editing)
        self._keep_editing_terms()

    def _text(self, place: int) -> str:
        """Return a word as it is compared; empty where there is none."""
        at = place - self._first
        return self._texts[at] if 0 <= at < len(self._texts) else ""

    def _begins_sentence(self, place: int) -> bool:
        return place == 0 or self._ends_sentence(place - 1)

    def _found(self, wanted: _Phrases) -> list[tuple[int, int]]:
        return [(begin + self._first, end + self._first) for begin, end in wanted.places(self._texts, self._starts)]

    def _tagged(self) -> list[int]:
        return [place for place in self._unfrozen if self._tags[place]]

    def _keep_answers(self) -> None:
        for begin, end in self._found(_ANSWERS):
            self._keep(begin, end)
        for begin, end in self._found(_ANSWERS_AT_START):
            if self._begins_sentence(begin) and (self._text(begin).isascii() or self._agrees(end)):
                self._keep(begin, end)

    def _keep_sounds(self) -> None:
        for place in self._tagged():
            if self._tags[place] in IN_FILLER and self._text(place) in _SOUNDS and self._is_content(place):
                self._tags[place] = OUT

    def _is_content(self, place: int) -> bool:
        """Tell whether a sound is no filler: a place, or a word that is named."""
        before, sound, behind = self._text(place - 1), self._text(place), self._text(place + 1)
        if not sound.isascii() and behind in _BEHIND_A_VERB:
            return True
        beside = tuple(self._text(at) for at in (place + 1, place + 2))
        if any(beside[: len(described)] == described for described in _DESCRIBED):
            return True
        if (sound == "er" and before == "the") or (sound == "mm" and is_number_word(before)):
            return True
        return before in _NAMES_OF_SOUNDS or (before in _SAID and behind in _BEHIND_A_SAID_SOUND)

    def _keep_words_with_meaning(self) -> None:
        for begin, end in self._found(_KEPT_WHOLE):
            self._keep(begin, end)
        for place in self._tagged():
            if self._tags[place] not in IN_FILLER:
                continue
            if self._has_meaning(place):
                self._tags[place] = OUT
            elif self._text(place) in _SPEAKERS and self._is_alone(place):
                self._keep(self._reparandum(place), place + 1)

    def _has_meaning(self, place: int) -> bool:
        """Tell whether a word tagged as a filler says something where it stands (rule 7)."""
        word, behind = self._text(place), self._text(place + 1)
        if word == "so":
            return behind not in _BEHIND_SO
        if word in _POINTERS:
            both = self._text(place + 2) if behind in _POINTERS else behind
            object_ends = self._is_marked(place) and not self._begins_sentence(place)
            return behind in _ADDED | {""} or both in _ALSO or object_ends
        if word == "就是":
            joined = not self._is_marked(place - 1)
            denied = self._text(place - 1) == "不" and joined
            stressed = self._text(place - 1) in _SPEAKERS and joined and behind not in _SPEAKERS
            return denied or stressed or (self._begins_sentence(place) and self._points(place))
        if word in ("嗯", "哦"):
            return self._begins_sentence(place) and self._answers(place)
        says = self._is_short(place) if word in _CALLS else word == "啊" and self._exclaims(place)
        return says and self._begins_sentence(place)

    def _answers(self, place: int) -> bool:
        """Tell whether 嗯 or 哦 at a sentence's beginning agrees, or 嗯 is all of it."""
        if self._text(place) == "哦" and self._text(place + 1) not in _AGREES:
            return False
        return self._agrees(place + 1)

    def _agrees(self, end: int) -> bool:
        """Tell whether an answer before ``end`` is all of a sentence, or agreement follows it."""
        if self._text(end) in _AGREES:
            return self._text(end + 1) in _BEHIND_AGREES or self._is_marked(end)
        return self._text(end) == "" or self._ends_sentence(end - 1)

    def _points(self, place: int) -> bool:
        """Tell whether 就是 at a sentence's beginning says which one it is: 就是他, 就是这里."""
        behind = self._text(place + 1)
        return behind not in _BEHIND_OWN_SPEECH and (behind[:1] in _POINTED_AT or self._is_short(place))

    def _is_short(self, place: int) -> bool:
        """Tell whether a few words behind ``place`` end its sentence."""
        words = range(place + 1, place + 1 + _SHORT_WORDS)
        return any(self._text(last + 1) == "" or self._ends_sentence(last) for last in words)

    def _exclaims(self, place: int) -> bool:
        """Tell whether a sentence ends soon in 了, as exclamations do: 啊我忘了."""
        for last in range(place + 1, place + 1 + _EXCLAMATION_WORDS):
            if self._ends_sentence(last) or self._text(last + 1) == "":
                return self._text(last) == "了"
        return False

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
        return (
            (before in _ASKS and self._text(place - 2) not in _SUBJECTS)
            or behind in _BEHIND_YOU_KNOW
            or (behind == "and" and self._text(place + 3) in _LIKED)
            or (behind == "what" and self._text(place + 3) in _BEHIND_WHAT)
            or (self._begins_sentence(place) and behind in _BEGINS_BY_KNOWING)
            or self._is_relative(place)
        )

    def _is_relative(self, place: int) -> bool:
        """Tell whether "you know" at ``place`` stands between a noun and the verb or phrase that goes on with it."""
        before, behind, next_one = (self._text(at) for at in (place - 1, place + 2, place + 3))
        if not before or self._begins_sentence(place) or before in _FUNCTION_WORDS | _VERBS_OR_LINKS | _SOUNDS:
            return False
        if behind in _TIME_SINCE and next_one in _HAS_VERB:
            return True
        if behind == "well":
            return next_one in _END_OF_CLAUSE or self._ends_sentence(place + 2)
        return behind == "as" or behind in _HAS_VERB or (behind == "by" and next_one in _BY)

    def _says_what_is_meant(self, place: int) -> bool:
        """Tell whether "I mean" at ``place`` says what something means; then all since what it defines stays too."""
        before, behind = self._text(place - 1), self._text(place + 2)
        asked = before == "think" and self._text(place - 2) == "you"
        earnest = behind in ("it", "that") and (self._text(place + 3) == "" or self._ends_sentence(place + 2))
        earnest = earnest or (behind, self._text(place + 3)) in _IN_EARNEST
        last = self._ends_sentence(place + 1)  # "the one I mean"
        if behind == "business" or (behind == "well" and self._text(place + 3) in _BEHIND_MEAN_WELL):
            return True
        if behind == "to" and self._text(place + 3) not in _BEHIND_MEAN_TO:
            return True
        if (
            before == behind
            and before not in _FUNCTION_WORDS | {""}
            and not (self._tag(place - 1) or is_number_word(before))
        ):
            return True
        if before in _BEFORE_I_MEAN or asked or earnest or last or (before in _LINKS and self._means_again(place)):
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
        return place < len(self._marks) and self._marks[place] in SENTENCE_ENDS

    def _is_marked(self, place: int) -> bool:
        return 0 <= place < len(self._marks) and self._marks[place] != Punctuation.NONE.value

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
            if self._said_again(begin, end) and not self._corrects(begin):
                self._keep(begin, end)
        for begin, end in self._found(_AT_START):
            again = self._begins_sentence(begin) and self._said_again(begin, end)
            behind = 2 * end - begin
            restarts = self._text(begin) in _MODALS and self._text(behind) and not self._is_marked(behind - 1)
            if again and not restarts and self._text(behind) not in _VERBS:
                self._keep(begin, end)
        for place in self._tagged():
            tag, doubled = self._tags[place], self._text(place) == "对"
            thrice = tag in IN_FILLER and doubled and self._said_three_times(place)
            if thrice or (tag in IN_REPARANDUM and self._is_on_purpose(place)):
                self._tags[place] = OUT

    def _said_again(self, begin: int, end: int) -> bool:
        """Tell whether the words follow once more at once."""
        return [self._text(place) for place in range(begin, end)] == [
            self._text(place) for place in range(end, 2 * end - begin)
        ]

    def _corrects(self, place: int) -> bool:
        """Tell whether a word is a filler or stands right behind words taken back: "the tram no no the bus"."""
        return self._tag(place) in IN_FILLER or (
            self._tag(place - 1) in IN_REPARANDUM and self._text(place - 1) != self._text(place)
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
        if (
            (behind in _NEGATIONS and self._asks_by_denying(place))
            or self._is_tried_or_goes_on(place)
            or (word == behind != "" and self._counts_each(place))
            or (not word.isascii() and self._is_doubled(word, behind, next_one))
            or (behind in _ADDED and next_one.startswith(word) and not self._tag(place + 1))
            or (word in _LONE and word != behind and self._is_lone(place))
            or (word[:1] in _DEGREES and word == behind and (len(word) > 1 or word == "好"))
            or self._stresses(place)
            or self._said_three_times(place)
        ):
            return True
        return _is_letter(word) and self._is_spelled(place)

    def _stresses(self, place: int) -> bool:
        """Tell whether a word is one of a degree and what it says the degree of, said twice: 很想很想."""
        begin = place if self._text(place) in _DEGREES else place - 1
        return self._text(begin) in _DEGREES and self._said_again(begin, begin + 2)

    def _is_spelled(self, place: int) -> bool:
        """Tell whether letters taken back from ``place`` on end before a letter that stays, or "dot"."""
        if self._letters_end <= place:  # else it is within the same run of single letters as the place before
            self._letters_end = place + 1
            while len(self._text(self._letters_end)) == 1 and self._tag(self._letters_end) in IN_REPARANDUM:
                self._letters_end += 1
        behind = self._text(self._letters_end)
        return _is_letter(behind) or behind == "dot"

    def _asks_by_denying(self, place: int) -> bool:
        """Tell whether a word, its denial and the word again ask: 吃没吃, but not 不应该不应该."""
        word, denial, again = (self._text(at) for at in (place, place + 1, place + 2))
        if word.isascii() or word[:1] != again[:1] or word.startswith(denial):
            return False
        rest = again.removeprefix(word if again.startswith(word) else word[:1])
        restarts = self._tag(place + 1) and (rest or self._text(place + 3)).startswith(denial)
        return not (restarts or (self._tag(place - 1) and self._text(place - 1) == denial))

    def _is_tried_or_goes_on(self, place: int) -> bool:
        """Tell whether a word is one of 看了看 or 说着说着: a verb, 了 or 着, and the verb again."""
        link = self._text(place)
        verb = place - 1 if link in ("了", "着") else place
        first, link = self._text(verb), self._text(verb + 1)
        if not first or first.isascii() or link not in ("了", "着"):
            return False
        goes_on = self._text(verb + 3) == link
        if self._text(verb + 2)[:1] != first or goes_on != (link == "着"):
            return False
        return self._text(verb + 4)[:1] in _BEHIND_GOING_ON if goes_on else first in _TRIED

    def _counts_each(self, place: int) -> bool:
        """Tell whether a word said twice counts one after the other (三个三个地)."""
        word, behind = self._text(place), self._text(place + 2)
        return word.endswith("个") and behind in _BEHIND_COUNTED

    @staticmethod
    def _is_doubled(word: str, behind: str, next_one: str) -> bool:
        """Tell whether a Chinese word doubles to mean each, slowly, or on and on: 一次一次, 慢慢慢慢来, 看着看着."""
        if not behind.startswith(word):
            return False
        if len(word) == 1:
            discount = word in _NUMERALS and behind[1:] == "折"
            return discount or (word == "两" and next_one[:1] in _BEHIND_PAIRS)
        if word[0] == "一":
            return word == _STEP or (word[1:] in _EACH and next_one[:1] in _BEHIND_EACH)
        return word in _DOUBLED or (word[1:] == "着" and next_one[:1] in _BEHIND_GOING_ON)

    def _is_lone(self, place: int) -> bool:
        """Tell whether a word taken back is alone: none is beside it, and no cue follows."""
        return not (self._tag(place - 1) in IN_REPARANDUM or self._tag(place + 1))

    def _said_three_times(self, place: int) -> bool:
        """Tell whether a word or a Chinese character is said three times in a row: 快快快, "choo choo choo"."""
        word = self._text(place)
        if not word or (word in _FUNCTION_WORDS or len(word) == 1 if word.isascii() else word[0] not in _URGENT):
            return False
        unit = word if word.isascii() else word[0]

        def again(at: int) -> bool:
            return self._text(at) != "" and self._text(at).replace(unit, "") == ""

        if not again(place):
            return False
        run = self._run
        if run is None or run[0] != unit or not run[1] <= place < run[2]:  # else the place before was in the same run
            first, end = place, place + 1
            while again(first - 1):
                first -= 1
            while again(end):
                end += 1
            run = self._run = unit, first, end, sum(len(self._text(at)) for at in range(first, end))
        _, _, end, length = run
        if self._text(end).startswith(unit) and word.isascii():
            return False  # pieces of a word: "sh sh sh she"
        begins_next = not word.isascii() and self._text(end).startswith(unit)  # 快快 快车 says it three times
        return length + begins_next >= _TIMES * len(unit)

    def _ends_clause(self, place: int, verb: str) -> bool:
        """Tell whether a verb said twice ends one clause and begins another: "whatever you do do it well"."""
        at = place
        while self._text(place - 1) == verb and place != self._verb_at:
            place -= 1
        place = self._verbs_begin if place == self._verb_at else place  # in the same run as the one asked for before
        self._verb_at, self._verbs_begin = at, place
        clause = [self._text(before) for before in range(place - _CLAUSE_WORDS, place)]
        return clause[-1] in _SUBJECTS and not _CLAUSE_OPENERS.isdisjoint(clause[:-1])

    def _keep_editing_terms(self) -> None:
        for begin, end in self._found(_EDITING):
            if self._tag(begin) not in IN_FILLER:
                if self._tag(begin) == OUT and not self._text(begin).isascii():
                    self._keep_subject(begin, end)
                continue
            if not self._follows_reparandum(begin):
                self._keep(begin + (self._text(begin) in _SOUNDS), end)
            elif self._text(end) == "":
                self._keep(self._reparandum(begin), end)
            elif self._text(begin) == "no" and self._text(end) not in _THERE_AGAIN and self._is_there(begin):
                self._keep(begin - 2, end)
            elif self._text(begin - 1) in _SPEAKERS and self._text(end + 1)[:1] in _ALSO:
                self._keep(begin - 1, end)

    def _keep_subject(self, begin: int, end: int) -> None:
        """Keep words taken back right before a Chinese editing term that stays, unless they come again behind it."""
        if "".join(self._text(place) for place in range(begin, end)) in _DENIALS:
            return  # most often they deny what follows
        first = begin
        while self._tag(first - 1) in IN_REPARANDUM:
            first -= 1
        if first < begin and self._text(first)[:1] != self._text(end)[:1]:
            self._keep(first, begin)

    def _is_alone(self, place: int) -> bool:
        """Tell whether no word beside a filler is one."""
        return self._tag(place - 1) not in IN_FILLER and self._tag(place + 1) not in IN_FILLER

    def _reparandum(self, place: int) -> int:
        """Return where the words taken back begin that stand, with fillers behind them, before ``place``."""
        while self._tag(place - 1) in IN_FILLER:
            place -= 1
        while self._tag(place - 1) in IN_REPARANDUM:
            place -= 1
        return place

    def _is_there(self, place: int) -> bool:
        """Tell whether "there is" stands before ``place``."""
        return self._text(place - 1) == "there's" or (
            self._text(place - 2) == "there" and self._text(place - 1) in _VERBS
        )
