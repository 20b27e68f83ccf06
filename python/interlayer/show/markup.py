"""The parts that every page is made of: the page and its style, tables, figures."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from interlayer.measure.stats import Estimate

from .json_text import finite

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


_STYLE = """
:root { color-scheme: light dark; --ink: #1c1c1e; --soft: #6b6b70; --rule: #d9d9de; --paper: #fff; --code: #f6f6f8;
  --link: #0058a3; --holds: #00694a; --differs: #a63c06; --untestable: #6b6b70; --depends: #7a3aa0 }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e6ea; --soft: #a2a2aa; --rule: #3c3c42; --paper: #17171a;
  --code: #222227; --link: #7db9f0; --holds: #5fc8a0; --differs: #f0945f; --untestable: #a2a2aa; --depends: #c99be8 } }
* { box-sizing: border-box }
body { margin: 3rem auto; max-width: 60rem; padding: 0 1.25rem; color: var(--ink); background: var(--paper);
  font: 16px/1.55 Charter, "Bitstream Charter", "Sitka Text", Cambria, Georgia, serif; overflow-wrap: break-word }
h1 { font-size: 1.75rem; line-height: 1.2; margin: 0 0 .3rem } h2 { font-size: 1.2rem; margin: 2.4rem 0 .6rem }
.soft { color: var(--soft) } .lead { font-size: 1.1rem }
table { border-collapse: collapse; width: 100%; font-size: .875rem; font-variant-numeric: tabular-nums lining-nums }
th { text-align: left; font-weight: 600; border-bottom: 1.5px solid var(--ink); padding: .35rem .7rem .35rem 0;
  vertical-align: bottom }
td { border-bottom: 1px solid var(--rule); padding: .4rem .7rem .4rem 0; vertical-align: top }
td.n, th.n { text-align: right; white-space: nowrap } .scroll { overflow-x: auto }
.verdict { font-weight: 600; white-space: nowrap } .holds { color: var(--holds) } .differs { color: var(--differs) }
.depends { color: var(--depends) }
.compatible { color: var(--link) }
.untestable { color: var(--untestable) }
figure { margin: 1.5rem 0; overflow-x: auto }
figure svg { width: 100%; max-width: 52rem; height: auto; display: block; background: #fff; border-radius: 4px }
figure img { width: 100%; max-width: 44rem; height: auto; display: block }
figcaption { font-size: .84rem; color: var(--soft); margin-top: .5rem; max-width: 52rem }
h3 { font-size: 1.1rem; margin: 2rem 0 .5rem } section { border-top: 1.5px solid var(--ink); margin-top: 4rem }
section h2 { font-size: 1.5rem; margin: 1.2rem 0 .3rem }
tr.claim td { border-bottom: none; padding-bottom: 0; padding-top: .7rem }
a { color: var(--link) } .why p { margin: .1rem 0 .3rem } .why ul { margin: 0 0 .3rem; padding-left: 1.2rem }
pre, code { font-family: ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace } code { font-size: .86em }
pre { white-space: pre-wrap; font-size: .75rem; line-height: 1.5; background: var(--code); padding: .9rem 1rem;
  border-radius: 4px } li { margin: .25rem 0 }
details { margin: .5rem 0 } summary { cursor: pointer; font-weight: 600 }
.why { font-size: .84rem; color: var(--soft) }
@media (max-width: 36rem) { body { margin: 1.2rem auto; padding: 0 .9rem } h1 { font-size: 1.4rem }
  figure svg { min-width: 34rem } table { width: auto; min-width: 100% } td, th { padding-right: .5rem }
  td:first-child:not(.n) { min-width: 8rem } }
@media print { :root { color-scheme: light; --ink: #000; --soft: #444; --rule: #bbb; --paper: #fff; --code: #f6f6f8;
  --link: #000 } body { margin: 0; max-width: none; font-size: 11pt } figure, tr, pre { break-inside: avoid }
  h2, h3 { break-after: avoid } .scroll, figure { overflow: visible } figure svg { min-width: 0 } }
"""


def page(title: str, body: str) -> str:
    """A whole HTML page with the style in it, and nothing to fetch."""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{html.escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def fragment(body: str) -> str:
    """A part of a page for a notebook: its tables and headings, in the notebook's own style."""
    return f'<div class="interlayer">{body}</div>'


def table(head: Sequence[tuple[str, bool]], lines: Sequence[Sequence[str]]) -> str:
    """An HTML table of cells that are HTML already; `head` is (name, is a number)."""
    numeric = [" class=n" if n else "" for _, n in head]
    top = "".join(f"<th{c}>{html.escape(name)}</th>" for (name, _), c in zip(head, numeric, strict=True))
    body = "\n".join(
        "<tr>" + "".join(f"<td{c}>{cell}</td>" for c, cell in zip(numeric, line, strict=True)) + "</tr>"
        for line in lines
    )
    return f'<div class="scroll"><table>\n<thead><tr>{top}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>'


def links(files: Sequence[tuple[str, str]], kinds: Sequence[str]) -> str:
    """A list of files of data beside the page: of each its name, what it has, and a link for each kind."""
    esc = html.escape
    items = "".join(
        f"<li>{esc(what)}: " + " · ".join(f'<a href="{esc(name)}.{kind}">{esc(name)}.{kind}</a>' for kind in kinds)
        + "</li>"
        for name, what in files
    )  # fmt: skip
    return f"<ul>{items}</ul>"


def inline_svg(path: Path) -> str:
    """An SVG file as an element of a page: without its XML prologue, which HTML would not take."""
    text = path.read_text(encoding="utf-8")
    return text[text.index("<svg") :]


def entries(rows_: Sequence[Mapping[str, Any]]) -> str:
    """Entries side by side: a line per column of the results, a column per entry; many entries are a line each.

    Columns that are 0 or undefined in all entries are named below.
    """
    names = dict.fromkeys(name for entry in rows_ for name in entry)
    empty = [n for n in names if all(_is_empty(entry.get(n)) for entry in rows_)]
    shown = [n for n in names if n not in empty]
    code = {n: f"<code>{html.escape(n)}</code>" for n in names}
    if len(rows_) > _SIDE_BY_SIDE:
        head = [(n, i > 0) for i, n in enumerate(shown)]
        found = table(head, [[_shown(entry.get(n)) for n in shown] for entry in rows_])
    else:
        lines = [[code[n], *(_shown(entry.get(n)) for entry in rows_)] for n in shown]
        found = table([("", False), *(("", True) for _ in rows_)], lines)
    return found + (f'<p class="soft">0 or undefined: {", ".join(code[n] for n in empty)}.</p>' if empty else "")


_SIDE_BY_SIDE = 8
"""So many entries stand side by side."""


def _shown(value: Any) -> str:
    if isinstance(value, dict) and {"mean", "ci95"} <= set(value):
        return str(Estimate.read(value))
    return "–" if value is None else html.escape(str(value))


def _is_empty(value: Any) -> bool:
    """Whether there is nothing to see: no value, an undefined one, or 0 in every run."""
    return value is None or (isinstance(value, dict) and value.get("mean") in (None, 0) and not value.get("ci95"))


_ID = re.compile(r'(\bid="|href="#|url\(#)')
_SVG = re.compile(r"<svg\b.*?</svg>", re.DOTALL)


def own_ids(svg: str, prefix: str) -> str:
    """Figures with `prefix` before their ids, which are unique within one figure only. Their data stay."""
    return _SVG.sub(lambda whole: _ID.sub(lambda found: f"{found[1]}{prefix}.", whole[0]), svg)


def data(of: Mapping[str, Any], attributes: str) -> str:
    """JSON as an element for scripts. No name in it can end the element: `</script>` is written otherwise."""
    text = json.dumps(finite(of), separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    text = text.replace("<", "\\u003c")
    return f'<script type="application/json" {attributes}>{text}</script>'


def script(name: str) -> str:
    """A script of the package: air.js draws, story.js tells of a frame, player.js is their page, ask.js answers."""
    return (Path(__file__).parent / name).read_text(encoding="utf-8")
