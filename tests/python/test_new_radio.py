"""802.11n, ac and ax as a user meets them: one line for a cell, tables with aggregates, one line for each mistake."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

import interlayer as il
from interlayer.errors import InputError

ROOT = Path(__file__).parents[2]

CELL = """
[scenario]
duration = "60 ms"
[radio]
standard = "802.11ac"
width = "80 MHz"
[channel]
propagation = { model = "log-distance" }
[[node]]
name = "ap"
role = "ap"
position = [0, 0]
[[node]]
name = "near"
position = [3, 0]
[[node]]
name = "far"
position = [40, 0]
[[flow]]
from = "ap"
to = "near"
[[flow]]
from = "ap"
to = "far"
"""


def test_a_cell_of_today_is_one_line() -> None:
    text = il.wlan(5, standard="802.11ax", width="80 MHz", mcs=9, ap=True).text
    assert tomllib.loads(text)["radio"] == {"standard": "802.11ax", "mcs": 9, "width": "80 MHz"}
    best = tomllib.loads(il.wlan(5, standard="802.11ac", mcs="best", streams=2).text)
    assert best["radio"] == {"standard": "802.11ac", "mcs": "best", "streams": 2}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"mcs": "fastest"}, "mcs: expected a whole number or \"best\", not 'fastest'"),
        ({"mcs": 7.5}, 'mcs: expected a whole number or "best", not 7.5'),
        ({"streams": "2"}, "streams: expected a whole number, not '2'"),
        ({"width": 80}, 'width: expected a text with a unit, as in "80 MHz", not 80'),
    ],
)
def test_a_wrong_type_is_told(given: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as caught:
        il.wlan(2, standard="802.11ax", **given)
    assert str(caught.value) == said


MISTAKES = [
    (
        ["radio.standard=802.11be"],
        'radio.standard: standard "802.11be" is not modelled yet, see docs/not-modelled.md; '
        'the nearest that is: "802.11ax"',
    ),
    (["radio.standard=VHT"], 'radio.standard: no standard "VHT"; it is called "802.11ac"'),
    (
        ["radio.width=20 MHz", "radio.mcs=9"],
        "radio.mcs: VHT has no MCS 9 at 20 MHz with 1 spatial stream; the next below is 8",
    ),
    (["radio.mcs=11"], "radio.mcs: VHT has no MCS 11; there are 0 to 9"),
    (["radio.standard=802.11n"], 'radio.width: HT has no channels of 80 MHz at 5 GHz; there are "20 MHz" and "40 MHz"'),
    (["radio.streams=5"], "radio.streams: expected a whole number from 1 to 4, got integer 5"),
    (
        ["radio.guard_interval=3.2 us"],
        "radio.guard_interval: VHT has no guard interval of 3200 ns; there are 400 ns, 800 ns",
    ),
    (["radio.standard=802.11ax", "radio.coding=bcc"], "radio.coding: HE has no BCC at 80 MHz, only LDPC"),
    (["node.near.width=160 MHz"], "node[1].width: 160 MHz is more than the channel has: radio.width is 80 MHz"),
    (["radio.data_rate=24 Mb/s"], "radio.data_rate: 802.11ac has MCSs: take mcs, streams and width"),
    (["radio.aggregation.mpdus=65"], "radio.aggregation.mpdus: 65 is more than the window, 64; 802.11ax has 256"),
    (["radio.aggregation={ mpdus = 33, window = 32 }"], "radio.aggregation.mpdus: 33 is more than the window, 32"),
    (
        ["radio.aggregation.window=1024"],
        "radio.aggregation.window: 1024 is more than 802.11ac has: 64; "
        "such windows are of 802.11be, which is not modelled yet",
    ),
    (
        ["radio.aggregation.lifetime=1 us"],
        "radio.aggregation.lifetime: 1 us is over before a frame has had its turn: take 1 ms or more",
    ),
    (
        ["radio.aggregation.spacing=17 us"],
        "radio.aggregation.spacing: 17 us is more than 16 us, the most that a receiver can ask for",
    ),
    (
        ["radio.aggregation.largest_mpdu=4000 B"],
        'radio.aggregation.largest_mpdu: 802.11ac has no limit of 4000 B; there are "3895 B", "7991 B" and "11454 B"',
    ),
    (["radio.aggregation.amsdu=11454 B"], "radio.aggregation.amsdu: 11454 B is more than 802.11ac has: 11398 B"),
    (["radio.aggregation.time=6 ms"], "radio.aggregation.time: 6 ms is more than a PPDU can last: 5484 us"),
    (
        ['radio.aggregation.block_ack=["be"]', "radio.access=dcf"],
        'radio.aggregation.block_ack: block acknowledgment is of QoS stations, and access is "dcf"; take "edca"',
    ),
    (
        ["radio.fragmentation_threshold=500 B"],
        'radio.fragmentation_threshold: "ap" is a station of 802.11ac, and what block acknowledgment is for goes '
        'whole; write "off", or block_ack = [] in [radio.aggregation]',
    ),
    (
        ["radio.standard=802.11a", "radio.mcs=7"],
        'radio.mcs: 802.11n, ac and ax have it, and standard is "802.11a"; it has data_rate',
    ),
    (
        ['radio.block_ack=["be"]'],
        "radio.block_ack: no such key here; it belongs to radio.aggregation or node.aggregation",
    ),
]


@pytest.mark.core
@pytest.mark.parametrize(("changes", "said"), MISTAKES)
def test_each_mistake_is_one_line(changes: list[str], said: str, tmp_path: Path, call: Any) -> None:
    file = tmp_path / "cell.toml"
    file.write_text(CELL)
    found = [word for change in changes for word in ("--set", change)]
    status, out, err = call("check", file, *found)
    assert (status, out, err) == (2, "", f"interlayer: {file}: {said}\n")


@pytest.mark.core
def test_who_offers_more_than_a_buffer_holds_is_told(tmp_path: Path, call: Any) -> None:
    file = tmp_path / "cell.toml"
    file.write_text(CELL)
    status, out, _ = call("check", file, "--set", "node.far.aggregation.window=16")
    assert status == 0
    assert out.splitlines()[1] == (
        f'{file}: "ap" offers A-MPDUs of 64 MPDUs, and sends 16 at most to "far": their window'
    )
    assert len(call("check", file)[1].splitlines()) == 1


@pytest.mark.core
def test_a_run_says_modes_snr_and_the_size_of_aggregates(tmp_path: Path, call: Any) -> None:
    result = il.run(il.parse(CELL))
    modes = {row["id"]: row for row in result.links.iter_rows(named=True)}
    assert set(modes) == {"ap->near", "near->ap", "ap->far", "far->ap"}
    near, far = modes["ap->near"], modes["ap->far"]
    assert (near["mcs"], near["streams"]) == (9, 1)
    assert near["mcs"] > far["mcs"] > 0
    # 16 dBm, 46.7 dB at 1 m, three decades a decade; 7 dB over kTB of 80 MHz (-94.97 + 7 dBm).
    assert near["snr_db"] == pytest.approx(16 - 46.6777 - 30 * 0.47712 + 87.96, abs=0.1)
    (ap,) = (row for row in result.nodes.iter_rows(named=True) if row["id"] == "ap")
    assert 1 < ap["mpdus_a_ppdu"] <= 64
    assert ap["data_ppdus"] * ap["mpdus_a_ppdu"] == pytest.approx(ap["data_frames_sent"])
    assert 1500 < ap["a_mpdu_mean_bytes"] < 1_048_575
    file = tmp_path / "cell.toml"
    file.write_text(CELL)
    _, out, _ = call("run", file)
    assert re.search(r"ap → near +VHT MCS 9 ", out)
    assert "summary.mpdus_a_ppdu" in out


@pytest.mark.core
def test_an_older_radio_has_no_column_more() -> None:
    (run,) = il.run(il.wlan(duration="50 ms", warmup="0 s")).runs
    assert "links" not in run
    columns = {name for table in ("nodes", "queues") for row in run[table] for name in row} | set(run["summary"])
    assert not columns & {"mpdus_a_ppdu", "data_ppdus", "gaps_given_up", "mpdus_a_ppdu_total"}
