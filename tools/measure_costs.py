"""Measures what each experiment of the package costs, for `interlayer list experiments`: runs, and seconds of a run.

    python tools/measure_costs.py [ID ...]

Runs are counted exactly: those of the first round. The seconds of a run are the mean over at most five scenarios,
spread evenly over the first round, one run of each with seed 1, in processor time of this process. It writes
python/interlayer/study/costs.json; with ids, only these are measured anew.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from interlayer import simulator
from interlayer.study import campaign, costs, library

SAMPLES = 5
FILE = Path(costs.__file__).with_suffix(".json")


def measured(id_: str) -> dict[str, float]:
    e = library.load(id_)
    if not e.base:
        return {"quick": 0, "base": 0, "all": 0, "s": 0.0}
    found: dict[str, float] = {}
    for mode in costs.MODES:
        scenarios = campaign.scenarios(e, quick=mode == "quick", base_only=mode == "base")
        found[mode] = len(scenarios) * costs.RUNS[mode]
    step = max(1, len(scenarios) // SAMPLES)
    picked = scenarios[step // 2 :: step][:SAMPLES]
    begun = time.process_time()
    for scenario in picked:
        simulator.run_batch([(scenario, 1)], jobs=1)
    found["s"] = float(f"{(time.process_time() - begun) / len(picked):.3g}")
    return found


def main(ids: list[str]) -> None:
    kept = json.loads(FILE.read_text()) if FILE.exists() else {"experiments": {}}
    for id_ in ids or library.known():
        kept["experiments"][id_] = measured(id_)
        print(id_, kept["experiments"][id_], flush=True)
        about = "runs of the first round by mode, and processor seconds of a run"
        kept |= {"about": about, "version": simulator.version(), "measured": time.strftime("%Y-%m-%d", time.gmtime())}
        FILE.write_text(json.dumps({key: kept[key] for key in ("about", "version", "measured", "experiments")}, indent=1) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
