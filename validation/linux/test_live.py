"""`interlayer live` against `interlayer run`: the recording's verdicts, and cells anew where that is allowed."""

from statistics import mean

import pytest

import live
from interlayer.realtime import hosts

OBSTACLE = hosts.obstacle()
ALLOWED = pytest.mark.skipif(OBSTACLE is not None, reason=f"this machine does not allow it: {OBSTACLE}")


def goodputs(part: str, **wanted: str) -> dict[str, list[float]]:
    """Recorded goodput by how it ran, of the cells of a part with these keys."""
    keys = ("radio", "scheme", "control", "flows", "way", "datagram", "extra")
    for key, ways in live.rows(part).items():
        if all(dict(zip(keys, key, strict=True))[name] == value for name, value in wanted.items()):
            return {how: live.numbers(runs, "goodput_mbps") for how, runs in ways.items()}
    raise AssertionError(f"nothing recorded of {wanted}")


@pytest.mark.parametrize("cell", live.RENO, ids=lambda cell: cell.radio)
def test_recorded_reno_is_within_five_percent_of_the_simulation(cell: live.Cell) -> None:
    found = goodputs("reno", radio=cell.radio)
    assert len(found["live"]) >= 10
    assert abs(mean(found["live"]) / mean(found["simulated"]) - 1) <= 0.05


@pytest.mark.parametrize("size", ["1500", "500"])
def test_recorded_gain_of_lle_tcp_is_within_two_points(size: str) -> None:
    plain, lle = (goodputs("lle", scheme=scheme, datagram=size) for scheme in ("", "lle-tcp"))
    gains = [100 * (mean(lle[how]) / mean(plain[how]) - 1) for how in ("live", "simulated")]
    assert abs(gains[0] - gains[1]) <= 2.0, gains


@ALLOWED
@pytest.mark.parametrize("cell", live.RENO, ids=lambda cell: cell.radio)
def test_reno_is_within_five_percent_of_the_simulation(cell: live.Cell) -> None:
    runs = [live.live(cell, 10.0, seed) for seed in (1, 2, 3)]
    if any(run["overloaded"] for run in runs):
        pytest.skip("overloaded: this machine was too slow for a verdict")
    here = mean(run["goodput_mbps"] for run in runs)
    there = mean(run["goodput_mbps"] for run in live.simulated(cell, 10.0))
    assert abs(here / there - 1) <= 0.05, (here, there)


def test_a_table_goes_between_its_markers(tmp_path) -> None:  # type: ignore[no-untyped-def]
    page = tmp_path / "page.md"
    page.write_text("a\n<!-- live: x -->\nold\n<!-- live: end of x -->\nb\n")
    live.write({"x": ["new"]}, page)
    assert page.read_text() == "a\n<!-- live: x -->\n\nnew\n\n<!-- live: end of x -->\nb\n"
