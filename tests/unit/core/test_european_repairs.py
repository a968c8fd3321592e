"""What goes of German, Spanish and French everyday speech although a model tags nothing, and what stays."""

from __future__ import annotations

import pytest

from caesura.schemas.labels import Disfluency, Punctuation
from caesura.worker.core.decoding.european_repairs import tag_european_repairs


def left(line: str, language: str) -> str:
    """Return the words that stay; a comma at a word is a mark of the model's."""
    said = line.split()
    words, marks = [word.rstrip(",") for word in said], [Punctuation.COMMA * word.endswith(",") for word in said]
    tags = bytearray(len(words))
    tag_european_repairs(words, tags, marks, 0, language)
    return " ".join(word for word, tag in zip(words, tags, strict=True) if tag == Disfluency.O)


@pytest.mark.parametrize(
    ("language", "line", "stays"),
    [
        ("de", "ich ähhh brauche öhmm zwei", "ich brauche zwei"),
        ("es", "dame ehmm dos", "dame dos"),
        ("fr", "je euuuh voudrais heuu deux", "je voudrais deux"),
        ("de", "schließ äh schließ das fenster", "schließ das fenster"),
        ("de", "im neuen ähm im neuen haus", "im neuen haus"),
        ("fr", "on va euh on va partir", "on va partir"),
        ("de", "die gar äh garage ist zu", "die garage ist zu"),
        ("fr", "un cro euh croissant", "un croissant"),
        ("de", "wir sind im im garten", "wir sind im garten"),
        ("de", "er war von der von der schule", "er war von der schule"),
        ("es", "vivo en la en la costa", "vivo en la costa"),
        ("fr", "avec un avec un ami", "avec un ami"),
        ("de", "hast du ein eine gabel", "hast du eine gabel"),
        ("es", "dame el la llave", "dame la llave"),
        ("fr", "c'est ma mon voisin", "c'est mon voisin"),
        ("fr", "je j'arrive", "j'arrive"),
    ],
)
def test_what_is_said_anew_goes(language: str, line: str, stays: str) -> None:
    assert left(line, language) == stays


@pytest.mark.parametrize(
    ("language", "line"),
    [
        ("de", "das ist eh egal"),
        ("es", "está bien eh"),
        ("fr", "il a eu de la chance"),
        ("de", "ja äh ja"),
        ("de", "die die da sitzen"),
        ("de", "wenn ihr ihr helft"),
        ("de", "das sagen wir, wir alle"),
        ("de", "der eine einen apfel"),
        ("de", "die tür zu zu machen"),
        ("de", "da äh damals war es so"),
        ("es", "y llueve y llueve y llueve"),
        ("es", "fuimos casa por casa por toda la calle"),
        ("fr", "vous vous trompez"),
        ("fr", "oh la la c'est beau"),
        ("fr", "c'est vrai c'est vrai"),
        ("fr", "faites le le plus vite possible"),
    ],
)
def test_what_may_be_meant_stays(language: str, line: str) -> None:
    assert left(line, language) == line.replace(" äh ", " ").replace(",", "")


def test_frozen_words_and_a_models_tags_stay_as_they_are() -> None:
    words, tags = ["im", "im", "im", "garten"], bytearray((0, Disfluency.B_IM, 0, 0))
    tag_european_repairs(words, tags, bytes(4), 2, "de")
    assert tags == bytearray((0, Disfluency.B_IM, 0, 0))
