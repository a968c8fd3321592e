"""The ACLs of the worker's Kafka user, from the one file that has them: the chart's."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tests.harness.places import CHART

__all__ = ["Acl", "worker_acls"]

_ACL = re.compile(
    r"- resource: \{type: (?P<kind>\w+)(?:, name: (?P<name>.+?), patternType: (?P<pattern>\w+))?\}\n"
    r"\s+operations: \[(?P<operations>.*?)\]"
)
_NAMES = {
    "{{ $topics.input }}": "input topic",
    "{{ $topics.claims }}": "claims",
    "{{ $topics.ledger }}": "ledger",
    "{{ . }}": "segments, routes, dead letters",
    "{{ $deployment }}": "<deployment>",
    "{{ $deployment }}-": "<deployment>-",
    None: "",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Acl:
    """kind, pattern, operations: as Strimzi spells them. name: whose it is, as people say it."""

    kind: str
    name: str
    pattern: str
    operations: tuple[str, ...]

    @property
    def row(self) -> str:
        """Return it as a row of the page's table."""
        what = f"`{self.name}`" if self.name.startswith("<") else self.name
        prefixed = " (prefix)" if self.pattern == "prefix" else ""
        return f"| {self.kind} | {what}{prefixed} | {', '.join(self.operations)} |"


def worker_acls() -> list[Acl]:
    """Return the chart's ACLs, in its order."""
    template = (CHART / "templates" / "strimzi.yaml").read_text(encoding="utf-8")
    return [
        Acl(
            kind=found["kind"],
            name=_NAMES[found["name"]],
            pattern=found["pattern"] or "literal",
            operations=tuple(found["operations"].split(", ")),
        )
        for found in _ACL.finditer(template)
    ]
