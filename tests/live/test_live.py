"""`interlayer live`: real programs and this kernel's TCP through the modelled air, beside the same, simulated."""

from __future__ import annotations

import math
import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import interlayer
import namespaces
from interlayer import simulator
from interlayer.errors import InputError, ProgramError
from interlayer.realtime import hosts, measured, plan, programs, remote, session
from interlayer.realtime.session import Order
from interlayer.study.recording import FACTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from interlayer.realtime.session import LiveResult

ROOT = Path(__file__).parents[2]
MOMENTS = int(os.environ.get("INTERLAYER_MOMENTS", "3"))
"""Moments at which Ctrl-C comes; `make validate` asks for 20."""
INSIDE_THE_SENDER = ["nack-vegas", "rtt-correct", "ebsn", "cross-lda", "lle-cc"]
ON_PACKETS = ["lle-tcp", "ftca", "snoop", "ewa", "i-tcp", "tcp-aware-arq", "dda", "c3tcp"]
OF_THE_MAC = ["tap", "hybrid-arq", "dcf-plus"]


@pytest.fixture(scope="module", autouse=True)
def allowed() -> None:
    namespaces.needs("iperf3", "ip", "unshare", "nsenter")
    if why := hosts.obstacle():
        pytest.skip(why)


@pytest.fixture(autouse=True)
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder with the tags of this test's runs, and of no other's. It marks the processes of the test, too."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return tmp_path / "interlayer"


def cell(*names: str, seconds: float = 2, radio: str = 'standard = "802.11b"', more: str = "") -> str:
    """A cell of 11 Mb/s with a base station "ap", and stations that hear each other."""
    head = f'scenario = {{ duration = "{seconds} s" }}\nradio = {{ {radio}, queue = {{ packets = 100 }} }}\n'
    head += 'channel = { range = "50 m" }\n[[node]]\nname = "ap"\nrole = "ap"\n'
    return head + "".join(f'[[node]]\nname = "{name}"\nposition = [5, {i}]\n' for i, name in enumerate(names)) + more


def upload(name: str, model: str = "iperf3", congestion: str = "reno") -> str:
    """A flow to "ap". Linux acknowledges nearly each segment that iperf3 reads as it arrives, and so does the twin."""
    tcp = f'transport = {{ congestion = "{congestion}", preset = "linux", small_queue = "off", receiver = "every" }}'
    return f'[[flow]]\nname = "{name}"\nfrom = "{name}"\nto = "ap"\ntraffic.model = "{model}"\n{tcp}\n'


def scheme(name: str, more: str = "") -> str:
    return f'[[scheme]]\nname = "{name}"\n{more}'


def simulated(text: str, tmp_path: Path, seconds: float, warmup: float = 0.0) -> interlayer.Result:
    """Five runs of the twin of a cell, of another length."""
    rest = plan.twin(text).partition("\n")[2]
    head = f'scenario = {{ duration = "{1000 * seconds:.0f} ms", warmup = "{1000 * warmup:.0f} ms" }}\n'
    file = tmp_path / "twin.toml"
    file.write_text(head + rest, encoding="utf-8")
    return interlayer.run(file, runs=5)


def in_window(result: LiveResult, column: str, begin: float, end: float) -> float:
    """The sum of a column over the rows that lie in a part of the run; of rates, their integral."""
    times = result.series["time_s"]
    rows = zip([0.0, *times[:-1]], times, result.series[column], strict=True)
    return sum(
        value * (till - since if "_bps" in column else 1)
        for since, till, value in rows
        if begin <= since and till <= end
    )


def span(result: LiveResult, begin: float, end: float) -> float:
    times = result.series["time_s"]
    rows = zip([0.0, *times[:-1]], times, strict=True)
    return sum(till - since for since, till in rows if begin <= since and till <= end)


# ----------------------------------------------------------------------------------------------------- beside the model


@pytest.mark.parametrize("ipv6", [False, True], ids=["IPv4", "IPv6"])
@pytest.mark.parametrize("name", ["reno", "lle-tcp"])
def test_goodput_is_that_of_the_simulation(name: str, ipv6: bool, tmp_path: Path) -> None:
    more = scheme("lle-tcp") if name == "lle-tcp" else ""
    text = cell("phone", more=upload("phone") + more)
    if ipv6:
        # Flows of a scenario are IPv4's.
        client = "sleep 0.1; exec iperf3 -c {ap:6} -t 1 -C reno >/dev/null"
        order = Order(commands=[("ap", "exec iperf3 -s -1 >/dev/null"), ("phone", client)])
        result = session.live(cell("phone", more=more), order=order)
        # What LLE-TCP cannot read it leaves alone.
        for row in result.run["schemes"]:
            assert {key: value for key, value in row.items() if isinstance(value, int) and value} == {}
        text = cell("phone", more=upload("phone"))
    else:
        result = session.live(text)
    begin, end = 0.4, 1.1
    rate = in_window(result, "got_bps.ap", begin, end) / span(result, begin, end)
    same = simulated(text, tmp_path, end, begin).flows["datagram_throughput_bps"]
    assert rate == pytest.approx(sum(same) / len(same), rel=0.1)


def test_uploads_share_collide_and_retry_as_simulated_and_the_run_is_made_again(tmp_path: Path) -> None:
    """No toy: with a sleep in the place of the MAC nobody would retry, and a neighbour would take nothing."""
    text = cell("one", "two", "neighbour", seconds=3, more=upload("one") + upload("two") + upload("neighbour", "bulk"))
    file = tmp_path / "run.pcapng"
    result = session.live(text, order=Order(record=file))
    twin = simulated(text, tmp_path, 2)
    names = ["ap", "one", "two", "neighbour"]
    frames, retries = (
        sum(in_window(result, f"{key}.{name}", 0.5, 2) for name in names) for key in ("data_frames", "retries")
    )
    expected = sum(twin.nodes["data_frames_retried"]) / sum(twin.nodes["data_frames_sent"])
    assert frames > 1000
    # Ten per cent, and three standard deviations of so few retries.
    assert retries / frames == pytest.approx(expected, abs=0.1 * expected + 3 * math.sqrt(expected / frames))
    own = [report.goodput_bps for report in result.flows.values()]
    assert len(own) == 2
    assert max(own) / min(own) < 1.5
    neighbour = next(flow for flow in result.run["flows"] if flow["id"] == "neighbour")["goodput_bps"]
    assert 0.6 < neighbour * 3 / (sum(own) + neighbour) < 1.6
    # Again, in virtual time: every packet at its nanosecond, byte for byte.
    again = simulator.live_module().replay(plan.read(text, seconds=session.LONG_S).scenario, file.read_bytes())
    assert again["recorded"] == again["same"] > 1000
    assert again["first_other"] is None
    assert again["run"]["nodes"] == result.run["nodes"]
    assert again["conversations"] == result.conversations


def test_what_is_set_while_it_runs_stops_the_flow_and_lets_it_go_on() -> None:
    steps = [
        (1.0, "between.phone.ap.broken=true"),
        (1.4, "between.phone.ap.broken=false"),
        (1.8, "node.phone.position=[90, 0]"),
        (2.2, "node.phone.position=[5, 0]"),
    ]
    refused: list[str] = []

    def ask() -> None:
        begun = time.monotonic()
        while not remote.running(remote.folder()):
            time.sleep(0.01)
        begun = time.monotonic()
        for at, text in steps:
            time.sleep(max(0.0, begun + at - time.monotonic()))
            remote.ask(text)
        for text in "node.tablet.dead=true", "between.phone.ap.broken=maybe":
            try:
                remote.ask(text)
            except InputError as e:
                refused.append(str(e))

    asking = threading.Thread(target=ask)
    asking.start()
    # Datagrams: TCP would wait for its timer.
    send = (
        "import socket, time\ns = socket.socket(2, 2)\nwhile True: s.sendto(bytes(500), ('{ap}', 9)); time.sleep(0.005)"
    )
    order = Order(commands=[("phone", ["python3", "-c", send])], seconds=2.7)
    result = session.live(cell("phone"), order=order)
    asking.join()

    def rate(begin: float, end: float) -> float:
        return in_window(result, "got_bps.ap", begin, end) / span(result, begin, end)

    # The first step is asked for a moment after the loop has begun.
    sent = 528 * 8 / 0.005
    goes = [rate(at + 0.15, at + 0.4) > 0.6 * sent for at in (0.6, 1.0, 1.4, 1.8, 2.2)]
    assert goes == [True, False, True, False, True]
    assert [text.split(";")[0] for text in refused] == [
        'no node "tablet"',
        'between.phone.ap.broken: expected true or false, found "maybe"',
    ]


# --------------------------------------------------------------------------------------------------------- what is left


class Here:
    """A network of its own for the processes of a test, and what is left there of a run."""

    def __init__(self, network: str, folder: Path) -> None:
        self.inside = ["ip", "netns", "exec", network]
        self.folder = folder

    def begun(self, *arguments: str) -> subprocess.Popen[str]:
        command = [*self.inside, sys.executable, "-m", "interlayer", "live", *arguments]
        return subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
        )

    def processes(self) -> list[str]:
        """Processes with this test's mark in their environment."""
        found = []
        mark = str(self.folder.parent).encode()
        for path in Path("/proc").glob("[0-9]*"):
            try:
                if int(path.name) != os.getpid() and mark in (path / "environ").read_bytes():
                    found.append((path / "comm").read_text().strip())
            except OSError:
                pass
        return found

    def left(self) -> dict[str, Any]:
        def said(*words: str) -> str:
            return subprocess.run([*self.inside, *words], capture_output=True, text=True, check=False).stdout

        # Other tests have named namespaces, all of one prefix.
        named = [line for line in said("ip", "netns").splitlines() if not line.startswith("il-")]
        return {
            "links": said("ip", "-o", "link"),
            "netns": named,
            "rules": said("nft", "list", "ruleset"),
            "devices": sorted(line.split(":")[0] for line in said("cat", "/proc/net/dev").splitlines()[2:]),
            "files": sorted(path.name for path in self.folder.glob("*")),
            "temporary": sorted(path.name for path in self.folder.parent.glob("interlayer-hosts-*")),
            "processes": self.processes(),
        }


@pytest.fixture
def here(namespace: Callable[[str], str], runs: Path) -> Iterator[Here]:
    """Where nothing is left when the test is over."""
    here = Here(namespace("live"), runs)
    before = here.left()
    yield here
    namespaces.soon(lambda: here.left() == before)
    assert here.left() == before


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "cell.toml"
    path.write_text(cell("phone", seconds=30, more=upload("phone")), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("moment", range(MOMENTS))
def test_nothing_is_left_after_ctrl_c_at_any_moment(here: Here, file: str, moment: int) -> None:
    run = here.begun(file, "--run", "phone", "sleep 100")
    time.sleep(random.Random(moment).uniform(0.05, 1.2))
    os.killpg(run.pid, signal.SIGINT)
    _, told = run.communicate(timeout=10)
    # Before Python has its handler the signal ends it.
    assert run.returncode in (130, -signal.SIGINT), told
    assert "Traceback" not in told or run.returncode == -signal.SIGINT


def test_what_sigkill_leaves_is_gone_with_the_next_start(here: Here, file: str) -> None:
    killed = here.begun(file)
    assert namespaces.soon(lambda: len(list(here.folder.glob("*"))) == 2, 5)
    killed.kill()
    killed.communicate()
    assert namespaces.soon(lambda: not here.processes())
    assert len(list(here.folder.glob("*"))) == 2
    again = here.begun(file, "--at", "phone", "--", "true")
    _, told = again.communicate(timeout=10)
    assert again.returncode == 0, told


def test_runs_beside_each_other_do_not_touch_each_other(here: Here, tmp_path: Path) -> None:
    (tmp_path / "quiet.toml").write_text(cell("phone", seconds=30), encoding="utf-8")
    file = str(tmp_path / "quiet.toml")
    # Nobody listens: each attempt is refused over the air and back, or not answered.
    knock = "import socket, time\nn = 0\nfor i in range(6):\n  time.sleep(0.1)\n"
    knock += "  s = socket.socket()\n  s.settimeout(0.2)\n  n += s.connect_ex(('ap', 9)) == 111\nprint(n, 'of 6')"
    send = ["--at", "phone", "--", "python3", "-c", knock]
    left, right = here.begun(file, *send), here.begun(file, *send)
    assert namespaces.soon(lambda: len(remote.running(here.folder)) == 2, 5)
    with pytest.raises(InputError, match=f"2 live runs are going on; add --pid; there are .*{left.pid}"):
        remote.ask("between.phone.ap.broken=true")
    remote.ask("between.phone.ap.broken=true", left.pid)
    said = [run.communicate(timeout=15)[0] for run in (left, right)]
    assert "6 of 6" in said[1]
    assert "6 of 6" not in said[0]


# ------------------------------------------------------------------------------------------------------------- mistakes


def one_line(error: Exception) -> str:
    assert "\n" not in str(error)
    return str(error)


@pytest.mark.parametrize(
    ("run", "told"),
    [("echo so >&2; exit 3", "ended with status 3: so"), ("no-such-program", "no-such-program: not found")],
)
def test_a_program_that_fails_or_is_missing_ends_the_run_with_its_name(run: str, told: str) -> None:
    order = Order(commands=[("phone", run), ("ap", "sleep 100")])
    with pytest.raises(ProgramError) as caught:
        session.live(cell("phone"), order=order)
    assert told in one_line(caught.value)
    assert caught.value.status == 1


def test_a_flow_that_hangs_ends_the_run_with_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "_DRAIN_S", 0.5)
    monkeypatch.setattr(programs, "TERM_S", 0.2)
    broken = '[[event]]\nat = "500 ms"\nbreak = ["phone", "ap"]\n'
    with pytest.raises(ProgramError, match=r'^program of "phone": iperf3 .*') as caught:
        session.live(cell("phone", seconds=1.2, more=upload("phone") + broken))
    one_line(caught.value)
    assert caught.value.status == 1


def test_a_congestion_control_that_the_kernel_does_not_have_names_those_it_has() -> None:
    with pytest.raises(InputError, match=r'"venno".*reno') as caught:
        session.live(cell("phone", more=upload("phone", congestion="venno")))
    one_line(caught.value)
    assert caught.value.status == 2


@pytest.mark.parametrize("name", INSIDE_THE_SENDER)
def test_a_scheme_inside_the_sender_is_refused_by_name_before_there_are_hosts(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hosts, "opened", None)
    with pytest.raises(InputError, match=f"scheme {name} at node .*: acts inside the TCP sender") as caught:
        session.live(cell("phone", more=upload("phone") + scheme(name)))
    one_line(caught.value)


def test_without_privilege_it_is_one_line(tmp_path: Path) -> None:
    nobody = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
    path = tmp_path / "cell.toml"
    path.write_text(cell("phone", more=upload("phone")), encoding="utf-8")
    for one in (path, *path.parents[:-2]):
        one.chmod(one.stat().st_mode | 0o055)
    can = [*nobody, sys.executable, "-c", "from interlayer.realtime import hosts; print(hosts.obstacle())"]
    why = subprocess.run(can, capture_output=True, text=True, check=False)
    if why.returncode:
        pytest.skip(f"nobody may not run Python here: {why.stderr.strip().splitlines()[-1]}")
    if why.stdout == "None\n":
        pytest.skip("nobody may make hosts here")
    command = [*nobody, sys.executable, "-m", "interlayer", "live", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert why.stdout.strip() in done.stderr


# -------------------------------------------------------------------------------------------------------------- schemes


@pytest.mark.parametrize("name", [*ON_PACKETS, *OF_THE_MAC])
def test_a_scheme_that_reads_packets_or_is_of_the_mac_runs_with_real_tcp(name: str) -> None:
    # Some choose between access categories.
    radio = 'standard = "802.11b", access = "edca"' if name in ("tap", "ftca") else 'standard = "802.11b"'
    text = cell("phone", radio=radio, more=scheme(name))
    client = "sleep 0.1; exec iperf3 -c {ap} -n 300K -C reno >/dev/null"
    order = Order(commands=[("ap", "exec iperf3 -s -1 >/dev/null"), ("phone", client)])
    result = session.live(text, order=order)
    assert sum(talk["arrived_bytes"] for talk in result.conversations if talk["to"] == "ap") > 200_000
    assert result.packets["entered"] > 150


def test_the_base_station_of_eln_runs_alone() -> None:
    wired = '[[node]]\nname = "server"\n[[link]]\nbetween = ["server", "ap"]\nrate = "100 Mb/s"\ndelay = "1 ms"\n'
    text = cell("phone", more=wired + scheme("eln", 'at = ["ap"]\n'))
    client = "sleep 0.1; exec iperf3 -c {phone} -n 300K -C reno >/dev/null"
    result = session.live(text, order=Order(commands=[("phone", "exec iperf3 -s -1 >/dev/null"), ("server", client)]))
    assert sum(talk["arrived_bytes"] for talk in result.conversations if talk["to"] == "phone") > 200_000


# ----------------------------------------------------------------------------------------------- what is measured of it


def test_packets_of_an_aggregate_are_one_burst_and_a_flow_of_the_scenario_may_be_ipv6() -> None:
    """Of an A-MPDU all packets are due at one instant: its first one alone shows how late the loop is."""
    radio = 'standard = "802.11ax", mcs = 7, width = "20 MHz"'
    text = cell("phone", radio=radio, more=upload("phone")).replace('traffic.model = "iperf3"', SIX)
    result = session.live(text)
    assert result.flows["phone"].goodput_bps > 20e6
    assert result.flows["phone"].ends[0].startswith("[fd5b:")
    # Aggregates of this mode hold some dozens of segments; ACKs come in smaller ones.
    assert result.first["count"] < result.late["count"] / 4
    # The kernel answers while it is given a packet, and a delayed ACK comes 40 ms later at most.
    assert 0 < result.answers["p50_s"] < 0.04


SIX = 'traffic = { model = "iperf3", ipv6 = true }'


def test_a_command_that_is_waited_for_begins_when_those_beside_it_listen() -> None:
    """Nobody has to know how long a server takes to begin: `curl` would fail before."""
    server = f"sleep 0.7; exec {sys.executable} -m http.server 8000"
    fetch = "import urllib.request as u; u.urlopen('http://ap:8000/', timeout=5).read()"
    order = Order(commands=[("ap", server)], at=("phone", [sys.executable, "-c", fetch]))
    result = session.live(cell("phone"), order=order)
    assert 0.7 < result.seconds < 6


def test_a_cell_of_an_experiment_is_measured_with_this_kernels_tcp() -> None:
    """MTU, timestamps and congestion control are the cell's. A segment of 500 B without timestamps has 460."""
    flow = '[[flow]]\nname = "f"\nfrom = "ap"\nto = "phone"\nstart = "500 ms"\n'
    transport = 'transport = { datagram = "500 B", congestion = "cubic", receive_buffer = "87380 B" }\n'
    text = cell("phone", seconds=3.5, more=flow + transport).replace("3.5 s", '3.5 s", warmup = "1.5 s', 1)
    found = measured.run(text, [("flow.0.transport.timestamps", "false")], 1)
    assert [*found][: len(FACTS) - 3] == [*FACTS[3:]]
    goodput, whole = found["flow.f.goodput_bps"], found["flow.f.datagram_throughput_bps"]
    assert whole == pytest.approx(goodput * 500 / 460, abs=1)
    same = interlayer.run(interlayer.parse(text), seed=1, runs=3).flows["datagram_throughput_bps"]
    assert whole == pytest.approx(sum(same) / len(same), rel=0.1)
    assert found["answer_p50_us"] > 0
