"""Where packets wait, what the air is used for, and what is worth trying: `interlayer run --advise`.

Nothing here is an answer. Each line names a figure of these runs, and arms to compare with: options of `interlayer
compare` that run as they stand (`test_advice` tries each). The comparison answers.
docs/engineers.md has the limits and their reasons.
"""

from __future__ import annotations

import re
import shlex
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .grid import Column, Grid
from .run_words import cell

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

LONG_WAIT_S = 0.05
"""A queue in which packets wait for longer, on the mean, is named."""
GIVEN_UP = 0.005
"""A radio that gives up more of its MSDUs is named."""
UNEVEN = 0.9
"""Flows in one direction whose Jain index is below it are named."""
ACK_AIRTIME = 0.1
"""A share of the airtime that TCP's ACKs take and that is named."""


FQ_CODEL = 'fq-codel=radio.queue={discipline="fq-codel",packets=1000}'
FQ_CODEL_WIRE = 'fq-codel-wire=link.*.queue={discipline="fq-codel",packets=1000}'
_AGGREGATE = "mpdus_a_ppdu"
"""MPDUs in a PPDU, of a radio that aggregates."""
WAITING = 4.0
"""A radio for which so many aggregates wait on the mean, as long as its own, could send longer ones and is named."""
DROPPED = 1e-4
"""A radio that aggregates and whose queue drops more of what comes, though nothing waits for long, is named."""
REPEATED = 0.2
"""A radio that aggregates and repeats more of its MPDUs is named: the best MCS loses a tenth to noise at most."""
HELD_S = 0.05
"""A reorder buffer that held a frame for longer is named."""
SLOW = 3.0
"""A link whose share of the air is so many times its share of the bits is named."""

DRR = 'drr=radio.queue={discipline="drr",packets=1000}'
FTCA = "ftca=scheme=ftca;radio.access=edca"
"""For uploads only: downloads lose evenness by it."""
ATTEMPTS = "attempts=radio.max_attempts=20"
NO_ACKS = "lle-tcp=scheme=lle-tcp"
FEWER_ACKS = "delayed-ack=flow.*.transport.receiver=delayed-ack"
LIFETIME = 'lifetime=radio.aggregation.lifetime="2s"'
"""Under block acknowledgment a frame's age ends its attempts, not their number."""
RTS = 'rts=radio.rts_threshold="0B"'
"""An aggregate that collides is lost whole; behind an RTS only that is."""
PER_RECEIVER = 'per-receiver=radio.queue={packets=1000,per="receiver"}'
"""Aggregates of one receiver, which take turns and last as long for a slow one as for a fast one."""
LONGER = "longer=radio.queue.packets=1000"
"""A queue that is full before an aggregate is."""
LONG_QUEUE = 900
"""A queue that has held so many packets is not short: nearly the 1000 of the arm. Our choice."""
PATIENCE = 'patience=radio.aggregation.patience="20ms"'
"""Arms, without a space: a table does not break them."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What was measured, where, and what to try."""

    what: str
    measured: str
    try_: str


def waits(result: Mapping[str, Any]) -> Grid | None:
    """Every queue in which packets waited, longest first; None if there is none."""
    rows = [q for q in result.get("queues", []) if _mean(q, "mean_wait_s")]
    rows.sort(key=lambda q: -(_mean(q, "mean_wait_s") or 0.0))
    columns = [Column("queue", is_text=True, folds=True), Column("mean_wait, ms"), Column("mean_packets", 2)]
    columns += [Column("offered", 3), Column("dropped", 1)]
    counts = ("mean_packets", "offered_packets", "dropped_packets")
    named = [("mean_wait_s", "ms"), *((n, "packets") for n in counts)]
    return Grid(columns, [[q["id"], *(cell(q, n, u) for n, u in named)] for q in rows]) if rows else None


def radios(result: Mapping[str, Any]) -> Grid | None:
    """Every radio: its share of the airtime used, data frames, those repeated, MSDUs given up; None without radios."""
    rows = [n for n in result["nodes"] if _mean(n, "airtime_s") is not None]
    used = sum(_mean(n, "airtime_s") or 0.0 for n in rows)
    columns = [Column("radio", is_text=True, folds=True), Column("of the airtime, %"), Column("data frames", 2)]
    columns += [Column("repeated, %", 1), Column("MSDUs given up", 0)]
    aggregates = any(_mean(n, _AGGREGATE) is not None for n in rows)
    columns += [Column("MPDUs a PPDU", 0)] if aggregates else []
    lines = []
    for n in rows:
        sent = _mean(n, "data_frames_sent") or 0.0
        lines.append(
            [
                n["id"],
                _percent(_mean(n, "airtime_s"), used),
                cell(n, "data_frames_sent", "1"),
                _percent(_mean(n, "data_frames_retried"), sent),
                cell(n, "msdus_given_up", "1"),
                *([cell(n, _AGGREGATE, "1")] if aggregates else []),
            ]
        )
    return Grid(columns, lines) if rows else None


def findings(result: Mapping[str, Any], limited: Collection[str] = (), brimming: Collection[str] = ()) -> list[Finding]:
    """What stands out, the longest waits first. Flows in `limited` have what their application asks, and no share.

    Flows in `brimming` are Linux's without its small queues: where one of them fills a queue of its own host, no Linux
    host shows such a wait.
    """
    found = []
    queues = sorted(result.get("queues", []), key=lambda q: -(_mean(q, "mean_wait_s") or 0.0))
    for q in queues:
        if (_mean(q, "mean_wait_s") or 0.0) >= LONG_WAIT_S:
            arm = FQ_CODEL if _RADIO.search(q["id"]) else FQ_CODEL_WIRE
            new = f"{_options(arm)} or fewer packets"
            waits_for = f"{cell(q, 'mean_wait_s', 'ms')} ms"
            found.append(Finding(f"packets wait in {q['id']}", waits_for, new))
            if own := [f["id"] for f in result["flows"] if f["id"] in brimming and _is_own_queue(f, q["id"])]:
                what = f"of these, packets of {own[0] if len(own) == 1 else f'{len(own)} flows'} in their own host"
                found.append(Finding(what, waits_for, _NO_SMALL_QUEUES))
    for n in result["nodes"]:
        offered, lost = _mean(n, "msdus_offered"), _mean(n, "msdus_given_up")
        if offered and lost and lost / offered >= GIVEN_UP:
            what = f"the MAC of {n['id']} gives up"
            new = LIFETIME if _mean(n, _AGGREGATE) else ATTEMPTS
            found.append(Finding(what, f"{100 * lost / offered:.2g} % of MSDUs", _options(new)))
    found += _of_aggregates(result)
    is_aggregating = any(_mean(n, _AGGREGATE) for n in result["nodes"])
    with_radio = {n["id"] for n in result["nodes"] if _mean(n, "airtime_s") is not None}
    for what, jain, is_up in _uneven([flow for flow in result["flows"] if flow["id"] not in limited], with_radio):
        # What FTCA sends in category VO is not aggregated.
        new = _options(DRR, FTCA) if is_up and not is_aggregating else _options(DRR)
        found.append(Finding(what, f"Jain index {jain:.2f}", new))
    used = sum(_mean(f, "airtime_s") or 0.0 for f in result["frames"])
    acks = sum(_mean(f, "airtime_s") or 0.0 for f in result["frames"] if f["class"] == "tcp-ack")
    if used and acks / used >= ACK_AIRTIME:
        new = _options(NO_ACKS, FEWER_ACKS)
        found.append(Finding("TCP's ACKs take airtime", f"{100 * acks / used:.0f} % of what was sent", new))
    return found


def _of_aggregates(result: Mapping[str, Any]) -> list[Finding]:
    """What stands out of radios that aggregate: short aggregates, repeated ones, gaps, slow links that hold the air."""
    found = []
    for n in result["nodes"]:
        if not (size := _mean(n, _AGGREGATE)):
            continue
        sent, again = _mean(n, "data_frames_sent") or 1.0, _mean(n, "data_frames_retried") or 0.0
        of_radio = [q for q in result.get("queues", []) if q["id"].startswith(f"{n['id']}.air")]
        waiting = sum(_mean(q, "mean_packets") or 0.0 for q in of_radio)
        offered, dropped = (
            sum(_mean(q, name) or 0.0 for q in of_radio) for name in ("offered_packets", "dropped_packets")
        )
        is_long = any((_mean(q, "mean_wait_s") or 0.0) >= LONG_WAIT_S for q in of_radio)
        is_short = max((_mean(q, "max_packets_total") or 0.0 for q in of_radio), default=0.0) < LONG_QUEUE
        if dropped > DROPPED * offered and not is_long and is_short:
            what = f"the queue of {n['id']} is short for its aggregates"
            lost = f"{100 * dropped / offered:.2g} % dropped, {size:.2g} MPDUs a PPDU"
            found.append(Finding(what, lost, _options(LONGER)))
        if size >= 2 and again / sent >= REPEATED:
            what = f"{n['id']} repeats MPDUs of its aggregates"
            found.append(Finding(what, f"{100 * again / sent:.0f} % of MPDUs", _options(RTS)))
        elif waiting >= WAITING * size and is_long:
            what = f"aggregates of {n['id']} are short for what waits"
            found.append(Finding(what, f"{size:.0f} of {waiting:.0f} packets", _options(PER_RECEIVER)))
    for n in result["nodes"]:
        if (held := _mean(n, "longest_hold_s_total") or 0.0) >= HELD_S:
            gaps = f"{held * 1e3:.0f} ms at most, {cell(n, 'gaps_given_up', '1')} given up"
            found.append(Finding(f"{n['id']} holds frames behind a gap", gaps, _options(PATIENCE)))
    for to, air, bits in _shares(result):
        if air >= SLOW * bits and air >= 0.1:
            held_by = f"{100 * air:.0f} % of the air, {100 * bits:.0f} % of the bits"
            found.append(Finding(f"frames of {to} hold the air", held_by, _options(PER_RECEIVER)))
    return found


def _shares(result: Mapping[str, Any]) -> list[tuple[str, float, float]]:
    """Of each flow over a radio link with an MCS: its share of the time of data frames, and of the bits."""
    links = result.get("links", [])
    ends = Counter((end, row[end]) for row in links for end in ("to", "from"))
    into, out_of = ({row[end]: row for row in links if ends[end, row[end]] == 1} for end in ("to", "from"))
    flows = []
    for flow in result["flows"]:
        row = into.get(flow.get("to")) or out_of.get(flow.get("from"))
        if row and (goodput := _mean(flow, "goodput_bps")) and (rate := _mean(row, "bit_rate_bps")):
            flows.append((flow["id"], goodput / rate, goodput))
    air, bits = sum(f[1] for f in flows), sum(f[2] for f in flows)
    return [(name, a / air, b / bits) for name, a, b in flows]


_RADIO = re.compile(r"\.air(\.|$)")
"""In the id of a radio's queue: `ap.air`, of a category `ap.air.be`, of one of several radios `relay.air.main`."""


def _options(*arms: str) -> str:
    """Arms as a shell takes them."""
    return " or ".join(f"--arm {shlex.quote(arm)}" for arm in arms)


_NO_SMALL_QUEUES = 'TCP small queues at its sender, which no Linux host is without (docs/queues.md, "As Linux has it")'
"""What is said where a sender of Linux without small queues fills the queue of its own host (docs/queues.md)."""


def _is_own_queue(flow: Mapping[str, Any], queue: str) -> bool:
    """Whether a queue is one of the flow's sending host: of its radio, or of its end of a wire."""
    return flow.get("protocol") == "tcp" and queue.startswith((f"{flow.get('from')}.air", f"{flow.get('from')}->"))


def table(found: Sequence[Finding]) -> Grid:
    """Findings, a line each."""
    columns = [Column("found", is_text=True, folds=True), Column("measured", is_text=True, folds=True)]
    columns += [Column("compare with", is_text=True, folds=True)]
    return Grid(columns, [[f.what, f.measured, f.try_] for f in found])


def _uneven(flows: Sequence[Mapping[str, Any]], with_radio: Collection[str]) -> list[tuple[str, float, bool]]:
    """TCP flows that leave from one node, or go to one, and share unevenly; true of uploads of several radios."""
    found = []
    for end, words in (("to", "flows to"), ("from", "flows from")):
        for node in dict.fromkeys(f.get(end) for f in flows):
            of = [f for f in flows if f.get(end) == node and f.get("protocol") == "tcp"]
            rates = [rate for f in of if (rate := _mean(f, "goodput_bps")) is not None]
            senders = {f.get("from") for f in of}
            is_up = len(senders) > 1 and senders <= set(with_radio)
            squares = sum(rate * rate for rate in rates)
            if len(rates) > 1 and squares and (jain := sum(rates) ** 2 / (len(rates) * squares)) < UNEVEN:
                found.append((f"the {len(rates)} {words} {node} share unevenly", jain, is_up))
    return found


def _mean(row: Mapping[str, Any], name: str) -> float | None:
    value = row.get(name)
    return value["mean"] if isinstance(value, dict) else None


def _percent(part: float | None, whole: float) -> str:
    return "–" if part is None or not whole else f"{100 * part / whole:.1f}"
