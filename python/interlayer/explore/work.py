"""Runs of the page: one question at a time, and a newer one ends the older. What is known goes out as it comes in.

A question is answered by `comparison.run`, as `interlayer compare` answers it, so the numbers are the same to the last
digit. Then one run of each arm is made again with its series and its scene: no bit of a result depends on them.
"""

from __future__ import annotations

import json
import math
import re
import threading
import time
from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from interlayer import machine, quantity, simulator
from interlayer.engine import Here
from interlayer.errors import InputError, InterlayerError
from interlayer.measure import catalogue, timeline
from interlayer.measure import series as over_time
from interlayer.show import animation, as_json, comparison_words
from interlayer.study import comparison, costs
from interlayer.study.measures import METRICS

from . import capture_size

if TYPE_CHECKING:
    from interlayer import _core
    from interlayer._core import Run
    from interlayer.errors import RunError
    from interlayer.simulator import Watch
    from interlayer.study.comparison import Paired
    from interlayer.study.runs import Standing

    from .cells import Cell, Source

MOST_S = 60.0
"""Wall-clock seconds that a question may take; what would take longer on this machine alone is refused."""
MOST_BYTES = 1_000_000_000
"""Of memory that the runs of a question may take."""
_FIRST_LOOK_S = 1.0
"""After so long a forecast is worth something."""
_LOOK_S = 0.02
"""So often is looked whether the question is still asked: a slider waits for it."""
_EVERY_S = 0.05
"""So far apart are results that go out; the last always does."""
MOST_SAMPLES = 2_000_000
"""Samples of time series that one run may record."""
_POINTS, _LINES, _QUANTITIES = 1200, 24, 12
"""Of a quantity that goes to the page: points of a line, lines; and quantities."""

Event = dict[str, Any]
Tell = Callable[[Event], None]


def plain(text: str) -> str:
    """A name as a part of a file's name: letters and digits of ASCII, joined by hyphens."""
    return "-".join(re.findall(r"[A-Za-z0-9.]+", text))[:60].strip("-.") or "cell"


class GivenUpError(Exception):
    """Nobody asks this question any more."""


def one_run(scenario: _core.Scenario, seed: int, watch: Watch, **kept: Any) -> Run:
    """A run alone; `watch` ends it by raising. Raises what went wrong in it."""
    stream = simulator.stream([(scenario, seed)], watch=watch, look_s=_LOOK_S, **kept)
    try:
        run = next(found for _, found in stream)
    finally:
        stream.close()
    if not isinstance(run, dict):
        raise run
    return run


@dataclass(frozen=True, slots=True)
class _Watched(Here):
    """The threads of this process, looked at often."""

    def stream(
        self, tasks: Iterable[tuple[_core.Scenario, int]], watch: Watch | None = None
    ) -> Generator[tuple[int, Run | RunError]]:
        return simulator.stream(tasks, jobs=self.jobs, watch=watch, look_s=_LOOK_S)


@dataclass
class Answer:
    """The answer to a question, kept until the next one is asked, for pictures and data."""

    number: int
    names: tuple[str, str, str]
    """Of its files: the cell, and each arm."""
    result: Event | None = None
    compared: Paired | None = None
    recorded: dict[int, tuple[Run, _core.Scenario]] = field(default_factory=dict)
    """Of each arm that was recorded its run."""
    elsewhere: dict[int, tuple[str, Run]] = field(default_factory=dict)
    """Of each arm its run with the single frames of another time, by what was asked last."""
    lock: threading.Lock = field(default_factory=threading.Lock)


class Asked:
    """A question under way, on a thread of its own. `end` may be called from any thread."""

    def __init__(self, number: int, cell: Cell, tell: Tell) -> None:
        self.answer = Answer(number, (plain(cell.name), "the-cell", plain(cell.label)))
        self._cell, self._tell = cell, tell
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"question {number}", daemon=True)
        self._told_at = 0.0

    def begin(self) -> None:
        self._thread.start()

    def end(self) -> None:
        """Nobody waits for it any more: its runs stop within a fraction of a second."""
        self._ended.set()

    def wait(self, patience_s: float = 5.0) -> None:
        if self._thread.is_alive():
            self._thread.join(patience_s)

    @property
    def is_over(self) -> bool:
        return not self._thread.is_alive()

    # ------------------------------------------------------------------------------------------------ on its thread

    def _run(self) -> None:
        try:
            self._compare()
            self._record()
            self._say({"event": "done"})
        except GivenUpError:
            self._tell({"event": "ended"})
        except InputError as e:
            self._tell({"event": "refused", "mistakes": mistakes(e)})
        except InterlayerError as e:
            self._tell({"event": "refused", "mistakes": [{"path": "", "line": str(e)}]})
        except MemoryError:
            self._tell({"event": "refused", "mistakes": [{"path": "", "line": "out of memory"}]})
        except Exception as e:  # a mistake of ours: the page says so, and the server goes on
            self._tell({"event": "refused", "mistakes": [{"path": "", "line": f"a mistake of the program: {e!r}"}]})

    def _say(self, event: Event) -> None:
        self._look()
        self._tell(event)

    def _look(self) -> None:
        if self._ended.is_set():
            raise GivenUpError

    def _compare(self) -> None:
        cell, began, worked = self._cell, time.monotonic(), time.process_time()
        arms = [cell.parsed(arm) for arm in (0, 1)]
        _check_memory(arms)
        q = cell.question

        def progress(what: str, standing: Standing) -> None:
            self._look()
            check_time(standing, time.monotonic() - began, time.process_time() - worked, q.runs)

        def seen(found: Paired) -> None:
            now = time.monotonic()
            if found.replications in (1, 2, q.runs) or now - self._told_at >= _EVERY_S:
                self._told_at = now
                self._result(found)

        found = comparison.run(
            cell.text,
            None,
            cell.arms(),
            metric=cell.metrics,
            seed=q.seed,
            runs=q.runs,
            engine=_Watched(),
            name=cell.name,
            progress=progress,
            seen=seen,
        )
        self._look()
        if found is None or found.interrupted:
            raise GivenUpError
        if found.failures:
            raise found.failures[0]
        self.answer.compared = found

    def _result(self, found: Paired) -> None:
        result = as_json.comparison(found)
        result["asked_runs"] = self._cell.question.runs
        self.answer.result = result
        self._say({"event": "result", "number": self.answer.number, "result": told(result)})

    def _record(self) -> None:
        """One run of each arm with series, timeline and scene, of the first seed."""
        for arm in (0, 1):
            scenario = self._cell.parsed(arm)
            if (why := _unrecorded(scenario)) is not None:
                self._say({"event": "unrecorded", "arm": arm, "why": why})
                continue
            run = _recorded(scenario, self._cell.question.seed, "", self._look)
            self.answer.recorded[arm] = (run, scenario)
            told = {"arm": arm, "number": self.answer.number, "no_captures": capture_size.refusal(run)}
            self._say({"event": "recorded", **told, **_series(run)})


def _check_memory(arms: Iterable[_core.Scenario]) -> None:
    """Raise `InputError` where runs of a scenario, one on each core, would take more than the page gives them."""
    for scenario in arms:
        needed = scenario.run_bytes * machine.cores()
        if needed > MOST_BYTES:
            said, most = quantity.size(needed), quantity.size(MOST_BYTES)
            why = f"{len(scenario.nodes)} nodes would take some {said} of memory; the page gives runs {most}"
            raise InputError(f"node: {why}", "node")


def _recorded(scenario: _core.Scenario, seed: int, frames: str, look: Callable[[], None]) -> Run:
    """A run with series, scene, and the single frames of 10 ms from an instant on, the end of the warm-up for ""."""
    kept: dict[str, Any] = {"series": True, "scene": True, "timeline": timeline.begun(frames, scenario, "frames")}
    return one_run(scenario, seed, lambda reached: look(), **kept)


def check_time(standing: Standing, elapsed_s: float, processor_s: float, runs: int) -> None:
    """Raise `InputError` where the rest would take longer than the page waits, or where it has waited so long.

    The forecast is of processor time, which other programs do not change: a lesson is not refused because a browser
    starts beside it. It waits for a second of that, too: a busy machine gives a tenth in one, and of that the first
    reading of files is the larger part.
    """
    alone_s = processor_s / max(1, min(machine.cores(), standing.runs))
    if elapsed_s < _FIRST_LOOK_S or (alone_s < _FIRST_LOOK_S and elapsed_s <= MOST_S / 4):
        return
    left_s = standing.left_s(alone_s)
    if left_s is None and elapsed_s > MOST_S / 4:
        left_s = MOST_S * 100
    if left_s is None or (elapsed_s + left_s <= MOST_S and elapsed_s <= MOST_S):
        return
    whole = elapsed_s + left_s
    fewer = int(runs * MOST_S / whole)
    also = f"fewer runs (about {fewer}), " if fewer >= 1 and fewer < runs else ""
    why = f"would take about {costs.duration(whole)}, and the page waits {MOST_S:g} s"
    remedy = f"{also}a shorter scenario.duration, or the command below in a terminal"
    raise InputError(f"runs: {runs} of each arm {why}; take {remedy}", "runs")


def _unrecorded(scenario: _core.Scenario) -> str | None:
    """Why a run is not recorded; None if it is."""
    every = quantity.magnitude(json.loads(scenario.to_json())["scenario"]["series_every"]) or 1.0
    samples = scenario.duration_s / every * 20 * max(1, len(scenario.flows))
    if samples <= MOST_SAMPLES:
        return None
    return f"series of {samples:.2g} samples are too many for a page; raise scenario.series_every"


def mistakes(e: InputError) -> list[dict[str, str]]:
    """Each mistake: the key, and the one line that the command line has for it."""
    return [{"path": one.path, "line": " ".join(one.line.split())} for one in e.mistakes]


# ------------------------------------------------------------------------------------------------------- for the page


def told(result: Mapping[str, Any]) -> Event:
    """A comparison as the page shows it: numbers, and the words that the command line has for them."""
    one, other = result["arms"]
    metrics = []
    for metric in one["compared"]:
        name, unit = comparison_words.name_and_unit(metric)
        scale = quantity.scale(metric, unit)
        d = other["difference"][metric]
        metrics.append(
            {
                "metric": metric,
                "name": name,
                "meaning": catalogue.meaning(METRICS.get(metric) or result["metrics"][metric]),
                "unit": "" if unit in ("1", "packets") else unit,
                "arms": [_numbers(arm["compared"][metric], scale) for arm in (one, other)],
                "difference": _numbers(d, scale),
                "words": [
                    *(comparison_words.in_unit(arm["compared"][metric], metric) for arm in (one, other)),
                    comparison_words.difference_text(d, metric, unit),
                    comparison_words.p_text(d["p_value"]).removeprefix("p ").removeprefix("= "),
                    comparison_words.mark(d),
                ],
            }
        )
    flows = [[{"id": f["id"], "goodput_bps": f["goodput_bps"]["mean"]} for f in arm["flows"]] for arm in (one, other)]
    return {
        "scenario": result["scenario"],
        "version": result["version"],
        "runs": result["runs"],
        "asked_runs": result["asked_runs"],
        "seed": result["seed"],
        "wall_s": result["wall_s"],
        "labels": [one["label"], other["label"]],
        "same": comparison_words.same_in_all(result["arms"]),
        "metrics": metrics,
        "flows": flows,
        "sentence": f"{comparison_words.sentence(other, result)}.",
        "caption": comparison_words.caption(result, bars=False),
    }


def _numbers(value: Mapping[str, Any], scale: float) -> list[float | None]:
    """Mean and the ends of its interval in a unit; None where undefined."""
    mean, half = value["mean"], value["ci95"]
    if mean is None or not math.isfinite(mean):
        return [None, None, None]
    ends: list[float | None] = [None, None]
    if "ci95_low" in value:
        ends = [value["ci95_low"], value["ci95_high"]]
    elif half is not None:
        ends = [mean - half, mean + half]
    return [None if end is None or not math.isfinite(end) else end * scale for end in (mean, *ends)]


def _series(run: Run) -> Event:
    """The time series of a run that change, thinned for a screen."""
    quantities, constant = over_time.changing(run["series"] or {})
    found = []
    for q in quantities[:_QUANTITIES]:
        lines = []
        for line in q.lines[:_LINES]:
            t, values = _thinned(line.t_s, q.shown(line))
            lines.append({"entry": line.entry, "t": t, "values": values})
        found.append({"name": q.name, "unit": q.unit, "lines": lines, "left_out": max(0, len(q.lines) - _LINES)})
    return {"series": found, "constant": constant[:_LINES]}


def _thinned(t_s: Any, values: Any) -> tuple[list[float], list[float | None]]:
    """At most `_POINTS` points: of each stretch the least and the greatest, in their order."""
    if t_s.size > _POINTS:
        keep: list[int] = []
        for part in np.array_split(np.arange(t_s.size), _POINTS // 2):
            of = np.nan_to_num(values[part])
            keep += sorted({int(part[of.argmin()]), int(part[of.argmax()])})
        t_s, values = t_s[keep], values[keep]
    plain = [float(f"{v:.6g}") if np.isfinite(v) else None for v in values.tolist()]
    return [round(t, 6) for t in t_s.tolist()], plain


# ------------------------------------------------------------------------------------------------------------ one desk


class Desk:
    """Takes questions one by one. A new one ends the one before, and has the machine to itself."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self._lock = threading.Lock()
        self._asked: Asked | None = None
        self._numbers = 0

    def ask(self, cell: Cell, tell: Tell) -> Asked:
        """Begin to answer: `tell` gets events, from another thread, the last being done, ended or refused."""
        with self._lock:
            if self._asked is not None:
                self._asked.end()
                self._asked.wait()
            self._numbers += 1
            self._asked = Asked(self._numbers, cell, tell)
            self._asked.begin()
            return self._asked

    def answer(self, number: int) -> Answer:
        """The answer of a question, if it is the last one. Raises `InputError` for another."""
        found = self._asked
        if found is None or found.answer.number != number:
            raise InputError("this answer is no longer kept: press Run again", "number")
        return found.answer

    def close(self) -> None:
        with self._lock:
            if self._asked is not None:
                self._asked.end()
                self._asked.wait()


def air(answer: Answer, arm: int, frames: str, still: Callable[[], None]) -> str:
    """The page that plays an arm's recorded run: the renderer and the player of `--animate`.

    With `frames` the run is made again, with the single frames of 10 ms from that instant on. `still` raises
    `InputError` once nobody wants it, and so does a run that was not recorded, and an instant that is none.
    """
    if arm not in answer.recorded:
        raise InputError("this run was not recorded", "arm")
    run, scenario = answer.recorded[arm]
    if frames:
        with answer.lock:
            if answer.elsewhere.get(arm, ("", run))[0] != frames:
                answer.elsewhere[arm] = (frames, _recorded(scenario, run["seed"], frames, still))
            run = answer.elsewhere[arm][1]
    of = animation.scene(run, scenario, scenario.name or "cell", simulator.version())
    return animation.page(of, embedded=True)
