"""The readings as a picture: a row a reading, a sign a claim, and how many are true with the bootstrap's interval."""

from __future__ import annotations

from typing import TYPE_CHECKING

from interlayer.study.verdict import Verdict

from . import joint, plots

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from interlayer.study.joint import InReading, Joint

# Okabe and Ito's palette: told apart also without red and green, and by shape besides.
_TRUE, _FALSE = "#0072B2", "#D55E00"


def figure(j: Joint) -> Figure:
    """The picture of a joint judgement: every reading that was run, those with most true claims on top."""
    from .drawing import drawing, frame

    rows = joint.by_truth(j)
    with plots.style():
        made = drawing(7.5 + 0.26 * len(j.claims), 1.8 + 0.24 * len(rows))
        ratio = [max(3.0, 0.30 * len(j.claims)), 3.0]
        signs, counts = made.subplots(1, 2, sharey=True, width_ratios=ratio)
        for i, row in enumerate(rows):
            for k, one in enumerate(row.claims):
                marker, face, edge = _sign(one)
                signs.plot(k, i, marker, markerfacecolor=face, markeredgecolor=edge, markersize=6)
            colour = "0.6" if row.is_told_from_best else "black"
            counts.plot([row.low, row.high], [i, i], "-", color=colour)
            counts.plot(row.true, i, "o", color=colour, markersize=5)
        signs.set_yticks(range(len(rows)), [row.reading.id for row in rows], fontsize=7)
        signs.set_xticks(range(len(j.claims)), [joint.short(c.id) for c in j.claims], rotation=90, fontsize=7)
        signs.set_ylim(len(rows) - 0.5, -0.5)
        signs.set_xlim(-0.7, len(j.claims) - 0.3)
        counts.set_xlim(-0.3, len(j.claims) + 0.3)
        counts.xaxis.get_major_locator().set_params(integer=True)
        counts.set_xlabel("claims true at the means, and 95 %\n(black: not told from the best)", fontsize=8)
        note = f"filled: shown; hollow: at the means only. Discs: true; crosses: not. {j.runs} runs each,"
        frame(made, f"{len(rows)} of {j.of} readings", f"{note} seeds from {j.seed}. Interlayer {j.version}")
        return made


def _sign(one: InReading) -> tuple[str, str, str]:
    """Marker, face and edge."""
    shown = one.judgement.verdict is (Verdict.HOLDS if one.true else Verdict.DIFFERS)
    colour = _TRUE if one.true else _FALSE
    return ("o" if one.true else "X"), (colour if shown else "white"), colour
