"""Congestion controls and schemes written in Python: slow, for trying an idea before it is written in Rust.

A class that derives from `Controller` or `Scheme` is given to `run`, `compare` or `sweep` by the name that the scenario
calls it: `run(scenario, parts={"mine": Mine})`. docs/python-controllers.md is the way through.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from . import source_hash
from .errors import InputError, suggestion

if TYPE_CHECKING:
    from . import _core
    from ._core import Ack, Node, Packet, Report, Window

Why = Literal["fast-retransmit", "ecn-mark", "timeout", "repeated-timeout"]
"""Why a window is to be cut: duplicate ACKs told of a loss, a mark was echoed, the timer expired (or once more)."""

UNITS = ("b/s", "s", "bytes", "segments", "1")
"""Units of a gauge."""

PLACES = ("from-host", "to-host", "transit", "to-air", "from-air")
"""Where a scheme can be shown packets."""

_RECOVERIES = ("tahoe", "reno", "newreno")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9+_-]*")
_ATTRIBUTE = re.compile(r"[a-z][a-z0-9_]*")


class Controller:
    """A congestion control. An object of the class is made for each end of each connection that names it.

    Keywords of `__init__` are parameters of the scenario: `congestion = { name = "mine", beta = 0.5 }`. Each has a
    number or a truth value as its default. A method that the class does not define is not called, and costs nothing. An
    exception ends the run.

    Attributes of the class, each with its default:

    gauges = {}
        Attributes that are recorded as time series, and their units: "b/s", "s", "bytes", "segments" or "1".
    needs_rate = False
        True: the sender measures the delivery rate, `ack.rate`.
    needs_rtt = None
        True: `ack.rtt_s` is there with each ACK of segments sent once. False: once a window. None: as `needs_rate`.
    owns_window = False
        True: cwnd is this controller's in recovery too. Proportional rate reduction and HyStart++ leave it alone, and
        it is not told of ECN marks.
    recovery = "newreno"
        How losses are repaired unless the scenario says otherwise: "tahoe", "reno" or "newreno".
    """

    gauges: ClassVar[Mapping[str, str]] = {}
    """Attributes that are recorded as time series, and their units (`UNITS`): the gauge `diff` of a controller that the
    scenario calls `mine` is the series `mine_diff`. None is no value."""

    needs_rate: ClassVar[bool] = False
    """Whether the sender is to measure the delivery rate: `Ack.rate`."""

    needs_rtt: ClassVar[bool | None] = None
    """Whether each ACK of segments sent once is to tell an RTT, and not one ACK a window. None: as `needs_rate`."""

    owns_window: ClassVar[bool] = False
    """Whether cwnd is this controller's business in recovery too."""

    recovery: ClassVar[str] = "newreno"
    """How losses are repaired unless the scenario says otherwise: "tahoe", "reno" or "newreno"."""

    def on_ack(self, ack: Ack, window: Window) -> None:
        """An ACK of new data. Also called in recovery (`window.in_recovery`), when nothing should grow. Required."""

    def on_congestion(self, why: Why, window: Window) -> None:
        """The window is to be cut; `window.flight_size` is what was in flight. Required."""

    def on_sent(self, now_ns: int, size: int, window: Window) -> None:
        """A segment with `size` bytes of payload leaves."""

    def on_dup_ack(self, ack: Ack, window: Window) -> None:
        """A duplicate ACK, before or in recovery."""

    def on_idle_restart(self, window: Window) -> None:
        """Nothing was sent for more than an RTO. Without it cwnd goes down to the initial window (RFC 5681 4.1)."""

    def on_recovered(self, window: Window) -> None:
        """Fast recovery is over. Without it `window.deflate()`."""

    def on_undo(self, window: Window) -> None:
        """The last cut was a mistake: cwnd and ssthresh are restored. For what the object remembers of its own."""

    def pacing_rate(self, window: Window) -> float | None:
        """The rate in bits per second at which segments leave; None: as the window allows. `window` is a copy."""
        return None


class Scheme:
    """A scheme. An object of the class is made for each node where it sits: `__init__(self, node, ...)`.

    Keywords behind `node` are parameters of the scenario, as those of a `Controller`.

    Attributes of the class, each with its default:

    places = ("to-air",)
        Where it is shown packets: "from-host", "to-host", "transit", "to-air", "from-air". A class with a method
        `packet` says it itself.
    attempts = False
        True: `report` hears of each failed attempt as well.
    counters = ()
        Attributes, whole numbers, that are columns of the result.
    """

    places: ClassVar[tuple[str, ...]] = ("to-air",)
    """Where it is shown packets: of `PLACES`. A class with a method `packet` says it itself."""

    attempts: ClassVar[bool] = False
    """Whether `report` hears of each failed attempt as well."""

    counters: ClassVar[tuple[str, ...]] = ()
    """Attributes, whole numbers, that are columns of the result beside `packets_seen`, `packets_dropped` and
    `packets_delayed`."""

    def __init__(self, node: Node) -> None:
        self.node = node

    @classmethod
    def sits(cls, node: Node) -> bool:
        """Whether it sits at this node. Without it, at every node that the scenario's `at` names, or at all."""
        return True

    def packet(self, place: str, packet: Packet, now_ns: int) -> str | float | None:
        """A packet passes: None or "pass" lets it, "drop" ends it, a number of seconds holds it back for so long."""
        return None

    def report(self, packet: Packet, report: Report) -> None:
        """What became of a packet that this node's MAC was given."""


_METHODS: dict[type, tuple[tuple[str, ...], tuple[str, ...]]] = {
    Controller: (
        ("on_ack", "on_congestion"),
        ("on_sent", "on_dup_ack", "on_idle_restart", "on_recovered", "on_undo", "pacing_rate"),
    ),
    Scheme: ((), ("sits", "packet", "report")),
}
"""Methods that a class must define, and that it may."""

Kind = Literal["congestion control", "scheme"]


@dataclass(frozen=True, slots=True)
class Part:
    """A class under the name that scenarios call it."""

    name: str
    kind: Kind
    source_hash: str | None
    """Of its source and of what that refers to; None if it cannot be had: then no run with it is stored."""
    cls: type = field(repr=False)
    summary: str = field(repr=False)
    params: tuple[tuple[str, float], ...] = field(repr=False)
    methods: tuple[str, ...] = field(repr=False)
    gauges: tuple[tuple[str, str], ...] = field(repr=False)
    counters: tuple[str, ...] = field(repr=False)
    settings: Mapping[str, Any] = field(repr=False)

    def as_json(self) -> dict[str, Any]:
        """What is said of it where results are kept."""
        return {"name": self.name, "kind": self.kind, "language": "Python", "source_hash": self.source_hash}


def parts(given: Mapping[str, type] | None) -> tuple[Part, ...]:
    """The parts of these classes by name. Raises `InputError` for what is no controller or scheme."""
    return tuple(_part(name, cls) for name, cls in (given or {}).items())


def names(of: Sequence[Part], kind: Kind) -> list[str]:
    """The names of the parts of a kind."""
    return [part.name for part in of if part.kind == kind]


def used(of: Sequence[Part], scenarios: Iterable[_core.Scenario]) -> tuple[Part, ...]:
    """Those of the parts that one of the scenarios uses."""
    found = {(name, kind) for scenario in scenarios for name, kind, _ in scenario.parts}
    return tuple(part for part in of if (part.name, part.kind) in found)


def _part(name: str, cls: type) -> Part:
    where = f'parts: "{name}"'
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise InputError(f"parts: {name!r} is no name; letters, digits, + and -, a letter first", "parts")
    if not isinstance(cls, type):
        raise InputError(f'{where} is {cls!r}, and no class; give the class itself, as in {{"{name}": Mine}}', "parts")
    base = next((base for base in _METHODS if issubclass(cls, base)), None)
    if base is None or cls is base:
        raise InputError(
            f"{where}: {cls.__name__} must derive from interlayer.Controller or interlayer.Scheme", "parts"
        )
    must, may = _METHODS[base]
    of = inspect.getattr_static
    own = tuple(method for method in (*must, *may) if of(cls, method) is not of(base, method))
    for method in must:
        if method not in own:
            raise InputError(f"{where}: {cls.__name__} has no method {method}", "parts")
    if base is Scheme and not {"packet", "report"} & set(own):
        raise InputError(f"{where}: {cls.__name__} has neither a method packet nor one called report", "parts")
    if base is Scheme and "packet" in own and (of(cls, "places") is of(base, "places") or not of(cls, "places")):
        raise InputError(
            f'{where}: {cls.__name__} has a method packet and no places; add places = ("to-air",), or others of '
            f"{', '.join(PLACES)}",
            "parts",
        )
    for attribute in dir(cls):
        if attribute.startswith("on_") and attribute not in (*must, *may):
            raise InputError(f"{where}: {attribute} is never called{suggestion(attribute, (*must, *may))}", "parts")
    is_scheme = base is Scheme
    return Part(
        name=name,
        kind="scheme" if is_scheme else "congestion control",
        source_hash=source_hash.of(cls),
        cls=cls,
        summary=(inspect.getdoc(cls) or "").partition("\n")[0] if cls.__doc__ else "",
        params=_params(cls, where, is_scheme),
        methods=own,
        gauges=() if is_scheme else _gauges(cls, where),
        counters=_counters(cls, where) if is_scheme else (),
        settings=_settings(cls, where, is_scheme),
    )


def _params(cls: type, where: str, is_scheme: bool) -> tuple[tuple[str, float], ...]:
    found = list(inspect.signature(cls).parameters.values())
    if is_scheme:
        if not found or found[0].kind not in (found[0].POSITIONAL_ONLY, found[0].POSITIONAL_OR_KEYWORD):
            raise InputError(f"{where}: {cls.__name__}.__init__ must take the node first", "parts")
        found = found[1:]
    params = []
    for one in found:
        if one.kind in (one.VAR_POSITIONAL, one.VAR_KEYWORD):
            continue
        if one.kind is one.POSITIONAL_ONLY or one.default is one.empty or not isinstance(one.default, int | float):
            what = f"the parameter {one.name} of {cls.__name__}.__init__"
            raise InputError(f"{where}: {what} needs a number, or True or False, as its default", "parts")
        params.append((one.name, one.default))
    return tuple(params)


def _gauges(cls: Any, where: str) -> tuple[tuple[str, str], ...]:
    if not isinstance(cls.gauges, Mapping):
        raise InputError(f'{where}: gauges are attributes and their units, as in {{"diff": "segments"}}', "parts")
    for name, unit in cls.gauges.items():
        if not isinstance(name, str) or not _ATTRIBUTE.fullmatch(name):
            raise InputError(f"{where}: the gauge {name!r} is no name of an attribute in small letters", "parts")
        if unit not in UNITS:
            raise InputError(f'{where}: the gauge {name} has the unit "{unit}"{suggestion(unit, UNITS)}', "parts")
    return tuple(cls.gauges.items())


def _counters(cls: Any, where: str) -> tuple[str, ...]:
    found = (cls.counters,) if isinstance(cls.counters, str) else tuple(cls.counters)
    taken = ("packets_seen", "packets_dropped", "packets_delayed", "id", "scheme", "node")
    for name in found:
        if not isinstance(name, str) or not _ATTRIBUTE.fullmatch(name) or name in taken:
            raise InputError(f"{where}: the counter {name!r} is no name of an attribute, or taken", "parts")
    return found


def _settings(cls: Any, where: str, is_scheme: bool) -> dict[str, Any]:
    found: dict[str, Any] = {
        "needs_rate": False,
        "needs_rtt": False,
        "owns_window": False,
        "recovery": "newreno",
        "places": [],
        "attempts": False,
    }
    if is_scheme:
        places = (cls.places,) if isinstance(cls.places, str) else tuple(cls.places)
        for place in places:
            if place not in PLACES:
                raise InputError(f'{where}: no place "{place}"{suggestion(place, PLACES)}', "parts")
        return found | {"places": list(dict.fromkeys(places)), "attempts": bool(cls.attempts)}
    if cls.recovery not in _RECOVERIES:
        raise InputError(f'{where}: no recovery "{cls.recovery}"{suggestion(str(cls.recovery), _RECOVERIES)}', "parts")
    needs_rtt = cls.needs_rate if cls.needs_rtt is None else cls.needs_rtt
    return found | {
        "needs_rate": bool(cls.needs_rate),
        "needs_rtt": bool(needs_rtt),
        "owns_window": bool(cls.owns_window),
        "recovery": cls.recovery,
    }
