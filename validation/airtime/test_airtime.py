"""table.csv against work.py, and both against the figures worked by hand in README.md."""

import csv
import re
from pathlib import Path

import work

HERE = Path(__file__).parent


def table() -> dict[tuple[str, str, str, str], tuple[int, int]]:
    with (HERE / "table.csv").open(newline="") as f:
        rows = list(csv.DictReader(f))
    assert list(rows[0]) == work.COLUMNS
    got = {
        (r["standard"], r["preamble"], r["rate_mbps"], r["frame"]): (int(r["mpdu_bytes"]), int(r["airtime_us"]))
        for r in rows
    }
    assert len(got) == len(rows)
    return got


def by_hand() -> list[tuple[tuple[str, str, str, str], int, int]]:
    """Rows of the README's table: standard | preamble | rate | frame | octets | working | airtime."""
    found = re.findall(
        r"^\| (802\.11\w?) \| (\w+) \| ([\d.]+) \| (\w+) \| (\d+) \| .* \| (\d+) \|$",
        (HERE / "README.md").read_text(),
        re.M,
    )
    return [((s, p, r, f), int(n), int(us)) for s, p, r, f, n, us in found]


def test_table_is_what_work_py_writes():
    expected = {(s, p, r, f): (int(n), int(us)) for s, p, r, f, n, us in work.rows()}
    assert table() == expected
    assert len(expected) == (2 + 4 + 3 + 8 + 8) * 12


def test_hand_worked_figures_equal_the_table():
    hand, got = by_hand(), table()
    assert len(hand) >= 12
    assert {key[:2] for key, _, _ in hand} == {(s, p) for s, p, _, _ in work.PHYS}
    for key, octets, airtime_us in hand:
        assert got[key] == (octets, airtime_us), key


def test_exact_multiple_takes_no_extra_symbol_or_microsecond():
    # OFDM never fits exactly: 8 L + 22 is 6 modulo 8, every N_DBPS is a multiple of 4, hence its multiples are 0 or 4.
    assert work.dsss_us(11, "11", "long") == 192 + 8  # 88 / 11 = 8 exactly
    assert work.dsss_us(12, "11", "long") == 192 + 9  # 96 / 11 = 8.7
    assert all((8 * octets + 22) % n for octets in range(1, 2000) for n in work.N_DBPS.values())


def test_short_preamble_never_carries_1_mbps():
    assert not [k for k in table() if k[1:3] == ("short", "1")]
    try:
        work.dsss_us(14, "1", "short")
    except ValueError:
        return
    raise AssertionError("accepted")
