"""The model against hand-worked and published forms; reference.csv against the model and its stated tolerances."""

from math import isclose

import bianchi
from make_reference import COLUMNS, KEY, PAYLOADS, READINGS, model, read

ROWS = read()
BY = {tuple(r[k] for k in KEY): r for r in ROWS}


def deviation(standard, rts, reading, n, payload):
    """(throughput, p) of slotsim over the model's, minus 1."""
    r = BY[standard, rts, reading, str(n), str(payload)]
    return tuple(float(r[f"slotsim_{c}"]) / float(r[f"model_{c}"]) - 1 for c in ("throughput_bps", "p"))


def wu_tau(p: float, w: int, m_cw: int, m: int) -> float:
    """@WPL02, b_00 with retry limit m, the window at its cap from stage m_cw on; tau = b_00 (1 - p^(m+1)) / (1 - p)."""
    d = w * (1 - (2 * p) ** (min(m_cw, m) + 1)) * (1 - p) + (1 - 2 * p) * (1 - p ** (m + 1))
    if m > m_cw:
        d += w * 2**m_cw * p ** (m_cw + 1) * (1 - 2 * p) * (1 - p ** (m - m_cw))
    return 2 * (1 - 2 * p) * (1 - p) / d * (1 - p ** (m + 1)) / (1 - p)


def test_tau_is_wu_2002_on_both_sides_of_the_cap():
    for standard, w, m_cw in (("b", 32, 5), ("a", 16, 6)):  # 7 attempts: stages 0..6
        for p in (0.01, 0.1, 0.3, 0.45, 0.6, 0.9):
            assert isclose(
                bianchi.tau(p, bianchi.windows(bianchi.PHYS[standard])), wu_tau(p, w, m_cw, 6), rel_tol=1e-12
            )


def test_tau_without_collisions_is_two_over_w_plus_one():
    assert isclose(bianchi.tau(0.0, bianchi.windows(bianchi.PHYS["b"])), 2 / 33)
    assert isclose(bianchi.tau(0.0, bianchi.windows(bianchi.PHYS["a"])), 2 / 17)


def test_windows_by_hand():
    assert bianchi.windows(bianchi.PHYS["b"]) == [32, 64, 128, 256, 512, 1024, 1024]
    assert bianchi.windows(bianchi.PHYS["a"]) == [16, 32, 64, 128, 256, 512, 1024]


def test_exchanges_by_hand():
    b, a = bianchi.PHYS["b"], bianchi.PHYS["a"]
    assert (b.difs, b.eifs) == (50, 364)  # 10 + 2·20; 10 + 304 + 50
    assert b.t_success(1500, False) == 1674  # 1310 + 10 + 304 + 50
    assert b.t_collision(1500, False) == 1674  # 1310 + 364
    assert b.t_success(1500, True) == 2350  # 352 + 10 + 304 + 10 + 1674
    assert b.t_collision(1500, True) == 716  # 352 + 364
    assert (a.difs, a.eifs) == (34, 94)  # 16 + 2·9; 16 + 44 + 34
    assert a.t_success(1500, False) == 326  # 248 + 16 + 28 + 34
    assert a.t_collision(1500, False) == 342  # 248 + 94
    assert a.t_success(1500, True) == 414  # 28 + 16 + 28 + 16 + 326
    assert a.t_collision(1500, True) == 122  # 28 + 94


def test_fixed_point_satisfies_both_equations():
    for phy in bianchi.PHYS.values():
        for n in (2, 5, 10, 20, 50):
            t, p = bianchi.fixed_point(phy, n)
            assert isclose(p, 1 - (1 - t) ** (n - 1), rel_tol=1e-12)
            assert isclose(t, bianchi.tau(p, bianchi.windows(phy)), rel_tol=1e-12)


def test_one_station_model_is_the_closed_form():
    # b: 12000 bit / (1674 + 15.5·20) us = 12000 / 1984; a: 12000 / (326 + 7.5·9) = 12000 / 393.5.
    assert isclose(bianchi.single("b"), 12e9 / 1984)
    assert isclose(bianchi.single("a"), 12e9 / 393.5)
    for standard in bianchi.PHYS:
        for rts in (False, True):
            assert isclose(
                bianchi.saturation(standard, 1, rts=rts)[2], bianchi.single(standard, rts=rts), rel_tol=1e-12
            )


def test_reference_is_complete_and_holds_this_model():
    assert list(ROWS[0]) == COLUMNS
    assert len(BY) == len(ROWS) == 2 * 2 * len(READINGS) * len(bianchi.STATIONS) * len(PAYLOADS)
    for r in ROWS:
        s, p = model(r["standard"], r["rts"], int(r["stations"]), int(r["payload"]))
        assert (r["model_throughput_bps"], r["model_p"]) == (f"{s:.0f}", f"{p:.6f}")


def test_reference_intervals_leave_room_for_a_one_percent_test():
    for r in ROWS:
        assert float(r["slotsim_throughput_ci95_bps"]) <= 2.5e-3 * float(r["slotsim_throughput_bps"])
        assert float(r["slotsim_p_ci95"]) <= 2.5e-3 * float(r["slotsim_p"])


def test_one_station_meets_the_closed_form():
    for r in ROWS:
        if r["stations"] == "1":
            assert isclose(float(r["slotsim_throughput_bps"]), float(r["model_throughput_bps"]), rel_tol=3e-4)


def test_collision_probability_does_not_depend_on_what_is_sent():
    # Contention sees only intervals after the medium falls idle; they are the same for any payload and for RTS.
    for r in ROWS:
        base = BY[r["standard"], "off", r["timeout_ifs"], r["stations"], "1500"]
        assert isclose(float(r["slotsim_p"]), float(base["slotsim_p"]), rel_tol=4e-3)


def test_aligned_reading_keeps_domain_mds_tolerances():
    # Tolerances of README.md: throughput 2 %; p 6 % for two stations and 5 % for more.
    for standard in ("b", "a"):
        for rts in ("off", "on"):
            for n in (2, 5, 10, 20, 50):
                s, p = deviation(standard, rts, "aligned", n, 1500)
                assert abs(s) < 0.02, (standard, rts, n, s)
                assert abs(p) < (0.06 if n == 2 else 0.05), (standard, rts, n, p)


def test_letter_keeps_them_for_b_and_breaks_them_for_a_as_the_readme_says():
    for n in (2, 5, 10, 20, 50):
        for rts in ("off", "on"):
            s, p = deviation("b", rts, "letter", n, 1500)
            assert abs(s) < 0.02, (rts, n, s)
            assert abs(p) < (0.06 if n == 2 else 0.05), (rts, n, p)
        # With RTS a collision is a small share of the time: throughput holds for both, p as without.
        s, _ = deviation("a", "on", "letter", n, 1500)
        assert abs(s) < 0.02, (n, s)
    for n, s_max, p_max in ((2, 0.02, 0.06), (5, 0.02, 0.05), (10, 0.02, 0.05), (20, 0.03, 0.06), (50, 0.065, 0.065)):
        s, p = deviation("a", "off", "letter", n, 1500)
        assert abs(s) < s_max, (n, s)
        assert abs(p) < p_max, (n, p)
    assert deviation("a", "off", "letter", 50, 1500)[0] > 0.05  # the break is real, not noise
