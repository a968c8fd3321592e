"""What a model's labels may not do to German, Spanish and French numbers and editing terms, as the words go out."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from caesura.models.data.frame_notation import bare, word_tags
from caesura.models.decoding.labelling_runs import published_words
from caesura.schemas.labels import Disfluency, Punctuation
from caesura.worker.adapters.memory.engine import ScriptedEngine
from caesura.worker.core.decoding.european_guard import guard_european_tags, keep_european_numbers_whole

COMMA, PERIOD = Punctuation.COMMA.value, Punctuation.PERIOD.value


def kept(line: str, language: str, *, start: int = 0) -> str:
    """Return the words of a line that stay, its brackets being what a model says."""
    words, tags = bare(line).split(), bytearray(word_tags(line))
    guard_european_tags(words, tags, start, len(words), language)
    return " ".join(word for word, tag in zip(words, tags, strict=True) if tag == Disfluency.O)


@pytest.mark.parametrize(
    ("language", "line", "left"),
    [
        ("de", "das macht [sieben] hundert zwanzig", "das macht sieben hundert zwanzig"),
        ("de", "es waren [drei] vier leute", "es waren drei vier leute"),
        ("de", "es waren [drei] {nein} vier leute", "es waren vier leute"),
        ("de", "es waren [drei leute] {äh} vier leute", "es waren vier leute"),
        ("de", "es waren [dreissig] dreissig leute", "es waren dreissig leute"),
        ("de", "die nummer ist [fünf] fünf zwei", "die nummer ist fünf fünf zwei"),
        ("de", "[ich war] wir waren da", "wir waren da"),
        ("de", "das {nein} ist gut", "das nein ist gut"),
        ("de", "es ist [sehr] sehr kalt", "es ist sehr sehr kalt"),
        ("de", "es war [die] die beste", "es war die beste"),
        ("es", "[ya] ya voy", "ya ya voy"),
        ("es", "[no es] no es mucho", "no es mucho"),
        ("fr", "c'est [très très] très loin", "c'est très très très loin"),
        ("de", "[das ist] {ich meine} es war gut", "es war gut"),
        ("es", "[tres de] octubre de mil novecientos", "tres de octubre de mil novecientos"),
        ("es", "son [treinta] y dos", "son treinta y dos"),
        ("es", "son [treinta] {no perdón} cuarenta", "son cuarenta"),
        ("es", "bueno {no} voy", "bueno no voy"),
        ("fr", "quatre [vingt] dix euros", "quatre vingt dix euros"),
        ("fr", "c'est [lundi] {je veux dire} mardi", "c'est mardi"),
        ("fr", "c'est {enfin} mardi", "c'est enfin mardi"),
    ],
)
def test_numbers_and_editing_terms_stay_unless_something_is_corrected(language: str, line: str, left: str) -> None:
    assert kept(line, language) == left


def test_a_number_whose_beginning_is_frozen_stays_whole() -> None:
    assert kept("sieben {hundert} {zwanzig} euro", "de", start=1) == "sieben hundert zwanzig euro"


@pytest.mark.parametrize(
    ("language", "line", "after", "mark", "left"),
    [
        ("de", "am dritten mai zweitausendzwei", 2, PERIOD, 0),
        ("es", "treinta y dos", 0, COMMA, 0),
        ("fr", "quatre vingt dix", 1, COMMA, 0),
        ("fr", "zéro six douze vingt", 1, COMMA, 0),
        ("de", "ja drei leute kommen", 1, COMMA, COMMA),
        ("de", "es kamen drei vier gingen", 2, PERIOD, PERIOD),
    ],
)
def test_no_mark_stands_inside_a_number(language: str, line: str, after: int, mark: int, left: int) -> None:
    words, marks = line.split(), bytearray(len(line.split()))
    marks[after] = mark
    keep_european_numbers_whole(words, marks, 0, language, digit_commas=False)
    wanted = bytearray(len(words))
    wanted[after] = left
    assert marks == wanted


@pytest.mark.parametrize(
    ("language", "line"),
    [
        ("de", "wir wohnen in wohnung . acht"),
        ("de", "der bus fährt um zehn uhr . dreissig von hier ab"),
        ("de", "das macht zwölf euro . vierzig"),
        ("de", "man braucht drei eier . und dann noch zwei"),
        ("de", "das kostet fünf euro . am tag"),
        ("de", "dazu kommen dreihundert gramm . mehl"),
        ("de", "von zweitausend bis zweitausendzehn . war hier ein laden"),
        ("es", "el taller está en el piso . tres"),
        ("es", "vimos tres barcos en el puerto . y luego otros dos"),
        ("es", "pagué cien pesos . este mes"),
        ("es", "en mayo de mil novecientos . no había luz"),
        ("fr", "c'est la porte . deux"),
        ("fr", "le bus part à dix heures . vingt de la gare"),
        ("fr", "on a vu trois bateaux au port . puis encore deux"),
    ],
)
def test_no_sentence_ends_between_a_number_and_what_belongs_to_it(language: str, line: str) -> None:
    assert ends_left(line, language) == []


@pytest.mark.parametrize(
    ("language", "line"),
    [
        ("de", "das macht zwölf euro . vierzig leute waren da"),
        ("de", "das kostet fünf euro . am tag darauf war es teurer"),
        ("de", "ich nehme dreihundert gramm . danke"),
        ("de", "er kam um zehn . dann ging er"),
        ("de", "und wann . am dritten mai zweitausend"),
        ("es", "pagué cien pesos . este mes no hay más"),
        ("es", "vimos barcos . y luego otros dos"),
        ("fr", "il est dix heures . trente-deux mille personnes sont là"),
        ("fr", "c'est la porte . il y en a deux"),
    ],
)
def test_a_sentence_ends_behind_a_number_where_another_begins(language: str, line: str) -> None:
    assert ends_left(line, language) == [line.split().index(".") - 1]


def ends_left(line: str, language: str) -> list[int]:
    """Return the places of the periods that stay of a line's; a dot alone is a model's period."""
    before, _, behind = line.partition(" . ")
    words, marks = [*before.split(), *behind.split()], bytearray(len(line.split()) - 1)
    marks[len(before.split()) - 1] = PERIOD
    keep_european_numbers_whole(words, marks, 0, language, digit_commas=False)
    return [place for place, mark in enumerate(marks) if mark == PERIOD]


@pytest.mark.parametrize(
    ("language", "line", "joined"),
    [
        ("fr", "ils sont nés . le onze", True),
        ("de", "er kam her . am dritten mai", True),
        ("es", "ella nació . en mil novecientos", True),
        ("fr", "oui . le onze", False),
        ("fr", "ils sont nés . le onze chats", False),
    ],
)
def test_a_date_that_is_all_of_a_sentence_belongs_to_the_one_before(language: str, line: str, *, joined: bool) -> None:
    before, behind = (part.split() for part in line.split(" . "))
    marks = bytearray(len(before) - 1) + bytes([PERIOD]) + bytes(len(behind) - 1) + bytes([PERIOD])
    keep_european_numbers_whole([*before, *behind], marks, 0, language, digit_commas=False)
    assert marks[len(before) - 1] == (0 if joined else PERIOD)
    assert marks[-1] == PERIOD


def test_a_comma_between_digits_stays_where_it_is_wanted() -> None:
    words, marks = ["cinq", "cinq", "deux"], bytearray((COMMA, PERIOD, 0))
    keep_european_numbers_whole(words, marks, 0, "fr", digit_commas=True)
    assert marks == bytearray((COMMA, 0, 0))


@pytest.mark.parametrize("lang", ["de-AT", "en"])
def test_a_session_is_guarded_by_the_rules_of_its_language(lang: str) -> None:
    def script(_model: str, words: Sequence[str], place: int, _look_ahead: int) -> tuple[int, int]:
        return Punctuation.COMMA if words[place] == "dritten" else Punctuation.NONE, (
            Disfluency.B_IM if words[place] == "nein" else Disfluency.O
        )

    engine = ScriptedEngine(languages=("de", "en"), script=script)
    (words,) = published_words(engine, [["am", "dritten", "mai", "nein"]], language=lang)
    said = [(word.punctuation, word.disfluency) for word in words]
    cut, left_out = (said[1][0] == "comma", said[3][1] != "O")
    assert (cut, left_out) == ((False, False) if lang == "de-AT" else (True, True))
