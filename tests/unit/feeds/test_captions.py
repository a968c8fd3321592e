"""Captions as words: each word once, in order, with its own time, and nothing that is not spoken."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caesura.worker.errors import FatalError
from caesura.worker.feeds.formats.captions import srt_hypotheses, vtt_hypotheses
from caesura.worker.feeds.hypothesis import Hypothesis

_WORDS = st.lists(
    st.sampled_from(["yes", "no", "so", "we", "go", "on", "and", "off", "here", "then"]), min_size=1, max_size=6
)

Said = list[tuple[str, int, int, str]]


def said(content: str) -> Said:
    """Return each word with its time and its speaker."""
    read = vtt_hypotheses if content.startswith("WEBVTT") else srt_hypotheses
    return [
        (word.text, word.start_ms or 0, word.end_ms or 0, word.speaker)
        for one in read(content.splitlines(keepends=True))
        for word in one.words
    ]


def texts(content: str) -> str:
    return " ".join(text for text, _, _, _ in said(content))


def clock(ms: int, mark: str = ".") -> str:
    return f"{ms // 3_600_000:02}:{ms // 60_000 % 60:02}:{ms // 1000 % 60:02}{mark}{ms % 1000:03}"


def vtt(*cues: tuple[int, int, str]) -> str:
    return "WEBVTT\n\n" + "\n\n".join(f"{clock(begin)} --> {clock(end)}\n{text}" for begin, end, text in cues)


def srt(*cues: tuple[int, int, str]) -> str:
    return "\n\n".join(
        f"{number}\n{clock(begin, ',')} --> {clock(end, ',')}\n{text}"
        for number, (begin, end, text) in enumerate(cues, start=1)
    )


# Which lines are a cue's.


def test_ruby_says_how_characters_sound_and_is_not_spoken_again() -> None:
    assert texts(vtt((0, 1000, "<ruby>漢<rt>kan</rt>字<rt.x>ji</ruby> desu"))) == "漢字 desu"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        pytest.param(
            srt((1000, 2000, "so")).replace("1\n", "#1\n", 1) + "\n#2\n00:02,0 --> 00:03,0\nwe", "so we", id="#"
        ),
        pytest.param("1.\n00:01,0 --> 00:02,0\nso\n\n2.\n00:02,0 --> 00:03,0\nwe", "so we", id="point"),
        pytest.param("1\n00：00：01，000 --> 00：00：02，000\nso we", "so we", id="wide colons"),
        pytest.param(vtt((0, 1000, "<v Ann>Ann: so"), (1000, 2000, "<v Tom>we")), "so we", id="voice said twice"),
        pytest.param(vtt((0, 1000, "JOHN [low]: so"), (1000, 2000, "we")), "so we", id="remark in a label"),
        pytest.param(
            "1\n00:01,0 --> 00:02,0 so we\n\n2\n00:02,0 --> 00:03,0  X1:1 Y1:2\ngo", "so we go", id="one line"
        ),
        pytest.param(srt((0, 1000, "*thunder*"), (1000, 2000, "so *we* go")), "so *we* go", id="a sound in stars"),
        pytest.param(vtt((0, 1000, "so"), (0, 1500, "so"), (1500, 2000, "we")), "so we", id="cue that goes on"),
    ],
)
def test_what_belongs_to_a_cue_and_is_no_speech_is_not_spoken(content: str, expected: str) -> None:
    assert texts(content) == expected


def test_words_of_a_cue_that_ends_before_it_begins_have_its_beginning() -> None:
    assert said("1\n00:02,0 --> 00:01,0\nso")[0][:3] == ("so", 2000, 2000)


def test_webex_names_the_speaker_in_the_cues_name() -> None:
    content = """WEBVTT

1 "Anna Berg" (2384)
00:00:01.000 --> 00:00:02.000
good day

2 "Tom Hill" (99)
00:00:02.000 --> 00:00:03.000
hi
"""
    assert [(text, speaker) for text, _, _, speaker in said(content)] == [
        ("good", "Anna Berg"), ("day", "Anna Berg"), ("hi", "Tom Hill")]  # fmt: skip


def test_a_label_used_once_among_recurring_ones_is_a_label() -> None:
    spoken = said(
        srt((1000, 1900, "小王：你好"), (2000, 2900, "小李：好"), (3000, 3900, "小王：走"), (4000, 4900, "好"))
    )
    assert [speaker for _, _, _, speaker in spoken] == ["小王", "小李", "小王", "小王"]


@pytest.mark.parametrize("head", ["WEBVTT\n\n", "1\n"])
def test_times_may_be_seconds_alone(head: str) -> None:
    content = f"{head}46.28 --> 49.520\nso we\n\n56.440 --> 1:01.080\ngo on"
    assert [(text, begin) for text, begin, _, _ in said(content)] == [
        ("so", 46280), ("we", 47900), ("go", 56440), ("on", 58760)]  # fmt: skip


@given(
    spoken=st.lists(st.lists(_WORDS.map(" ".join) | st.sampled_from(["7", " 12"]), min_size=1), min_size=1, max_size=6),
    gap=st.sampled_from(["\n", "\n\n", "\r\n\r\n"]),
    arrow=st.sampled_from([" --> ", "-->", " -> ", " -- > "]),
    mark=st.sampled_from([",", ".", ":"]),
)
def test_srt_cues_keep_their_lines_whatever_stands_between_them(
    spoken: list[list[str]], gap: str, arrow: str, mark: str
) -> None:
    """A number is spoken but directly before a time line, and empty lines within a cue lose no word."""
    cues = [
        f"{number}\n{clock(1000 * number, mark)}{arrow}{clock(1000 * number + 600, mark)}\n" + "\n\n".join(lines)
        for number, lines in enumerate(spoken, start=1)
    ]
    expected = [
        (word, number) for number, lines in enumerate(spoken, start=1) for line in lines for word in line.split()
    ]
    assert [(word, start // 1000) for word, start, _, _ in said(gap.join(cues))] == expected


@given(spoken=st.lists(st.lists(_WORDS.map(" ".join), min_size=1, max_size=3), min_size=1, max_size=6), data=st.data())
def test_only_an_empty_line_and_a_time_line_end_a_webvtt_cue(spoken: list[list[str]], data: st.DataObject) -> None:
    blocks, expected = [], []
    for number, lines in enumerate(spoken, start=1):
        between = data.draw(st.sampled_from(["\n", "\n \n", "\n\t\n"]))
        after = data.draw(st.sampled_from(["\n", "\n\n", f"\n\nNOTE {number} not spoken\n\n", "\n\ncue name\n"]))
        times = f"{clock(1000 * number)} --> {clock(1000 * number + 600)} align:start"
        blocks.append(f"{times}\n{between.join(lines)}{after}")
        expected += [(word, number) for line in lines for word in line.split()]
    assert [(word, start // 1000) for word, start, _, _ in said("WEBVTT\n\n" + "".join(blocks))] == expected


@pytest.mark.parametrize(
    ("line", "start_ms"),
    [
        ("100:05.250 --> 101:00.000", 6_005_250),
        ("0:01:02,5 --> 0:01:03", 62_500),
        ("00: 00: 01, 000 -> 00: 00: 03,000", 1000),
        ("00:00:01:500 --> 00:00:03:000", 1500),
        ("00:00:01.5000000 --> 00:00:02.0000000 X1:40 X2:600", 1500),
        ("-00:00:01,000 --> 00:00:02,000", 0),
        ("00:00:-1,-500 --> -00:00:00,100", 0),
    ],
)
def test_a_time_line_is_read_as_people_write_it(line: str, start_ms: int) -> None:
    assert said(f"1\n{line}\nyes")[0][:2] == ("yes", start_ms)


@pytest.mark.parametrize(
    "content",
    [
        "1\n00:00:01,000 --> 12\nsecret",
        "WEBVTT\n\n00:99 --> 1\nsecret",
        "1\n00:00:01;000 --> 00:00:02;000\nsecret",
        "1\n00:00:O1,000 --> 00:00:02,000\nsecret",
        "1\n00:00:01,000 -->\nsecret",
        "1\n--> 00:00:02,000\nsecret",
        "WEBVTT\n\n00:00:01.x --> 00:00:02.000\nsecret",
    ],
)
def test_a_cue_whose_time_cannot_be_read_is_named_by_its_line(content: str) -> None:
    line = content.splitlines().index(next(one for one in content.splitlines() if "-->" in one)) + 1
    with pytest.raises(FatalError, match=f"line {line} is the time line of a cue") as refused:
        said(content)
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize("between", [" ", " - ", ",", " – "])
@pytest.mark.parametrize("cue", [1, 2])
def test_two_times_without_an_arrow_are_a_mistyped_time_line(between: str, cue: int) -> None:
    start = "00:00:01,000" if cue == 1 else "00:00:03,000"
    with pytest.raises(FatalError, match=f"line {4 * cue - 2} is the time line of a cue"):
        said(srt((1000, 2000, "yes"), (3000, 4000, "no")).replace(f"{start} --> ", f"{start}{between}"))


def test_lines_that_end_in_a_carriage_return_alone_are_lines() -> None:
    assert texts(vtt((1000, 2000, "yes"), (3000, 4000, "no\nso")).replace("\n", "\r")) == "yes no so"


def test_cue_numbers_go_where_every_line_is_followed_by_an_empty_one() -> None:
    content = srt((1000, 2000, "good morning\nall"), (3000, 4000, "12"), (5000, 6000, "yes"))
    assert texts(content.replace("\n\n", "\n").replace("\n", "\r\n\r\n")) == "good morning all 12 yes"


@pytest.mark.parametrize("setting", ["align;start", "region=fred", "line,0"])
def test_a_mistyped_setting_beside_the_times_is_not_spoken(setting: str) -> None:
    assert texts(f"WEBVTT\n\n00:01.000 --> 00:02.000 {setting}\nyes") == "yes"
    assert texts("1\n00:00:01,000 --> 00:00:02,000 line one\nyes") == "line one yes"


@pytest.mark.parametrize("rest", ["3\n00:", "3\n00:00:05,0", "3\n00:00:05,000 -\n"])
def test_a_file_that_breaks_off_in_a_time_line_says_no_number(rest: str) -> None:
    content = srt((1000, 2000, "good morning"), (3000, 4000, "2 or"))
    assert texts(f"{content.rstrip()}\n\n{rest}") == "good morning 2 or"
    assert texts(f"{content.rstrip()}\n{rest}").startswith("good morning 2 or 3")


def test_an_arrow_in_spoken_text_is_no_time_line() -> None:
    assert texts(srt((1000, 2000, "from here --> there"), (3000, 4000, "10 -> 20"))) == "from here there 10 20"


# What a cue says.


@pytest.mark.parametrize(
    ("text", "spoken"),
    [
        ("[door\nslams] come in", "come in"),
        ("(he laughs\nand coughs)\ncome in", "come in"),
        ("♪ we go\nwe go on ♪\ncome in", "come in"),
        ("♪ we go\n♪ we go on", ""),
        ("[uh] come [UM] in", "uh come UM in"),
        ("f(x) and g (or h) of x", "f(x) and g of x"),
        ("you (and the rest of us) go (and he laughs)", "you (and the rest of us) go"),
        ("it (that's a big one) and (you're all laughing) fell", "it (that's a big one) and fell"),
        ("come *coughs* in", "come in"),
        ("do *come* in", "do *come* in"),
        ("*upbeat music*", ""),
        ("【音乐】", ""),
        ("{laughs} come {um} in ｛笑声｝", "come um in"),
        ("〖门铃〗 [äh] 你好", "äh 你好"),
        ("\\frac{1} of it", "\\frac{1} of it"),
        ("a set {1, 2} of two", "a set {1, 2} of two"),
        ("*seufzt* come in", "come in"),
        ("（小王）你好", "你好"),
        ("这个数（大约十）很大", "这个数（大约十）很大"),
        ("it is -10 or\n- ten", "it is -10 or ten"),
        ("come [in", "come [in"),
        ("a &lt; b &amp; c", "a b c"),
        ("a < b and c > d", "a b and c d"),
        ("&lt;i&gt;come&lt;/i&gt; in.&lt;br&gt;yes", "come in. yes"),
        ("%&lt;yh come in %&gt;m", "%<yh come in %>m"),
        (r"come\Nin", "come in"),
        (r"{\an7}\h\hcome,\hin", "come, in"),
        ("{b}come{/b} {i}in{/i}", "come in"),
        ("* sombre Musik *", ""),
        ("come * in * here", "come in here"),
        ("\u202bבוא\u202c פנימה\u200f", "בוא פנימה"),
    ],
)
def test_sounds_and_remarks_are_looked_for_in_the_whole_cue(text: str, spoken: str) -> None:
    assert texts(srt((1000, 2000, text))) == spoken


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("SPEAKER_00: ", "SPEAKER_00"),
        ("[SPEAKER_00]: ", "SPEAKER_00"),
        ("[Speaker 1] ", "Speaker 1"),
        ("SPEAKER_00 ", "SPEAKER_00"),
        ("SPEAKER_00:", "SPEAKER_00"),
        ("SPEAKER_00 - ", "SPEAKER_00"),
        ("{SPEAKER_00} ", "SPEAKER_00"),
        ("Speaker 1:", "Speaker 1"),
        ("Speaker 1: ", "Speaker 1"),
        ("Speaker A:\n", "Speaker A"),
        ("MAN 2: ", "MAN 2"),
        (">> ANNA: ", "ANNA"),
        ("- Anna Berg: ", "Anna Berg"),
        ("Anna Berg (Host): ", "Anna Berg"),
        ("Agent: ", "Agent"),
        ("Dr. van der Berg:\n", "Dr. van der Berg"),
        ("小王：", "小王"),
        ("話者A：", "話者A"),
        ("发言人 1：", "发言人 1"),
        ("发言人1 ", "发言人1"),
        ("Anna :", "Anna"),
        ("“Anna”: ", "Anna"),
        ("> Anna: ", "Anna"),
        ("&lt;SPEAKER_00&gt; ", "SPEAKER_00"),
        ("<SPEAKER_00> ", "SPEAKER_00"),
        ("<v Anna Berg>", "Anna Berg"),
    ],
)
def test_a_label_that_recurs_names_the_speaker_and_is_not_spoken(label: str, name: str) -> None:
    content = vtt((1000, 2000, f"{label}come in"), (3000, 4000, "- who: is it"), (5000, 6000, f"{label}me"))
    assert [(word, speaker) for word, _, _, speaker in said(content)] == [
        ("come", name),
        ("in", name),
        ("who:", ""),
        ("is", ""),
        ("it", ""),
        ("me", name),
    ]


@pytest.mark.parametrize("gap", [" ", "\n"])
def test_names_at_every_cue_need_not_recur(gap: str) -> None:
    content = vtt((1000, 2000, f"Anna Berg:{gap}come in"), (3000, 4000, f"Tom:{gap}yes"))
    assert [(word, speaker) for word, _, _, speaker in said(content)] == [
        ("come", "Anna Berg"),
        ("in", "Anna Berg"),
        ("yes", "Tom"),
    ]


@pytest.mark.parametrize(
    "form", ["[{}] {}", "({}) {}", "{{{}}} {}", "【{}】{}", "{}\n{}", "{}: {}", "{} – {}", "{}—{}", "{} | {}"]
)
@pytest.mark.parametrize("names", [("ANNA", "TOM"), ("Anna Berg", "Tom")])
def test_names_that_recur_name_the_speakers_without_a_colon(form: str, names: tuple[str, str]) -> None:
    turns = [(names[0], "come"), (names[1], "yes"), (names[0], "then go")]
    content = srt(
        *((at * 2000, at * 2000 + 1000, form.format(name, words)) for at, (name, words) in enumerate(turns, 1))
    )
    expected = [(word, name) for name, words in turns for word in words.split()]
    assert [(word, speaker) for word, _, _, speaker in said(content)] == expected


@pytest.mark.parametrize(
    ("cues", "spoken"),
    [
        (["so [door", "slams shut] we left"], "so we left"),
        (["[Music] so", "[Music] we", "[Laughs] left"], "so we left"),
        (["Yes\nI think so", "Yes\nwe left", "No\nnot now"], "Yes I think so Yes we left No not now"),
        (["so [door we", "and [music] then"], "so [door we and then"),
        (["♪ we go", "we go on ♪", "then stop"], "then stop"),
        (["♪", "then stop", "♪♪"], "then stop"),
        (["♪ we go", "then stop", "so ♪ la ♪ yes"], "then stop so yes"),
        (["# we go on #", "we are #1 in C#"], "we are #1 in C#"),
        (["# we go\nwe go on #", "then stop"], "then stop"),
        (["# we go", "we go on #", "then stop"], "then stop"),
        (["# we go on", "then stop", "so # yes"], "we go on then stop so yes"),
    ],
)
def test_sounds_and_songs_go_over_cues_and_no_word_is_lost(cues: Sequence[str], spoken: str) -> None:
    assert texts(srt(*((at * 2000, at * 2000 + 1000, text) for at, text in enumerate(cues, 1)))) == spoken


@pytest.mark.parametrize(
    "cues",
    [
        ["[Thunder]", "so", "[Thunder]", "[Rain]", "we go", "[Rain]"],
        ["[Spanish] so", "[English] we", "[Spanish] go"],
        ["[Spanish]\nso", "[English]\nwe", "[Spanish]\ngo"],
        ["(In Spanish) so", "(In English) we", "(In Spanish) go"],
        ["[Door Slams] so", "[Phone Rings] we", "[Door Slams] go"],
        ["[Speaking Spanish] so", "[Wind Howling] we", "[Wind Howling] go"],
    ],
)
def test_remarks_that_recur_are_neither_speakers_nor_spoken(cues: Sequence[str]) -> None:
    content = srt(*((at * 2000, at * 2000 + 1000, text) for at, text in enumerate(cues, 1)))
    assert {speaker for _, _, _, speaker in said(content)} == {""}
    assert texts(content) == "so we go"


@pytest.mark.parametrize(
    "names",
    [
        ("Berg, Anna", "Hill, Tom"),
        ("anna@example.org", "tom.hill@example.org"),
        ("Anna’s iPhone", "+1 555-0100"),
        ("Sales & Ops", "Anna Berg 🌸"),
        ("עדה בן־דוד", "דנה"),
        ("अनीता", "राजेश कुमार"),
    ],
)
def test_what_participants_are_called_is_a_label_where_it_recurs(names: tuple[str, str]) -> None:
    cues = [(1000 * at, 1000 * at + 900, f"{names[at % 2]}: go on") for at in range(4)]
    assert [(word, speaker) for word, _, _, speaker in said(vtt(*cues))] == [
        (word, names[at % 2]) for at in range(4) for word in ("go", "on")
    ]


def test_a_name_with_signs_that_direction_characters_enclose_is_one_name() -> None:
    cues = [(1000 * at, 1000 * at + 900, f"\u202bדנה: כן {at}\u202c") for at in range(3)]
    assert [speaker for _, _, _, speaker in said(vtt(*cues))] == ["דנה"] * 6


@pytest.mark.parametrize("lines", [("THE QUESTION IS: WHAT NOW?", "I SEE."), ("I TOLD HIM: GO.", ">> YES.", ">> NO.")])
def test_in_captions_all_in_capitals_words_before_a_colon_are_spoken(lines: Sequence[str]) -> None:
    cues = [(1000 * at, 1000 * at + 900, line) for at, line in enumerate(lines)]
    assert texts(srt(*cues)) == " ".join(lines).replace(">> ", "")


@pytest.mark.parametrize("says", ["他说", "我问", "彼は言った", "قال"])
def test_who_said_it_is_spoken_in_a_script_without_capitals(says: str) -> None:
    cues = [(1000 * at, 1000 * at + 900, f"{says}：go on") for at in range(4)]
    assert texts(vtt(*cues)).count(says) == 4


def test_words_before_a_colon_that_come_once_are_spoken() -> None:
    assert texts(srt((1000, 2000, "He said: go"), (3000, 4000, "Then: stop"))) == "He said: go Then: stop"


# Each word once.


@given(lines=st.lists(_WORDS, min_size=3, max_size=12), height=st.integers(2, 4), stamped=st.booleans())
def test_captions_that_roll_up_say_each_word_once(lines: list[list[str]], height: int, *, stamped: bool) -> None:
    """Each cue shows the lines before its own, as YouTube writes them: with a cue of 10 ms between."""
    cues, at = [], 0
    for number, line in enumerate(lines):
        above = [" ".join(one) for one in lines[max(0, number - height + 1) : number]]
        stamps = [f"<{clock(at + 100 * place)}><c> {word}</c>" for place, word in enumerate(line[1:], start=1)]
        own = line[0] + "".join(stamps) if stamped else " ".join(line)
        left = [*above, " ".join(line)][-height + 1 :]  # what stays when the next line comes
        cues += [(at, at + 990, "\n".join([*above, own])), (at + 990, at + 1000, "\n".join(left))]
        at += 1000
    expected = [(word, number) for number, line in enumerate(lines) for word in line]
    assert [(word, start // 1000) for word, start, _, _ in said(vtt(*cues))] == expected
    if not stamped:
        assert [(word, start // 1000) for word, start, _, _ in said(srt(*cues))] == expected


@given(lines=st.lists(_WORDS.filter(lambda words: len(words) > 1), min_size=2, max_size=8))
def test_captions_that_mark_the_word_spoken_say_each_word_once_at_its_mark(lines: Sequence[list[str]]) -> None:
    cues, expected, at = [], [], 0
    for line in lines:
        for place, word in enumerate(line):
            marked = [f"<u>{one}</u>" if number == place else one for number, one in enumerate(line)]
            cues.append((at, at + 300, " ".join(marked)))
            cues.append((at + 300, at + 400, " ".join(line)))
            expected.append((word, at))
            at += 400
        at += 5000
    assert [(word, start) for word, start, _, _ in said(srt(*cues))] == expected


@given(lines=st.lists(_WORDS, min_size=2, max_size=8), cut=st.integers(1, 7))
def test_cues_that_come_again_at_joints_say_each_word_once(lines: list[list[str]], cut: int) -> None:
    cues = [(1000 * number, 1000 * number + 600, " ".join(line)) for number, line in enumerate(lines)]
    cut = min(cut, len(cues) - 1)
    content = vtt(*cues[: cut + 1]) + "\n\n" + vtt(*cues[cut:])
    assert [(word, start // 1000) for word, start, _, _ in said(content)] == [
        (word, number) for number, line in enumerate(lines) for word in line
    ]


def test_segments_of_a_stream_keep_their_place_in_it() -> None:
    def segment(ticks: int, text: str) -> str:
        return vtt((1000, 2000, text)).replace("WEBVTT", f"WEBVTT\nX-TIMESTAMP-MAP=MPEGTS:{ticks},LOCAL:00:00:00.000")

    content = segment(900_000, "yes") + "\n" + segment(1_800_000, "no")
    assert [(word, start) for word, start, _, _ in said(content)] == [("yes", 1000), ("no", 11_000)]


def test_words_that_are_said_twice_in_ordinary_captions_are_kept() -> None:
    assert texts(srt((0, 1000, "yes"), (1000, 2000, "yes"), (2000, 3000, "no"), (5000, 6000, "no"))) == "yes yes no no"


@pytest.mark.parametrize(
    ("content", "spoken"),
    [
        (vtt((0, 1000, "Yes."), (1000, 2000, "Yes."), (2000, 3000, "I<00:00:02.500> do")), "Yes. Yes. I do"),
        (
            srt(
                (0, 300, "so"),
                (300, 600, "very"),
                (600, 900, "very"),
                (900, 910, "very"),
                *((300 * at, 300 * at + 300, word) for at, word in enumerate(("late", "we", "go"), start=4)),
            ),
            "so very very very late we go",
        ),
        (srt((200, 200, "no"), (200, 600, "no"), (600, 900, "so")), "no no so"),
    ],
    ids=["stamped words", "a word a cue", "a cue without length"],
)
def test_words_that_are_said_again_in_captions_that_do_not_roll_are_kept(content: str, spoken: str) -> None:
    assert texts(content) == spoken


@given(lines=st.lists(_WORDS.filter(lambda words: len(words) > 1), min_size=4, max_size=12))
def test_captions_that_roll_up_in_one_line_say_each_word_once(lines: list[list[str]]) -> None:
    """Each cue repeats what the one before it added, as players' converters join lines that roll up."""
    before = [[], *lines]
    cues = [(1000 * at, 1000 * at + 1000, " ".join([*before[at], *line])) for at, line in enumerate(lines)]
    expected = [(word, number) for number, line in enumerate(lines) for word in line]
    assert [(word, start // 1000) for word, start, _, _ in said(srt(*cues))] == expected


def test_captions_that_roll_up_in_one_line_from_their_first_cue_on_say_each_word_once() -> None:
    shown = ["we go on", "go on and then", "and then so it", "so it is off", "is off"]
    assert texts(srt(*((at, at + 1000, line) for at, line in zip(range(0, 9000, 1000), shown, strict=False)))) == (
        "we go on and then so it is off is off"
    )


def test_a_chant_in_captions_of_one_line_is_kept() -> None:
    shown = ["la la la", "la la la", "so la la", "la la so", "la la la"]
    content = srt(*((at, at + 1000, line) for at, line in zip(range(0, 9000, 1000), shown, strict=False)))
    assert texts(content) == " ".join(shown)


def test_a_line_that_rolls_up_and_is_said_again_is_kept() -> None:
    lines = ["so", "yes", "yes", "yes", "no"]
    cues = [(1000 * at, 1000 * at + 1000, "\n".join(lines[max(0, at - 1) : at + 1])) for at in range(len(lines))]
    assert texts(srt(*cues)) == "so yes yes yes no"


def test_a_line_that_grows_says_each_word_once() -> None:
    assert (
        texts(srt((0, 300, "so"), (300, 600, "so we"), (600, 900, "so we go"), (900, 1200, "home"))) == "so we go home"
    )


def test_a_style_that_has_an_arrow_of_its_own_begins_no_cue() -> None:
    assert texts("WEBVTT\n\nSTYLE\n00:01.000 -- > 00:02.000\nnot spoken\n\n00:01.000 --> 00:02.000\nyes") == "yes"


_PIECES = (
    "WEBVTT|\n|\n\n|1| |00:00:01.000|00:00:02,5| --> |->|<v Anna>|</v>|<u>|<c>|</u>|<00:00:01.500>|[|]|(|♪|yes|no|"
    "Anna: |- |NOTE|&amp;|\ufeff|X-TIMESTAMP-MAP=|{\\an8}"
)


@given(
    pieces=st.lists(st.sampled_from(_PIECES.split("|")), max_size=40),
    grammar=st.sampled_from([srt_hypotheses, vtt_hypotheses]),
)
def test_any_text_is_read_or_refused(
    pieces: list[str], grammar: Callable[[Iterable[str]], Iterator[Hypothesis]]
) -> None:
    with contextlib.suppress(FatalError):
        for one in grammar("".join(pieces).splitlines(keepends=True)):
            for word in one.words:
                assert word.text
                assert (word.start_ms is None) == (word.end_ms is None)


@pytest.mark.parametrize(
    "lines",
    [
        ("Absolutely\nwe can do that", "Indeed\nit was late", "Absolutely\nno doubt", "Indeed\nhe left"),
        ("flour: two cups", "sugar: one cup", "flour: three cups", "sugar: two cups"),
        ("look (see point", "1) and then two", "look (see point", "1) and then two"),
        ("So: we go", "Now: listen", "So: he left", "Now: go on"),
        ("Step 1: cut it", "Step 2: bind it", "Step 1: again", "Option B: leave it"),
    ],
)
def test_what_recurs_at_the_beginning_of_lines_may_be_speech(lines: Sequence[str]) -> None:
    cues = "".join(f"\n00:{at:02}.000 --> 00:{at + 1:02}.000\n{line}\n" for at, line in enumerate(lines))
    assert texts(f"WEBVTT\n{cues}") == " ".join(" ".join(lines).split())


def test_names_in_wide_brackets_are_speakers_and_sounds_are_not() -> None:
    content = srt(
        (0, 1000, "【小明】你好"),
        (1000, 2000, "（小红）好的"),
        (2000, 3000, "【小明】再见"),
        (3000, 4000, "（小红）好"),
    )
    assert [(word, name) for word, _, _, name in said(content)] == [
        ("你好", "小明"),
        ("好的", "小红"),
        ("再见", "小明"),
        ("好", "小红"),
    ]
    content = srt(
        (0, 1000, "【音乐】你好"),
        (1000, 2000, "（掌声）好的"),
        (2000, 3000, "【音乐】再见"),
        (3000, 4000, "（掌声）好"),
    )
    assert {name for _, _, _, name in said(content)} == {""}


def test_users_names_in_small_letters_are_speakers_where_they_recur() -> None:
    lines = ("tom87: hi there", "ann_k: hello", "tom87: well then", "ann_k: fine")
    cues = "".join(f"\n00:{at:02}.000 --> 00:{at + 1:02}.000\n{line}\n" for at, line in enumerate(lines))
    assert [speaker for _, _, _, speaker in said(f"WEBVTT\n{cues}")] == [
        "tom87",
        "tom87",
        "ann_k",
        "tom87",
        "tom87",
        "ann_k",
    ]
