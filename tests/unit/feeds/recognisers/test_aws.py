"""Amazon's messages, in shapes written after its documentation, as words that are never revised."""

from __future__ import annotations

from tests.unit.feeds.spoken import Message, fed, texts, timed, told_apart


def aws(result: str, *items: tuple[str, float | None, bool], partial: bool = True) -> dict[str, object]:
    listed = [
        {"Content": text, "Type": "pronunciation", "StartTime": at, "EndTime": at + 0.25, "Stable": stable}
        if at is not None
        else {"Content": text, "Type": "punctuation", "StartTime": 0.5, "EndTime": 0.5, "Stable": stable}
        for text, at, stable in items
    ]
    one = {
        "ResultId": result,
        "IsPartial": partial,
        "StartTime": 0.0,
        "EndTime": 1.5,
        "Alternatives": [{"Items": listed}],
    }
    return {"Transcript": {"Results": [one]}}


def test_awss_stable_items_go_out_at_once_and_its_marks_are_no_words() -> None:
    said: list[Message] = [
        aws("a", ("so", 0.0, True), ("um", 0.5, False)),
        aws("a", ("so", 0.0, True), (",", None, True), ("uh", 0.5, True), ("yes", 1.0, False)),
        aws("a", ("so", 0.0, True), (",", None, True), ("uh", 0.5, True), ("yet", 1.0, True), partial=False),
        aws("a", ("So", 0.0, True), partial=False),
        aws("b", ("next", 2.0, True), partial=False),
    ]
    events = fed("aws", said)
    assert told_apart("aws", said)
    assert [texts([event]) for event in events] == [["so"], ["uh"], ["yet"], ["next"], []]
    assert timed(events)[1] == ("uh", 500, 750)
    assert events[0].heard_until_ms == 500, "audio is told as heard up to the first word that may change"


def test_aws_stable_items_go_out_without_a_speaker_at_the_end() -> None:
    named = aws("a", ("so", 0.0, True), partial=False)
    results: list[dict[str, object]] = named["Transcript"]["Results"]  # type: ignore[index]
    for item in results[0]["Alternatives"][0]["Items"]:  # type: ignore[index]
        item["Speaker"] = "0"
    said: list[Message] = [
        named,
        aws("b", ("um", 2.0, True), ("yes", 2.5, False)),
        aws("b", ("um", 2.0, True), ("yes", 2.5, True), ("we", 3.0, False)),
    ]
    events = fed("aws", said)
    assert (texts(events, "s/0"), texts(events)) == (["so"], ["um", "yes"])


def test_awss_batch_file_has_times_as_text() -> None:
    item = {"type": "pronunciation", "start_time": "0.04", "end_time": "0.2", "alternatives": [{"content": "so"}]}
    mark = {"type": "punctuation", "alternatives": [{"content": "."}]}
    file = {"jobName": "j", "results": {"transcripts": [{"transcript": "so."}], "items": [item, mark]}}
    assert told_apart("aws", [file])
    assert timed(fed("aws", [file])) == [("so", 40, 200)]


def test_awss_batch_file_of_several_channels_has_a_session_for_each() -> None:
    def item(said: str, at: float, channel: str) -> dict[str, object]:
        said_then: dict[str, object] = {"start_time": f"{at}", "end_time": f"{at + 0.5}", "channel_label": channel}
        return said_then | {"type": "pronunciation", "alternatives": [{"content": said}]}

    own = [item("hello", 0.0, "ch_0"), item("there", 2.0, "ch_0")], [item("um", 1.0, "ch_1")]
    channels = [{"channel_label": f"ch_{number}", "items": items} for number, items in enumerate(own)]
    labels = {"channels": channels, "number_of_channels": 2}
    file = {"jobName": "j", "results": {"channel_labels": labels, "items": [own[0][0], own[1][0], own[0][1]]}}
    events = fed("aws", [file])
    assert (texts(events, "s/0"), texts(events, "s/1"), texts(events)) == (["hello", "there"], ["um"], [])
