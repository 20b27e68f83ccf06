"""What `ss` says of TCP sockets, and the sampler, in two hosts that a veth pair joins."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

import namespaces
from interlayer.errors import ProgramError
from interlayer.realtime import sockets
from interlayer.realtime.programs import Programs
from interlayer.realtime.sockets import Sampler

if TYPE_CHECKING:
    from collections.abc import Iterator

    from namespaces import Host

# iproute2 6.1 on Linux 6.18.
LOSSY = (
    "ESTAB 0      65912  10.9.0.1:39540 10.9.0.2:5201 ts sack cubic wscale:10,10 rto:208 rtt:7.5/0.25 mss:1448 "
    "pmtu:1500 rcvmss:536 advmss:1448 cwnd:33 ssthresh:21 bytes_sent:6613499 bytes_retrans:2896 bytes_acked:6611942 "
    "segs_out:4591 segs_in:826 data_segs_out:4591 send 51Mbps lastrcv:1056 pacing_rate 61.2Mbps delivery_rate 900Kbps "
    "delivered:4591 busy:1036ms unacked:31 retrans:1/2 rcv_space:14480 rcv_ssthresh:64088 minrtt:0.004 snd_wnd:3987  \n"
)
FRESH = (
    "ESTAB 0 0 [::ffff:10.9.0.2]:5201 [::ffff:10.9.0.1]:39540 bbr wscale:10,10 rto:204 rtt:0.374/0.717 mss:1448 "
    "cwnd:14 bbr:(bw:1.93Gbps,mrtt:0.006,pacing_gain:2.88672,cwnd_gain:2.88672) send 434Mbps pacing_rate 15Gbps "
    "app_limited\n"
)
BARE = "TIME-WAIT 0 0 [fd00::1]:80 [fd00::2]:40000\n"


def test_a_line_of_ss_becomes_windows_times_rates_and_counts() -> None:
    lossy, fresh, bare = sockets.parse(LOSSY + FRESH + BARE)
    assert (lossy.local, lossy.remote, lossy.state) == ("10.9.0.1:39540", "10.9.0.2:5201", "ESTAB")
    assert (lossy.congestion, lossy.cwnd_segments, lossy.ssthresh_segments) == ("cubic", 33, 21)
    assert (lossy.srtt_s, lossy.rttvar_s, lossy.rto_s) == pytest.approx((7.5e-3, 0.25e-3, 0.208))
    assert (lossy.pacing_rate_bps, lossy.delivery_rate_bps) == pytest.approx((61.2e6, 9e5))
    assert (lossy.acked_bytes, lossy.retransmits, lossy.unacked_segments) == (6611942, 2, 31)
    assert (fresh.local, fresh.congestion, fresh.retransmits) == ("10.9.0.2:5201", "bbr", 0)
    assert math.isnan(fresh.ssthresh_segments)
    assert fresh.pacing_rate_bps == pytest.approx(15e9)
    assert (bare.state, bare.local, bare.congestion) == ("TIME-WAIT", "[fd00::1]:80", "")
    assert math.isnan(bare.acked_bytes)
    assert sockets.parse("") == []


@pytest.fixture(scope="module")
def hosts() -> Iterator[tuple[Host, Host]]:
    namespaces.needs("iperf3", "ss", "ps")
    with namespaces.pair() as pair:
        yield pair


def test_the_sampler_follows_a_flow_at_both_ends(hosts: tuple[Host, Host]) -> None:
    with Programs(hosts) as running, Sampler(hosts) as sampler:
        flow = running.iperf3("up", "left", "right", seconds=1, congestion="reno", rate_bps=10e6)
        running.wait()
    assert sampler.failed is None
    columns = sampler.columns()
    assert set(columns) == set(sockets.COLUMNS)
    assert len({len(column) for column in columns.values()}) == 1
    assert flow.report is not None
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    sender = [row for row in rows if (row["local"], row["remote"]) == flow.report.ends]
    receiver = [row for row in rows if (row["remote"], row["local"]) == flow.report.ends]
    for end, host in ((sender, "left"), (receiver, "right")):
        assert {row["host"] for row in end} == {host}
        assert 6 <= len(end) <= 13  # a second and its end, each 100 ms
    assert {row["congestion"] for row in sender} == {"reno"}
    acked = [row["acked_bytes"] for row in sender]
    assert acked == sorted(acked)
    assert acked[-1] > 500_000
    assert 0 < sender[-1]["srtt_s"] < 0.01
    times = sorted(set(columns["time_s"]))
    assert all(later - earlier > 0.09 for earlier, later in pairwise(times))
    assert [namespaces.left_in(host) for host in hosts] == [[], []]


def test_a_sampler_whose_host_is_gone_says_so(hosts: tuple[Host, Host]) -> None:
    with Sampler([replace(hosts[0], prefix=["false"])], every_s=0.01) as sampler:
        assert namespaces.soon(lambda: sampler.failed is not None)
    assert str(sampler.failed).startswith('program of "sockets": ss: ')
    with (
        pytest.raises(ProgramError, match="no no-such-nsenter"),
        Sampler([replace(hosts[0], prefix=["no-such-nsenter"])]),
    ):
        pass
