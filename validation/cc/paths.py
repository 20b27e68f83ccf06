"""The comparison's path, as a scenario of ours and as a command line of the peer, `bench/ns3/wired_cc.cc`."""

from __future__ import annotations

from dataclasses import dataclass

LOSS = 0.001
RATE = 20e6
RTT = 0.05
PACKETS = 83  # a bandwidth-delay product of datagrams of 1500 B
WARMUP = 10
SECONDS = 60


@dataclass(frozen=True)
class Sender:
    """One congestion control on both sides."""

    name: str
    """Ours."""
    theirs: str
    """The TypeId of ns-3."""
    ours: str = ""
    """Parameters that make ours what theirs is by default, as TOML."""
    attributes: str = ""
    """Attributes of theirs."""
    timestamps: bool = False
    """On both sides."""

    def __str__(self) -> str:
        return self.name

    @property
    def settings(self) -> list[tuple[str, str]]:
        """What is set in `SCENARIO` for it."""
        congestion = f'{{ name = "{self.name}", {self.ours} }}' if self.ours else f'"{self.name}"'
        found = [("flow.0.transport.congestion", congestion)]
        return [*found, ("flow.0.transport.timestamps", "true")] if self.timestamps else found


SENDERS = (
    Sender("newreno", "TcpLinuxReno"),
    Sender("vegas", "TcpVegas", 'slow_start = "every"'),
    Sender("veno", "TcpVeno"),
    Sender("westwood+", "TcpWestwood", attributes="ns3::TcpWestwood::ProtocolType=WestwoodPlus"),
    Sender("bic", "TcpBic", "smooth_part = 5"),
    Sender("cubic", "TcpCubic", "reno_friendly = false"),
    Sender("h-tcp", "TcpHtcp", "rtt_scaling = false"),
    Sender("illinois", "TcpIllinois"),
    Sender("scalable", "TcpScalable", "a = 0.02, legacy_window = 0"),
    Sender("highspeed", "TcpHighSpeed"),
    Sender("hybla", "TcpHybla", 'rtt_0 = "50 ms"'),
    Sender("yeah", "TcpYeah"),
    Sender("bbr", "TcpBbr", timestamps=True),
)

SCENARIO = f"""
scenario = {{ duration = "{WARMUP + SECONDS} s", warmup = "{WARMUP} s" }}
[[node]]
name = "a"
[[node]]
name = "b"
[[link]]
from = "a"
to = "b"
rate = "{RATE / 1e6:g} Mb/s"
delay = "{RTT / 2 * 1e3:g} ms"
loss = {LOSS}
queue = {{ packets = {PACKETS} }}
[[link]]
from = "b"
to = "a"
rate = "{RATE / 1e6:g} Mb/s"
delay = "{RTT / 2 * 1e3:g} ms"
queue = {{ packets = 1000 }}
[[flow]]
from = "a"
to = "b"
[flow.transport]
protocol = "tcp"
preset = "rfc"
receiver = "every"
sack = true
prr = true
initial_window = 10
min_rto = "200 ms"
granularity = "1 ms"
send_buffer = "8 MB"
receive_buffer = "4 MB"
window_scale = "auto"
"""


def peer(sender: Sender, run: int) -> list[str]:
    """Arguments of `wired_cc` for a run."""
    arguments = {
        "cc": sender.theirs,
        "recovery": "TcpPrrRecovery",
        "rate": f"{RATE:g}",
        "rtt": f"{RTT:g}",
        "loss": f"{LOSS:g}",
        "warmup": WARMUP,
        "seconds": SECONDS,
        "packets": PACKETS,
        "run": run,
    }
    attributes = [sender.attributes] if sender.attributes else []
    if sender.timestamps:
        attributes.append("ns3::TcpSocketBase::Timestamp=true")
    if attributes:
        arguments["set"] = ";".join(attributes)
    return [f"--{key}={value}" for key, value in arguments.items()]
