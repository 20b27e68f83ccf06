"""`make price`: what a profile is made into, and what is said of a case that grew. Profiles are made by hand here."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]

spec = importlib.util.spec_from_file_location("price", ROOT / "tools/price.py")
assert spec is not None
assert spec.loader is not None
price: Any = importlib.util.module_from_spec(spec)
sys.modules["price"] = price  # its dataclass looks itself up
spec.loader.exec_module(price)


def line_of(file: str, text: str) -> int:
    lines = (ROOT / file).read_text().splitlines()
    return next(n for n, line in enumerate(lines, 1) if text in line)


@pytest.fixture
def profile() -> str:
    """Of one function, with lines of another file inlined, a library's, and a call whose cost is its callee's."""
    pop, run = line_of("crates/engine/src/timers.rs", "fn pop"), line_of("crates/world/src/world/mod.rs", "fn run")
    return f"""\
events: Ir
fl=(1) {ROOT}/crates/world/src/world/mod.rs
fn=(1) world::world::World::run
{run + 1} 50
+1 25
cfi=(4) ./string/memcpy.S
cfn=(2) memcpy
calls=3 0
* 900
fi=(2) {ROOT}/crates/engine/src/timers.rs
{pop + 1} 20
fi=(3) /rustc/abc/library/core/src/slice/index.rs
18 5
fe=(1)
{run + 2} 1

fl=(4)
fn=(2)
0 900
"""


def test_own_instructions_go_to_the_function_in_whose_text_they_stand(profile: str) -> None:
    assert price.by_function(profile) == {
        "crates/world/src/world/mod.rs: run": 76,
        "crates/engine/src/timers.rs: pop": 20,
        "src/slice/index.rs in world::world::World::run": 5,
        "memcpy": 900,
    }


def priced(functions: dict[str, int]) -> Any:
    return price.Price(10, sum(functions.values()), functions)


BEFORE = {"a: x": 5000, "b: y": 3000, "c: z": 2000}


@pytest.mark.parametrize("grew", [-0.2, 0.0, 0.0099])
def test_less_than_one_per_cent_more_passes(grew: float, capsys: pytest.CaptureFixture[str]) -> None:
    now = priced(BEFORE | {"c: z": 2000 + round(10_000 * grew)})
    assert price.compare({"toy": priced(BEFORE).as_json()}, {"toy": now}) == 0
    assert f"{grew:+.2%}" in capsys.readouterr().out


def test_more_fails_and_what_grew_is_named_first(capsys: pytest.CaptureFixture[str]) -> None:
    now = priced({"a: x": 5050, "b: y": 2000, "c: z": 2000, "memcpy": 1200})
    assert price.compare({"toy": priced(BEFORE).as_json()}, {"toy": now}) == 1
    worse = capsys.readouterr().out.partition("bench/price.json:\n")[2]
    assert worse.splitlines() == [
        "toy: 1,025 instructions an exchange, 1,000 before (+2.5%)",
        "      +120.0  memcpy",
        "        +5.0  a: x",
    ]


def test_what_every_case_pays_fails_though_it_is_little(capsys: pytest.CaptureFixture[str]) -> None:
    kept = {name: priced(BEFORE).as_json() for name in "abcde"}
    grew = [40, 0, 50, 30, -20]
    found = {name: priced(BEFORE | {"memcpy": 100 + by, "c: z": 1900}) for name, by in zip("abcde", grew, strict=True)}
    assert price.compare(kept, found) == 1
    assert "0.30% above bench/price.json in the median of all cases; most in\nc: 1,005 inst" in capsys.readouterr().out
    found["d"] = priced(BEFORE | {"memcpy": 120, "c: z": 1900})
    assert price.compare(kept, found) == 0


def test_another_compilers_numbers_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(price, "ROOT", tmp_path)
    monkeypatch.setattr(price, "KEPT", tmp_path / "price.json")
    monkeypatch.setattr(price, "made_with", lambda: {"rustc": "2.0"})
    monkeypatch.setattr(price, "program", lambda: pytest.fail("nothing is built"))
    price.KEPT.write_text(json.dumps({"made_with": {"rustc": "1.0"}, "cases": {}}))
    assert price.main([]) == 2
    assert "not comparable" in capsys.readouterr().err


def test_every_case_has_its_price() -> None:
    kept = json.loads(price.KEPT.read_text())
    assert list(kept["cases"]) == [case.name for case in price.bench.CASES]
