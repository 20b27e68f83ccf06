"""Interlayer: a laboratory for TCP over IEEE 802.11.

import interlayer

r = interlayer.run(interlayer.wlan(rate="11 Mb/s", flow=interlayer.tcp("reno"), loss=0.01), runs=10)
print(r.flows)                           # a polars frame, a row per run and flow
print(r.estimate("flow.0.goodput"))      # mean ± half-width of the 95 % interval, in b/s
print(interlayer.compare(interlayer.example("single-hop"), "none,lle-tcp"))

print(interlayer.reproduce("lle-fig-3.7a").scored[0].why)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .api import Interrupted, Scenario, compare, example, load, parse, reproduce, run, sweep, tcp, udp, wlan
    from .errors import InputError, InterlayerError, OutputError, PartError, RunError
    from .flent import rrul, rrul_figure
    from .measure.stats import Estimate
    from .parts import Controller, Scheme
    from .results import Comparison, Reproduction, Result, Sweep

    __version__: str

# Name -> module. Nothing is imported before it is asked for: `import interlayer` costs a few milliseconds.
_WHERE = {
    "Comparison": "results",
    "Controller": "parts",
    "Estimate": "measure.stats",
    "InputError": "errors",
    "InterlayerError": "errors",
    "Interrupted": "api",
    "OutputError": "errors",
    "PartError": "errors",
    "Reproduction": "results",
    "Result": "results",
    "RunError": "errors",
    "Scenario": "api",
    "Scheme": "parts",
    "Sweep": "results",
    "compare": "api",
    "example": "api",
    "live": "realtime.api",
    "LiveResult": "realtime.session",
    "load": "api",
    "parse": "api",
    "reproduce": "api",
    "rrul": "flent",
    "rrul_figure": "flent",
    "run": "api",
    "sweep": "api",
    "tcp": "api",
    "udp": "api",
    "wlan": "api",
}
__all__ = [
    "Comparison",
    "Controller",
    "Estimate",
    "InputError",
    "InterlayerError",
    "Interrupted",
    "LiveResult",
    "OutputError",
    "PartError",
    "Reproduction",
    "Result",
    "RunError",
    "Scenario",
    "Scheme",
    "Sweep",
    "__version__",
    "compare",
    "example",
    "live",
    "load",
    "parse",
    "reproduce",
    "rrul",
    "rrul_figure",
    "run",
    "sweep",
    "tcp",
    "udp",
    "wlan",
]


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name == "__version__":
        return import_module(".simulator", __name__).version()
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(f".{_WHERE[name]}", __name__), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
