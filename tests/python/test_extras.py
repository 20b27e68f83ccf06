"""Without the parts that are installed if asked for: what is missing is named, all else works."""

from __future__ import annotations

import csv
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import interlayer
from interlayer.errors import InputError
from interlayer.show import frames

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[2]


@pytest.fixture
def without_polars(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where polars is not installed."""
    monkeypatch.setitem(sys.modules, "polars", None)


@pytest.fixture
def cell(tmp_path: Path) -> Path:
    path = tmp_path / "cell.toml"
    path.write_text(interlayer.wlan(duration="1 s", warmup="500 ms", loss=0.1, name="cell").text)
    return path


@pytest.mark.core
@pytest.mark.parametrize(
    "words",
    [
        ["run", "CELL", "--runs", "2"],
        ["run", "CELL", "--series"],
        ["compare", "CELL", "--schemes", "none,lle-tcp", "--runs", "2"],
        ["sweep", "CELL", "--over", "channel.errors.per=0,0.1", "--runs", "2"],
        ["reproduce", "lle-fig-3.7b", "--quick"],
    ],
)
def test_reports_are_written_without_polars(
    words: list[str], without_polars: None, call: Callable[..., Any], cell: Path
) -> None:
    out = cell.parent / "out"
    status, text, err = call(*(str(cell) if w == "CELL" else w for w in words), "--out", out)
    assert (status, bool(text)) == (0, True), err
    names = {p.name for p in out.iterdir()}
    assert any(name.endswith(".csv") for name in names)
    assert not any(name.endswith(".parquet") for name in names)
    pages = [(out / name).read_text("utf-8") for name in names if name.endswith(".html")]
    assert not any(".parquet" in page for page in pages)
    assert ("timeline: left out, it needs polars" in err) == ("--series" in words)


@pytest.mark.core
def test_a_frame_names_what_is_missing(without_polars: None, cell: Path) -> None:
    result = interlayer.run(cell)
    swept = interlayer.sweep(cell, {"channel.errors.per": [0, 0.1]}, runs=1)
    for frame in (lambda: result.flows, lambda: result.series, lambda: result.summary, lambda: swept.rows):
        with pytest.raises(InputError, match=r'frames need polars, which is not installed: pip install "interlayer\[f'):
            frame()
    assert "cell: 1 run" in str(result)
    assert result.plot()


def test_csv_says_the_same_with_and_without_polars(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    records = [
        {"seed": 1, "id": "up, down", "x": 1e-7, "on": True, "none": None, "nan": float("nan"), "list": [1]},
        {"seed": 2, "id": 'a "b"', "x": 12345678.9, "on": False, "none": None, "nan": 0.5, "list": []},
    ]
    frames.write_records(records, tmp_path / "with")
    monkeypatch.setitem(sys.modules, "polars", None)
    frames.write_records(records, tmp_path / "without")
    monkeypatch.undo()
    found = []
    for name in ("with", "without"):
        with (tmp_path / f"{name}.csv").open(newline="") as file:
            found.append(list(csv.reader(file)))
    numbers = [
        [[float(v) if v.replace(".", "").replace("e-", "").isdigit() else v for v in r] for r in f] for f in found
    ]
    assert numbers[0] == numbers[1]
    assert pl.read_csv(tmp_path / "without.csv")["x"].to_list() == [1e-7, 12345678.9]


def test_what_an_installation_needs_is_what_the_page_says() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    needed = {name.split(">")[0] for name in project["dependencies"]}
    assert needed == {"numpy", "matplotlib", "typer", "rich"}
    page = (ROOT / "docs/design/dependencies.md").read_text("utf-8")
    for name in [*needed, "polars", "pandas", "distributed", "starlette", "uvicorn"]:
        assert f"| `{name}` |" in page, name
    for extra in ("frames", "pandas", "dask", "explore", "docs"):
        assert extra in project["optional-dependencies"]


@pytest.mark.core
def test_the_package_never_needs_scipy(cell: Path) -> None:
    code = (
        "import sys; sys.modules['scipy'] = None\nimport interlayer as il\n"
        f"print(il.compare({str(cell)!r}, 'none,lle-tcp', runs=3).difference('lle-tcp').p_value < 0.05)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("True\n", "")
