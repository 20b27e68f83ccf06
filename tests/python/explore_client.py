"""A browser's side of the explorer's server, for tests."""

from __future__ import annotations

import http.client
import json
import socket
import threading
import time
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import interlayer
from interlayer import api
from interlayer.explore import server
from interlayer.explore.cells import Source

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

CELL = interlayer.wlan(3, duration="1 s", warmup="200 ms", loss=0.05, name="small").text
RTS = [["radio.rts_threshold", "0 B"]]


class Answer(NamedTuple):
    """An answer that has come back whole."""

    status: int
    content: bytes
    headers: Mapping[str, str]

    @property
    def told(self) -> Any:
        return json.loads(self.content)


class Client:
    """A browser's side of a server."""

    def __init__(self, of: server.Server) -> None:
        self.of = of

    @contextmanager
    def opened(self, method: str, path: str, body: Any = None, **headers: str) -> Iterator[http.client.HTTPResponse]:
        """One request on a connection of its own; `path` follows the token, `body` is JSON unless it is bytes."""
        connection = http.client.HTTPConnection(server.HOST, self.of.port, timeout=60)
        content = body if body is None or isinstance(body, bytes) else json.dumps(body)
        said = {"Content-Type": "application/json", **{k.replace("_", "-"): v for k, v in headers.items()}}
        with closing(connection):
            connection.request(method, f"/{self.of.token}{path}", content, said)
            with connection.getresponse() as answer:
                yield answer

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Answer:
        with self.opened(method, path, body, **headers) as answer:
            return Answer(answer.status, answer.read(), dict(answer.getheaders()))

    def get(self, path: str, **headers: str) -> Answer:
        return self.ask("GET", path, **headers)

    def describe(self, **question: Any) -> dict[str, Any]:
        found: dict[str, Any] = self.ask("POST", "/describe", {"source": "file", **question}).told
        return found

    def compare(self, **question: Any) -> list[dict[str, Any]]:
        with self.opened("POST", "/compare", {"source": "file", **question}) as answer:
            assert answer.status == 200, answer.read()
            return list(events(answer))


def events(answer: http.client.HTTPResponse) -> Iterator[dict[str, Any]]:
    text = b""
    while part := answer.read1(65536):
        text += part
        while b"\n\n" in text:
            event, _, text = text.partition(b"\n\n")
            yield json.loads(event.removeprefix(b"data: "))


@contextmanager
def served(text: str = CELL) -> Iterator[Client]:
    of = server.Server(Source(api.Scenario(text, file="small.toml")))
    thread = threading.Thread(target=of.serve)
    thread.start()
    try:
        client = Client(of)
        for _ in range(100):
            try:
                assert client.get("/alive").status == 200
                break
            except OSError:
                time.sleep(0.05)
        yield client
    finally:
        of.stop()
        thread.join(20)
        assert not thread.is_alive()


def raw(of: server.Server, content: bytes) -> bytes:
    """The answer of a server to bytes."""
    with socket.create_connection((server.HOST, of.port), timeout=20) as connection:
        connection.sendall(content)
        found = b""
        try:
            while part := connection.recv(65536):
                found += part
        except ConnectionResetError:
            pass
        return found
