"""A field that is no session's is named by the fault runner's last check, which goes on behind it."""

from __future__ import annotations

import msgspec

from schemas.checkpoint import CheckpointId, SessionField, Slot
from tests.chaos.kept import Kept, _stored
from tests.harness.checker import Findings


def test_a_field_that_nobody_can_read_is_named_and_the_others_are_looked_at() -> None:
    doubtful = Slot("7.1.0123456789abcdef", None)
    fields = {"\udcff": b"\xc1", "ann": msgspec.msgpack.encode(SessionField((doubtful,)))}
    kept = Kept(ends={0: 0}, offsets={0: None}, fields={0: fields}, ledger=[])
    findings = Findings("kept")
    assert _stored(kept, {0: CheckpointId(1, 1, "0123456789abcdef")}, findings) == {}
    assert [one.kind for one in findings.found] == ["foreign", "foreign"]
