"""What `run`, `compare`, `sweep` and `reproduce` give back: numbers, frames, tables, figures, and files.

These are classes of their own, since they print themselves: `study` must not import `show`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import extras, given, quantity, simulator
from .errors import InputError, named_as_parameters, suggestion, writing
from .measure import metrics, series, stats
from .measure import timeline as windows
from .study import comparison, measures, outcome
from .study import sweep as grid

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pandas as pd
    import polars as pl
    from matplotlib.figure import Figure

    from ._core import Run
    from .measure.stats import Estimate, Floats
    from .parts import Part


@named_as_parameters()
def _save(folder: str | Path, of: str, write: Callable[[Path], object], force: bool) -> None:
    from .show import output

    given.check(folder=folder)
    with output.folder(Path(folder), of, force=force) as to_folder:
        assert to_folder is not None
        with to_folder.filled() as path:
            write(path)


@dataclass(frozen=True)
class Result:
    """Replications of a scenario. Frames have a row per run and entry, `seed` first, units in the columns' names.

    `print(result)` is the table that the command shows; a notebook shows it as HTML.
    """

    runs: list[Run] = field(repr=False)
    text: str = field(default="", repr=False)
    """The scenario that was run, with the changes to it as comments."""
    name: str = ""
    wall_s: float = field(default=0.0, repr=False)
    parts: tuple[Part, ...] = ()
    """Controllers and schemes in Python that the scenario uses: `name`, `kind`, `source_hash`."""

    def __str__(self) -> str:
        from .show import terminal

        return terminal.run(self._json, self.runs, clock=False).rstrip()

    def _repr_html_(self) -> str:
        from .show import markup, run_page

        return markup.fragment(run_page.head(self._json, self.runs))

    @cached_property
    def _json(self) -> dict[str, Any]:
        from .show import as_json
        from .study.runs import Ended

        name = self.name or "scenario"
        return as_json.run(name, simulator.version(), self.seeds[0], self.runs, self.wall_s, Ended(), self.parts)

    def plot(self, metric: str = "goodput") -> Figure:
        """A matplotlib `Figure`: a column of every flow, with error bars over the runs. Raises `InputError`."""
        from .show import plots, run_words

        given.check(metric=metric)
        rows = self._json["flows"]
        numbers = [name for name, value in rows[0].items() if isinstance(value, dict)] if rows else []
        column = quantity.column(metric, numbers)
        return plots.flows(rows, self._json["scenario"], run_words.note(self._json), column)

    def plot_series(self, *names: str) -> Figure:
        """A matplotlib `Figure`: time series of the first run, a panel for each quantity, a line for each flow.

        `plot_series("cwnd", "srtt")`; without names those that change, the first eight. Raises `InputError` for a name
        that is unknown, and where no series were kept.
        """
        from .show import run_words, series_plot

        for name in names:
            given.check(name=name)
        kept = self.runs[0]["series"] or {}
        shown = series.chosen(kept, names)
        mark = f" {said}." if (said := run_words.in_python(self._json)) else ""
        one = f"Seed {self.seeds[0]}.{mark} Interlayer {simulator.version()}"
        return series_plot.figure(shown, self._json["scenario"], one)

    def save(self, folder: str | Path, *, force: bool = False) -> None:
        """Write figures, data, JSON and page into a folder, as `--out` does. Raises `InputError`, `OutputError`.

        A folder with anything but an earlier result of the same is refused, unless `force`.
        """
        from .show import files

        write = partial(files.write_run, self._json, self.runs, self.text)
        _save(folder, f"run {self._json['scenario']}", write, force)

    def to_pandas(self, table: str = "flows") -> pd.DataFrame:
        """A table as a pandas frame.

        `flows`, `nodes`, `queues`, `frames`, `schemes`, `links`, `windows`, `summary` or `series`.

        Raises `InputError` for another table, and where pandas is not installed: it says what to install.
        """
        given.check(table=table)
        if table not in (known := (*metrics.TABLES, "summary", "series")):
            raise InputError(f'table: no "{table}"{suggestion(table, known)}', "table")
        if table == "series" and not any(run["series"] for run in self.runs):
            raise InputError(series.NONE_KEPT, "series")
        return extras.in_pandas(getattr(self, table))

    @property
    def seeds(self) -> list[int]:
        return [run["seed"] for run in self.runs]

    @cached_property
    def flows(self) -> pl.DataFrame:
        """`id`, `from`, `to`, `goodput_bps`, `datagram_throughput_bps`, `retransmissions`, ..."""
        return self._frame("flows")

    @cached_property
    def nodes(self) -> pl.DataFrame:
        """`id`, then counters of its queue and radio; of several radios each has a row, `relay.air.main`."""
        return self._frame("nodes")

    @cached_property
    def frames(self) -> pl.DataFrame:
        """`class` of frame (data, ack, rts, ...), then counts and airtime."""
        return self._frame("frames")

    @cached_property
    def schemes(self) -> pl.DataFrame:
        """`id` (`lle-tcp@sender`), `scheme`, `node`, then the scheme's own counters; empty without schemes."""
        return self._frame("schemes")

    @cached_property
    def links(self) -> pl.DataFrame:
        """`id` (`ap->sta1`), `from`, `to`, `mode`, `mcs`, `snr_db`: radio links of 802.11n and later; else empty."""
        return self._frame("links")

    @cached_property
    def queues(self) -> pl.DataFrame:
        """`id` (`ap.air`, `server->ap`), then packets offered, dropped and marked, mean length and wait."""
        return self._frame("queues")

    @cached_property
    def windows(self) -> pl.DataFrame:
        """`id` (`rush.download`, `rush.ap.air`): each `[[window]]` of the scenario by flow, then by queue."""
        return self._frame("windows")

    @cached_property
    def summary(self) -> pl.DataFrame:
        """A row per run: `goodput_bps`, `jain`, ..."""
        from .show import frames

        return frames.summary(self.runs)

    @cached_property
    def series(self) -> pl.DataFrame:
        """Time series as `seed`, `name`, `t_s`, `value`; empty unless run with `series=True`."""
        from .show import frames

        return frames.series(self.runs)

    @cached_property
    def legs(self) -> pl.DataFrame:
        """Paths of nodes that move: `seed`, `node`, `begins_s`, `ends_s`, `from_x_m`, `from_y_m`, `to_x_m`, `to_y_m`.

        Empty unless run with `series=True`.
        """
        from .show import frames

        return frames.from_records(frames.motion_records(self.runs, "legs"))

    @cached_property
    def meetings(self) -> pl.DataFrame:
        """When two nodes became radio neighbours (`is_up`), or were so no more, by motion or by an event.

        `seed`, `t_s`, `channel`, `one`, `other`, `is_up`. Empty if nobody moves, and unless run with `series=True`.
        """
        from .show import frames

        return frames.from_records(frames.motion_records(self.runs, "meetings"))

    @cached_property
    def timeline(self) -> pl.DataFrame:
        """A row per transmission: `seed`, `start_ns`, `airtime_ns`, `from`, `to`, `class`, `outcome`, ...; empty unless
        run with `timeline`."""
        return windows.frame(self.runs)

    def write_trace(self, path: str | Path) -> None:
        """The timeline of the first run as trace-event JSON, for ui.perfetto.dev.

        Raises `InputError` if none was kept, `OutputError` if it cannot be written.
        """
        given.check(path_of_file=path)
        kept = self.runs[0]["timeline"]
        if kept is None:
            raise InputError('no timeline was kept: run with timeline="2 s..2.01 s"', "timeline")
        about = {"seed": self.seeds[0], "version": simulator.version()}
        with writing(path):
            windows.write_trace(kept, Path(path), about)

    def sample(self, metric: str) -> Floats:
        """A metric, one number per run: `r.sample("flow.0.goodput")` in b/s. Raises `InputError` for a name unknown.

        The names that tables show are paths, too: `goodput`, `rtt_mean`, `jain`, ..., of all flows together.
        """
        given.check(metric=metric)
        return metrics.column(self.runs, self._path(metric))[1]

    def estimate(self, metric: str) -> Estimate:
        """Mean and 95 % interval of a metric over the runs. Raises `InputError` for a name unknown."""
        given.check(metric=metric)
        return metrics.estimate(self.runs, self._path(metric))

    def _path(self, metric: str) -> str:
        """The path of a metric by its name."""
        return measures.measure(metric, self.runs[:1], option="").path

    def gain_over(self, other: Result, metric: str) -> Estimate:
        """Gain over another result, a fraction, paired by seed. Raises `InputError` if the seeds are not the same."""
        given.check(other=other, metric=metric)
        if self.seeds != other.seeds:
            raise InputError("a paired gain needs the same seeds on both sides", "seed")
        return stats.gain(self.sample(metric), other.sample(metric))

    def _frame(self, table: str) -> pl.DataFrame:
        from .show import frames

        return frames.table(self.runs, table)


class Comparison(comparison.Paired):
    """Arms after their runs, all of the same seeds. The first arm is what the others are compared with.

    `str(comparison)` is the table that the command shows.
    """

    # A class of its own, since it prints itself: `study` must not import `show`.
    __slots__ = ()

    @classmethod
    def _of(cls, found: comparison.Paired) -> Comparison:
        return cls(*(getattr(found, f.name) for f in fields(found)))

    def __repr__(self) -> str:
        runs = len(next(iter(self.runs.values())))
        return f"<Comparison of {self.scenario!r}: {len(self.arms)} arms, {runs} runs of each>"

    def __str__(self) -> str:
        from .show import as_json, terminal

        return terminal.comparison(as_json.comparison(self), clock=False).rstrip()

    def _repr_html_(self) -> str:
        from .show import as_json, markup, pages

        return markup.fragment(pages.comparison_head(self, as_json.comparison(self)))

    def plot(self, metric: str | None = None) -> Figure:
        """A matplotlib `Figure`: a metric of every arm, and beside it the paired difference to the first.

        Without `metric` those that were asked for, else goodput. Raises `InputError`.
        """
        from .show import as_json, comparison_words, plots

        given.check_if_any(metric=metric)
        if metric is None:
            result = as_json.comparison(self)
            return plots.comparison(result, comparison_words.caption(result))
        firsts = [self.runs[arm.label][0] for arm in self.arms]
        asked = measures.measure(self._path(metric), firsts, option="")
        known = {path: name for name, path in measures.METRICS.items()}
        asked = replace(asked, name=known.get(asked.path, asked.name))
        result = as_json.comparison(replace(self, measures=(asked,)))
        return plots.comparison(result, comparison_words.caption(result), [asked.name])

    def save(self, folder: str | Path, *, force: bool = False) -> None:
        """Write figure, data, JSON and page into a folder, as `Result.save`. Raises `InputError`, `OutputError`."""
        from .show import as_json, files

        result = as_json.comparison(self)
        _save(folder, f"compare {self.scenario}", partial(files.write_comparison, self, result), force)


class Sweep(grid.Swept):
    """Cells after their runs, all of the same seeds.

    `str(sweep)` is the table that the command shows, `.rows` has a row per cell and seed, `.summary` n, mean and
    interval of each cell and metric, `.plot()` is a figure.
    """

    # A class of its own, since it prints itself: `study` must not import `show`.

    @classmethod
    def _of(cls, found: grid.Swept) -> Sweep:
        return cls(*(getattr(found, f.name) for f in fields(found)))

    def __repr__(self) -> str:
        return f"<Sweep of {self.scenario!r}: {len(self.cells)} cells, {self.replications} runs of each>"

    def __str__(self) -> str:
        from .show import sweep

        return sweep.table(self, clock=False).rstrip()

    def _repr_html_(self) -> str:
        from .show import markup, sweep

        return markup.fragment(sweep.body(self, ""))

    @property
    def rows(self) -> pl.DataFrame:
        """A row per cell and seed: the swept values, `seed`, then every metric, units in the columns' names."""
        from .show import sweep

        return sweep.row_frame(self)

    def to_pandas(self, table: str = "rows") -> pd.DataFrame:
        """`rows` or `summary` as a pandas frame. Raises `InputError` for another table, and where pandas is missing."""
        given.check(table=table)
        if table not in ("rows", "summary"):
            raise InputError(f'table: no "{table}"{suggestion(table, ("rows", "summary"))}', "table")
        return extras.in_pandas(getattr(self, table))

    @property
    def summary(self) -> pl.DataFrame:
        """A row per cell and metric: the swept values, `metric`, `n`, `mean`, `ci95` (half-width; null for one run)."""
        from .show import sweep

        return sweep.summary_frame(self)

    def plot(self, x: str | None = None, y: str | None = None, by: str | Sequence[str] | None = None) -> Figure:
        """A matplotlib `Figure`: `y`, a metric, over `x`, a swept key; a line for each value of `by`.

        What else is swept has a panel each. Without `x` it is the first key of numbers, without `y` the first metric,
        without `by` the other key. Raises `InputError`.
        """
        from .show import sweep, sweep_plot

        given.check_if_any(x=x, y=y, by=by)
        lines = [by] if isinstance(by, str) else by
        return sweep_plot.figure(self, sweep.caption(self), x=x, y=y, by=lines)

    def save(self, folder: str | Path, *, force: bool = False) -> None:
        """Write figure, data, JSON and page, as `Result.save`. Raises `InputError`, `OutputError`."""
        from .show import sweep

        _save(folder, f"sweep {self.scenario}", partial(sweep.write, self), force)


class Reproduction(outcome.Outcome):
    """An experiment after its runs: `.scored` has each claim with verdict and why.

    `print` shows what the command shows.
    """

    @classmethod
    def _of(cls, found: outcome.Outcome) -> Reproduction:
        return cls(**{f.name: getattr(found, f.name) for f in fields(found)})

    def __repr__(self) -> str:
        return f"<Reproduction of {self.experiment.id!r}: {len(self.scored)} claims>"

    def __str__(self) -> str:
        from .show import terminal

        return terminal.outcome(self).rstrip()

    def _repr_html_(self) -> str:
        from .show import markup, pages

        return markup.fragment(pages.outcome_body(self))

    def plot(self) -> Figure:
        """A matplotlib `Figure`: measured lines, the printed numbers, the arithmetic. Raises `InputError`."""
        from .show import plots

        if not self.cells():
            raise InputError(f"{self.experiment.id}: arithmetic alone, there is no figure", "plot")
        return plots.experiment(self)

    def save(self, folder: str | Path, *, force: bool = False) -> None:
        """Write figure, data, JSON and page into a folder, as `Result.save`. Raises `InputError`, `OutputError`."""
        from .show import files

        _save(folder, f"reproduce {self.experiment.id}", partial(files.write_outcomes, [self]), force)
