"""Real programs of flows, in two hosts that a veth pair joins."""

from __future__ import annotations

import re
import socket
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

import namespaces
from interlayer.errors import InputError, InterlayerError, KernelError, ProgramError
from interlayer.realtime import programs
from interlayer.realtime.programs import Programs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from namespaces import Host


@pytest.fixture(scope="module")
def hosts() -> Iterator[tuple[Host, Host]]:
    namespaces.needs("iperf3", "ss", "ps")
    with namespaces.pair() as pair:
        yield pair


@pytest.fixture
def running(hosts: tuple[Host, Host]) -> Iterator[Programs]:
    """Programs of the two hosts, which have left nothing when the test is over."""
    with Programs(hosts) as those:
        yield those
    assert [namespaces.left_in(host) for host in hosts] == [[], []]


def one_line(error: InterlayerError, status: int) -> str:
    assert error.status == status
    assert "\n" not in str(error)
    return str(error)


# -------------------------------------------------------------------------------------------------------------- iperf3


def test_flows_of_iperf3_run_beside_each_other_both_ways_and_over_both_ips(running: Programs) -> None:
    up = running.iperf3("up", "left", "right", seconds=1, congestion="reno", rate_bps=20e6, mss=1000)
    beside = running.iperf3("beside", "left", "right", seconds=1, rate_bps=5e6)
    down = running.iperf3("down", "right", "left", seconds=1, udp=True, rate_bps=5e6, length=500, ipv6=True)
    running.wait()
    assert up.report is not None
    assert up.report.goodput_bps == pytest.approx(20e6, rel=0.1)
    assert up.report.congestion == "reno"
    assert up.report.retransmits == 0
    assert up.report.ends[0].startswith("10.198.0.1:")
    assert up.report.ends[1] == f"10.198.0.2:{up.port}"
    assert beside.report is not None
    assert beside.report.goodput_bps == pytest.approx(5e6, rel=0.1)
    assert down.report is not None
    assert down.report.goodput_bps == pytest.approx(5e6, rel=0.1)
    assert (down.report.congestion, down.report.retransmits, down.report.lost_packets) == (None, None, 0)
    assert down.report.received_bytes % 500 == 0
    assert down.report.ends[1] == f"[fd00:198::1]:{down.port}"


def test_a_flow_of_so_many_bytes_ends_when_they_are_written(running: Programs) -> None:
    flow = running.iperf3("file", "left", "right", seconds=5, total=1 << 20, length=1 << 16)
    begun = time.monotonic()
    running.wait()
    assert time.monotonic() - begun < 1
    assert flow.report is not None
    assert 1 << 16 <= flow.report.received_bytes <= 1 << 20


def test_the_series_has_a_row_a_second_at_both_ends() -> None:
    """From iperf 3.12's JSON, cut to what is read."""

    def interval(begin: float, rate: float, **more: float) -> dict[str, list[dict[str, float]]]:
        return {"streams": [{"start": begin, "end": begin + 1, "bits_per_second": rate, **more}]}

    connected = {"local_host": "10.0.0.1", "local_port": 40000, "remote_host": "10.0.0.2", "remote_port": 5201}
    client = {
        "start": {"connected": [connected]},
        "intervals": [interval(i, 8e6 * (i + 1), retransmits=i, snd_cwnd=14480, rtt=2500) for i in range(2)],
        "end": {"sum_sent": {"retransmits": 1}, "sender_tcp_congestion": "bbr"},
    }
    server = {
        "start": {"test_start": {"protocol": "TCP", "blksize": 131072}},
        "intervals": [interval(0, 7e6), interval(1, 9e6)],
        "end": {"sum_received": {"seconds": 2.0, "bytes": 2_000_000}},
    }
    report = programs.report(client, server)
    assert (report.goodput_bps, report.retransmits, report.congestion) == (8e6, 1, "bbr")
    assert report.received == {"begin_s": [0, 1], "end_s": [1, 2], "goodput_bps": [7e6, 9e6]}
    assert report.sent["retransmits"] == [0, 1]
    assert report.sent["cwnd_bytes"] == [14480, 14480]
    assert report.sent["rtt_s"] == pytest.approx([2.5e-3, 2.5e-3])


def test_a_flow_whose_server_dies_is_one_line(running: Programs, hosts: tuple[Host, Host]) -> None:
    flow = running.iperf3("up", "left", "right", seconds=10, rate_bps=1e6)
    running.command("bystander", "left", "sleep 100")
    running.start()
    assert running.running() == 2
    killer = running.command("killer", "right", "sleep 0.2; pkill -KILL iperf3")
    killer.start()
    with pytest.raises(ProgramError, match=r'^program of "up": iperf3 in "(left|right)"') as caught:
        running.wait()
    one_line(caught.value, 1)
    assert flow.report is None
    assert [namespaces.left_in(host) for host in hosts] == [[], []]


def test_a_flow_that_hangs_is_one_line(running: Programs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "GRACE_S", 0.3)
    running.iperf3("up", "left", "right", seconds=0.2, total=1 << 40, rate_bps=1e5)
    with pytest.raises(ProgramError, match=r'"up": iperf3 in "left" has not ended 0.3 s after its 0.2 s'):
        running.wait()


def test_a_flow_without_a_way_is_one_line(
    running: Programs, hosts: tuple[Host, Host], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(programs, "GRACE_S", 0.5)
    nowhere = replace(hosts[1], address=hosts[1].address + 7)
    with Programs([hosts[0], nowhere]) as others:
        others.iperf3("up", "left", "right", seconds=1)
        with pytest.raises(ProgramError, match=r'^program of "up": iperf3 in "left": unable to connect') as caught:
            others.wait()
    one_line(caught.value, 1)


# ------------------------------------------------------------------------------------------------------------- command


def test_a_command_gets_addresses_for_names(running: Programs) -> None:
    shell = running.command("one", "left", "echo {left} {right:6} {{left}} ${HOME}x | cat")
    listed = running.command("two", "right", ["echo", "{left}", "{ print }"])
    running.wait()
    assert shell.output.split()[:3] == ["10.198.0.1", "fd00:198::2", "{left}"]
    assert shell.output.split()[3].endswith("x")
    assert listed.output == "10.198.0.1 { print }\n"
    with pytest.raises(
        InputError, match=r'^no node "ap" for {ap} in "curl {ap}" \(known: {left}, {right}\)$'
    ) as caught:
        running.command("web", "left", "curl {ap}")
    one_line(caught.value, 2)


@pytest.mark.parametrize(
    ("run", "told"),
    [
        ("echo so >&2; exit 3", 'echo so >&2; exit 3 in "left" ended with status 3: so'),
        (["false"], 'false in "left" ended with status 1'),
        (["no-such-program"], "no-such-program"),
        ("no-such-program", "no-such-program: not found"),
        ("kill -SEGV $$", "SEGV"),
    ],
)
def test_a_command_that_fails_or_is_missing_is_one_line(running: Programs, run: str | list[str], told: str) -> None:
    running.command("web", "left", run)
    with pytest.raises(ProgramError) as caught:
        running.wait()
    line = one_line(caught.value, 1)
    assert line.startswith('program of "web": ')
    assert told in line


def test_a_command_past_its_time_is_taken_down_with_all_it_started(
    running: Programs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(programs, "TERM_S", 0.3)
    # It minds no SIGTERM, and its child has left it.
    running.command("stuck", "left", "trap '' TERM; (sleep 100 &); while :; do sleep 0.1; done", seconds=0.2)
    begun = time.monotonic()
    with pytest.raises(ProgramError, match=r'in "left" has not ended within 0.2 s$'):
        running.wait()
    assert time.monotonic() - begun > 0.5


def test_a_missing_prefix_is_one_line(hosts: tuple[Host, Host]) -> None:
    with Programs([replace(hosts[0], prefix=["no-such-nsenter", "--"])]) as broken:
        broken.command("web", "left", "true")
        with pytest.raises(ProgramError, match=r'^program of "web": no no-such-nsenter$'):
            broken.wait()


# -------------------------------------------------------------------------------------------------- congestion control


def test_a_congestion_control_is_set_and_read_back(hosts: tuple[Host, Host]) -> None:
    left, right = hosts
    # Those that tests beside this one register come and go: il_…, and a foreign x<process>.
    lasting = [name for name in programs.controls(left) if not re.match(r"il_|x\d", name)]
    assert "reno" in lasting
    for name in lasting:
        programs.check_congestion(left, name)
    with socket.socket() as one:
        mine = one.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16)
    other = next(name for name in lasting if name.encode() != mine.rstrip(b"\0"))
    programs.set_default_congestion(left, other)
    sysctl = ["cat", "/proc/sys/net/ipv4/tcp_congestion_control"]
    with Programs(hosts) as running:
        said = [running.command(host.name, host.name, sysctl) for host in (left, right)]
        running.wait()
    assert said[0].output.strip() == other
    assert said[1].output.strip() != other


@pytest.mark.parametrize("name", ["venno", "a-name-that-is-longer-than-the-kernel-takes", ""])
def test_an_unknown_congestion_control_names_those_the_kernel_has(running: Programs, name: str) -> None:
    with pytest.raises(KernelError) as caught:
        running.iperf3("up", "left", "right", seconds=1, congestion=name)
    line = one_line(caught.value, 2)
    assert line.startswith(f'no congestion control "{name}" in this kernel; it has ')
    assert "reno" in line


def test_a_congestion_control_that_needs_privilege_names_those_that_do_not(hosts: tuple[Host, Host]) -> None:
    namespaces.needs("setpriv")
    allowed = programs.controls(hosts[0], "allowed")
    restricted = [name for name in programs.controls(hosts[0]) if name not in allowed]
    if not restricted:
        pytest.skip("this kernel allows all of them")
    weak = replace(hosts[0], prefix=[*hosts[0].prefix, "setpriv", "--bounding-set=-net_admin", "--"])
    programs.check_congestion(weak, allowed[0])
    with pytest.raises(KernelError, match=r"^congestion control .* needs CAP_NET_ADMIN") as caught:
        programs.check_congestion(weak, restricted[0])
    assert one_line(caught.value, 2).endswith(", ".join(allowed))
