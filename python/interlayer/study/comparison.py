"""Schemes against each other in one scenario: an arm each, paired by seed, with intervals and significance.

Run i of every arm has the same seed, so what a seed did to one arm it did to all (common random numbers), and
differences are tested in pairs. docs/compare.md says why, and what is computed.
"""

from __future__ import annotations

import math
import time
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from interlayer import simulator, toml_text
from interlayer.errors import InputError, suggestion
from interlayer.measure import metrics, stats

from .runs import simulate

if TYPE_CHECKING:
    from interlayer._core import Run
    from interlayer.errors import RunError
    from interlayer.measure.stats import Estimate, Floats

    from .runs import Progress
    from .store import Store

RUNS = 10
"""Replications unless told otherwise: what a verdict needs at least."""

METRICS = {
    "goodput_bps": "summary.goodput",
    "jain": "summary.jain",
    "retransmissions": "sum(flow.*.retransmissions)",
    "timeouts": "sum(flow.*.timeouts)",
    "rtt_mean_s": "mean(flow.*.rtt_mean)",
    "dropped_packets": "sum(queue.*.dropped)",
}
"""What is compared, as metric paths. An arm whose runs have no such numbers goes without."""

NONE, FILE = "none", "file"
_OPTION = "--schemes"


def _wrong(message: str) -> InputError:
    return InputError(f"{_OPTION}: {message}", _OPTION)


@dataclass(frozen=True, slots=True)
class Arm:
    """One side: its label as given, the scheme's id (or `none`, `file`), its tables (None: as the file has them)."""

    label: str
    scheme: str
    tables: tuple[Mapping[str, Any], ...] | None

    def overrides(self) -> list[tuple[str, str]]:
        """What makes the scenario this arm."""
        return [] if self.tables is None else [("scheme", toml_text.literal(list(self.tables)))]


def arms(text: str, schemes: str | Sequence[str | Mapping[str, Any]] | None) -> list[Arm]:
    """The arms for a scenario's text.

    `schemes` is what follows `--schemes`, or a list of such parts or of tables (`{"name": "lle-tcp", ...}`); None gives
    `none` and each scheme of the file. An arm keeps what the file's own tables of its scheme say. Raises `InputError`.
    """
    own = _tables(text)
    named = list(dict.fromkeys(str(table.get("name", "")) for table in own))
    if schemes is None:
        if not named:
            raise InputError(
                "no [[scheme]] to compare; say which: --schemes none,lle-tcp (`interlayer list schemes` shows them)",
                "scheme",
            )
        schemes = [NONE, *named]
    parts = _split(schemes, ",") if isinstance(schemes, str) else list(schemes)
    found = [_arm(part, own) for part in parts]
    if len(found) < 2:
        raise _wrong("it takes two to compare, as in none,lle-tcp")
    for i, arm in enumerate(found):
        if arm.label in [other.label for other in found[:i]]:
            raise _wrong(f'"{arm.label}" comes twice')
    return found


def _tables(text: str) -> list[dict[str, Any]]:
    """The `[[scheme]]` tables of a scenario; the core says what is wrong with one that is no list of tables."""
    tables = toml_text.parse(text, "scenario").get("scheme", [])
    return [t for t in tables if isinstance(t, dict)] if isinstance(tables, list) else []


def _arm(part: str | Mapping[str, Any], own: Sequence[Mapping[str, Any]]) -> Arm:
    if isinstance(part, str):
        name, _, rest = (word.strip() for word in part.partition(":"))
        pairs = [_parameter(p, part) for p in _split(rest, ";")] if rest else []
        given = dict(pairs)
        if len(given) < len(pairs):
            raise _wrong(f'a parameter comes twice in "{part}"')
        label = part.strip()
    else:
        name, given = str(part.get("name", "")), {k: v for k, v in part.items() if k != "name"}
        label = name + "".join(
            f"{';' if i else ':'}{k}={v if isinstance(v, str) else toml_text.literal(v)}"
            for i, (k, v) in enumerate(given.items())
        )
    if name in (NONE, FILE):
        if given:
            raise _wrong(f'"{name}" has no parameters')
        return Arm(name, name, () if name == NONE else None)
    known = [entry["id"] for entry in simulator.registry("schemes")]
    if name not in known:
        raise _wrong(simulator.absent("scheme", name) or f'no scheme "{name}"{suggestion(name, [NONE, FILE, *known])}')
    tables = [table for table in own if table.get("name") == name] or [{"name": name}]
    return Arm(label, name, tuple({**table, **given} for table in tables))


def _parameter(text: str, part: str) -> tuple[str, Any]:
    """`advertise=free-buffer`: a TOML value, or a text without its quotes."""
    key, equals, value = (word.strip() for word in text.partition("="))
    if not equals or not key or key == "name":
        raise _wrong(f'"{text}" in "{part}" is no parameter, as sack=keep is in lle-tcp:sack=keep')
    try:
        parsed = tomllib.loads(f"x = {value}")
    except tomllib.TOMLDecodeError:
        return key, value
    return key, parsed["x"] if set(parsed) == {"x"} else value


def _split(text: str, separator: str) -> list[str]:
    """The parts of a list, where brackets and quotes keep theirs together: `a:at=["ap", "sta"],b` has two."""
    parts, depth, quote = [""], 0, ""
    for letter in text:
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'":
            quote = letter
        else:
            depth += (letter in "[{") - (letter in "]}")
        if letter == separator and not quote and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    if any(not part.strip() for part in parts):
        raise _wrong(f'an empty part in "{text}"')
    return parts


@dataclass(frozen=True, slots=True)
class Difference:
    """An arm against the first, paired by seed: `estimate` with its 95 % interval, `relative` in percent of the first.

    `p_value` is that of the paired t-test after Holm's correction for the number of arms. None or nan where undefined.
    """

    estimate: Estimate
    relative: float | None
    p_value: float

    @property
    def significant(self) -> bool:
        return self.p_value < stats.ALPHA


@dataclass(frozen=True, slots=True)
class Paired:
    """Arms after their runs, all of the same seeds. The first arm is what the others are compared with."""

    scenario: str
    text: str = field(repr=False)
    arms: tuple[Arm, ...]
    runs: Mapping[str, Sequence[Run]] = field(repr=False)
    seed: int
    version: str
    wall_s: float
    overrides: tuple[tuple[str, str], ...] = ()
    interrupted: bool = False
    failures: tuple[RunError, ...] = ()
    """Runs that failed by a mistake of the program."""

    @property
    def baseline(self) -> Arm:
        return self.arms[0]

    @property
    def replications(self) -> int:
        return len(self.runs[self.baseline.label])

    def sample(self, label: str, metric: str) -> Floats:
        """A metric of an arm, one number per seed. `metric` is a key of `METRICS`, or a path. Raises `InputError`."""
        if label not in self.runs:
            raise InputError(f'no arm "{label}"{suggestion(label, self.runs)}')
        return metrics.column(self.runs[label], METRICS.get(metric, metric))[1]

    def estimate(self, label: str, metric: str = "goodput_bps") -> Estimate:
        """Mean and 95 % interval of a metric of an arm."""
        return stats.estimate(self.sample(label, metric))

    def difference(self, label: str, metric: str = "goodput_bps") -> Difference:
        """An arm less the first one, paired, in the column's unit. Raises `InputError`."""
        if label == self.baseline.label:
            raise InputError(f'"{label}" is what the others are compared with')
        others = [arm.label for arm in self.arms[1:]]
        old = self.sample(self.baseline.label, metric)
        new = self.sample(label, metric)
        corrected = stats.holm([stats.paired_p(self.sample(other, metric), old) for other in others])
        base = float(old.mean())
        relative = 100 * (float(new.mean()) / base - 1) if base and math.isfinite(base) else None
        return Difference(stats.difference(new, old), relative, corrected[others.index(label)])

    def has(self, metric: str) -> bool:
        """Whether every arm has a metric."""
        try:
            for arm in self.arms:
                self.sample(arm.label, metric)
        except InputError:
            return False
        return True


def run(
    text: str,
    schemes: str | Sequence[str | Mapping[str, Any]] | None = None,
    *,
    overrides: Sequence[tuple[str, str]] = (),
    seed: int | None = None,
    runs: int = RUNS,
    jobs: int = 0,
    name: str = "",
    progress: Progress | None = None,
    store: Store | None = None,
    tell: Callable[[str], None] = lambda line: None,
) -> Paired | None:
    """Run a scenario's text once for each arm and seed; `overrides` (path, TOML text) go over the file, under the arms.

    `seed` is the scenario's own unless given, `name` stands in for a scenario without one. After Ctrl-C the seeds that
    every arm has are kept, marked `interrupted`, and so are those before one that failed (`failures`); None if there is
    none. Runs that a `store` has are taken from there. `tell` is told of the memory of a large scenario. Raises
    `InputError`, `OutputError`, and `RunError` if a run failed and no seed is whole.
    """
    started = time.perf_counter()
    for path, _ in overrides:
        if path.split(".")[0] == "scheme":
            raise InputError(
                f"{path}: compare sets the schemes itself; give parameters so: {_OPTION} none,lle-tcp:sack=keep", path
            )
    chosen = arms(text, schemes)
    own = simulator.parse(text, overrides)  # the file's own mistakes first, with its own paths
    first = own.seed if seed is None else seed
    tell(simulator.forecast(own, runs * len(chosen), jobs))
    scenarios = [_parsed(text, [*overrides, *arm.overrides()], arm) for arm in chosen]
    results: dict[str, list[Run]] = {arm.label: [] for arm in chosen}
    wanted = [(scenario, results[arm.label]) for arm, scenario in zip(chosen, scenarios, strict=True)]
    what = own.name or name
    ended = simulate(wanted, runs, first, jobs, what, progress, store)
    common = min(len(found) for found in results.values())
    if not common and ended.failures:
        raise ended.failures[0]
    if not common:
        return None
    return Paired(
        scenario=what,
        text=text,
        arms=tuple(chosen),
        runs={label: found[:common] for label, found in results.items()},
        seed=first,
        version=simulator.version(),
        wall_s=time.perf_counter() - started,
        overrides=tuple(overrides),
        interrupted=ended.interrupted,
        failures=tuple(ended.failures),
    )


def _parsed(text: str, overrides: Sequence[tuple[str, str]], arm: Arm) -> Any:
    try:
        return simulator.parse(text, overrides)
    except InputError as e:
        raise InputError(f"{arm.label}: {e}", e.path) from e
