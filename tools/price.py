"""What a frame exchange costs in instructions, held against what it cost when somebody last looked: `make price`.

    python tools/price.py [--case NAME]... [--renew]

Each case of `interlayer bench` is run once, seed 1, under callgrind: instructions of the whole process, reading the
scenario and writing nothing included, by exchange. They repeat to a few parts in 10⁵ on one compiler, whatever else the
machine does. bench/price.json has what is compared with. More than 1 % above it in any case ends with status 1, and so
does more than 0.25 % in the median of all. What grew is named by function, inlined ones too: a line is booked to the
function in whose text it stands. Another
compiler's or callgrind's numbers are not compared: status 2. --renew writes the file: in a commit of its own, with the
reason.
"""

from __future__ import annotations

import argparse
import bisect
import json
import os
import re
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from interlayer import bench

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ROOT = Path(__file__).parents[1]
KEPT = ROOT / "bench/price.json"
WORK = ROOT / "target/price"
MOST = 0.01
"""By how much a case may grow, as a share."""
MOST_MEDIAN = 0.0025
"""By how much the median of all cases may: one copy of a packet more in each exchange is half a per cent of each."""
SHOWN_FROM = 0.002
"""A function with a smaller share of its case is not kept by name."""

_FUNCTION = re.compile(r"^\s*(?:pub(?:\([a-z:]+\))? )?(?:const |async |unsafe )*fn (\w+)")


@dataclass(frozen=True)
class Price:
    """Instructions of a case, how many exchanges they were for, and the instructions by function."""

    exchanges: int
    instructions: int
    functions: Mapping[str, int]

    @property
    def each(self) -> float:
        """Instructions an exchange."""
        return self.instructions / self.exchanges

    def as_json(self) -> dict[str, Any]:
        """As it is kept: functions by instructions an exchange, the largest first."""
        large = [item for item in self.functions.items() if item[1] >= SHOWN_FROM * self.instructions]
        by_exchange = {name: round(n / self.exchanges, 1) for name, n in sorted(large, key=lambda item: -item[1])}
        return {"exchanges": self.exchanges, "each": round(self.each, 1), "functions": by_exchange}


def made_with() -> dict[str, str]:
    """What counts are only comparable with."""
    rustc = subprocess.run(["rustc", "-vV"], capture_output=True, text=True, check=True).stdout
    facts = dict(line.split(": ", 1) for line in rustc.splitlines() if ": " in line)
    valgrind = subprocess.run(["valgrind", "--version"], capture_output=True, text=True, check=True).stdout
    return {
        "rustc": f"{facts['release']} ({facts['commit-hash'][:9]})",
        "host": facts["host"],
        "valgrind": valgrind.strip(),
    }


def program() -> Path:
    """Builds crates/world/benches/price.rs as the product is built, with the names of its functions, and finds it."""
    command = ["cargo", "build", "--locked", "--quiet", "--profile", "profiling", "-p", "interlayer-world"]
    command += ["--bench", "price", "--message-format", "json"]
    told = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout
    messages = (json.loads(line) for line in told.splitlines())
    return Path(next(m["executable"] for m in messages if m.get("executable") and m["target"]["name"] == "price"))


def measure(program: Path, case: bench.Case) -> Price:
    """One run of `case` under callgrind."""
    scenario, profile = WORK / f"{case.name}.toml", WORK / f"{case.name}.callgrind"
    scenario.write_text(case.scenario(case.seconds))
    command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={profile}", program, scenario]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"price: {case.name}: {done.stderr.strip().splitlines()[-1]}")
    functions = by_function(profile.read_text())
    return Price(int(done.stdout), functions.total(), functions)


_NAME = re.compile(r"(c?)(fl|fi|fe|fn)=\((\d+)\)(?: (.*))?")


def by_function(profile: str) -> Counter[str]:
    """Own instructions by function, of a callgrind profile with lines."""
    found: Counter[str] = Counter()
    names: dict[tuple[str, str], str] = {}
    file = function = ""
    line, is_call = 0, False
    for text in profile.splitlines():
        if said := _NAME.match(text):
            called, kind, number, name = said.groups()
            space = "fn" if kind == "fn" else "file"
            named = names.setdefault((space, number), name or "")
            if not called:
                file, function = (file, named) if space == "fn" else (named, function)
        elif text.startswith("calls="):
            is_call = True  # the next line is what the call cost, which its callee has
        elif text[:1] in "0123456789+-*" and text:
            at, _, cost = text.partition(" ")
            line = line if at == "*" else line + int(at) if at[0] in "+-" else int(at)
            if not is_call:
                found[_place(file, function, line)] += int(cost or 0)
            is_call = False
    return found


def _place(file: str, function: str, line: int) -> str:
    """A line's function: ours by its source, so that an inlined one has its own; of a library its file, and in what."""
    ours = file.removeprefix(f"{ROOT}/")
    if not ours.startswith("crates/"):
        return f"{'/'.join(Path(file).parts[-3:])} in {function}" if file.endswith(".rs") else function
    starts, names = _functions(ours)
    at = bisect.bisect_right(starts, line) - 1
    return f"{ours}: {names[at] if at >= 0 else function}"


@cache
def _functions(file: str) -> tuple[list[int], list[str]]:
    """Where the functions of a source file begin, and their names."""
    lines = enumerate((ROOT / file).read_text().splitlines(), 1)
    found = [(n, said[1]) for n, text in lines if (said := _FUNCTION.match(text))]
    return [n for n, _ in found], [name for _, name in found]


def share(kept: Mapping[str, Any], now: Price) -> float:
    """By how much a case grew."""
    return now.each / float(kept["each"]) - 1


def grown(name: str, kept: Mapping[str, Any], now: Price) -> list[str]:
    """Lines on a case that grew: by how much, and where."""
    before = Counter({place: float(n) for place, n in kept["functions"].items()})
    after = Counter({place: n / now.exchanges for place, n in now.functions.items()})
    # A function that was too small to be kept has grown by less than it has now.
    rises = sorted(
        ((after[p] - before[p], p) for p in after if p in before or after[p] >= SHOWN_FROM * now.each), reverse=True
    )
    change = f"{kept['each']:,.0f} before ({share(kept, now):+.1%})"
    said = [f"{name}: {now.each:,.0f} instructions an exchange, {change}"]
    return said + [f"    {by:+8.1f}  {place}" for by, place in rises[:8] if by >= 1]


def table(kept: Mapping[str, Any], found: Mapping[str, Price]) -> str:
    """All cases, a line each."""
    lines = [f"{'case':<18}{'exchanges':>10}{'before':>9}{'now':>9}{'change':>9}"]
    for name, now in found.items():
        before = kept.get(name, {}).get("each")
        change = (
            f"{before:>9,.0f}{now.each:>9,.0f}{now.each / before - 1:>+9.2%}"
            if before
            else f"{'–':>9}{now.each:>9,.0f}"
        )
        lines.append(f"{name:<18}{now.exchanges:>10,}{change}")
    return "\n".join(lines)


def compare(kept: Mapping[str, Any], found: Mapping[str, Price]) -> int:
    """Prints the table and what grew; the exit status."""
    print(table(kept, found))
    grew = {name: share(kept[name], now) for name, now in found.items() if name in kept}
    worse = [name for name, by in grew.items() if by > MOST]
    if worse:
        print(f"\nprice: more than {MOST:.0%} above {KEPT.relative_to(ROOT)}:")
    elif len(grew) > 1 and median(grew.values()) > MOST_MEDIAN:
        worse = [max(grew, key=lambda name: grew[name])]
        print(
            f"\nprice: {median(grew.values()):.2%} above {KEPT.relative_to(ROOT)} in the median of all cases; most in"
        )
    for name in worse:
        print(*grown(name, kept[name], found[name]), sep="\n")
    return bool(worse)


def main(arguments: Sequence[str] | None = None) -> int:
    asked = argparse.ArgumentParser(prog="price", description=__doc__.splitlines()[0])
    asked.add_argument("--case", action="append", choices=[case.name for case in bench.CASES], default=[])
    asked.add_argument("--renew", action="store_true", help="write bench/price.json")
    given = asked.parse_args(arguments)
    kept = json.loads(KEPT.read_text()) if KEPT.exists() else {"made_with": made_with(), "cases": {}}
    if kept["made_with"] != made_with() and not given.renew:
        print(
            f"price: {KEPT.relative_to(ROOT)} was made with {kept['made_with']}, here is {made_with()}: not comparable",
            file=sys.stderr,
        )
        return 2
    WORK.mkdir(parents=True, exist_ok=True)
    cases, runs = [case for case in bench.CASES if not given.case or case.name in given.case], program()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = dict(zip([case.name for case in cases], pool.map(lambda case: measure(runs, case), cases), strict=True))
    status = compare(kept["cases"], found)
    if given.renew:
        cases_now = {
            **(kept["cases"] if given.case else {}),
            **{name: price.as_json() for name, price in found.items()},
        }
        KEPT.write_text(json.dumps({"made_with": made_with(), "cases": cases_now}, indent=1) + "\n")
        return 0
    return status


if __name__ == "__main__":
    sys.exit(main())
