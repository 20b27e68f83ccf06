"""A run as a picture that moves: its scene as JSON, and one self-contained page that plays it.

`scene` gives all that the renderer (air.js) draws: paths of nodes, neighbours, frames, goodput. docs/design/pictures.md
tells its keys. Sizes are bounded: bins of frames become wider, samples of goodput fewer, until they fit.
"""

from __future__ import annotations

import html
import json
from typing import TYPE_CHECKING, Any

import numpy as np

from . import markup, stories

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from interlayer._core import Run, Scenario, Timeline
    from interlayer._core import Scene as Recorded

FORMAT = "interlayer scene 1"
NAME = "animation.html"

PULSES = 120_000
"""So many counts of frames are in a page, some 1.8 MB."""
FRAMES = 10_000
"""So many frames of the window, one by one, are in a page, some 0.5 MB."""
SAMPLES = 40_000
"""So many samples of goodput, of all flows together, are in a page; of one flow `_MOST`."""
_MOST = 240
_FEW = 20

_KINDS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("TCP data", ("tcp-data",)),
    ("TCP ACKs, SYN, FIN", ("tcp-ack", "tcp-control")),
    ("UDP", ("udp",)),
    ("routing", ("routing",)),
    ("other data", ("other",)),
    ("RTS, CTS, MAC acknowledgments", ()),
)
"""The kinds of frames that have a colour: label, classes. The last has all classes that no other has."""
_LOST = frozenset({"noise", "collision", "half-duplex", "out-of-reach"})
_SPEEDS = (0.001, 0.01, 0.05, 0.1, 0.5, 1, 2, 5, 10, 20)


# ------------------------------------------------------------------------------------------------------------ scene


def scene(run: Run, scenario: Scenario, title: str, version: str) -> dict[str, Any]:
    """The scene of a run that was made with `scene` and series: what the renderer draws, in the types of JSON."""
    recorded = run["scene"]
    told = json.loads(scenario.to_json())
    frames = _frames(run.get("timeline"))
    return {
        "format": FORMAT,
        "title": title,
        "seed": run["seed"],
        "version": version,
        "until_s": run["simulated_s"],
        "nodes": _nodes(run, told),
        "neighbours": {"channels": recorded["channels"], "changes": _changes(recorded)},
        "kinds": [{"label": label} for label, _ in _KINDS],
        "bins": _bins(recorded),
        "frames": frames,
        "story": _story(run, len(frames["rows"])) if frames else None,
        "flows": _flows(run),
    }


def _nodes(run: Run, told: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Each node: its name, whether it has a radio, its path as t, x, y of one point after the other."""
    recorded = run["scene"]
    stated = {node["name"]: node for node in told["node"]}
    events = sorted(told["event"], key=lambda event: _seconds(event["at"]))
    legs: dict[str, list[tuple[float, ...]]] = {}
    columns = run.get("legs", {})
    names = ("begins_s", "ends_s", "from_x_m", "from_y_m", "to_x_m", "to_y_m")
    for node, *leg in zip(columns.get("node", []), *(columns.get(name, []) for name in names), strict=True):
        legs.setdefault(node, []).append(tuple(leg))
    found = []
    for name, has_radio, x, y in zip(
        recorded["nodes"], recorded["has_radio"], recorded["x_m"], recorded["y_m"], strict=True
    ):
        moves = [(_seconds(e["at"]), e["to"]) for e in events if e.get("move") == name]
        one: dict[str, Any] = {"name": name, "radio": has_radio}
        one["path"] = _path(legs[name]) if name in legs else _stands(x, y, moves)
        if stated.get(name, {}).get("role") == "ap":
            one["ap"] = True
        if dead := _dead(name, events):
            one["dead"] = dead
        found.append(one)
    return found


def _path(legs: Sequence[tuple[float, ...]]) -> list[float]:
    """Points of a path: two of one instant where a node is put elsewhere."""
    points: list[tuple[float, float, float]] = []
    for begins, ends, x0, y0, x1, y1 in legs:
        for point in (_point(begins, x0, y0), _point(ends, x1, y1)):
            if not points or point != points[-1]:
                points.append(point)
    return [number for point in points for number in point]


def _stands(x: float, y: float, moves: Sequence[tuple[float, Sequence[float]]]) -> list[float]:
    """The path of a node that stands, or that events put elsewhere."""
    points = [_point(0.0, x, y)]
    for at, (to_x, to_y) in moves:
        points += [(_point(at, 0.0, 0.0)[0], *points[-1][1:]), _point(at, to_x, to_y)]
    return [number for point in points for number in point]


def _point(t: float, x: float, y: float) -> tuple[float, float, float]:
    """To the microsecond and the millimetre."""
    return _plain(t, 6), _plain(x, 3), _plain(y, 3)


def _plain(value: float, digits: int) -> float:
    """A number that JSON writes in few letters."""
    found = round(float(value), digits)
    return int(found) if found == int(found) else found


def _dead(name: str, events: Sequence[Mapping[str, Any]]) -> list[list[float | None]]:
    """The times from each kill of a node to its restart, or to None."""
    found: list[list[float | None]] = []
    for event in events:
        if event.get("kill") == name and not (found and found[-1][1] is None):
            found.append([_seconds(event["at"]), None])
        if event.get("restart") == name and found and found[-1][1] is None:
            found[-1][1] = _seconds(event["at"])
    return found


def _seconds(text: str) -> float:
    from interlayer import quantity

    return quantity.magnitude(text) or 0.0


def _changes(recorded: Recorded) -> list[float]:
    """Changes of neighbours: time, channel, one, other, 1 for up, and the next."""
    links = recorded["links"]
    rows = zip(*(links[name].tolist() for name in ("t_s", "channel", "one", "other", "is_up")), strict=True)
    return [n for t, channel, one, other, is_up in rows for n in (_plain(t, 6), channel, one, other, int(is_up))]


def _kind_of(classes: Sequence[str]) -> list[int]:
    """The kind of each class."""
    return [next((i for i, (_, own) in enumerate(_KINDS) if name in own), len(_KINDS) - 1) for name in classes]


def _bins(recorded: Recorded, most: int = PULSES) -> dict[str, Any]:
    """Frames counted by bin, transmitter, receiver and kind. Bins are the core's, or 2, 4, 8, ... of them.

    A row is a bin: its number, then from, to (-1: all), kind, frames, lost, and the next.
    """
    pulses, nodes = recorded["pulses"], len(recorded["nodes"]) + 1
    kinds = np.asarray(_kind_of(recorded["classes"]), dtype=np.int64)[pulses["class"]]
    pair = (pulses["from"] * nodes + pulses["to"] + 1) * len(_KINDS) + kinds
    width, wide = 1, nodes * nodes * len(_KINDS)
    while True:
        keys, place = np.unique(pulses["bin"] // width * wide + pair, return_inverse=True)
        if keys.size <= most:
            break
        width *= 2
    frames = np.bincount(place, pulses["frames"], keys.size).astype(int).tolist()
    lost = np.bincount(place, pulses["lost"], keys.size).astype(int).tolist()
    rows: list[list[int]] = []
    for key, n, of_them in zip(keys.tolist(), frames, lost, strict=True):
        number, rest = divmod(key, wide)
        ends, kind = divmod(rest, len(_KINDS))
        if not rows or rows[-1][0] != number:
            rows.append([number])
        rows[-1] += [ends // nodes, ends % nodes - 1, kind, n, of_them]
    return {"bin_s": _plain(recorded["bin_s"] * width, 9), "rows": rows}


def _frames(timeline: Timeline | None) -> dict[str, Any] | None:
    """Every frame of the window, up to `FRAMES`.

    A row: ns after the window's begin, airtime in ns, from, to, kind, class, outcome, 1 for a retry.
    """
    if timeline is None or not timeline["columns"]["start_ns"].size:
        return None
    columns = timeline["columns"]
    total = int(columns["start_ns"].size)
    kinds = np.asarray(_kind_of(timeline["classes"]), dtype=np.int64)[columns["class"]]
    from_ns, until_s = round(timeline["from_s"] * 1e9), timeline["until_s"]
    if total > FRAMES:
        until_s = float(columns["start_ns"][FRAMES]) / 1e9
    told = [columns["start_ns"] - from_ns, *(columns[name] for name in ("airtime_ns", "from", "to")), kinds]
    told += [columns["class"], columns["outcome"], columns["is_retry"].astype(int)]
    return {
        "from_s": timeline["from_s"],
        "until_s": until_s,
        "total": total + timeline["missed"],
        "classes": timeline["classes"],
        "outcomes": timeline["outcomes"],
        "lost": [i for i, name in enumerate(timeline["outcomes"]) if name in _LOST],
        "rows": [list(row) for row in zip(*(column[:FRAMES].tolist() for column in told), strict=True)],
    }


def _story(run: Run, frames: int) -> dict[str, Any] | None:
    """What stories of the frames need; None where the core keeps none."""
    story, timeline = run.get("story"), run["timeline"]
    return None if story is None or timeline is None else stories.of(story, timeline, frames)


def _flows(run: Run) -> list[dict[str, Any]]:
    """The flows, and the goodput of each in kb/s over intervals of equal length from 0 on."""
    nodes = {name: i for i, name in enumerate(run["scene"]["nodes"])}
    columns = {f["id"]: (run["series"] or {}).get(f"flow.{f['id']}.goodput_bps") for f in run["flows"]}
    fit = max(_FEW, min(_MOST, SAMPLES // max(1, len(columns))))
    found = []
    for flow in run["flows"]:
        every_s, kbps = 1.0, []
        if (column := columns[flow["id"]]) is not None and (values := column["value"] / 1000).size:
            each = -(-values.size // fit)
            parts = np.split(values, range(each, values.size, each))
            every_s, kbps = float(column["t_s"][0]) * each, [round(float(part.mean())) for part in parts]
        ends = {"from": nodes.get(flow["from"], -1), "to": nodes.get(flow["to"], -1)}
        found.append({"name": flow["id"], **ends, "every_s": _plain(every_s, 9), "kbps": kbps})
    return found


# ------------------------------------------------------------------------------------------------------------- page

_STYLE = """
:root { --air-0: #0072b2; --air-1: #8f5a00; --air-2: #00775a; --air-3: #882255; --air-4: #1c1c1e; --air-5: #6b6b70;
  --air-lost: #b83200; --air-link: #8a8a92;
  --flow-0: #0072b2; --flow-1: #b83200; --flow-2: #00775a; --flow-3: #a8327f; --flow-4: #8f5a00; --flow-5: #4a5fc1;
  --flow-6: #1c1c1e }
@media (prefers-color-scheme: dark) { :root { --air-0: #56b4e9; --air-1: #e69f00; --air-2: #2fc49a; --air-3: #e27fb0;
  --air-4: #e6e6ea; --air-5: #a2a2aa; --air-lost: #ff8a5c; --air-link: #74747e;
  --flow-0: #56b4e9; --flow-1: #ff8a5c; --flow-2: #2fc49a; --flow-3: #e59bc8; --flow-4: #e69f00; --flow-5: #a9b8ff;
  --flow-6: #e6e6ea } }
body { max-width: 100rem; margin: 1.2rem auto }
section.plain { border: 0; margin: 1.5rem 0 0 } main .plain { margin: 0 }
main { display: grid; gap: 1rem 2rem; grid-template-columns: minmax(0, 1fr) }
@media (min-width: 52rem) { main { grid-template-columns: minmax(0, 1fr) clamp(18rem, 34%, 26rem) } }
[hidden] { display: none !important }
canvas { display: block; width: 100%; touch-action: manipulation }
#air { height: clamp(17rem, 100vw * var(--shape), 72vh); border: 1px solid var(--rule); border-radius: 4px;
  cursor: pointer }
#goodput { height: 13rem; cursor: pointer }
.controls { display: flex; flex-wrap: wrap; gap: .5rem .9rem; align-items: center; margin: .7rem 0;
  font: .9rem/1.4 "DejaVu Sans", Verdana, system-ui, sans-serif }
.controls .whole { flex: 1 1 100%; min-width: 0; display: flex; flex-wrap: wrap; gap: .8rem; align-items: center }
#time { flex: 1 1 8rem; min-width: 0; height: 1.6rem; margin: 0; accent-color: var(--link) }
#clock { font-variant-numeric: tabular-nums; min-width: 6.5em; text-align: right }
button, select { font: inherit; color: var(--ink); background: var(--code); border: 1px solid var(--soft);
  border-radius: 4px; padding: .3rem .7rem; min-height: 2.1rem }
button { cursor: pointer } #play { min-width: 5.2rem } [aria-pressed=true] { border: 2px solid var(--link) }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px }
.controls label { display: inline-flex; gap: .35rem; align-items: center; white-space: nowrap }
.legend { list-style: none; display: flex; flex-wrap: wrap; gap: .2rem 1.1rem; padding: 0; margin: .3rem 0;
  font: .84rem/1.5 "DejaVu Sans", Verdana, system-ui, sans-serif }
.legend li { margin: 0; display: inline-flex; gap: .4rem; align-items: center }
.legend svg { flex: none }
#said { min-height: 6.2rem; margin: 0; font-size: .9rem } #said span { display: block }
#story { border: 1px solid var(--rule); border-radius: 4px; padding: .7rem .9rem; margin: 0 0 1rem; font-size: .9rem }
#story h2 { margin: 0 } #story h3 { margin: .7rem 0 .2rem; font-size: .95rem }
#story ul { margin: 0; padding-left: 1.1rem }
#story .frame { background: none; border: 0; padding: 0; min-height: 0; color: var(--link); text-decoration: underline;
  text-align: left }
aside h2 { margin: 1.2rem 0 .4rem; font-size: 1.05rem } aside h2:first-child { margin-top: 0 }
.flows { max-height: 27rem; overflow: auto } .flows table { width: 100% } .flows svg { vertical-align: middle }
.flows td:first-child { min-width: 0 }
.notes { font-size: .9rem; max-width: 60rem } .notes h2 { font-size: 1.2rem; margin: 0 0 .4rem }
 .notes ul { padding-left: 1.2rem }
kbd { font: .8em ui-monospace, "DejaVu Sans Mono", monospace; border: 1px solid var(--soft); border-radius: 3px;
  padding: 0 .3em }
@media (max-width: 36rem) { .controls { gap: .5rem .7rem } td, th { padding-right: .4rem } }
"""

_STORY = (
    '<section id="story" class="plain" aria-labelledby="story-title" hidden><h2 id="story-title" tabindex="-1"></h2>'
    '<p class="controls" role="group" aria-label="Frames"><button id="story-back" type="button">← Earlier</button>'
    '<button id="story-on" type="button">Later →</button><button id="story-end" type="button">Close</button></p>'
    '<div id="story-said"></div></section>'
)
"""The place of a frame's story."""

_EMBEDDED = "body { margin: .6rem auto }"


def page(of: Mapping[str, Any], *, embedded: bool = False) -> str:
    """The page that plays a scene: style, scripts and data are in it, and it asks for nothing else.

    `embedded` is for a frame of another page, which has the heading.
    """
    esc = html.escape
    radios = [node for node in of["nodes"] if node["radio"]]
    title = f"{of['title']}: the air"
    label = f"Map of {_count(radios, 'node')}, neighbours and frames; the same in words beside it"
    head = (
        f'<header><h1>{esc(title)}</h1><p class="soft">Interlayer {esc(of["version"])} · one run, seed {of["seed"]} · '
        f"{_count(radios, 'node')} with a radio, {of['until_s']:g} s</p></header>"
    )
    parts = [
        f"<style>{_STYLE}{_EMBEDDED if embedded else ''}</style>",
        *([] if embedded else [head]),
        '<main><section aria-label="The air" class="plain">',
        f'<canvas id="air" role="img" aria-label="{esc(label)}" aria-describedby="said" '
        f'style="--shape: {_shape(radios):g}"></canvas>',
        _controls(of, radios),
        _legend(of),
        '</section><aside aria-label="In words and numbers">',
        *([_STORY] if of["frames"] else []),
        '<h2>Now</h2><p id="said" role="status" aria-live="polite"></p>',
        _goodput(of),
        "</aside></main>",
        _notes(of, radios),
        markup.data(of, 'id="scene"'),
        *(f"<script>\n{markup.script(name)}</script>" for name in ("air.js", "story.js", "player.js")),
    ]
    return markup.page(title, "\n".join(parts))


def _count(all_: Sequence[Any], one: str) -> str:
    return f"{len(all_)} {one}{'' if len(all_) == 1 else 's'}"


def _shape(radios: Sequence[Mapping[str, Any]]) -> float:
    """Height over width of the map: that of what is drawn on it, within limits."""
    east, north = ([n for node in radios for n in node["path"][i::3]] for i in (1, 2))
    wide, tall = (max(axis, default=0) - min(axis, default=0) for axis in (east, north))
    return 1.0 if wide == tall == 0 else min(1.0, max(0.35, tall / wide if wide else 1.0))


def _controls(of: Mapping[str, Any], radios: Sequence[Mapping[str, Any]]) -> str:
    esc, frames = html.escape, of["frames"]
    wanted = of["until_s"] / 40
    default = min(_SPEEDS, key=lambda speed: abs(np.log(speed / wanted)))
    speeds = "".join(
        f'<option value="{s:g}"{" selected" if s == default else ""}>'
        f"{f'1 : {1 / s:g}' if s < 1 else f'{s:g} ×'}</option>"
        for s in _SPEEDS
    )
    places = {node["name"]: i for i, node in enumerate(of["nodes"])}
    nodes = "".join(f'<option value="{places[node["name"]]}">{esc(node["name"])}</option>' for node in radios)
    moves = any(len(node["path"]) > 3 for node in radios)
    parts = [
        '<div class="controls" role="group" aria-label="Playing">',
        '<div class="whole"><button id="play" type="button">Play</button>',
        '<input id="time" type="range" min="0" max="1000" step="any" value="0" aria-label="Time">',
        '<output id="clock" for="time" aria-live="off">0 s</output></div>',
        f'<label>Speed <select id="speed">{speeds}</select></label>',
        f'<label>Follow <select id="follow"><option value="-1">nobody</option>{nodes}</select></label>',
        '<label><input id="links" type="checkbox" checked> Neighbours</label>',
        '<label><input id="names" type="checkbox" checked> Names</label>',
        f'<label{"" if moves else " hidden"}><input id="trails" type="checkbox"{" checked" if moves else ""}> '
        "Trails</label>",
    ]
    if frames:
        parts.append('<button id="zoom" type="button" aria-pressed="false">Each frame of the window</button>')
        parts.append('<button id="tell" type="button">Story of a frame</button>')
    return "\n".join([*parts, "</div>"])


def _line(colour: str, dashes: Sequence[float] = (), width: float = 3) -> str:
    """A piece of a line for a legend."""
    broken = f' stroke-dasharray="{" ".join(map(str, dashes))}"' if dashes else ""
    line = f'<line x1="1" y1="5" x2="25" y2="5" stroke="var({colour})" stroke-width="{width:g}"{broken}/>'
    return f'<svg width="26" height="10" aria-hidden="true">{line}</svg>'


def _legend(of: Mapping[str, Any]) -> str:
    """The kinds of frames that there are, and what other lines mean."""
    rows = of["bins"]["rows"]
    seen = {kind for row in rows for kind in row[3::5]}
    items = [
        f"<li>{_line(f'--air-{i}')}{html.escape(kind['label'])}</li>" for i, kind in enumerate(of["kinds"]) if i in seen
    ]
    if any(lost for row in rows for lost in row[5::5]):
        cross = '<path d="M9 1 l8 8 M17 1 l-8 8" stroke="var(--air-lost)" stroke-width="2" fill="none"/>'
        items.append(f'<li><svg width="26" height="10" aria-hidden="true">{cross}</svg>lost; red where most are</li>')
    items.append(f"<li>{_line('--air-link', width=1.4)}neighbours</li>")
    if any(len(node["path"]) > 3 for node in of["nodes"]):
        items.append(f"<li>{_line('--ink', (1.5, 3), 1.6)}trail of the last 10 s</li>")
    return f'<ul class="legend" aria-label="Colours">{"".join(items)}</ul>'


_NAMED = 7
"""So many flows have a line each, as in air.js; of more the figure has their sum."""
_DASHES: tuple[tuple[int, ...], ...] = ((), (7, 3), (2, 2), (7, 3, 2, 3))


def _goodput(of: Mapping[str, Any]) -> str:
    """Goodput over time: a figure, and a table with what each flow has now."""
    esc, flows = html.escape, of["flows"]
    many = len(flows) > _NAMED
    names = [node["name"] for node in of["nodes"]]
    lines = []
    for i, flow in enumerate(flows):
        mark = "" if many else _line(f"--flow-{i % _NAMED}", _DASHES[i % len(_DASHES)]) + " "
        ends = " → ".join(names[flow[end]] if flow[end] >= 0 else "?" for end in ("from", "to"))
        row = f'<td>{mark}{esc(flow["name"])}</td><td>{esc(ends)}</td><td class="n" id="flow-{i}">–</td>'
        lines.append(f"<tr>{row}</tr>")
    what = "the sum of all flows" if many else "a line a flow"
    every = max(flow["every_s"] for flow in flows)
    return (
        f'<h2>Goodput, Mb/s</h2><canvas id="goodput" role="img" aria-label="Goodput over time, {what}; the table below '
        f'has the values at the chosen time"></canvas><p class="soft" style="margin: .2rem 0 .6rem; font-size: .84rem">'
        f"{what[0].upper()}{what[1:]}; means over {every:g} s.</p>"
        '<div class="flows" role="region" aria-label="Flows" tabindex="0"><table><thead><tr><th scope="col">flow</th>'
        '<th scope="col">from → to</th><th scope="col" class="n">now</th></tr></thead>'
        f"<tbody>{''.join(lines)}</tbody></table></div>"
    )


def _notes(of: Mapping[str, Any], radios: Sequence[Mapping[str, Any]]) -> str:
    """What is shown, and what is not, as a list."""
    frames, bin_s = of["frames"], of["bins"]["bin_s"]
    said = [
        f"An arrow has the frames of one kind from one node to another that left the air within the last 0.2 s of your "
        f"time, and fades. They were counted in bins of {1000 * bin_s:g} ms: within a bin their order is not shown. "
        "Frames to all are rings. A cross: some were lost.",
        "A line joins radio neighbours: nodes that can exchange data frames, both ways, at their rates. Stations of an "
        "access point have it alone.",
        "Names that have no room are left out. Choose a node, by a click or under Follow, for its name and neighbours.",
    ]
    if frames:
        kept = len(frames["rows"])
        part = "" if kept == frames["total"] else f" (the first {kept} of {frames['total']})"
        said.insert(
            1,
            f"From {frames['from_s']:.9g} s to {frames['until_s']:.9g} s each frame is known{part}: at a speed of "
            "1 : 20 or slower an arrow is one frame, full as far as it has been sent. <kbd>←</kbd> <kbd>→</kbd> go "
            "from frame to frame. A click on such an arrow, or <kbd>Enter</kbd>, tells the story of the frame.",
        )
    if len({tuple(node["path"]) for node in radios}) == 1 < len(radios):
        said.append("No place matters in this scenario: nodes are drawn in a circle.")
    elif len({tuple(node["path"]) for node in radios}) < len(radios):
        said.append("Nodes that stand at the same point are drawn around it.")
    if wired := [node["name"] for node in of["nodes"] if not node["radio"]]:
        some = ", ".join(wired[:6]) + (f" and {len(wired) - 6} more" if len(wired) > 6 else "")
        said.append(f"Not drawn, since they have no radio: {html.escape(some)}.")
    items = "".join(f"<li>{text}</li>" for text in said)
    keys = (
        "<p>Keys: <kbd>Space</kbd> plays and pauses, <kbd>←</kbd> <kbd>→</kbd> go a step and with <kbd>Shift</kbd> "
        "ten, <kbd>Home</kbd> and <kbd>End</kbd> go to the ends, <kbd>+</kbd> and <kbd>-</kbd> change the speed"
        + (", <kbd>Enter</kbd> tells of a frame and <kbd>Esc</kbd> closes it" if frames else "")
        + ".</p>"
    )
    return f'<section class="notes plain"><h2>What is shown</h2><ul>{items}</ul>{keys}</section>'
