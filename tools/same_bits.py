"""Whether another build of the core makes the same runs, bit for bit; and what it made need not be made again.

    python tools/same_bits.py STORE PACKAGE [--sample N] [--carry] [--but EXPERIMENT ...]

STORE is a store of runs, PACKAGE the folder in which the other build's `interlayer` lies (python/ of another checkout).
Every cell of every experiment, in each reading and counter-run, is named in both; N of the runs that the other build
has there (200, drawn with a fixed seed) are made again with this one, and compared: tables and summary, times of the
clock apart. The first difference ends it with status 1. With --carry all runs of the other build are then kept as
this one's. Experiments named by --but, whose numbers are to move, are left out.

A change that is to move no number is tried with it, after the golden fingerprints. It is a sample: what it lets
through is a difference in fewer than about one run in N.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sqlite3
import subprocess
import sys
import zlib
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from interlayer import _core

_CLOCK = ("sim_s", "wall_s")


def scenarios() -> Iterator[tuple[str, str, _core.Scenario]]:
    """Every scenario of the package's experiments: a name that another version gives it too, its key, itself."""
    from interlayer.engine import HERE
    from interlayer.errors import InputError
    from interlayer.study import campaign, library, readings
    from interlayer.study.runs import Cache

    for id_ in library.known():
        e = library.load(id_)
        if not e.base:
            continue
        of = campaign.Campaign(e, 1, HERE, (), None, Cache())
        found = [
            (r.id, campaign.Variant(reading=r))
            for r in (readings.chosen(e.open.parameters) if e.open else [readings.BASE])
        ]
        extra = {str(one.overrides): one.overrides for c in e.claims for one in c.evidence if one.is_counter_run}
        found += [(name, campaign.Variant(given)) for name, given in extra.items()]
        for name, variant in found:
            for cell in e.cells():
                with suppress(InputError):  # a cell that no claim has in this reading
                    key, scenario = of.scenario(variant, cell)
                    yield f"{id_}\t{name}\t{cell}", key, scenario


def digests() -> dict[str, str]:
    """The digests of a store for all scenarios, by name."""
    from interlayer.study.store import Store

    store = Store(Path("nowhere"))
    return {name: store._name(key).hex() for name, key, _ in scenarios()}


def of_other(package: Path) -> tuple[str, dict[str, str]]:
    """The other build's hash, and its digests."""
    command = [sys.executable, __file__, "--digests"]
    environment = {**os.environ, "PYTHONPATH": str(package)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    return found["core"], found["digests"]


def plain(run: dict[str, Any]) -> str:
    return json.dumps({k: v for k, v in run.items() if k not in _CLOCK}, sort_keys=True)


def main() -> int:
    from interlayer import simulator

    if sys.argv[1:] == ["--digests"]:
        print(json.dumps({"core": simulator.core_hash(), "digests": digests()}))
        return 0
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("store", type=Path)
    asked.add_argument("package", type=Path)
    asked.add_argument("--sample", type=int, default=200)
    asked.add_argument("--carry", action="store_true")
    asked.add_argument("--but", nargs="*", default=[], metavar="EXPERIMENT")
    given = asked.parse_args()
    other, theirs = of_other(given.package.resolve())
    mine = simulator.core_hash()
    ours: dict[str, tuple[str, _core.Scenario]] = {}
    for name, key, scenario in scenarios():
        if name in theirs and name.split("\t")[0] not in given.but:
            ours.setdefault(theirs[name], (key, scenario))
    with closing(sqlite3.connect(given.store, timeout=60)) as database:
        has = dict(database.execute("SELECT hash, id FROM core"))
        if other not in has:
            print(f"{given.store} has no runs of {other}")
            return 2
        where = "SELECT hex(scenario), seed, recorded, result FROM run WHERE core = ?"
        stored = [row for row in database.execute(where, (has[other],)) if row[0].lower() in ours]
        picked = random.Random(1).sample(stored, min(given.sample, len(stored)))
        for digest, seed, _, result in picked:
            scenario = ours[digest.lower()][1]
            again = simulator.run_batch([(scenario, seed)], jobs=1).runs[0]
            if plain(again) != plain(json.loads(zlib.decompress(result))):
                print(f"differs: seed {seed} of {next(name for name, d in theirs.items() if d == digest.lower())}")
                return 1
        print(f"{len(picked)} of {len(stored)} runs of {other} are the same, bit for bit, made by {mine}")
        if given.carry:
            from interlayer.study.store import Store

            with Store(given.store) as store:
                for digest, seed, _, result in stored:
                    store.put(ours[digest.lower()][0], seed, json.loads(zlib.decompress(result)))
            print(f"{len(stored)} runs are kept as this build's")
    return 0


if __name__ == "__main__":
    sys.exit(main())
