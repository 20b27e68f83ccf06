"""What the stories of frames need beside the rows of a scene: contents, contention, and the fates of MSDUs.

story.js tells them; docs/design/pictures.md has the keys.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from interlayer._core import Story, Timeline

PORTIONS = 40_000
"""So many MSDUs in frames are in a page, some 1 MB: what later frames carried is left out."""

_SETTLED = ("node", "serial", "enqueued_ns", "head_ns", "done_ns", "is_delivered", "attempts")
_CARRIED = ("start_ns", "from", "place", "seq", "fragment", "attempt", "serial", "tcp_flags", "flow", "is_reverse")
_PACKET = ("payload_bytes", "tcp_seq", "tcp_ack")
_ACCESS = ("start_ns", "from", "cw", "counts_from_ns", "slots", "stops", "stops_left_out")
_RECEIVED = ("received", "captured")


def of(story: Story, timeline: Timeline, frames: int) -> dict[str, Any]:
    """The stories of the first frames of a window. Times are ns after its begin; None is unknown, or never."""
    begin = round(timeline["from_s"] * 1e9)
    columns = timeline["columns"]
    starts, senders = (columns[name][:frames].tolist() for name in ("start_ns", "from"))
    index = {key: i for i, key in enumerate(zip(starts, senders, strict=True))}
    lost = _lost(timeline, frames)
    portions, msdus = _portions(story, index, _receptions(timeline, frames, lost), begin)
    return {
        "flows": timeline["flows"],
        "facts": _facts(columns, frames),
        "lost": lost,
        "msdus": msdus,
        "portions": portions,
        "accesses": _accesses(story, index, begin),
    }


def _rows(columns: Mapping[str, Any], names: Sequence[str]) -> list[tuple[Any, ...]]:
    return list(zip(*(columns[name].tolist() for name in names), strict=True))


def _facts(columns: Mapping[str, Any], frames: int) -> list[list[int]]:
    """Of each frame: bytes, MPDUs, MPDUs received, Duration in ns, the frame that overlapped it first, rate in kb/s.

    MPDUs received are -1 where nobody in particular was to receive them; the overlap is that at its addressee, or -1.
    """
    rows = [row[:frames] for row in (columns[name].tolist() for name in ("start_ns", "airtime_ns", "from"))]
    own: dict[int, list[int]] = defaultdict(list)
    for i, sender in enumerate(rows[2]):
        own[sender].append(i)

    def overlap(sender: int, since: int) -> int:
        frames_of = own.get(sender, [])
        place = bisect_right(frames_of, since, key=lambda i: rows[0][i]) - 1
        if place < 0 or rows[0][frames_of[place]] + rows[1][frames_of[place]] <= since:
            return -1
        return frames_of[place]

    names = ("mpdu_bytes", "mpdus", "mpdus_received", "duration_ns", "overlap_from", "overlap_ns", "rate_bps")
    return [
        [size, mpdus, received, duration, overlap(by, since) if by >= 0 else -1, round(rate / 1000)]
        for size, mpdus, received, duration, by, since, rate in _rows(columns, names)[:frames]
    ]


def _lost(timeline: Timeline, frames: int) -> list[list[int]]:
    """Frames of which some MPDUs were lost, with their places from 0 on."""
    received = timeline["columns"]["mpdus_received"].tolist()
    told = zip(timeline["lost_mpdus"][:frames], received[:frames], strict=True)
    return [[i, *map(int, places.split())] for i, (places, got) in enumerate(told) if places and got > 0]


def _receptions(timeline: Timeline, frames: int, lost: Sequence[Sequence[int]]) -> dict[int, tuple[int, set[int]]]:
    """Frames of which something was received: the end of each, and the places that were not."""
    good = {i for i, name in enumerate(timeline["outcomes"]) if name in _RECEIVED}
    places = {i: set(gone) for i, *gone in lost}
    rows = _rows(timeline["columns"], ("start_ns", "airtime_ns", "outcome"))[:frames]
    return {i: (start + air, places.get(i, set())) for i, (start, air, fate) in enumerate(rows) if fate in good}


def _portions(
    story: Story, index: Mapping[tuple[int, int], int], received: Mapping[int, tuple[int, set[int]]], begin: int
) -> tuple[list[list[int]], list[list[int | None]]]:
    """What data frames carried, and the MSDUs.

    A portion: frame, place, MSDU, sequence number, fragment, attempt. An MSDU: node, flow, 1 against it, payload, TCP's
    sequence and acknowledgment numbers, times at which it was queued and came to the head of the queue, the time at
    which its fate was known, 1 if it was delivered, attempts, the time at which TCP got it, TCP's control bits.
    """
    settled = {(node, serial): rest for node, serial, *rest in _rows(story["settled"], _SETTLED)}
    arrivals: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for at, *key in _rows(story["arrivals"], ("at_ns", "flow", "is_reverse", *_PACKET)):
        arrivals[tuple(key)].append(at)
    places: dict[tuple[int, int], int] = {}
    portions: list[list[int]] = []
    msdus: list[list[int | None]] = []
    rows = _rows(story["portions"], (*_CARRIED, *_PACKET))
    for start, node, place, seq, fragment, attempt, serial, flags, *packet in rows:
        if (frame := index.get((start, node))) is None or len(portions) == PORTIONS:
            continue
        if (msdu := places.setdefault((node, serial), len(msdus))) == len(msdus):
            rest = settled.get((node, serial))
            known = [None] * 5 if rest is None else [*(at - begin for at in rest[:3]), int(rest[3]), rest[4]]
            msdus.append([node, packet[0], int(packet[1]), *packet[2:], *known, None, flags])
        portions.append([frame, place, msdu, seq, fragment, attempt])
        if msdus[msdu][11] is None and packet[3] >= 0 and place not in received.get(frame, (0, {place}))[1]:
            times = arrivals.get(tuple(packet), [])
            reached = bisect_left(times, received[frame][0])
            msdus[msdu][11] = times[reached] - begin if reached < len(times) else None
    return portions, msdus


def _accesses(story: Story, index: Mapping[tuple[int, int], int], begin: int) -> list[list[int]]:
    """Grants: frame, contention window, begin of the last countdown, its slots, stops left out, then the stops.

    A stop: slots that remained, the instant from which the medium was idle, how long NAV alone held the station back.
    """
    stops = [
        [slots, until - begin, nav] for slots, until, nav in _rows(story["stops"], ("slots", "until_ns", "nav_ns"))
    ]
    found, at = [], 0
    for start, node, cw, counts_from, slots, n, left_out in _rows(story["accesses"], _ACCESS):
        own, at = stops[at : at + n], at + n
        if (frame := index.get((start, node))) is not None:
            numbers = [number for stop in own for number in stop]
            found.append([frame, cw, counts_from - begin, slots, left_out, *numbers])
    return found
