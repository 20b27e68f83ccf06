"""Models by hand; reference.csv against renosim; table.csv against models and README; the package against table.csv."""

from math import hypot, isclose

import pftk
import pytest
import table
from make_reference import COLUMNS as REFERENCE_COLUMNS
from make_reference import POINTS
from renosim import Reno

ROWS = table.read()
BY = {tuple(r[k] for k in table.KEY): r for r in ROWS}
MAIN = [r for r in ROWS if (r["congestion"], r["min_rto_s"], r["timestamps"]) == ("reno", "1", "on")]


def test_models_by_hand():
    # b = 1, p = 1/4: W = 1 + sqrt(8 + 1) = 4; Q = 37/64 * 283/256 / (175/256); f as a polynomial.
    assert isclose(pftk.window(0.25, 1), 4)
    assert isclose(pftk.timeout(0.25, 4), 10471 / 11200)
    assert isclose(pftk.timeout(0.25, 3), 1)
    assert isclose(pftk.backoff(0.25), 1 + 1 / 4 + 2 / 16 + 4 / 64 + 8 / 256 + 16 / 1024 + 32 / 4096)
    # RTT 0.1, T0 1: (7 + 0.934911 / 0.75) / (0.3 + 0.934911 * 1.4921875 / 0.75); for what arrives, 5.934911 above.
    assert isclose(pftk.send_rate(0.25, 1, 0.1, 1), 8.246548 / 2.160083, rel_tol=1e-6)
    assert isclose(pftk.throughput(0.25, 1, 0.1, 1), 5.934911 / 2.160083, rel_tol=1e-6)
    assert isclose(pftk.square_root(0.01, 2, 0.1), 86.60254, rel_tol=1e-6)


def test_the_models_agree_where_losses_are_rare():
    for b in (1, 2):
        assert isclose(pftk.send_rate(1e-6, b, 0.1, 1), pftk.square_root(1e-6, b, 0.1), rel_tol=2e-3)
        assert isclose(pftk.approximation(1e-6, b, 0.1, 1), pftk.square_root(1e-6, b, 0.1), rel_tol=3e-4)


def test_the_law_allows_15_percent_of_timeouts_up_to_t0_of_eight_rtt():
    # Eq. 33 over the law is 1 / (1 + 9/4 p (1 + 32 p²) T0 / RTT), whatever b: 0.85 at T0 = 7.82 RTT for p = 1 %.
    for b in (1, 2):
        ratio = pftk.approximation(0.01, b, 0.1, 0.782) / pftk.square_root(0.01, b, 0.1)
        assert isclose(ratio, 0.85, abs_tol=1e-3)


def test_renosim_by_hand():
    # No losses: slow start, and half a round trip to the receiver. 2 + 4 + 8 + 16 by 0.36 s.
    assert Reno(p=0, b=1, seed=1).run(0, 0.36).delivered == 30
    # b = 2: the two segments bring one ACK, and it adds one: 2 + 3.
    assert Reno(p=0, b=2, seed=1).run(0, 0.16).delivered == 5
    # Every packet lost: timeouts at 1, 3, 7, 15 s, each with one repetition.
    lost = Reno(p=1, b=1, seed=1).run(0, 20)
    assert (lost.timeouts, lost.sequences, lost.sent, lost.delivered) == (4, 1, 4, 0)  # after the first two


def test_reference_is_complete_and_known_well_enough():
    of = table.reference()
    assert list(next(iter(of.values()))) == REFERENCE_COLUMNS
    assert set(of) == {(str(b), str(p)) for b, p in POINTS}
    assert all(float(r["goodput_error"]) < 0.01 for r in of.values())


@pytest.mark.parametrize("b", [1, 2])
def test_reference_is_what_renosim_finds(b):
    r = table.reference()[str(b), "0.05"]
    runs = [Reno(p=0.05, b=b, seed=seed).run(20, 2020).delivered / 2000 for seed in (901, 902, 903, 904)]
    assert abs(sum(runs) / 4 / float(r["goodput_sps"]) - 1) < 0.08  # some 3000 losses: four standard errors


def test_table_is_complete_and_follows_from_what_was_measured():
    assert list(ROWS[0]) == table.COLUMNS
    assert set(BY) == {(*s, str(b), str(p)) for s in table.SETTINGS for b in (1, 2) for p in table.P}
    assert len(BY) == len(ROWS)
    for r in ROWS:
        assert {k: r[k] for k in ("indications", *table.RATIOS)} == table.derived(r)
        assert float(r["goodput_error"]) < 0.015


def test_reno_meets_the_full_model_and_the_law():
    for r in MAIN:
        for column in ("pftk", "pftk_throughput", "pftk_indications"):
            assert 0.75 <= float(r[column]) <= 1.25, r
        assert float(r["p"]) > 0.01 or 0.85 <= float(r["square_root"]) <= 1.15, r


def test_reno_meets_the_independent_simulation():
    for r in MAIN:
        other = table.reference()[r["b"], r["p"]]
        # Sampling: standard errors of both together are below 1.2 %, and are about 0.8 %.
        assert hypot(float(r["goodput_error"]), float(other["goodput_error"])) < 0.012, r
        assert isclose(float(r["goodput_sps"]), float(other["goodput_sps"]), rel_tol=0.03), r
        assert isclose(float(r["indications"]), float(other["indications"]), rel_tol=0.04), r


def test_readme_shows_the_table():
    text = table.README.read_text()
    assert table.rendered(text, ROWS) == text


@pytest.mark.parametrize("key", [("reno", "1", "on", 2, 0.02), ("newreno", "0.2", "off", 1, 0.03)])
def test_the_package_finds_what_the_table_says(key):
    fresh = table.measure(key, range(901, 909), 500)
    kept = BY[tuple(map(str, key))]
    error = hypot(float(fresh["goodput_error"]), float(kept["goodput_error"]))
    assert abs(float(fresh["goodput_sps"]) / float(kept["goodput_sps"]) - 1) < 4 * error
