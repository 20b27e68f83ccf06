"""Units at the seam between texts (`"1500 B"`), columns (`goodput_bps`) and what a figure prints (`Mb/s`)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .errors import InputError, suggestion

if TYPE_CHECKING:
    from collections.abc import Iterable

# Unit of a column by the suffix of its name -> what one of each printable unit is in it.
_SCALES: dict[str, dict[str, float]] = {
    "bps": {"b/s": 1.0, "kb/s": 1e3, "Mb/s": 1e6, "Gb/s": 1e9},
    "s": {"s": 1.0, "ms": 1e-3, "us": 1e-6},
    "bytes": {"B": 1.0, "kB": 1e3, "MB": 1e6},
    "m": {"m": 1.0},
    "dbm": {"dBm": 1.0},
    "db": {"dB": 1.0},
    "packets": {"packets": 1.0, "segments": 1.0, "1": 1.0},
    "": {
        "1": 1.0,
        "%": 0.01,
        "packets": 1.0,
        "segments": 1.0,
        "events": 1.0,
        "flows": 1.0,
        "hops": 1.0,
        "senders": 1.0,
    },
}
UNITS = tuple(dict.fromkeys(unit for scale in _SCALES.values() for unit in scale))
_TEXT = re.compile(r"\s*([-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)\s*([A-Za-z/%]*)\s*")


RENAMED = {
    "lost_to_deafness": "lost_to_half_duplex",
    "lost_transmitter_busy": "lost_to_half_duplex",
    "deafness_rate": "half_duplex_rate",
    "lost_noise": "lost_to_noise",
    "max_min": "goodput_spread",
    "acknowledged_bytes_total": "acked_bytes_total",
    "duplicate_acks_made": "dup_acks_made",
}
"""What columns were called, unit left out, and what they are called now."""


def size(count: float) -> str:
    """So many bytes for people: `512 B`, `3.4 MB`, `46 GB`; three digits at most."""
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if abs(count) < 999.5 or unit == "TB":
            return f"{count:.3g} {unit}" if unit != "B" else f"{count:.0f} B"
        count /= 1000
    raise AssertionError


def column(metric: str, columns: Iterable[str]) -> str:
    """The column that `metric` names: itself, or itself plus a unit suffix (`goodput` -> `goodput_bps`)."""
    known = list(columns)
    for suffix in ("", *(f"_{unit}" for unit in _SCALES if unit)):
        if metric + suffix in known:
            return metric + suffix
    old = metric if metric in RENAMED else without_unit(metric)
    if old in RENAMED and any(without_unit(c) == RENAMED[old] or c == RENAMED[old] for c in known):
        raise InputError(f'no metric "{metric}"; it is called "{RENAMED[old]}" now', metric)
    raise InputError(f'no metric "{metric}"{suggestion(metric, [without_unit(c) for c in known])}', metric)


def column_unit(name: str) -> str:
    """The unit suffix of a column's name, empty for counts and indices."""
    head, _, tail = name.rpartition("_")
    return tail if head and tail in _SCALES else ""


def without_unit(name: str) -> str:
    """A column's name without its unit suffix."""
    return name.removesuffix(f"_{column_unit(name)}") if column_unit(name) else name


def scale(name: str, unit: str) -> float:
    """What a value of column `name` is multiplied with to be in `unit`. Raises `InputError` if it cannot be."""
    units = _SCALES[column_unit(name)]
    if unit not in units:
        raise InputError(f'"{name}" is not measured in "{unit}"{suggestion(unit, units)}', name)
    return 1.0 / units[unit]


def in_base(unit: str) -> float:
    """What one of a printable unit is in base units: 1000 for kB, 0.01 for %."""
    return next(units[unit] for units in _SCALES.values() if unit in units)


def natural_unit(name: str) -> str:
    """The unit to show a column in: Mb/s for rates, else the base unit; "1" for counts and indices."""
    units = _SCALES[column_unit(name)]
    return "Mb/s" if "Mb/s" in units else next(iter(units))


def magnitude(value: object) -> float | None:
    """The number a value stands for on an axis: 1500 for `"1500 B"`, 0.1 for 0.1, None for `"off"`.

    In base units (B, s, b/s, m), so that sorting `"500 B"` and `"1 kB"` works.
    """
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return float(value)
    if not isinstance(value, str) or not (match := _TEXT.fullmatch(value)):
        return None
    number, unit = float(match[1]), match[2]
    if not unit:
        return number
    for units in _SCALES.values():
        if unit in units:
            return number * units[unit]
    return None


def base_unit(value: object) -> str:
    """The unit `magnitude` counts in: `B` for `"1 kB"`, empty for a bare number or a word."""
    if isinstance(value, str) and (match := _TEXT.fullmatch(value)):
        for units in _SCALES.values():
            if match[2] and match[2] in units:
                return next(iter(units)) if match[2] != "%" else ""
    return ""
