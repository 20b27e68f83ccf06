"""Who may ask the explorer's server, and what: tokens, hosts, origins, paths, malformed and large requests."""

from __future__ import annotations

import socket
import time
from pathlib import Path
from typing import Any

import pytest

from explore_client import CELL, RTS, Client, raw, served
from interlayer import simulator
from interlayer.explore import server

pytestmark = pytest.mark.core


# ---------------------------------------------------------------------------------------------------------- who may ask


def test_without_its_token_nothing_is_told(client: Client) -> None:
    for path in ("/", "/start", "/wrong/", f"/{client.of.token[:-1]}/", f"/{client.of.token}x/", "//", "/page.js"):
        head = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{client.of.port}\r\nConnection: close\r\n\r\n"
        answer = raw(client.of, head.encode())
        assert answer.startswith(b"HTTP/1.1 403"), path
        assert client.of.token.encode() not in answer
    assert len(client.of.token) >= 20
    with served() as other:
        assert other.of.token != client.of.token


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "example.org"}, 421),
        ({"Host": "127.0.0.1"}, 421),
        ({"Host": "127.0.0.1.example.org:PORT"}, 421),
        ({"Origin": "http://example.org"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://127.0.0.1:1"}, 403),
        ({"Sec_Fetch_Site": "cross-site"}, 403),
        ({"Sec_Fetch_Site": "same-site"}, 403),
        ({"Origin": "http://127.0.0.1:PORT"}, 200),
        ({"Host": "localhost:PORT", "Origin": "http://localhost:PORT", "Sec_Fetch_Site": "same-origin"}, 200),
    ],
)
def test_other_hosts_and_origins_are_refused(client: Client, headers: dict[str, str], status: int) -> None:
    named = {key: value.replace("PORT", str(client.of.port)) for key, value in headers.items()}
    assert client.get("/alive", **named).status == status
    assert client.ask("POST", "/describe", {"source": "file"}, **named).status == status


def test_it_listens_on_the_loopback_address_alone(client: Client) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # no packet is sent: it chooses this machine's own address
            own = probe.getsockname()[0]
        except OSError:
            pytest.skip("this machine has no other address")
    with pytest.raises(OSError, match="refused"):
        socket.create_connection((own, client.of.port), timeout=5)


def test_another_site_can_neither_read_nor_frame_the_page(client: Client) -> None:
    headers = {name.lower(): value for name, value in client.get("/").headers.items()}
    policy = headers["content-security-policy"]
    assert "frame-ancestors 'none'" in policy
    assert "script-src 'self';" in policy
    assert "access-control-allow-origin" not in headers
    assert headers["referrer-policy"] == "no-referrer"
    assert "server" not in headers


# -------------------------------------------------------------------------------------------------------- what is asked


@pytest.mark.parametrize(
    "path",
    [
        *(
            "/../../etc/passwd",
            "/..%2f..%2fetc%2fpasswd",
            "/%2e%2e/server.py",
            "/page.js/../../server.py",
            "/server.py",
        ),
        *("//etc/passwd", "/page.js%00", "/stations.toml", "/picture/1/../../server.py", "/picture/1/%2e%2e%2fx.svg"),
        *("/air/-1/0", "/air/1/99", "/air/x/0", "/picture/1/series-0.html", "/picture/1/comparison.exe", "/Page.js"),
    ],
)
def test_no_path_leads_to_a_file(client: Client, path: str) -> None:
    status, content, _ = client.get(path)
    assert status in (400, 403, 404, 410)
    assert b"root:" not in content
    assert b"import" not in content


@pytest.mark.parametrize("path", ["/start", "/alive", "/", "/page.js", "/air/1/0"])
def test_what_is_read_takes_no_other_method(client: Client, path: str) -> None:
    assert {client.ask(method, path, {}).status for method in ("POST", "PUT", "DELETE", "OPTIONS")} == {405}


@pytest.mark.parametrize(
    ("question", "line"),
    [
        ([], "expected an object: source, changes, other, seed, runs"),
        ({}, "source: expected a text"),
        ({"source": "/etc/passwd"}, 'source: no "/etc/passwd"'),
        ({"source": "example:../../x"}, 'source: no "example:../../x"'),
        ({"source": "file", "command": "ls"}, 'no "command" in a question'),
        ({"source": "file", "changes": "x"}, "changes: expected a list of 100 pairs at most"),
        ({"source": "file", "changes": [["a", "1"]] * 101}, "changes: expected a list of 100 pairs at most"),
        ({"source": "file", "changes": [["a"]]}, "changes: expected pairs of path and value"),
        ({"source": "file", "changes": [["a", 1]]}, "changes: expected pairs of path and value"),
        ({"source": "file", "changes": [["a", "x" * 2001]]}, "changes: expected pairs of path and value"),
        ({"source": "file", "other": [["a", "\0"]]}, "other: expected pairs of path and value"),
        ({"source": "file", "seed": -1}, "seed: expected a whole number from 0 to"),
        ({"source": "file", "runs": 101}, "runs: expected a whole number from 1 to 100"),
        ({"source": "file", "runs": True}, "runs: expected a whole number from 1 to 100"),
        ({"source": "file", "runs": 1e9}, "runs: expected a whole number from 1 to 100"),
    ],
)
def test_what_is_no_question_is_told_in_a_line(client: Client, question: Any, line: str) -> None:
    for path in ("/describe", "/compare"):
        answer = client.ask("POST", path, question)
        (mistake,) = answer.told["mistakes"]
        assert (answer.status, mistake["line"].startswith(line)) == (422, True), mistake


def test_what_is_malformed_or_too_large_ends_with_its_connection(client: Client) -> None:
    for body in (b"{", b"\xff\xfe", b"", b"[" * 50_000, b"nan x"):
        assert client.ask("POST", "/describe", body).status == 422
    assert client.ask("POST", "/describe", b'{"source": "file"}', Content_Type="text/plain").status == 422
    assert client.ask("POST", "/describe", b" " * (server.MOST_BODY + 1)).status == 413
    host, at = f"Host: 127.0.0.1:{client.of.port}\r\n", f"/{client.of.token}/describe"
    kind = "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n"
    chunk = f"{20_000:x}\r\n{' ' * 20_000}\r\n"
    endless = f"POST {at} HTTP/1.1\r\n{host}{kind}\r\n{chunk * 8}"
    assert raw(client.of, endless.encode()).startswith(b"HTTP/1.1 413")
    for junk in (
        b"\x00\x01\x02\r\n\r\n",
        b"GET\r\n\r\n",
        f"GET {at} HTTP/1.1\r\n{host}X: {'y' * 300_000}\r\n\r\n".encode(),
    ):
        assert raw(client.of, junk).startswith(b"HTTP/1.1 400")
    twice = f"GET {at} HTTP/1.1\r\n{host}{host}Connection: close\r\n\r\n"
    assert raw(client.of, twice.encode()).split()[1] in (b"400", b"421")
    assert client.get("/alive").status == 200


def test_the_page_names_no_file_of_the_machine(client: Client, tmp_path: Path) -> None:
    (tmp_path / "there.trace").write_text("$node_(0) set X_ 1\n")
    lines = set()
    for name in (str(tmp_path / "there.trace"), "/no/such"):
        trace = f'{{ model = "trace", file = "{name}" }}'
        for key in ("changes", "other"):
            found = client.ask("POST", "/compare", {"source": "file", key: [["node.sta1.mobility", trace]]})
            (mistake,) = found.told["mistakes"]
            assert found.status == 422
            lines.add(mistake["line"])
    assert lines == {"node[0].mobility.file: the page takes no names of files; change it in the scenario"}


def test_a_trace_that_the_file_names_itself_is_played(tmp_path: Path) -> None:
    trace = tmp_path / "walk.trace"
    trace.write_text('$node_(0) set X_ 1.0\n$node_(0) set Y_ 1.0\n$ns_ at 0.1 "$node_(0) setdest 2.0 2.0 1.0"\n')
    text = CELL.replace("[channel]", '[channel]\nrange = "50 m"', 1).replace(
        'name = "sta1"', f'name = "sta1"\nmobility = {{ model = "trace", file = "{trace}" }}', 1
    )
    simulator.parse(text)
    with served(text) as client:
        assert client.compare(other=RTS, runs=2)[-1]["event"] == "done"


def test_two_hundred_connections_at_once_leave_a_server_that_answers(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    head = f"GET /{client.of.token}/alive HTTP/1.1\r\nHost: 127.0.0.1:{client.of.port}\r\n\r\n".encode()
    all_ = [socket.create_connection((server.HOST, client.of.port), timeout=20) for _ in range(100)]
    monkeypatch.setattr(server, "_IDLE_S", 0.3)
    all_ += [socket.create_connection((server.HOST, client.of.port), timeout=20) for _ in range(100)]
    try:
        for one in all_[:100]:
            one.sendall(head)
        assert {one.recv(65536).split()[1] for one in all_[:100]} <= {b"200", b"503"}
        assert [one.recv(10) for one in all_[100:]] == [b""] * 100, "those that ask nothing are closed"
    finally:
        for one in all_:
            one.close()
    deadline = time.monotonic() + 10
    while (status := client.get("/alive").status) != 200 and time.monotonic() < deadline:
        time.sleep(0.05)
    assert status == 200
