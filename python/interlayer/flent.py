"""The test that engineers of queues know: real-time response under load."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING

from . import given, quantity, toml_text
from .api import WIRE, Scenario, tcp, udp, wlan

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.figure import Figure

    from .api import Table
    from .measure.stats import Floats
    from .results import Result

CATEGORIES = {"be": 0, "bk": 8, "vi": 40, "vo": 46}
"""DSCP of a flow for each access category: best effort, CS1, CS5 and EF, those of Flent's `rrul`."""
PROBE = "92 B"
"""64 B behind headers of UDP and IP."""
PROBE_RATE = "25.6 kb/s"
"""Such a probe each 20 ms; Flent sends one in 200 ms, of which a run here would hold few."""


def rrul(
    *,
    standard: str = "802.11n",
    rate: str | None = None,
    mcs: int | None = None,
    streams: int | None = None,
    width: str | None = None,
    queue: str | Table | None = None,
    congestion: str | Table | None = None,
    wire: Table = WIRE,
    duration: str = "20 s",
    warmup: str = "5 s",
    radio: Table | None = None,
    name: str = "rrul",
) -> Scenario:
    """A station that uploads and downloads in each of four access categories, with probes of latency beside.

    Between `sta1`, behind its access point, and `server`, behind a wire, run four TCP uploads (`up-be`, `up-bk`,
    `up-vi`, `up-vo`), four downloads (`down-…`) and as many probes each way (`probe-up-…`, `probe-down-…`: 64 B of UDP
    each 20 ms). Latencies of the probes are those of a call or a game meanwhile: `flow.probe-down-be.latency_p95`.

    `queue` is that of all radios: a discipline's name, which holds 8192 packets, or a table; the standard's default if
    it is not given. `rate`, `mcs`, `streams`, `width`, `wire` and `radio` are as for `wlan`. Source: Flent's `rrul`
    (Hoeiland-Joergensen et al. 2017), whose probes are of three categories and of ICMP. Raises `InputError` as `wlan`.
    """
    given.check_if_any(queue=queue, congestion=congestion)
    held = {"discipline": queue, "packets": 8192} if isinstance(queue, str) else queue
    cell = wlan(
        1,
        ap=True,
        standard=standard,
        rate=rate,
        mcs=mcs,
        streams=streams,
        width=width,
        wire=wire,
        duration=duration,
        warmup=warmup,
        radio={"access": "edca", **({} if held is None else {"queue": held}), **(radio or {})},
        name=name,
    )
    tables = tomllib.loads(cell.text)
    tables["flow"] = [
        _flow(way, category, is_probe, congestion)
        for is_probe in (False, True)
        for way in ("up", "down")
        for category in CATEGORIES
    ]
    return Scenario(toml_text.document(tables))


def _flow(way: str, category: str, is_probe: bool, congestion: str | Table | None) -> dict[str, object]:
    ends = ("sta1", "server") if way == "up" else ("server", "sta1")
    carried = udp(PROBE, PROBE_RATE) if is_probe else tcp(congestion)
    transport = {key: value for key, value in carried.items() if key != "traffic"}
    return {
        "name": f"probe-{way}-{category}" if is_probe else f"{way}-{category}",
        "from": ends[0],
        "to": ends[1],
        "dscp": CATEGORIES[category],
        "transport": transport,
        "traffic": carried.get("traffic", {"model": "bulk"}),
    }


def rrul_figure(results: Mapping[str, Result]) -> Figure:
    """A matplotlib `Figure` as Flent's users know it: goodput over latency, and the distribution of latencies.

    `results` are runs of `rrul` with `series=True`, by the name of each. A sample is the mean latency of the packets of
    one probe in `scenario.series_every`, after the warm-up; probes of which nothing arrives have none. Left: a point
    for each run (goodput of all bulk flows, Mb/s; mean of the samples, ms), the mean of all runs and one standard
    deviation. Right: the share of samples at or below each latency. Raises `InputError` for results without probes or
    without series.
    """
    from . import simulator
    from .show import rrul_plot

    given.check(results=results)
    runs = ", ".join(f"{name} {len(result.seeds)}" for name, result in results.items())
    note = f"Runs: {runs}. Interlayer {simulator.version()}"
    found = {name: _measured(name, result) for name, result in results.items()}
    return rrul_plot.figure(found, "Real-time response under load", note)


def _measured(name: str, result: Result) -> tuple[Floats, Floats, Floats]:
    """Of each run the goodput in Mb/s and the latency of probes in ms; and all samples of their latency in ms."""
    import polars as pl

    from .errors import InputError
    from .measure.series import NONE_KEPT

    if not result.flows["id"].str.starts_with("probe-").any():
        raise InputError(f'results: "{name}" has no flow called probe-…, as those of rrul() have', "results")
    if result.series.is_empty():
        raise InputError(f'results: "{name}": {NONE_KEPT}', "results")
    goodput = result.sample("sum(flow.up-*.goodput)") + result.sample("sum(flow.down-*.goodput)")
    warmup = quantity.magnitude(tomllib.loads(result.text)["scenario"].get("warmup", "0 s"))
    is_sample = pl.col("name").str.contains(r"^flow\.probe-.*\.latency_s$") & pl.col("value").is_finite()
    samples = result.series.filter(is_sample & (pl.col("t_s") > warmup))
    means = samples.group_by("seed", maintain_order=True).agg(pl.col("value").mean())["value"]
    return goodput / 1e6, means.to_numpy() * 1e3, samples["value"].to_numpy() * 1e3
