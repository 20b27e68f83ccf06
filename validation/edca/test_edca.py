"""The slot simulation and the model against what can be worked by hand; reference.csv against both."""

import csv
from math import isclose
from pathlib import Path

from model import saturation, tau
from slotsim import ACK, DATA, SIFS, SLOT, Category, simulate, times

with (Path(__file__).resolve().parent / "reference.csv").open(newline="") as file:
    ROWS = list(csv.DictReader(file))


def test_airtimes_by_hand():
    # 1538 octets at 54 Mb/s: 20 + 4 · ⌈(22 + 12304) / 216⌉ = 20 + 4 · 58; ACK at 24 Mb/s.
    assert (DATA, ACK) == (252, 28)
    # 252 + 16 + 28 + 34; 252 + 16 + 44 + 34.
    assert times(2) == (330, 346)


def test_one_station_alone_waits_aifs_and_half_its_window():
    # 252 + 16 + 28 + 16 + 3 · 9 + 7.5 · 9 µs for each datagram.
    alone = Category(3, 15, 1023)
    rates, ps = simulate([[(0, alone)]], 1, 100_000)
    assert isclose(rates[0], 12000 / 406.5e-6, rel_tol=2e-3)
    assert ps == [0, 1]  # nobody sends in the other kind


def test_one_slot_windows_take_turns_by_hand():
    # CW 0 and AIFS one slot apart: the lower category counts nothing, and never gets a turn.
    stations = [[(0, Category(3, 0, 0))], [(1, Category(2, 0, 0))]]
    rates, _ = simulate(stations, 1, 1000)
    assert rates[0] == 0
    assert isclose(rates[1], 12000 / 330e-6)


def test_the_boundary_that_ends_aifs_counts_though_somebody_starts_there():
    # The higher category starts at its first boundary always; the lower has CW 3 in the same AIFS: it counts one in
    # each cycle, starts when it has counted all, and collides. So it never delivers: each of its starts is a collision.
    stations = [[(0, Category(2, 3, 3))], [(1, Category(2, 0, 0))]]
    rates, ps = simulate(stations, 1, 10_000)
    assert (rates[0], ps[0]) == (0, 1)
    # Cycles between its starts: a draw of k is k + 1 cycles, 2.5 on average; one of 2.5 cycles is a collision.
    assert isclose(ps[1], 0.4, rel_tol=0.03)


def test_within_a_station_the_higher_category_goes_first_and_the_lower_counts_as_collided():
    # Nobody else: the higher category never fails. The lower has CW 0 at first: it meets the higher in the first cycle.
    rates, ps = simulate([[(0, Category(2, 0, 1)), (1, Category(2, 0, 0))]], 1, 10_000)
    # The higher starts at every first boundary: the lower, with a counter of 0 or counted down to it, is always beaten.
    assert (rates[0], ps[1]) == (0, 0)


def test_tau_without_collisions_is_two_over_w_plus_one():
    assert isclose(tau(0.0, Category(2, 15, 1023)), 2 / 17)


def test_the_model_treats_equal_categories_alike_and_is_bianchis_for_one_of_them():
    same = Category(2, 15, 1023)
    rates, ps = saturation((5, 5), same, same)
    assert isclose(*rates)
    assert isclose(*ps)
    _, (_, p) = saturation((0, 10), same, same)
    assert isclose(p, 1 - (1 - tau(p, same)) ** 9, rel_tol=1e-9)
    assert isclose(p, ps[0], rel_tol=1e-9)


def test_the_model_meets_the_simulation_within_2_percent_where_its_assumptions_hold():
    rows = [r for r in ROWS if r["layout"] == "apart" and r["case"] not in ("aifsn-7-2", "be-vo")]
    assert len(rows) == 15
    for r in rows:
        for k in ("low", "high"):
            assert isclose(float(r[f"model_{k}_bps"]), float(r[f"slotsim_{k}_bps"]), rel_tol=0.02), r


def test_the_table_is_what_the_simulation_gives():
    # A tenth of one row's seeds and cycles: within 3 %.
    row = next(r for r in ROWS if (r["case"], r["layout"], r["stations"]) == ("cw-31-15", "apart", "2"))
    low, high = Category(2, 31, 1023), Category(2, 15, 1023)
    rates, _ = simulate([[(0, low)]] * 2 + [[(1, high)]] * 2, 99, 100_000)
    for k, rate in zip(("low", "high"), rates, strict=True):
        assert isclose(rate, float(row[f"slotsim_{k}_bps"]), rel_tol=0.03)
    assert (SIFS, SLOT) == (16, 9)
