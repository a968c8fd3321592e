"""The consumer group's metadata as librdkafka serialises it, read just far enough to refuse an unfenced commit."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

from typing_extensions import override

from caesura.worker.errors import FatalError
from caesura.worker.ports.word_source import GroupMembership

_MAGIC = b"CGMDv2:"


@dataclass(frozen=True, slots=True, kw_only=True)
class KafkaMembership(GroupMembership):
    """A member at a moment: generation (KIP-848: member epoch), member id, and the bytes that the producer sends.

    Source: ``rd_kafka_consumer_group_metadata_write`` in librdkafka, "CGMDv2:" int32 generation (native order),
    group id and member id, each ended by a zero byte.
    """

    generation: int
    member_id: str
    metadata: bytes | None = field(repr=False)

    @classmethod
    def parse(cls, metadata: bytes | None) -> KafkaMembership:
        """Read the binding's opaque object; None is a client that never joined. FatalError on an unknown format."""
        if metadata is None:
            return cls(generation=-1, member_id="", metadata=None)
        start = len(_MAGIC) + 4
        fields = metadata[start:].split(b"\0")
        if not metadata.startswith(_MAGIC) or len(fields) < 3:
            raise FatalError("this librdkafka writes group metadata in a format that is not known: use 2.12 to 2.16")
        (generation,) = struct.unpack("=i", metadata[len(_MAGIC) : start])
        return cls(generation=generation, member_id=fields[1].decode(), metadata=metadata)

    @property
    @override
    def current(self) -> bool:
        return self.generation >= 0 and bool(self.member_id)
