"""The timeline of the air, who transmitted what when: its window, as a frame, and as trace events for Perfetto."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from interlayer import extras, quantity
from interlayer.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    import polars as pl

    from interlayer import _core
    from interlayer._core import Run, Timeline

DEFAULT_S = 0.01
"""How much of the time after warm-up is kept unless a window is given: some 6 exchanges at 11 Mb/s, 30 at 54 Mb/s."""

WHOLE = "all"
_EXAMPLE = f'FROM..UNTIL, as in "2 s..2.01 s", nor "{WHOLE}"'
_CATEGORIES = ("bk", "be", "vi", "vo")

# Columns of the core that are indices -> the list of names they point into; of a frame, in its order, the rest as is.
_NAMED = {
    "from": "nodes",
    "to": "nodes",
    "class": "classes",
    "outcome": "outcomes",
    "cause": "causes",
    "overlap_from": "nodes",
    "overlap_class": "classes",
    "flow": "flows",
}
_OPTIONAL = (
    *("overlap_ns", "seq", "category", "user_priority", "serial", "attempt"),
    *("payload_bytes", "tcp_seq", "tcp_ack", "mpdus_received"),
)


def window(text: str | None, scenario: _core.Scenario, option: str = "window") -> tuple[int, int]:
    """The part of a run that `text` names, in ns: `2 s..2.01 s`, `all`, or the first 10 ms after warm-up for None.

    Raises `InputError`, which names `option`, for what is no window or lies outside the scenario.
    """
    end = scenario.duration_s
    if text is None:
        return _ns(scenario.warmup_s), _ns(min(scenario.warmup_s + DEFAULT_S, end))
    if text.strip() == WHOLE:
        return 0, _ns(end)
    first, dots, last = text.partition("..")
    given = [quantity.magnitude(t) for t in (first, last)]
    if not dots or None in given or any(quantity.base_unit(t) != "s" for t in (first, last)):
        raise InputError(f'{option}: "{text}" is neither {_EXAMPLE}', option)
    start, until = (float(t) for t in given if t is not None)
    if start < 0:
        raise InputError(f"{option}: {first.strip()} is before the run begins", option)
    if until <= start:
        raise InputError(f"{option}: {text} ends before it begins", option)
    if until > end:
        raise InputError(f"{option}: {last.strip()} is after the end of the scenario ({end:g} s)", option)
    return _ns(start), _ns(until)


def begun(text: str, scenario: _core.Scenario, option: str) -> tuple[int, int]:
    """The 10 ms from an instant on, such as `2.5 s`, in ns; the first after warm-up for "". Raises `InputError`."""
    if not text.strip():
        return window(None, scenario)
    at = quantity.magnitude(text)
    if at is None or quantity.base_unit(text) != "s":
        raise InputError(f'{option}: "{text}" is no instant, as 2.5 s is', option)
    if not 0 <= at < scenario.duration_s:
        raise InputError(f"{option}: {text} is outside the run, of 0 to {scenario.duration_s:g} s", option)
    return _ns(at), _ns(min(at + DEFAULT_S, scenario.duration_s))


def _ns(seconds: float) -> int:
    return round(seconds * 1e9)


def frame(runs: Sequence[Run]) -> pl.DataFrame:
    """A row per transmission: `seed`, `start_ns`, `airtime_ns`, `from`, `to`, `class`, `outcome`, `cause`, ...

    Null where there is nothing to tell: `to` of a group, `cause` of what was received, `seq` of control frames. Of an
    A-MPDU `mpdus` says how many MPDUs it has, `mpdus_received` how many of them its addressee got, and `lost_mpdus` the
    places of the others, from 0 on.
    """
    lib = extras.polars()
    kept = [(run["seed"], run["timeline"]) for run in runs if run.get("timeline")]
    parts = [_frame(t).select(lib.lit(seed).alias("seed"), lib.all()) for seed, t in kept if t]
    found: pl.DataFrame = lib.concat(parts) if parts else lib.DataFrame({"seed": [], "start_ns": [], "airtime_ns": []})
    return found


def _frame(t: Timeline) -> pl.DataFrame:
    lib = extras.polars()
    lost = lib.Series("lost_mpdus", t["lost_mpdus"], dtype=lib.String)
    data = lib.DataFrame(t["columns"]).with_columns(lib.when(lib.col("mpdus") > 1).then(lost).alias("lost_mpdus"))
    category = lib.Series(_CATEGORIES, dtype=lib.String)
    names = {column: lib.Series(t[kind], dtype=lib.String) for column, kind in _NAMED.items()}  # type: ignore[literal-required]
    names["category"] = category
    nulled = data.with_columns(
        *(lib.when(lib.col(c) >= 0).then(lib.col(c)).alias(c) for c in (*_NAMED, *_OPTIONAL)),
        lib.col("tx_power_dbm").fill_nan(None),
        (10 * lib.col("power_mw").fill_nan(None).log10()).alias("power_dbm"),
    ).drop("power_mw")
    found: pl.DataFrame = nulled.with_columns(names[c].gather(nulled[c].cast(lib.UInt32)).alias(c) for c in names)
    return found


# ----------------------------------------------------------------------------------------------------------- trace


def write_trace(t: Timeline, path: Path, about: Mapping[str, Any]) -> None:
    """The timeline as Chrome's trace-event JSON, for ui.perfetto.dev and chrome://tracing; `about` says what it is of.

    A process for each node with a radio, in it a row for each access category and one for all other frames; a complete
    event ("X") for each transmission, in order, with all that is known of it.
    """
    other = {**about, "from_s": t["from_s"], "until_s": t["until_s"], "missed": t["missed"]}
    with path.open("w", encoding="utf-8") as file:
        file.write(f'{{"displayTimeUnit": "ns",\n"otherData": {json.dumps(other)},\n"traceEvents": [\n')
        file.write(",\n".join(json.dumps(event, ensure_ascii=False) for event in _events(t)))
        file.write("\n]}\n")


def _events(t: Timeline) -> Iterator[dict[str, Any]]:
    # From 1: Perfetto takes process 0 and thread 0 for the idle task of a kernel. (google/perfetto#394)
    pids, tids = t["columns"]["from"] + 1, t["columns"]["category"] + 2
    for pid, (name, has_radio) in enumerate(zip(t["nodes"], t["has_radio"], strict=True), 1):
        if has_radio:
            yield {"ph": "M", "name": "process_name", "pid": pid, "args": {"name": name}}
            yield {"ph": "M", "name": "process_sort_index", "pid": pid, "args": {"sort_index": pid}}
            for tid in sorted({1, *np.unique(tids[pids == pid]).tolist()}):
                title = f"{_CATEGORIES[tid - 2]} frames" if tid > 1 else "frames"
                yield {"ph": "M", "name": "thread_name", "pid": pid, "tid": tid, "args": {"name": title}}
    for facts, pid, tid in zip(_frame(t).iter_rows(named=True), pids.tolist(), tids.tolist(), strict=True):
        name, outcome, cause = facts["class"], facts["outcome"], facts["cause"]
        some = len((facts["lost_mpdus"] or "").split()) if cause is None else 0
        said = f" lost: {cause}" if cause else "" if outcome in ("received", "group") else f" {outcome}"
        yield {
            "ph": "X",
            "name": f"{name}{said}" + (f" {some} of {facts['mpdus']} MPDUs lost" if some else ""),
            "cat": f"{name},{outcome}",
            "pid": pid,
            "tid": tid,
            "ts": facts["start_ns"] / 1000,
            "dur": facts["airtime_ns"] / 1000,
            **({"cname": "terrible"} if cause else {}),
            "args": {key: value for key, value in facts.items() if value is not None},
        }
