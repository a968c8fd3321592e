"""What of a written text is speech: sounds, notes and remarks in brackets are not, wherever they begin and end.

A text is a whole cue or segment, so that brackets may go over its lines and over its timed words. What is no speech is
replaced by spaces, one for one, so that places in the text stay.

- ``[…]``, ``{…}``, ``【…】``, ``♪…♪``, ``<…>`` and ``!SIL`` are no speech; ``[UH]`` and ``(um)`` are fillers and are
  spoken, as is ``[unk]``: something was said.
- ``(…)`` is none, unless it touches a word: ``f(x)``, ``price(s)``, ``(re)open``, or is a formula or an aside within a
  sentence, ``(1 - p)``, ``(and so are you)``. Round brackets within a sentence of
  characters without spaces touch what stands beside them; at a line's beginning or as a whole line they do not count.
- ``# … #`` around whole lines is sung, as ``♪ … ♪``.
- A bracket, and a song, may go on in the next cues: ``CUE_END`` stands between cues.
- ``*…*`` is a sound where it stands alone or names one (``*coughs*``), and ``* … *`` as a whole line; else it is an
  emphasis and is spoken.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from caesura.worker.feeds.hypothesis import HeardWord
from caesura.worker.feeds.written_words import unmarked

CUE_END = "\f\n"
_LONGEST = 300
_MOST_BORDERS = 2
_BRACKETS = dict(zip("[({【（［〔｛〖<*", "])}】）］〕｝〗>*", strict=True))
_OPENING = re.compile(r"[\[({【（［〔｛〖<*♪♫♬🎵🎶]|!SIL\b|^#(?=\s)", re.MULTILINE)
_CLOSED = ">])}.,?!…。？！\"'“”"
_NOTES = "♪♫♬🎵🎶"
_SUNG = re.compile(r"#[^#]{1,300}\s#[^\S\n]*$", re.MULTILINE)
_NOTE = re.compile(rf"[{_NOTES}]")
_ITEM = re.compile(r"\n\s{0,3}\w{1,2}\Z")
_NOTE_RUN = re.compile(rf"[{_NOTES}]+")
_NOT_NOTE = re.compile(rf"[^{_NOTES}\s]|$")
_FILLER = re.compile(
    r"(?:u+h+|u+m+|u+hm+|e+r+|e+rm+|h+m+|m+h*m+|m+|a+h+|o+h+|e+h+|uh[- ]?huh|m+[- ]?h+m+|uh[- ]uh|"
    r"[äaeö]+h+m*|e+u+h+|e+hm+|嗯+|呃+|额+|啊+|음+|어+|えー+|えっと)",
    re.IGNORECASE,
)
_SOUND = re.compile(
    r"(?:laugh|chuckl|giggl|cough|sigh|breath|inhal|exhal|gasp|sniff|snor|clear|music|applau|clap|cheer|cry|sob|groan|"
    r"musik|aplaus|lach|seufz|hust|räusper|klatsch|gelächter|rires|risas|música|moan|grunt|scream|whisper|yawn|sneez|whistl|hum|sing|nois|silence|beep|ring|click|knock|bark|static|crowd|pause)",
    re.IGNORECASE,
)
_WIDE_SOUND = re.compile(r"[声聲音乐樂笑哭掌歌叹嘆咳铃鈴拍]")
_FORMULA = re.compile(r"[^:：]*[\d+=/*^][^:：]*")
_ASIDE = re.compile(
    r"(?:(?:and|or|but|which|because|if|i|we|you)(?:['’]\w{1,3})?|(?:it|that|there|he|she|they|what|who)['’]\w{1,2})\s+\S+\s+\S",
    re.IGNORECASE,
)  # a sound is not described so
_TWO_LETTERS = re.compile(r"[^\W\d_]{2}")
_SENTENCE_ENDS = ".?!…。？！\n"


def spoken_text(text: str) -> str:
    """Return a text of the same length in which what is no speech is spaces; linear in its length."""
    kept = list(text)
    for begin, end in _unspoken(text):
        kept[begin:end] = [" "] * (end - begin)
    return "".join(kept)


def is_sound_or_filler(text: str) -> bool:
    """Tell whether what stands in brackets is a filler, or has a word for a sound in it."""
    sounds = any(map(_SOUND.match, text.split())) or _WIDE_SOUND.search(text) is not None
    return sounds or _FILLER.fullmatch(text) is not None


def spoken_pieces(pieces: Sequence[str]) -> list[str]:
    """Return what of each piece is speech; the pieces follow one another as they stand."""
    whole = spoken_text("".join(pieces))
    told, at = [], 0
    for piece in pieces:
        told.append(whole[at : at + len(piece)])
        at += len(piece)
    return told


def spoken_cues(cues: Sequence[str]) -> list[str]:
    """Return what of each cue or segment is speech; a bracket or a song may go on in the next ones."""
    spoken = spoken_pieces([f"{cue}{CUE_END}" for cue in cues])
    return [piece[: len(cue)] for cue, piece in zip(cues, spoken, strict=True)]


def spoken_words(words: Sequence[HeardWord]) -> tuple[HeardWord, ...]:
    """Return the words without those that are sounds or remarks, each between spaces."""
    pieces = spoken_pieces([f" {word.text}" for word in words])
    heard = zip(words, pieces, strict=True)
    return tuple(
        word if piece == f" {word.text}" else replace(word, text=piece.strip())
        for word, piece in heard
        if piece.strip()
    )


def _unspoken(text: str) -> Iterator[tuple[int, int]]:
    """Yield the places that are no speech, in order."""
    at = 0
    closing = _Closing(text)
    while (opening := _OPENING.search(text, at)) is not None:
        begin, sign = opening.start(), opening[0]
        at = begin + 1
        if sign == "!SIL":
            at = opening.end()
            yield begin, at
        elif sign == "#":
            sung = _SUNG.match(text, begin)
            if sung is not None and sung[0].count("\f") <= _MOST_BORDERS:
                at = sung.end()
                yield begin, at
        elif sign in _NOTES:
            at = _song_end(text, begin, closing)
            yield begin, at
        else:
            close = closing.after(begin, _BRACKETS[sign])
            if close is None or not _within(text, begin, close, sign):
                continue
            close = _outer_close(text, begin, close, sign)
            inside = text[begin + 1 : close]
            if _FILLER.fullmatch(inside.strip(" \n.,…-")):
                yield begin, begin + 1
                yield close, close + 1
                at = close + 1
            elif inside != "unk" and not _is_speech(text, begin, close, sign):
                at = close + 1
                yield begin, at


class _Closing:
    """Finds the bracket that closes another; each place of the text is looked at once for each kind."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._found: dict[str, int] = {}

    def after(self, begin: int, sign: str) -> int | None:
        """Return where the bracket that opens at ``begin`` is closed; None where it is not, or too far away."""
        at = self._found.get(sign, 0)
        if 0 <= at <= begin:
            at = self._found[sign] = self._text.find(sign, begin + 1)
        return at if 0 <= at <= begin + _LONGEST else None

    def note_after(self, begin: int) -> int | None:
        """Return where the next note stands."""
        at = self._found.get("♪", 0)
        if 0 <= at <= begin:
            found = _NOTE.search(self._text, begin + 1)
            at = self._found["♪"] = -1 if found is None else found.start()
        return at if at >= 0 else None


def _within(text: str, begin: int, close: int, sign: str) -> bool:
    """Tell whether a bracket ends in its cue, or in one of the next without another that opens in between."""
    borders = text.count("\f", begin, close)
    if borders and (text[max(begin - 1, 0) : begin].strip() or _ITEM.search(text, begin, close) is not None):
        return False  # ``:(`` opens no bracket, and ``2)`` at a line's beginning closes none
    return not borders or (sign not in "*<" and borders <= _MOST_BORDERS and sign not in text[begin + 1 : close])


def _outer_close(text: str, begin: int, close: int, sign: str) -> int:
    """Return where a bracket with others of its kind inside is closed; its first closing one if they do not match."""
    depth = 0
    if sign != "*" and sign in text[begin + 1 : close]:
        for at in range(begin, min(len(text), begin + _LONGEST)):
            depth += (text[at] == sign) - (text[at] == _BRACKETS[sign])
            if not depth:
                return at
    return close


def _song_end(text: str, begin: int, closing: _Closing) -> int:
    """Return where what is sung ends: at the next notes, at the line's end, or with the note that stands alone."""
    first = _NOT_NOTE.search(text, begin)
    if first is None or not first[0]:
        return len(text)
    if "\f" in text[begin : first.start()]:
        return first.start()  # music, and nothing sung: the note is a cue of its own
    close = closing.note_after(first.start())
    if close is not None and close <= begin + _LONGEST and not _is_line(text, close) and _is_sung(text, begin, close):
        run = _NOTE_RUN.match(text, close)
        return close + 1 if run is None else run.end()
    if not _is_line(text, begin):
        return begin + 1
    end = text.find("\n", first.start())
    end = len(text) if end < 0 else end
    return end if end <= begin + _LONGEST else begin + 1  # a whole recording may stand on a line


def _is_sung(text: str, begin: int, close: int) -> bool:
    """Tell whether notes are around one song: in one cue, or from a line's beginning to another's end in later cues."""
    if "\f" not in text[begin:close]:
        return True
    return _is_line(text, begin) and not _rest_of_line(text, close).strip(f"{_NOTES} \f")


def _is_speech(text: str, begin: int, close: int, sign: str) -> bool:
    """Tell whether what stands between a bracket at ``begin`` and its end is spoken like the words around it."""
    inside = text[begin + 1 : close]
    before, after = text[begin - 1 : begin], text[close + 1 : close + 2]
    match sign:
        case "[" | "{":
            return before.isalnum() or (sign == "{" and _is_formula(text, begin, inside))
        case "<":
            touches = bool(before.strip()) and before not in _CLOSED and inside[:1] != "/"
            return not inside or inside[0].isspace() or touches
        case "*":
            return _is_emphasis(text, begin, inside, before, after)
        case "(" | "（":
            if any(char >= "\u3040" for char in inside) and _is_line(text, begin):
                return False  # a speaker's name, as Chinese and Japanese captions begin with one
            spoken = before.isalnum() or _is_formula(text, begin, inside) or _is_aside(text, begin, inside)
            return spoken or (after.isalnum() and not any(map(str.isspace, inside)))
        case _:
            return bool(before.strip())


def _is_formula(text: str, begin: int, inside: str) -> bool:
    """Tell whether brackets within a sentence hold a formula."""
    return bool(_FORMULA.fullmatch(inside)) and not _TWO_LETTERS.search(inside) and not _is_line(text, begin)


def _is_aside(text: str, begin: int, inside: str) -> bool:
    """Tell whether brackets within a sentence hold words that are said."""
    sounds = any(map(_SOUND.match, inside.split()))
    return _ASIDE.match(inside) is not None and not sounds and not _is_line(text, begin)


def _is_line(text: str, begin: int) -> bool:
    """Tell whether a place is a line's beginning."""
    return not text[max(0, begin - _LONGEST) : begin].rpartition("\n")[2].strip()


def _rest_of_line(text: str, at: int) -> str:
    """Return what stands from a place to its line's end."""
    return text[at : at + _LONGEST].partition("\n")[0]


def _is_emphasis(text: str, begin: int, inside: str, before: str, after: str) -> bool:
    """Tell whether stars are around words that are said, or are no pair at all."""
    end = begin + len(inside) + 2
    if inside.strip() and inside[0].isspace() and inside[-1].isspace():
        return not _is_line(text, begin) or bool(_rest_of_line(text, end).strip(" \f"))
    if not inside or inside[0].isspace() or inside[-1].isspace() or before.isalnum() or after.isalnum():
        return True
    if any(_SOUND.match(unmarked(word)) for word in inside.split()):
        return False
    left, right = text[max(0, begin - 9) : begin].rstrip(" ")[-1:], text[end : end + 9].lstrip(" ")[:1]
    alone = left in ("", *_SENTENCE_ENDS) and right in ("", "\n", "\f")
    return not alone and not (left in ("", *_SENTENCE_ENDS) and " " in inside)
