"""Each example answers its question on screen, as its .out says, in under ten seconds and 25 lines."""

from __future__ import annotations

import importlib.util
import json
import time
from pathlib import Path

import pytest

import forked

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
SCENARIOS = sorted((ROOT / "examples").glob("*.toml"))

pytestmark = pytest.mark.core


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda p: p.stem)
def test_example_prints_its_out(example: Path, tmp_path: Path) -> None:
    before = time.perf_counter()
    done = forked.script(example, cwd=tmp_path)
    took_s = time.perf_counter() - before
    assert done.returncode == 0, done.stderr
    assert done.stdout == example.with_suffix(".out").read_text(), "if this is meant: make docs, and say why"
    # Under ten seconds on an idle machine; thrice that does not happen on a busy one by accident.
    assert took_s < 30


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda p: p.stem)
def test_example_is_short_and_starts_with_a_question(example: Path) -> None:
    lines = example.read_text().splitlines()
    assert len(lines) <= 25
    assert lines[0].startswith('"""')
    assert "?" in lines[0]


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda p: p.stem)
def test_scenario_runs(scenario: Path) -> None:
    import interlayer

    flows = interlayer.run(scenario).flows
    # Of several categories the background may get nothing while the others have something to send.
    is_background = flows["id"].str.ends_with("-bk")
    assert flows.filter(~is_background)["goodput_bps"].min() > 0
    assert is_background.mean() <= 0.25


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda p: p.stem)
def test_scenario_comes_with_the_package(scenario: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In whatever folder, and as a link: the file is there once."""
    import interlayer

    monkeypatch.chdir(tmp_path)
    assert interlayer.example(scenario.stem).text == scenario.read_text("utf-8")
    assert (ROOT / "python/interlayer/examples" / scenario.name).resolve() == scenario


def test_an_example_that_is_not_there_is_told() -> None:
    import interlayer

    with pytest.raises(interlayer.InputError, match='example: no "cofee-shop"; did you mean "coffee-shop"'):
        interlayer.example("cofee-shop")
    with pytest.raises(interlayer.InputError, match="example: expected the name of an example"):
        interlayer.example(3)  # type: ignore[arg-type]
    with pytest.raises(interlayer.InputError, match=r'example: no "\.\./examples/coffee-shop"'):
        interlayer.example("../examples/coffee-shop")


def test_scenario_reference_is_that_of_the_schema() -> None:
    from interlayer import _core

    spec = importlib.util.spec_from_file_location("scenario_reference", ROOT / "docs" / "scenario_reference.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.PAGE.read_text("utf-8") == module.page(json.loads(_core.schema())), "run: make docs"
