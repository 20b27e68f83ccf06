"""Measures what each experiment of the package costs, for `interlayer list experiments`: runs, and seconds of a run.

    python tools/measure_costs.py [ID ... | --missing | --counts]

Runs are counted exactly: those of the first round. The seconds of a run are the mean over three scenarios, spread
evenly over the first round: each is run with seed 1 for half a second of processor time at most, and what it reached
of its simulated time is scaled up. So it is an estimate, of the machine that measured. It writes
python/interlayer/study/costs.json; with ids only these are measured anew, with --missing those that it has not. With
--counts no run is made: runs are counted, and seconds stay.
"""

from __future__ import annotations

import json
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from interlayer import simulator
from interlayer.study import campaign, costs, library

if TYPE_CHECKING:
    from collections.abc import Mapping

    from interlayer import _core

SAMPLES, MOST_S = 3, 0.5
FILE = Path(costs.__file__).with_suffix(".json")


class _EnoughError(Exception):
    pass


def seconds(scenario: _core.Scenario) -> float:
    """Processor seconds of a run, by its begin."""
    begun, reached = time.process_time(), 0.0

    def watch(now: Mapping[int, float]) -> None:
        nonlocal reached
        reached = max(now.values(), default=0.0)
        if reached and time.process_time() - begun > MOST_S:
            raise _EnoughError

    try:
        with closing(simulator.stream([(scenario, 1)], jobs=1, watch=watch)) as runs:
            for _ in runs:
                return time.process_time() - begun
    except _EnoughError:
        pass
    return (time.process_time() - begun) * scenario.duration_s / reached


def measured(id_: str, kept_s: float | None = None) -> dict[str, float]:
    """Runs of each mode, and seconds of one: `kept_s`, or measured."""
    e = library.load(id_)
    found: dict[str, float] = dict.fromkeys(costs.MODES, 0)
    scenarios: list[_core.Scenario] = []
    for mode in costs.MODES if e.base else ():
        scenarios = list(campaign.scenarios(e, quick=mode == "quick", base_only=mode == "base").values())
        found[mode] = len(scenarios) * costs.first_runs(mode)
    if kept_s is not None:
        return found | {"s": kept_s}
    step = max(1, len(scenarios) // SAMPLES)
    picked = scenarios[step // 2 :: step][:SAMPLES]
    found["s"] = float(f"{sum(map(seconds, picked)) / max(1, len(picked)):.3g}")
    return found


def main(ids: list[str]) -> None:
    kept = json.loads(FILE.read_text()) if FILE.exists() else {"experiments": {}}
    if ids == ["--missing"]:
        ids = [id_ for id_ in library.known() if id_ not in kept["experiments"]]
    seconds_stay = ids == ["--counts"]
    for id_ in library.known() if seconds_stay else ids or library.known():
        kept["experiments"][id_] = measured(id_, kept["experiments"][id_]["s"] if seconds_stay else None)
        print(id_, kept["experiments"][id_], flush=True)
        kept["about"] = "runs of the first round by mode, and processor seconds of a run (tools/measure_costs.py)"
        kept["version"], kept["measured"] = simulator.version(), time.strftime("%Y-%m-%d", time.gmtime())
        FILE.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
