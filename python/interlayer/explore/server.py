"""The server of the page: the loopback address only, a token in the address, fixed routes, and limits on everything.

Starlette has the routes and uvicorn the connections; both come with the extra `explore`. docs/design/explore.md says
what each check is for.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import secrets
import socket
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from interlayer import extras, simulator
from interlayer.errors import InputError, refused

from . import captures, cells, controls, work
from .cells import Cell, Question, Source

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import ASGIApp, Receive, Scope, Send

HOST = "127.0.0.1"
MOST_BODY = 100_000
"""Bytes of a question."""
MOST_CONNECTIONS = 64
"""At once; what comes beyond is told to come again."""
MOST_CHOSEN = 100
"""Characters of what is chosen for a picture."""
MOST_HEAD = 16_384
"""Bytes of a request's head."""
_IDLE_S = 10.0
"""After so long a connection that has not asked anything is closed."""

_PAGE = Path(__file__).parent / "page"
FILES = {
    "": ("page.html", "text/html; charset=utf-8"),
    "page.js": ("page.js", "text/javascript; charset=utf-8"),
    "page.css": ("page.css", "text/css; charset=utf-8"),
    "uplot.js": ("uplot.js", "text/javascript; charset=utf-8"),
    "uplot.css": ("uplot.css", "text/css; charset=utf-8"),
}
"""The files of the page, by the last part of their addresses. Nothing else is read from the disk."""

_OWN = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'; "
    "img-src 'self' data: blob:; frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_AIR = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
)
"""Of the page that plays a run: one file with its scripts in it, which fetches nothing."""
_HEADERS = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
}
_KINDS = {"html": "text/html; charset=utf-8", "zip": "application/zip"}
_PICTURES = {"svg": "image/svg+xml", "png": "image/png", "csv": "text/csv; charset=utf-8", "json": "application/json"}


class Guard:
    """Lets through what comes from this page: its host, its origin, its token; everything else is refused."""

    def __init__(self, app: ASGIApp, token: str, port: int) -> None:
        self._app, self._token = app, token
        self._hosts = {f"{name}:{port}" for name in (HOST, "localhost")}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            return await self._app(scope, receive, send)
        from starlette.responses import JSONResponse

        if (why := self._why_not(scope)) is not None:
            status, line = why
            refusal = JSONResponse({"mistakes": [{"path": "", "line": line}]}, status, headers=dict(_HEADERS))
            return await refusal(scope, receive, send)
        return await self._app(scope, receive, send)

    def _why_not(self, scope: Scope) -> tuple[int, str] | None:
        if scope["type"] == "websocket":
            return 403, "this server speaks HTTP alone"
        found: dict[str, list[str]] = {}
        for name, value in scope["headers"]:
            found.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
        if len(hosts := found.get("host", [])) != 1 or hosts[0].lower() not in self._hosts:
            return 421, "this server is for the loopback address of its own machine alone"
        origins = found.get("origin", [])
        if any(origin.lower() not in {f"http://{host}" for host in self._hosts} for origin in origins):
            return 403, "another origin asked"
        if found.get("sec-fetch-site", ["none"])[0] not in ("same-origin", "none"):
            return 403, "another site asked"
        token = scope["path"].partition("/")[2].partition("/")[0]
        if not hmac.compare_digest(token.encode(), self._token.encode()):
            return 403, "the token in the address is missing or is another; use the address that the command printed"
        return None


class Explorer:
    """The answers of the server, without connections."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.desk = work.Desk(source)

    def app(self, token: str, port: int) -> ASGIApp:
        from starlette.applications import Starlette
        from starlette.routing import Route

        at = f"/{token}"
        routes = [Route(f"{at}/{name}", self._file(name), methods=["GET"]) for name in FILES]
        routes += [
            Route(f"{at}/start", self.start, methods=["GET"]),
            Route(f"{at}/alive", self.alive, methods=["GET"]),
            Route(f"{at}/describe", self.describe, methods=["POST"]),
            Route(f"{at}/compare", self.compare, methods=["POST"]),
            Route(f"{at}/air/{{number:int}}/{{arm:int}}", self.air, methods=["GET"]),
            Route(f"{at}/picture/{{number:int}}/{{what}}", self.picture, methods=["GET"]),
        ]
        inner = Starlette(routes=routes)
        inner.router.redirect_slashes = False
        return Guard(inner, token, port)

    def _file(self, name: str) -> Callable[[Request], Awaitable[Response]]:
        file, kind = FILES[name]

        async def answer(request: Request) -> Response:
            from starlette.responses import Response

            policy = {"Content-Security-Policy": _OWN}
            return Response((_PAGE / file).read_bytes(), headers={**_HEADERS, **policy}, media_type=kind)

        return answer

    async def alive(self, request: Request) -> Response:
        return _json({"version": simulator.version()})

    async def start(self, request: Request) -> Response:
        """The sources and the stations."""
        keys = ("id", "title", "said", "question", "answer", "other", "runs", "metric", "frames")
        told = [{key: getattr(one, key) for key in keys} for one in cells.stations()]
        found = {"version": simulator.version(), "sources": self.source.names(), "stations": told}
        return _json(
            {**found, "most_runs": cells.MOST_RUNS, "own": self.source.file is not None and self.source.file.file}
        )

    async def describe(self, request: Request) -> Response:
        """Controls of a cell, its mistakes, and what can be taken away of it."""
        try:
            question = Question.read(await _body(request))
            return _json(await _in_thread(lambda: self._described(question)))
        except InputError as e:
            return _wrong(e)

    def _described(self, question: Question) -> dict[str, Any]:
        mistakes: list[dict[str, Any]] = []
        try:
            cell = Cell.of(question, self.source)
        except InputError as e:
            mistakes = work.mistakes(e)
            cell = Cell.of(self._without(question, {one["path"] for one in mistakes}), self.source)
        filled: dict[str, Any] | None = None
        notes: list[str] = []
        for arm in (0, 1) if cell.question.other else (0,):
            try:
                parsed = cell.parsed(arm)
            except InputError as e:
                known = [one["line"] for one in mistakes]
                mistakes += [{**one, "arm": arm} for one in work.mistakes(e) if one["line"] not in known]
                continue
            if arm == 0:
                filled, notes = json.loads(parsed.effective_json()), list(parsed.notes)
        if filled is None:  # the defaults of the cell before it went wrong
            with suppress(InputError):
                filled = json.loads(simulator.parse(cell.base).effective_json())
        found: dict[str, Any] = {
            "name": cell.name,
            "groups": controls.groups(cell.tables, filled, controls.rates(cell.text), cell.question.changes),
            "added": controls.added(cell.tables),
            "mistakes": mistakes,
            "notes": notes,
            "label": cell.label if cell.question.other else "",
        }
        return found | {"exports": cell.exports()}

    def _without(self, question: Question, bad: Collection[str]) -> Question:
        """A question without the changes of these paths, and without what names an entry that is not appended then."""
        text, kept = self.source.text(question.source), list[tuple[str, str]]()

        def good(pairs: Sequence[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
            found = []
            for path, value in pairs:
                if value and path in bad and not path.endswith(".+"):  # of several `+` another may be right
                    continue
                if value:
                    try:
                        simulator.overridden(text, [*kept, (path, value)])
                    except InputError:
                        continue
                    kept.append((path, value))
                found.append((path, value))
            return tuple(found)

        return Question(question.source, good(question.changes), good(question.other), question.seed, question.runs)

    async def compare(self, request: Request) -> Response:
        """The answer to a question as server-sent events, until it is whole or nobody listens."""
        from starlette.responses import StreamingResponse

        try:
            question = Question.read(await _body(request))
            cell = await _in_thread(lambda: Cell.of(question, self.source))
            cell.arms()
        except InputError as e:
            return _wrong(e)
        loop, events = asyncio.get_running_loop(), asyncio.Queue[work.Event]()

        def tell(event: work.Event) -> None:
            with suppress(RuntimeError):  # the server has ended
                loop.call_soon_threadsafe(events.put_nowait, event)

        asked = await _in_thread(lambda: self.desk.ask(cell, tell))

        async def stream() -> AsyncIterator[str]:
            try:
                while True:
                    event = await events.get()
                    yield f"data: {json.dumps(event, ensure_ascii=False, allow_nan=False)}\n\n"
                    if event["event"] in ("done", "ended", "refused"):
                        return
            finally:
                asked.end()

        return StreamingResponse(stream(), media_type="text/event-stream", headers=dict(_HEADERS))

    async def air(self, request: Request) -> Response:
        from starlette.responses import Response

        number, arm = request.path_params["number"], request.path_params["arm"]
        try:
            answer, still = self.desk.answer(number), self._still(number)
            page = await _in_thread(lambda: work.air(answer, arm, _Chosen.of(request).frames, still))
        except InputError as e:
            return _wrong(e, 422 if e.path == "frames" else 410)
        return Response(page, headers={**_HEADERS, "Content-Security-Policy": _AIR}, media_type="text/html")

    def _still(self, number: int) -> Callable[[], None]:
        """Raises `InputError` once an answer is no longer kept: nobody waits for what is made of it."""

        def look() -> None:
            self.desk.answer(number)

        return look

    async def picture(self, request: Request) -> Response:
        """A figure or its data: `comparison.svg`, `series-0.png`, `series-1.csv`, `air-0.html`, `captures-1.zip`."""
        from starlette.responses import Response

        name, _, ending = request.path_params["what"].partition(".")
        number = request.path_params["number"]
        try:
            answer = self.desk.answer(number)
            if (name, ending) in (("captures-0", "zip"), ("captures-1", "zip")):
                arm, still = int(name[-1]), self._still(number)
                content = await _in_thread(lambda: captures.archive(answer, arm, still))
            else:
                chosen, still = _Chosen.of(request), self._still(number)
                content = await _in_thread(lambda: _drawn(answer, name, ending, chosen, still))
        except captures.BusyError:
            return _wrong(InputError("captures are being written already: ask again when they are there"), 503)
        except InputError as e:
            return _wrong(e, 422 if e.path in ("scenario.duration", "frames") else 410)
        if content is None:
            return _wrong(InputError(f'no picture "{name[:40]}.{ending[:10]}"'), 404)
        saved = {"Content-Disposition": f'attachment; filename="{_file_name(answer, name)}.{ending}"'}
        kind = _KINDS.get(ending) or _PICTURES[ending]
        return Response(content, headers={**_HEADERS, **saved}, media_type=kind)


class _Chosen(NamedTuple):
    """What is chosen on the page for a picture."""

    metric: str
    """Of the picture of both arms; "" for goodput."""
    frames: str
    """From when on single frames are shown; "" for the end of the warm-up."""

    @classmethod
    def of(cls, request: Request) -> _Chosen:
        return cls(*(str(request.query_params.get(name, ""))[:MOST_CHOSEN] for name in cls._fields))


def _file_name(answer: work.Answer, name: str) -> str:
    """Of a picture: the cell, what it shows, and the arm, if it is of one."""
    what, _, which = name.partition("-")
    cell, *arms = answer.names
    return "-".join([cell, what, *([arms[int(which)]] if which in ("0", "1") else [])])


def _drawn(answer: work.Answer, name: str, ending: str, chosen: _Chosen, still: Callable[[], None]) -> bytes | None:
    """A picture in a format; None for one that there is not. They are those that `--out` writes."""
    from interlayer.measure import series
    from interlayer.show import as_json, comparison_words, frames, plots, series_plot

    what, _, which = name.partition("-")
    arm = int(which) if which in ("0", "1") else None
    if what == "comparison" and arm is None and answer.compared is not None and ending in _PICTURES:
        result = as_json.comparison(answer.compared)
        if ending == "json":
            return as_json.dumps(result).encode()
        with tempfile.TemporaryDirectory(prefix="interlayer-") as folder:
            stem = Path(folder) / "comparison"
            if ending == "csv":
                frames.write_records(frames.comparison_records(answer.compared), stem)
            else:
                metric = [chosen.metric] if chosen.metric in result["arms"][0]["compared"] else []
                result["baseline"] = result["arms"][0]["label"] = "the cell"
                plots.save(plots.comparison(result, comparison_words.caption(result), metric), stem)
            return stem.with_suffix(f".{ending}").read_bytes()
    if arm is None or arm not in answer.recorded:
        return None
    if (what, ending) == ("air", "html"):
        return work.air(answer, arm, chosen.frames, still).encode()
    if what == "series" and ending in ("svg", "png", "csv"):
        run, scenario = answer.recorded[arm]
        with tempfile.TemporaryDirectory(prefix="interlayer-") as folder:
            stem = Path(folder) / "series"
            if ending == "csv":
                frames.write_records(frames.series_records([run]), stem)
            else:
                note = f"One run, seed {run['seed']}. Interlayer {simulator.version()}"
                shown = series.changing(run["series"] or {})[0] or series.by_quantity(run["series"] or {})
                plots.save(series_plot.figure(shown, scenario.name or "cell", note), stem)
            return stem.with_suffix(f".{ending}").read_bytes()
    return None


async def _in_thread(call: Callable[[], Any]) -> Any:
    return await asyncio.to_thread(call)


async def _body(request: Request) -> Any:
    """A question's JSON. Raises `InputError` for one that is too large, is none, or is sent as another kind."""
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise InputError("a question is sent as application/json")
    said = request.headers.get("content-length", "")
    if said.isdigit() and int(said) > MOST_BODY:
        raise _too_large()
    whole = b""
    async for part in request.stream():
        whole += part
        if len(whole) > MOST_BODY:
            raise _too_large()
    try:
        return json.loads(whole)
    except (ValueError, RecursionError) as e:
        raise InputError("this is no JSON") from e


def _too_large() -> InputError:
    return InputError(f"a question has {MOST_BODY} bytes at most", "body")


def _json(content: Any, status: int = 200) -> Response:
    from starlette.responses import Response

    text = json.dumps(content, ensure_ascii=False, allow_nan=False)
    return Response(text, status, headers=dict(_HEADERS), media_type="application/json")


def _wrong(e: InputError, status: int = 422) -> Response:
    answer = _json({"mistakes": work.mistakes(e)}, 413 if e.path == "body" else status)
    if e.path == "body":  # the rest of it is not waited for
        answer.headers["Connection"] = "close"
    return answer


# --------------------------------------------------------------------------------------------------------- connections


class Server:
    """A listening socket, and uvicorn on it. `address` is there at once; `serve` answers until `stop`, or Ctrl-C."""

    def __init__(self, source: Source, port: int = 0) -> None:
        uvicorn = extras.uvicorn()
        self.token = secrets.token_urlsafe(16)
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            self._socket.bind((HOST, port))
        except OSError as e:
            self._socket.close()
            raise refused(f"--port: {HOST}:{port}", e) from e
        self.port = int(self._socket.getsockname()[1])
        self.explorer = Explorer(source)
        config = uvicorn.Config(
            self.explorer.app(self.token, self.port),
            http=_protocol(),
            ws="none",
            lifespan="off",
            log_level="critical",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            limit_concurrency=MOST_CONNECTIONS,
            h11_max_incomplete_event_size=MOST_HEAD,
            timeout_keep_alive=5,
            timeout_graceful_shutdown=1,
        )
        self._server = uvicorn.Server(config)

    @property
    def address(self) -> str:
        return f"http://{HOST}:{self.port}/{self.token}/"

    def serve(self) -> None:
        """Answer until the end."""
        try:
            asyncio.run(self._server.serve(sockets=[self._socket]))
        finally:
            self.explorer.desk.close()
            self._socket.close()

    def stop(self) -> None:
        """End it, from any thread."""
        self._server.should_exit = True


def _protocol() -> Any:
    """uvicorn's HTTP in pure Python, which closes connections that ask nothing."""
    from uvicorn.protocols.http.h11_impl import H11Protocol

    class Impatient(H11Protocol):
        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self.loop.call_later(_IDLE_S, self._close_if_silent)

        def _close_if_silent(self) -> None:
            silent: Any = self.cycle
            if silent is None and not self.transport.is_closing():
                self.transport.close()

    return Impatient
