"""What `interlayer readings` shows: the readings of several experiments as sentences, table, JSON and page."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

from interlayer.study.verdict import Verdict

from . import as_json, markup, words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from interlayer.study.joint import InReading, Joint, Row

MARKS = {
    (True, True): "●",
    (True, False): "○",
    (False, False): "·",
    (False, True): "×",
}
"""By whether a claim is true at the means, and whether that was shown."""
LEGEND = "● true, and shown; ○ true at the means, not shown; · not true at the means, not shown; × shown to differ"


def mark(one: InReading) -> str:
    """A claim in a reading as one sign."""
    return MARKS[one.true, one.judgement.verdict is (Verdict.HOLDS if one.true else Verdict.DIFFERS)]


def by_truth(j: Joint) -> list[Row]:
    """The readings, those with most true claims first, else in the order of the parameters."""
    return sorted(j.rows, key=lambda row: -row.true)


def marks(row: Row) -> str:
    """The signs of all claims, a bar between experiments."""
    found, before = "", ""
    for one in row.claims:
        experiment = one.claim.id.rpartition("#")[0]
        found += ("|" if before not in ("", experiment) else "") + mark(one)
        before = experiment
    return found


def interval(row: Row) -> str:
    """The bootstrap's interval for the number of true claims."""
    return f"{row.low:.0f} to {row.high:.0f}"


def sentences(j: Joint) -> list[str]:
    """What may be said: the best, all that cannot be told from it, what is never true, what never together."""
    total, rows = len(j.claims), by_truth(j)
    best = rows[0]
    found = [f"{len(j.rows)} of {j.of} readings run, {j.runs} runs each"]
    count = f"{best.true} of {total} ({interval(best)} by bootstrap over seeds)"
    if best.true == 0:
        found.append("No reading makes any claim true")
    elif len(j.best) == len(rows):
        found.append(f"No reading can be told from the others: at best {count} claims are true")
    else:
        told = "; ".join(row.reading.id for row in j.best)
        apart = " (these cannot be told apart)" if len(j.best) > 1 else ""
        found.append(f"Most claims are true, {count}, with: {told}{apart}")
    if never := j.never():
        found.append(f"True in no reading: {', '.join(c.id for c in never)}")
    pairs = j.never_together()
    alike = [f"{a.id} and {b.id}" for a, b in pairs if a.id.rpartition("#")[0] == b.id.rpartition("#")[0]]
    if alike:
        found.append(f"Of one figure, and true together in no reading: {'; '.join(alike)}")
    if len(pairs) > len(alike):
        found.append(
            f"Of different figures, {len(pairs) - len(alike)} more pairs are true together in no reading (JSON)"
        )
    resting: dict[str, list[str]] = {}
    for c in j.claims:
        for one in c.rests_on:
            resting.setdefault(one.name, []).append(c.id)
    found += [f"No verdict, since nothing here models {name}: {', '.join(ids)}" for name, ids in resting.items()]
    for e in j.experiments:
        found += [f"{' and '.join(c.claims)} cannot hold together: {c.text}" for c in e.contradictions]
    if j.base_only:
        found.append("Preliminary: the base reading alone")
    return found


def to_json(j: Joint) -> dict[str, Any]:
    """The object of `interlayer readings --json`."""
    best = {row.reading.id for row in j.best}
    found: dict[str, Any] = {
        "experiments": [e.id for e in j.experiments],
        "version": j.version,
        **as_json.outside(),
        "seed": j.seed,
        "runs": j.runs,
        "wall_s": j.wall_s,
        "k": len(j.rows),
        "K": j.of,
    }
    if j.base_only:
        found["preliminary"] = True
    found["parameters"] = [
        {"name": p.name, "silent": p.silent, "values": [c.name for c in p.choices]} for p in j.parameters
    ]
    found["claims"] = [
        {
            "id": c.id,
            "text": c.text,
            "expected": words.expected_text(c),
            **({"rests_on": [one.name for one in c.rests_on]} if c.rests_on else {}),
        }
        for c in j.claims
    ]
    found["best"] = [row.reading.id for row in j.rows if row.reading.id in best]
    found["never_true"] = [c.id for c in j.never()]
    found["never_together"] = [[a.id, b.id] for a, b in j.never_together()]
    found["readings"] = [
        {
            "reading": row.reading.id,
            "set": {name: choice.name for name, choice in row.reading.changes},
            "true": row.true,
            "ci95": [row.low, row.high],
            "told_from_best": row.is_told_from_best,
            "claims": {
                one.claim.id: {
                    "true": one.true,
                    "verdict": one.judgement.verdict.value,
                    "measured": [e.mean for e in one.judgement.measured],
                    "ci95": [e.half_width for e in one.judgement.measured],
                    **as_json.ends(one.judgement.measured),
                }
                for one in row.claims
            },
        }
        for row in j.rows
    ]
    return found


def page(j: Joint, svg: str) -> str:
    """A page with the picture, what may be said, every reading, the parameters and the claims."""
    esc = html.escape
    title = "Readings of " + ", ".join(e.id for e in j.experiments)
    said = "".join(f"<li>{esc(s)}.</li>" for s in sentences(j))
    parts = [f"<h1>{esc(title)}</h1>", f'<p class="soft">Interlayer {esc(j.version)}, seeds from {j.seed}</p>']
    parts += [f"<ul>{said}</ul>", f"<figure>{svg}<figcaption>{esc(LEGEND)}.</figcaption></figure>"]
    head = [("reading", False), ("true", True), ("95 %", True), ("told from the best", False)]
    head += [(short(c.id), False) for c in j.claims]
    parts.append("<h2>Every reading that was run</h2>" + markup.table(head, _lines(j)))
    silent = [
        [esc(p.name), esc(p.choices[0].name), esc("; ".join(c.name for c in p.choices[1:])), esc(p.silent)]
        for p in j.parameters
    ]
    top = [(name, False) for name in ("parameter", "base", "also plausible", "where the text is silent")]
    parts.append("<h2>What the paper leaves open</h2>" + markup.table(top, silent))
    claims = [[esc(c.id), esc(c.text), esc(words.expected_text(c))] for c in j.claims]
    parts.append("<h2>Claims</h2>" + markup.table([(n, False) for n in ("id", "claim", "paper")], claims))
    command = f"interlayer readings {' '.join(e.id for e in j.experiments)} --runs {j.runs} --seed {j.seed} --out DIR"
    parts.append(f"<h2>Do it again</h2><pre>{esc(command)}</pre>")
    return markup.page(title, "\n".join(parts))


def _lines(j: Joint) -> Sequence[list[str]]:
    return [
        [
            html.escape(row.reading.id),
            str(row.true),
            interval(row),
            "yes" if row.is_told_from_best else "no",
            *(f'<span class="{one.judgement.verdict.value}">{mark(one)}</span> {_means(one)}' for one in row.claims),
        ]
        for row in by_truth(j)
    ]


def _means(one: InReading) -> str:
    shown = [f"{e.mean:.3g}" for e in one.judgement.measured[:3]]
    return html.escape(", ".join(shown) + (" …" if len(one.judgement.measured) > len(shown) else ""))


def short(claim: str) -> str:
    """`3.16-fairness#1` for `lle-fig-3.16-fairness#1`."""
    return claim.removeprefix("lle-").removeprefix("ftca-").removeprefix("fig-")


def dumps(j: Joint) -> str:
    """The JSON as text."""
    return as_json.dumps(to_json(j))
