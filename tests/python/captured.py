"""The frames of captures: as much of pcapng, radiotap and 802.11 as a comparison with the scene of a run needs."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

_CONTROL = {
    0b1000: "block-ack-request",
    0b1001: "block-ack",
    0b1011: "rts",
    0b1100: "cts",
    0b1101: "ack",
    0b1110: "cf-end",
}
_HAS_TRANSMITTER = ("data", "rts", "block-ack", "block-ack-request", "cf-end")


class Captured(NamedTuple):
    """A frame of a capture."""

    start_us: int
    kind: str
    transmitter: bytes | None
    receiver: bytes
    octets: int
    seq: int | None
    is_retry: bool


def frames(content: bytes) -> Iterator[Captured]:
    """Each frame of one radio's file, in order."""
    at = 0
    while at < len(content):
        kind, length = struct.unpack_from("<II", content, at)
        if kind == 6:  # an Enhanced Packet Block
            (captured,) = struct.unpack_from("<I", content, at + 20)
            yield _frame(content[at + 28 : at + 28 + captured])
        at += length


def _frame(packet: bytes) -> Captured:
    header, present = struct.unpack_from("<HI", packet, 2)
    assert present & 1, "TSFT, the begin, is there"
    start = 8
    while struct.unpack_from("<I", packet, start - 4)[0] >> 31:
        start += 4
    (start_us,) = struct.unpack_from("<Q", packet, -(-start // 8) * 8)
    frame = packet[header:]
    subtype, is_retry = frame[0] >> 4, bool(frame[1] & 0x08)
    kind = "data" if frame[0] >> 2 & 3 == 2 else _CONTROL[subtype]
    seq = struct.unpack_from("<H", frame, 22)[0] >> 4 if kind == "data" else None
    transmitter = frame[10:16] if kind in _HAS_TRANSMITTER else None
    return Captured(start_us, kind, transmitter, frame[4:10], len(frame), seq, is_retry)
