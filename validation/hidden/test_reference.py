"""reference.csv against the Monte Carlo."""

from math import isclose

from make_reference import COLUMNS, KEY, MEASURED, cases, read
from montecarlo import simulate

ROWS = read()


def test_the_file_is_complete_and_what_the_monte_carlo_gives():
    assert list(ROWS[0]) == COLUMNS
    keys = [tuple(r[k] for k in KEY) for r in ROWS]
    of = [(s, m, str(n), rts, str(lo), str(hi)) for s, m, n, lo, hi in cases() for rts in ("off", "on")]
    assert keys == of
    # One seed that is not among the file's, of 30 s: within 4 %.
    r = next(r for r in ROWS if tuple(r[k] for k in KEY) == ("a", "54", "300", "off", "127", "127"))
    got = simulate("a", "54", 300, False, 127, 127, seed=99, seconds=30)
    for name in ("throughput_bps", "data_loss"):
        assert isclose(got[name], float(r[name]), rel_tol=0.04)


def test_the_file_knows_its_numbers_to_three_percent():
    for r in ROWS:
        for name in MEASURED:
            value, half = float(r[name]), float(r[f"{name}_ci95"])
            is_loss_behind_rts = r["rts"] == "on" and name != "throughput_bps"
            if value > 0 and not is_loss_behind_rts and not (name == "throughput_bps" and int(r["delivered"]) < 5000):
                assert half < 0.03 * value, (r, name)


def test_rts_recovers_what_hidden_stations_lose_where_frames_are_long():
    by = {tuple(r[k] for k in KEY): float(r["throughput_bps"]) for r in ROWS}
    off, on = (by["a", "6", "1500", rts, "15", "1023"] for rts in ("off", "on"))
    assert on > 5 * off
