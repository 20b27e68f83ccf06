"""`interlayer readings --over` in words, as a table, as JSON and as a page: where along a range claims are true."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

from interlayer.measure import stats
from interlayer.study.verdict import Verdict

from . import as_json, markup, words

if TYPE_CHECKING:
    from interlayer.study.ranges import Surveyed
    from interlayer.study.readings import Range
    from interlayer.study.region import Along, Area, End, Interval

TOGETHER = "all together"


def names(s: Surveyed) -> list[str]:
    """The ids of the claims, then all together where there are several."""
    return [*(c.id for c in s.claims), *([TOGETHER] if len(s.claims) > 1 else [])]


def title(s: Surveyed) -> str:
    """The experiments and the ranges."""
    over = " and ".join(f"{p.name} from {_end_text(r, r.low)} to {_end_text(r, r.high)}" for p, r in ranges(s))
    return f"{', '.join(e.id for e in s.experiments)}: {over}"


def ranges(s: Surveyed) -> list[tuple[Any, Range]]:
    """The parameters with their ranges."""
    return [(p, p.range) for p in s.ranges if p.range is not None]


def _end_text(r: Range, value: float) -> str:
    return f"{stats.plain(value, 3)} {r.unit}".rstrip()


def along_text(s: Surveyed, found: Along) -> str:
    """A claim along one range in one phrase: `depends: true from 20 ms (18 to 23) to 70 ms (61 to 78)`."""
    [(_, r)] = ranges(s)
    shown = [_interval_text(r, i) for i in found.intervals if i.shown]
    perhaps = [_interval_text(r, i) for i in found.intervals if not i.shown]
    whole = len(found.intervals) == 1 and found.intervals[0].begin is None and found.intervals[0].end is None
    if found.verdict is Verdict.HOLDS:
        return f"{found.verdict}: true throughout"
    if found.verdict is Verdict.DIFFERS:
        return f"{found.verdict}: true nowhere"
    parts = [f"true {' and '.join(shown)}" if not whole else "true at the means throughout"] if shown else []
    if perhaps:
        parts.append(f"perhaps {' and '.join(perhaps)}, not shown")
    if not found.intervals:
        parts.append("true nowhere at the means")
    if found.undecided:
        parts.append("undecided " + ", ".join(_stretch_text(r, *ends) for ends in found.undecided))
    return f"{found.verdict}: {'; '.join(parts)}"


def _interval_text(r: Range, i: Interval) -> str:
    if i.begin is None and i.end is None:
        return "throughout"
    if i.begin is None:
        return f"up to {_place_text(r, i.end)}"
    if i.end is None:
        return f"from {_place_text(r, i.begin)} on"
    return f"from {_place_text(r, i.begin)} to {_place_text(r, i.end)}"


def _place_text(r: Range, end: End | None) -> str:
    assert end is not None
    low, high = (stats.plain(r.value(x), 3) for x in (end.low, end.high))
    return f"{_end_text(r, r.value(end.place))} ({low} to {high})"


def _stretch_text(r: Range, low: float, high: float) -> str:
    at, to = _end_text(r, r.value(low)), _end_text(r, r.value(high))
    return f"at {at}" if low == high else f"from {at} to {to}"


def area_text(found: Area) -> str:
    """A claim over two ranges in one phrase: `depends: true in 31 % (24 to 40) of the area`."""
    share = f"true in {100 * found.true:.0f} % ({100 * found.low:.0f} to {100 * found.high:.0f}) of the area"
    undecided = f"; undecided in {100 * found.undecided:.0f} %" if found.undecided else ""
    return f"{found.verdict}: {share}{undecided}"


def phrases(s: Surveyed) -> list[str]:
    """What each claim comes to, and all together, in the order of `names`."""
    if len(s.ranges) == 1:
        return [along_text(s, found) for found in s.along()]
    return [area_text(found) for found in s.areas()]


def caption(s: Surveyed) -> str:
    """How it was found, and how far the search came."""
    all_else = f", {s.fixed.id}" if s.fixed.changes else ""
    ended = "" if s.is_complete else f", where the search stopped: {s.most} points were allowed (--points has more)"
    base = ", ".join(f"{p.name} = {r.text(r.base)}" for p, r in ranges(s))
    made = f"{len(s.points.places)} points{ended}, {s.points.runs} runs each, seeds from {s.seed}"
    return f"Base: {base}{all_else}. {made}. In brackets 95 %, by resampling of seeds. Interlayer {s.version}"


def to_json(s: Surveyed) -> dict[str, Any]:
    """The object of `interlayer readings --over … --json`. `at` is in the unit of the range."""
    found: dict[str, Any] = {
        "experiments": [e.id for e in s.experiments],
        "version": s.version,
        **as_json.outside(),
        "seed": s.seed,
        "runs": s.points.runs,
        "wall_s": s.wall_s,
        "complete": s.is_complete,
        "over": [
            {
                "name": p.name,
                "silent": p.silent,
                "sets": r.path,
                "from": r.low,
                "to": r.high,
                "base": r.base,
                "unit": r.unit,
                "scale": r.scale,
            }
            for p, r in ranges(s)
        ],
        "set": {name: choice.name for name, choice in s.fixed.changes},
    }
    told = [_along_json(s, a) for a in s.along()] if len(s.ranges) == 1 else [_area_json(a) for a in s.areas()]
    rows = [
        {"claim": name, "verdict_text": phrase, **one}
        for name, phrase, one in zip(names(s), phrases(s), told, strict=True)
    ]
    found["claims"] = rows[: len(s.claims)]
    found["together"] = rows[len(s.claims) :] or None
    found["points"] = [
        {
            "at": {p.name: s.value(i, place[i]) for i, (p, _) in enumerate(ranges(s))},
            "claims": {
                c.id: {"verdict": at.verdict.value, "true": at.true, "true_in_resamples": float(at.resampled.mean())}
                for c, at in zip(s.claims, row, strict=True)
            },
        }
        for place, row in zip(s.points.places, s.points.found, strict=True)
    ]
    return found


def _along_json(s: Surveyed, a: Along) -> dict[str, Any]:
    [(_, r)] = ranges(s)

    def end(e: End | None) -> dict[str, float] | None:
        return None if e is None else {"at": r.value(e.place), "low": r.value(e.low), "high": r.value(e.high)}

    return {
        "verdict": a.verdict.value,
        "true": [{"from": end(i.begin), "to": end(i.end), "shown": i.shown} for i in a.intervals],
        "undecided": [[r.value(low), r.value(high)] for low, high in a.undecided],
    }


def _area_json(a: Area) -> dict[str, Any]:
    return {"verdict": a.verdict.value, "true": a.true, "ci95": [a.low, a.high], "undecided": a.undecided}


def dumps(s: Surveyed) -> str:
    """The JSON as text."""
    return as_json.dumps(to_json(s))


def page(s: Surveyed, svg: str) -> str:
    """A page with the picture, a row a claim, and how to do it again."""
    esc = html.escape
    texts = [c.text for c in s.claims] + [""]
    printed = [words.expected_text(c) for c in s.claims] + [""]
    lines = [
        [esc(name), esc(text), esc(paper), esc(phrase)]
        for name, text, paper, phrase in zip(names(s), texts, printed, phrases(s), strict=False)
    ]
    head = [(name, False) for name in ("id", "claim", "paper", "where it is true")]
    silent = "".join(f"<li>{esc(p.name)}: {esc(p.silent)}</li>" for p, _ in ranges(s))
    over = " ".join(f'--over "{p.name}={r.text(r.low)}..{r.text(r.high)}"' for p, r in ranges(s))
    at = "".join(f' --at "{name}={choice.name}"' for name, choice in s.fixed.changes)
    ids = " ".join(e.id for e in s.experiments)
    command = f"interlayer readings {ids} {over}{at} --runs {s.points.runs} --seed {s.seed} --out DIR"
    parts = [
        f"<h1>{esc(title(s))}</h1>",
        f"<figure>{svg}<figcaption>{esc(caption(s))}.</figcaption></figure>",
        markup.table(head, lines),
        f"<h2>Where the text is silent</h2><ul>{silent}</ul>",
        f"<h2>Do it again</h2><pre>{esc(command)}</pre>",
    ]
    return markup.page(title(s), "\n".join(parts))
