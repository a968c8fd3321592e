"""A field that is no session's is named by the fault runner's last check, which goes on behind it."""

from __future__ import annotations

from tests.chaos.kept import Kept, _stored
from tests.harness.checker import Findings


def test_a_field_that_nobody_can_read_is_named_and_the_others_are_looked_at() -> None:
    fields = {"\udcff": b"\xc1", "ann": b"\x80"}
    kept = Kept(ends={0: 0}, offsets={0: None}, fields={0: fields}, ledger=[])
    findings = Findings("kept")
    assert _stored(kept, findings) == {}
    assert [one.kind for one in findings.found] == ["foreign", "foreign"]
