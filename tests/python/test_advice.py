"""`interlayer run --advise`: what stands out, and what does not."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest

import interlayer
from interlayer import cli, cli_parts, simulator
from interlayer.show import advice, terminal
from interlayer.study import arms

ROOT = Path(__file__).parents[2]


def m(mean: float | None) -> dict[str, Any]:
    return {"mean": mean, "ci95": 0.0}


def result(**changes: Any) -> dict[str, Any]:
    """A quiet cell: one download through an access point."""
    queue = {"mean_wait_s": 0.004, "mean_packets": 1.0, "offered_packets": 900.0, "dropped_packets": 0.0}
    radio = {"msdus_offered": 900.0, "msdus_given_up": 0.0, "data_frames_sent": 1000.0, "data_frames_retried": 100.0}
    found: dict[str, Any] = {
        "queues": [{"id": "ap.air", **{n: m(v) for n, v in (queue | changes.get("queue", {})).items()}}],
        "nodes": [
            {"id": "ap", "airtime_s": m(3.0), **{n: m(v) for n, v in (radio | changes.get("radio", {})).items()}},
            {"id": "sta1", "airtime_s": m(1.0), **{n: m(v) for n, v in radio.items()}},
            {"id": "server", "airtime_s": m(None)},
        ],
        "frames": [{"class": "tcp-data", "airtime_s": m(3.9)}, {"class": "tcp-ack", "airtime_s": m(0.1)}],
        "flows": [
            {"id": f"f{i}", "from": "server", "to": f"sta{i}", "protocol": "tcp", "goodput_bps": m(rate)}
            for i, rate in enumerate(changes.get("rates", [1e6]))
        ],
    }
    return found | changes.get("whole", {})


def test_in_a_quiet_cell_nothing_stands_out() -> None:
    assert advice.findings(result()) == []
    assert terminal.advised(result()).rstrip().endswith("Nothing stands out.")


@pytest.mark.parametrize(
    ("changes", "what", "measured", "try_"),
    [
        ({"queue": {"mean_wait_s": 0.2}}, "packets wait in ap.air", "200 ± 0 ms", "fq-codel=radio.queue={discipline"),
        ({"radio": {"msdus_given_up": 9.0}}, "the MAC of ap gives up", "1 % of MSDUs", "radio.max_attempts"),
        ({"rates": [3e6, 1e6]}, "the 2 flows from server share unevenly", "Jain index 0.80", "drr"),
        (
            {
                "whole": {
                    "frames": [{"class": "tcp-data", "airtime_s": m(3.0)}, {"class": "tcp-ack", "airtime_s": m(1.0)}]
                }
            },
            "TCP's ACKs take airtime",
            "25 % of what was sent",
            "lle-tcp",
        ),
    ],
)
def test_what_stands_out_is_named_with_its_figure(changes: dict[str, Any], what: str, measured: str, try_: str) -> None:
    (found,) = advice.findings(result(**changes))
    assert (found.what, found.measured) == (what, measured)
    assert try_ in found.try_
    assert "interlayer compare FILE" in terminal.advised(result(**changes))


@pytest.mark.parametrize(
    ("queue", "key"), [("ap.air", "radio"), ("ap.air.be", "radio"), ("relay.air.back", "radio"), ("a->b", "link")]
)
def test_a_queue_is_a_radios_or_a_wires(queue: str, key: str) -> None:
    long = {"id": queue, "mean_wait_s": m(0.2), "mean_packets": m(9.0)}
    (found,) = advice.findings(result(whole={"queues": [long]}))
    assert f"{key}." in found.try_


def test_ftca_is_for_uploads_alone() -> None:
    (down,) = advice.findings(result(rates=[3e6, 1e6]))
    assert "ftca" not in down.try_
    nodes = [{"id": name, "airtime_s": m(1.0)} for name in ("ap", "a", "b")]
    up = [
        {"id": name, "from": name, "to": "ap", "protocol": "tcp", "goodput_bps": m(rate)}
        for name, rate in (("a", 3e6), ("b", 1e6))
    ]
    (found,) = advice.findings(result(whole={"nodes": nodes, "flows": up}))
    assert found.what == "the 2 flows to ap share unevenly"
    assert "--arm 'ftca=scheme=ftca;radio.access=edca'" in found.try_


@pytest.mark.core
@pytest.mark.parametrize("name", ["single-hop", "lecture-hall", "coffee-shop", "bursty-link"])
def test_every_arm_that_is_printed_runs_as_it_stands(name: str, tmp_path: Path) -> None:
    text = (ROOT / "examples" / f"{name}.toml").read_text("utf-8")
    ups = [
        {"id": n, "from": n, "to": "sta", "protocol": "tcp", "goodput_bps": m(r)} for n, r in (("ap", 9e6), ("b", 1e6))
    ]
    queue = {n: m(v) for n, v in {"mean_wait_s": 0.2, "mean_packets": 1.0, "offered_packets": 9.0}.items()}
    queues = [{"id": "ap.air", **queue}, *([{"id": "ap->server", **queue}] if "[[link]]" in text else [])]
    frames = [{"class": "tcp-ack", "airtime_s": m(1.0)}]
    radios = [{"id": n, "airtime_s": m(1.0), "msdus_offered": m(9.0), "msdus_given_up": m(1.0)} for n in ("ap", "b")]
    said = advice.findings(result(whole={"flows": ups, "queues": queues, "frames": frames, "nodes": radios}))
    printed = " ".join(f.try_ for f in said)
    words = [word for word in shlex.split(printed) if "=" in word]
    given = cli_parts.arms(list(dict.fromkeys(words)))
    assert len(given) >= 6
    for arm in arms.arms(text, None, given):
        simulator.parse(text, arm.overrides())


def aggregating(**of_ap: float) -> dict[str, Any]:
    """Downloads to a near and a far station whose access point sends ten MPDUs at once."""
    ap = {"mpdus_a_ppdu": 10.0, "data_frames_sent": 1000.0, "data_frames_retried": 50.0, "msdus_offered": 950.0}
    far = {"longest_hold_s_total": of_ap.pop("held_s", 0.0), "gaps_given_up": 3.0, "mpdus_a_ppdu": 1.0}
    queue = {"mean_wait_s": of_ap.pop("wait_s", 0.0), "mean_packets": 90.0, "offered_packets": 9.0}
    queue["dropped_packets"] = of_ap.pop("dropped", 0.0)
    nodes = [
        {"id": i, "airtime_s": m(1.0), **{n: m(v) for n, v in r.items()}} for i, r in (("ap", ap | of_ap), ("far", far))
    ]
    links = [{"id": f"ap->{n}", "from": "ap", "to": n, "bit_rate_bps": m(r)} for n, r in (("near", 9e8), ("far", 3e7))]
    flows = [
        {"id": n, "from": "server", "to": n, "protocol": "tcp", "goodput_bps": m(r)}
        for n, r in (("near", 9e7), ("far", 3e7))
    ]
    frames = [{"class": "tcp-ack", "airtime_s": m(1.0)}]
    queues = [{"id": "ap.air.be", **{n: m(v) for n, v in queue.items()}}]
    return result(whole={"nodes": nodes, "flows": flows, "frames": frames, "queues": queues, "links": links})


@pytest.mark.parametrize(
    ("changes", "what", "measured", "try_"),
    [
        ({"data_frames_retried": 300.0}, "ap repeats MPDUs of its aggregates", "30 % of MPDUs", "rts_threshold"),
        ({"wait_s": 0.2}, "aggregates of ap are short for what waits", "10 of 90 packets", "receiver"),
        (
            {"dropped": 1.0},
            "the queue of ap is short for its aggregates",
            "11 % dropped, 10 MPDUs a PPDU",
            "packets=1000",
        ),
        ({"held_s": 0.1}, "far holds frames behind a gap", "100 ms at most, 3 ± 0 given up", "patience"),
        ({}, "frames of far hold the air", "91 % of the air, 25 % of the bits", "receiver"),
        ({"msdus_given_up": 95.0}, "the MAC of ap gives up", "10 % of MSDUs", "aggregation.lifetime"),
    ],
)
def test_aggregates_are_spoken_of(changes: dict[str, float], what: str, measured: str, try_: str) -> None:
    found = [f for f in advice.findings(aggregating(**changes)) if f.what == what]
    assert [f.measured for f in found] == [measured]
    assert try_ in found[0].try_
    assert "MPDUs a PPDU" in terminal.advised(aggregating(**changes))


def test_what_aggregates_do_not_like_is_not_advised() -> None:
    said = " ".join(f.try_ for f in advice.findings(aggregating(msdus_given_up=95.0)))
    assert not [name for name in ("ftca", "max_attempts") if name in said]
    assert "delayed-ack" in said


@pytest.mark.core
def test_every_arm_for_aggregates_runs_as_it_stands() -> None:
    text = (ROOT / "examples/home-ax.toml").read_text("utf-8")
    wanted = {"data_frames_retried": 300.0, "held_s": 0.1, "wait_s": 0.2, "msdus_given_up": 95.0}
    found = advice.findings(aggregating(**wanted)) + advice.findings(aggregating(wait_s=0.2))
    words = [word for f in found for word in shlex.split(f.try_) if "=" in word]
    given = cli_parts.arms(list(dict.fromkeys(words)))
    assert len(given) >= 5
    for arm in arms.arms(text, None, given):
        simulator.parse(text, arm.overrides())


def test_an_upload_of_preset_linux_that_fills_its_own_hosts_queue_is_named() -> None:
    full = {"queue": {"mean_wait_s": 0.45}}
    up = {"id": "up", "from": "ap", "to": "server", "protocol": "tcp", "goodput_bps": m(1e6)}
    changed = result(**full, whole={"flows": [up]})
    plain, small = advice.findings(changed, brimming={"up"})
    assert plain.what == "packets wait in ap.air"
    assert small.what == "of these, packets of up in their own host"
    assert "TCP small queues" in small.try_
    assert len(advice.findings(changed, brimming=())) == 1, (
        "another preset promises no Linux host, and small queues fill none"
    )
    assert len(advice.findings(result(**full), brimming={"f0"})) == 1, "a download waits in another host's queue"


UPLOAD = """
[radio]
standard = "802.11a"
data_rate = "54 Mb/s"
queue = { packets = 1000 }
[[node]]
name = "ap"
role = "ap"
[[node]]
name = "sta"
[[flow]]
from = "sta"
to = "ap"
[scenario]
duration = "4 s"
"""


@pytest.mark.core
@pytest.mark.parametrize(
    ("preset", "small", "said"),
    [("", "off", True), ('"linux"', "off", True), ("", "linux", False), ('"rfc"', "off", False)],
)
def test_the_command_says_where_small_queues_are_missing(
    preset: str, small: str, said: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "up.toml").write_text(UPLOAD)
    change = ["--set", f"flow.0.transport.preset={preset}"] if preset else []
    change += ["--set", f"flow.0.transport.small_queue={small}"]
    window = ["--set", "flow.0.transport.send_buffer=16 MB", "--set", "flow.0.transport.receive_buffer=8 MB"]
    window += ["--set", "flow.0.transport.window_scale=auto"]
    with pytest.raises(SystemExit, match="0"):
        cli.main(["run", str(tmp_path / "up.toml"), "--runs", "1", "--advise", *change, *window])
    shown = capsys.readouterr().out
    assert ("packets wait in sta.air" in shown) is (small == "off")
    assert ("TCP small queues" in shown) is said


def test_just_below_a_limit_nothing_is_said() -> None:
    assert (
        advice.findings(result(queue={"mean_wait_s": 0.049}, radio={"msdus_given_up": 4.0}, rates=[2e6, 1.1e6])) == []
    )


def test_the_radios_share_the_airtime() -> None:
    grid = advice.radios(result())
    assert grid is not None
    assert [line[:2] for line in grid.lines] == [["ap", "75.0"], ["sta1", "25.0"]]
    assert advice.radios(result(whole={"nodes": []})) is None
    assert advice.waits(result(whole={"queues": []})) is None


@pytest.mark.core
def test_the_command_says_it(capsys: pytest.CaptureFixture[str]) -> None:
    from interlayer import cli

    with pytest.raises(SystemExit) as ended:
        cli.main(
            ["run", str(ROOT / "examples/single-hop.toml"), "--runs", "1", "--advise", "--set", "scenario.duration=3 s"]
        )
    assert not ended.value.code
    out = capsys.readouterr().out
    assert "packets wait in laptop.air" in out
    assert "of the airtime, %" in out


def test_flows_limited_by_their_application_have_no_share_to_speak_of() -> None:
    rates = result(rates=[3e6, 2.9e6, 1e4])
    assert [f.what for f in advice.findings(rates)] == ["the 3 flows from server share unevenly"]
    assert advice.findings(rates, {"f2"}) == []
    assert "share unevenly" not in terminal.advised(rates, {"f2"})


@pytest.mark.core
def test_users_and_constant_rates_are_limited_and_bulk_is_not() -> None:
    page = {"model": "http", "page_every": "1 s"}
    burst = {"model": "on-off", "rate": "1 Mb/s", "on": "1 s", "off": "1 s"}
    rate = {"model": "cbr", "rate": "64 kb/s"}
    given = ["bulk", page, burst, rate, {"model": "bulk", "bytes": "1 MB"}, "ftp", {"model": "ftp", "pause": "1 s"}]
    cell = interlayer.wlan(len(given), ap=True, traffic=given)
    assert simulator.limited_flows(cell._parse()) == {"down2", "down3", "down4", "down5", "down7"}


@pytest.mark.core
def test_the_command_leaves_them_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = {"model": "http", "page_every": "1 s"}
    file = tmp_path / "cell.toml"
    file.write_text(interlayer.wlan(2, ap=True, rate="11 Mb/s", traffic=["bulk", page], duration="6 s").to_toml())
    with pytest.raises(SystemExit):
        cli.main(["run", str(file), "--runs", "1", "--advise"])
    out = capsys.readouterr().out
    assert "Where packets waited" in out
    assert "share unevenly" not in out
