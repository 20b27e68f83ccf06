"""Writes anew what README.md, docs/ and examples/ show of the program's output: `make docs`. Tests compare the same."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
SHOWN = re.compile(r"^```python\n(.*?)^```\n\n```text\n(.*?)^```", re.MULTILINE | re.DOTALL)
TABLE = re.compile(r"<!-- claims (\S+) -->\n.*?<!-- end -->", re.DOTALL)


def output(*arguments: str) -> str:
    """What Python prints, run at the root."""
    done = subprocess.run([sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout


def claims(name: str) -> str:
    """The claims of an experiment that have one number: paper, arithmetic, measurement, verdict."""
    import interlayer
    from interlayer import report

    o = interlayer.reproduce(name)
    lines = [f"<!-- claims {name} -->", f"| {o.experiment.source} | paper | arithmetic | measured | verdict |"]
    lines.append("|---|---|---|---|---|")
    for s in o.scored:
        if s.claim.kind == "value":
            worked, verdict = report.arithmetic_text(s.claim, o.experiment), report.verdict_text(s)
            cells = [s.claim.text, report.expected_text(s.claim), worked, report.measured_text(s), verdict]
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, "<!-- end -->"])


def renewed(page: str) -> str:
    """A page with its outputs and tables as they are now."""
    page = SHOWN.sub(lambda m: m[0].replace(f"```text\n{m[2]}", f"```text\n{output('-c', m[1])}"), page)
    return TABLE.sub(lambda m: claims(m[1]), page)


if __name__ == "__main__":
    for path in PAGES:
        path.write_text(renewed(path.read_text("utf-8")), "utf-8")
    for example in sorted((ROOT / "examples").glob("*.py")):
        example.with_suffix(".out").write_text(output(str(example)), "utf-8")
