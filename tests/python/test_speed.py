"""The speed beside ns-3: every page states the figures of bench/ns3.json, and a run wrote that file."""

from __future__ import annotations

import ast
import json
import re
import subprocess
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from interlayer import bench

ROOT = Path(__file__).parents[2]
KEPT = json.loads((ROOT / "bench/ns3.json").read_text("utf-8"))
TRACKED = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()


@pytest.fixture(scope="module")
def speed() -> Any:
    """docs/speed.py."""
    spec = spec_from_file_location("speed", ROOT / "docs" / "speed.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_file_has_every_pair_of_every_case_and_what_follows_from_them(speed: Any) -> None:
    assert [case["name"] for case in KEPT["cases"]] == [c.name for c in bench.CASES if c.peer] == list(speed.CASES)
    assert KEPT["machine"]["cpu"]
    assert KEPT["machine"]["cores"] >= 1
    assert set(KEPT["load"]) == {"before", "after"}
    for case in KEPT["cases"]:
        pairs = case["pairs"]
        assert case["runs"] == len(pairs) == KEPT["cases"][0]["runs"]
        for name in ("interlayer_s", "ns3_s", "interlayer_cpu_s", "ns3_cpu_s"):
            assert case[name] == median(pair[name] for pair in pairs)
        ratios = [pair["ns3_cpu_s"] / pair["interlayer_cpu_s"] for pair in pairs]
        assert (case["cpu_ratio_low"], case["cpu_ratio_high"]) == (min(ratios), max(ratios))
        assert case["cpu_ratio"] == case["ns3_cpu_s"] / case["interlayer_cpu_s"]
        assert case["ratio"] == case["ns3_s"] / case["interlayer_s"]


def test_every_page_states_what_the_file_says(speed: Any) -> None:
    for page in speed.PAGES:
        text = page.read_text("utf-8")
        assert speed.BLOCK.search(text), page
        assert speed.renewed(text, KEPT) == text, f"{page.name}: make docs, or docs/speed.py alone"
        assert not re.search(r"^<!-- ns3 \w+ -->.", text, re.MULTILINE), (
            f"{page.name}: Markdown reads such a line as HTML"
        )


def sentences(name: str, block: re.Pattern[str]) -> list[str]:
    """The sentences of a page outside of the blocks that are filled, or those of a module's docstrings."""
    text = (ROOT / name).read_text("utf-8")
    if name.endswith(".py"):
        kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
        text = "\n\n".join(ast.get_docstring(n) or "" for n in ast.walk(ast.parse(text)) if isinstance(n, kinds))
    return re.split(r"(?<=[.!?:|]) |\n\s*\n|\n(?=[-|#])", block.sub("", text))


FACTOR = re.compile(r"\d[\d,.]*\s+(?:times|x|×)\s+(?:as\s+(?:fast|quick|slow)|faster|slower|less|more|the|ns-3)")


def test_no_other_place_states_how_fast_ns3_is(speed: Any) -> None:
    pages = [n for n in TRACKED if n.endswith((".md", ".md.in", ".py")) and (ROOT / n).exists()]
    history = ("CHANGELOG.md", "docs/design/progress.md", "tests/python/test_speed.py")
    told = [f"{n}: {s}" for n in pages if n not in history for s in sentences(n, speed.BLOCK) if "ns-3" in s]
    assert [line for line in told if FACTOR.search(line)] == []
    assert len(told) > 50
    assert FACTOR.search("It is 129 to 544 times as fast as ns-3.")


def test_what_takes_from_the_worth_of_a_measurement_is_said(speed: Any) -> None:
    def said(runs: int, before: float | None, after: float | None = 1.0) -> str:
        cases = [case | {"runs": runs} for case in KEPT["cases"]]
        text: str = speed.of_conditions(KEPT | {"cases": cases, "load": {"before": before, "after": after}})
        return text

    assert "Preliminary" not in said(5, 0.2)
    assert "load 0.2 before, 1.0 after." in said(5, 0.2)
    assert "medians of 5 pairs" in said(5, 0.2)
    assert said(5, 3.0).endswith("**Preliminary:** the machine was busy with other work.")
    assert said(5, 0.2, 2.4).endswith("**Preliminary:** the machine was busy with other work.")
    assert said(1, 0.2).endswith("**Preliminary:** 5 pairs are asked for.")
    assert "one pair a case" in said(1, 0.2)
    assert "load" not in said(5, None, None)


def test_a_case_below_the_aim_is_named(speed: Any) -> None:
    cases = [{"name": "6-uploads", "cpu_ratio": 149.6}, {"name": "50-uploads", "cpu_ratio": 400.0}]
    assert speed.of_aim({"cases": cases}) == "150 in each case; it is missed by `6-uploads` (149)"
    assert speed.of_aim({"cases": cases[1:]}) == "150 in each case; it is met"
