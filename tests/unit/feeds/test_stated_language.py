"""The language that a recogniser's message names becomes that of the events; a region that was asked for stays."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caesura.worker.feeds.recognised_speech import RecognisedSpeech
from caesura.worker.feeds.recognisers.catalogue import RECOGNISERS, RecogniserName
from caesura.worker.feeds.session_events import SessionEvents
from caesura.worker.feeds.stated_language import stated_language

WHISPER = {"segments": [{"start": 0.0, "end": 1.0, "text": " bonjour"}]}


@pytest.mark.parametrize(
    ("message", "lang"),
    [
        ({"language": "german", "segments": []}, "de"),
        ({"language_code": "es_MX"}, "es-MX"),
        ({"results": [{"languageCode": "fr-ca", "alternatives": []}]}, "fr-ca"),
        ({"results": {"channels": [{"detected_language": "de", "alternatives": []}]}}, "de"),
        ({"PrimaryLanguage": {"Language": "de-DE", "Confidence": "High"}}, "de-DE"),
        ({"tokens": [{"text": "hola", "language": "es"}]}, "es"),
        ({"language": "multi", "results": [{"languageCode": "fr"}]}, "fr"),
        ({"language": None}, None),
        ({"language": 5, "text": "words"}, None),
        ({}, None),
    ],
)
def test_the_language_is_found_where_recognisers_put_it(message: dict[str, object], lang: str | None) -> None:
    assert stated_language(message) == lang


@pytest.mark.parametrize(
    ("asked", "stated", "lang"),
    [("en", "fr", "fr"), ("fr-CA", "french", "fr-CA"), ("de", "de-AT", "de"), ("en", "", "en")],
)
def test_events_have_the_stated_language_or_the_region_asked_for(asked: str, stated: str, lang: str) -> None:
    events = SessionEvents(session="s", lang=asked, epoch=1)
    speech = RecognisedSpeech(RECOGNISERS[RecogniserName.WHISPER].reader(), events)
    said = [*speech.take({**WHISPER, "language": stated}), *speech.finish(end=True)]
    assert {event.lang for event in said} == {lang}


def test_a_message_without_words_changes_no_language() -> None:
    events = SessionEvents(session="s", lang="en", epoch=1)
    speech = RecognisedSpeech(RECOGNISERS[RecogniserName.WHISPER].reader(), events)
    assert speech.take({"segments": [], "language": "fr"}) == []
    assert {event.lang for event in [*speech.take(WHISPER), *speech.finish(end=True)]} == {"en"}


json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["language", "a", "locale"]), inner, max_size=3)
    ),
)


@given(st.dictionaries(st.sampled_from(["language", "results", "Language"]), json, max_size=3))
def test_any_message_is_looked_at(message: dict[str, object]) -> None:
    lang = stated_language(message)
    assert lang is None or lang.replace("-", "").isalnum()
