"""The collision probability told by the previous channel status, against its limits, an exact chain and slotsim."""

from itertools import pairwise
from math import isclose

from after_busy import after_busy, bianchi, chain, exact_two, solve, visits, windows
from bianchi import PHYS, fixed_point
from make_collision import COLUMNS, NO_LIMIT, models, read

ROWS = read()


def test_bianchi_here_is_bianchi_there():
    for standard, cw_min in (("a", 15), ("b", 31)):
        for n in (2, 5, 10, 50):
            assert isclose(bianchi(cw_min, n), fixed_point(PHYS[standard], n)[1], rel_tol=1e-9)


def test_the_numbers_worked_out_for_figure_3_3_are_bianchis_without_a_retry_limit():
    # Sang 2014, Fig. 3.3, worked out: CW 15 to 1023, 6 to 9 stations, to one decimal.
    worked = {6: 30.3, 7: 32.9, 8: 35.0, 9: 36.8}
    for n, percent in worked.items():
        assert abs(100 * bianchi(15, n, NO_LIMIT) - percent) <= 0.0501
    # With seven attempts it is not: 30.4, 33.1, 35.3, 37.2.
    assert [round(100 * bianchi(15, n), 1) for n in worked] == [30.4, 33.1, 35.3, 37.2]


def test_bianchi_without_a_limit_is_his_closed_form():
    # @BIA00 eq. 7 with W = 16, m = 6: tau = 2 (1 - 2p) / ((1 - 2p)(W + 1) + p W (1 - (2p)^m)); p = 1 - (1 - tau)^(n-1).
    for n in (2, 6, 9, 20):
        p = bianchi(15, n, NO_LIMIT)
        tau = 2 * (1 - 2 * p) / ((1 - 2 * p) * 17 + p * 16 * (1 - (2 * p) ** 6))
        assert isclose(p, 1 - (1 - tau) ** (n - 1), rel_tol=1e-9)


def test_large_windows_make_the_slot_after_a_busy_period_as_any_other():
    # @VS06, abstract: the fixed point "becomes more accurate as the size of the initial backoff window increases".
    gaps = [abs(after_busy(cw_min, 5) / bianchi(cw_min, 5) - 1) for cw_min in (15, 31, 63, 127)]
    assert all(larger > 2 * smaller for larger, smaller in pairwise(gaps))
    assert gaps[-1] < 1e-3


def test_starts_by_kind_by_hand():
    # Two attempts, W 16 and 32; every counted start collides (p = 1), none right after a collision does (q = 0). Of the
    # first attempts 15/16 are counted and fail, of the second ones 31/32: 15/16 · 31/32 of all MSDUs are lost.
    v = visits([16, 32], 1.0, 0.0)
    lost = 15 / 16 * 31 / 32
    assert [round(x, 12) for x in v[0]] == [15 / 16, round((1 - lost) / 16, 12), round(lost / 16, 12)]
    assert [round(x, 12) for x in v[1]] == [round(15 / 16 * 31 / 32, 12), 0.0, round(15 / 16 / 32, 12)]


def test_the_fixed_point_satisfies_its_equations():
    for cw_min in (15, 31):
        for n in (2, 7, 50):
            t, p, q, _ = solve(cw_min, n)
            assert isclose(p, 1 - (1 - t) ** (n - 1), rel_tol=1e-9)
            assert isclose(q, chain(windows(cw_min), n, p)[1], rel_tol=1e-9)
            assert 0 < q < p


def test_two_stations_exactly_by_hand(monkeypatch):
    # One attempt, W = 2. A collision leaves both drawing: they are equal, and collide, with 1/2; else one succeeds and
    # leaves the other with a counter of 1. Then the winner draws: 0 and it succeeds again, 1 and they collide. c = 1/2
    # of the busy periods are collisions whatever came before, and p = 2 c / (1 + c) = 2/3.
    monkeypatch.setattr("after_busy.CW_MAX", 1)
    assert isclose(exact_two(1, 1), 2 / 3, rel_tol=1e-6)


def test_the_file_is_complete_and_holds_these_models():
    assert list(ROWS[0]) == COLUMNS
    assert [(r["standard"], int(r["stations"])) for r in ROWS] == [(s, n) for s in "ab" for n in range(1, 51)]
    for r in ROWS[::7] + [r for r in ROWS if r["stations"] == "2"]:
        held = [r[k] for k in ("bianchi_p", "bianchi_no_limit_p", "after_busy_p", "exact_p")]
        assert held == models(int(r["cw_min"]), int(r["stations"]))


def test_slotsim_meets_the_exact_chain_of_two():
    for r in ROWS:
        if r["stations"] == "2":
            for reading in ("letter", "aligned"):
                assert isclose(float(r[f"slotsim_{reading}_p"]), float(r["exact_p"]), rel_tol=4e-3)


def test_slotsim_is_within_2_percent_of_the_curve_where_all_count_on_one_grid_and_within_3_and_a_half_by_the_letter():
    for r in ROWS:
        n, model = int(r["stations"]), float(r["after_busy_p"])
        if n < 3:
            continue
        for reading, band in (("aligned", 0.02 if n > 3 else 0.03), ("letter", 0.035)):
            assert isclose(float(r[f"slotsim_{reading}_p"]), model, rel_tol=band), (r["standard"], n, reading)


def test_from_four_stations_on_it_is_nearer_than_bianchis_where_that_is_off():
    # With CW 15 and all on one grid: 1.4 % at most, where Bianchi's with a limit is up to 4.1 % high.
    for r in ROWS:
        n, p = int(r["stations"]), float(r["slotsim_aligned_p"])
        if r["standard"] == "a" and n > 4:
            ours, his = (abs(p / float(r[k]) - 1) for k in ("after_busy_p", "bianchi_p"))
            assert ours < min(his, 0.014), n


def test_p_grows_with_every_station():
    for standard in "ab":
        of = [r for r in ROWS if r["standard"] == standard]
        for k in ("bianchi_p", "after_busy_p", "slotsim_letter_p"):
            ps = [float(r[k]) for r in of]
            assert all(a < b for a, b in pairwise(ps)), k
