"""The site's gallery: every figure of the package with its verdicts, from what `interlayer reproduce --out` has left.

No picture is committed. One that is kept in the repository goes on to show the verdicts of a simulator that has changed
since; a folder of results says its version, its seeds and its day. `make gallery` makes the folders, `make validate`
leaves one, too. An experiment without a result has its card all the same, and the command that makes it.
"""

from __future__ import annotations

import html
import json
import shutil
import subprocess
import sys
from collections import Counter
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING, Any

from interlayer.show import pages
from interlayer.study import library

if TYPE_CHECKING:
    from collections.abc import Sequence

    from interlayer.study.experiment import Experiment

RESULTS = Path(__file__).parents[1] / "target" / "gallery"
"""What `make gallery` makes: a folder an experiment."""
WIDTH = 720
"""Width of a picture on the page, in pixels: half of it on most screens, all of it on a phone's."""
LONGEST = 240
"""Most characters of a reason: the page behind the picture has all of it."""
OWN = "Questions of our own"
INTRO = """# Gallery

Every figure, and what became of its claims. A picture leads to the whole page: tables, claims, readings, arithmetic.
The figure of that page answers: hover or focus a point for its value, interval, runs and readings.
[How to read a verdict](docs/reading-a-verdict.md).
"""


@cache
def drawn() -> dict[str, Experiment]:
    """The experiments of the package that draw a figure, by id: those that run something."""
    found = {name: library.load(name) for name in library.known()}
    return {name: e for name, e in found.items() if e.cells()}


def page(results: Sequence[Path], files: Path, committed: Path) -> str:
    """The gallery as Markdown. Pictures and pages of what is in `results` go to `files`.

    Of several folders the first that has an experiment counts, in a folder of its own or not. `committed` is the folder
    with the pictures of the repository, for experiments without a result.
    """
    files.mkdir(parents=True, exist_ok=True)
    experiments = drawn()
    papers: dict[str, list[str]] = {}
    shown = 0
    for e in experiments.values():
        stem = pages.file_name(e)
        places = [place for folder in results for place in (folder / stem, folder)]
        folder = next((p for p in places if all((p / f"{stem}.{k}").exists() for k in ("json", "png", "html"))), None)
        shown += folder is not None
        card = _result(e, folder, files) if folder else _absent(e, files, committed)
        papers.setdefault(e.source.partition(",")[0] or OWN, []).append(card)
    parts = [INTRO]
    if shown < len(experiments):
        parts.append(f"{shown} of {len(experiments)} have a result here. `make gallery` makes the others.\n")
    for paper, cards in papers.items():
        parts.append(f'## {paper}\n\n<div class="figures">\n{"".join(cards)}</div>\n')
    return "\n".join(parts)


def _result(e: Experiment, folder: Path, files: Path) -> str:
    stem, esc = pages.file_name(e), html.escape
    path = folder / f"{stem}.json"
    result: dict[str, Any] = json.loads(path.read_text("utf-8"))
    picture(folder / f"{stem}.png", files / f"{stem}.small.png")
    for file in folder.glob(f"{stem}*"):  # its page, and what that leads to
        if file.name.removeprefix(stem).startswith((".", "-over-time.")):
            shutil.copy(file, files)
    claims = "".join(_claim(claim) for claim in result["claims"])
    day = datetime.fromtimestamp(path.stat().st_mtime, UTC).date().isoformat()
    last = result["seed"] + result["runs"] - 1
    about = f"Interlayer {result['version']}, seeds {result['seed']} to {last}, {day}"
    return _card(
        e,
        f'<a href="gallery/{esc(stem)}.html">{_image(e)}</a>',
        f"<p>{_summary(result)}</p>\n<details><summary>Claims</summary><ol>{claims}</ol></details>\n"
        f'<p class="none">{esc(about)}</p>',
    )


def _absent(e: Experiment, files: Path, committed: Path) -> str:
    stem, image = pages.file_name(e), ""
    if (committed / f"{stem}.png").exists():
        picture(committed / f"{stem}.png", files / f"{stem}.small.png")
        image = _image(e)
    count = f"{len(e.claims)} claim{'s' * (len(e.claims) != 1)}"
    what = f"{count}, no result here: <code>interlayer reproduce {html.escape(e.id)}</code>"
    return _card(e, image, f'<p class="none">{what}</p>')


def _card(e: Experiment, image: str, body: str) -> str:
    """Without an empty line: one would end the block of HTML."""
    esc = html.escape
    source = f"{esc(e.source)} · " if e.source else ""
    return (
        f'<figure id="{esc(pages.file_name(e))}">\n{image}\n<figcaption>\n<p><strong>{esc(e.title)}</strong></p>\n'
        f"<p>{source}<code>{esc(e.id)}</code></p>\n{body}\n</figcaption>\n</figure>\n"
    )


def _image(e: Experiment) -> str:
    return (
        f'<img src="gallery/{html.escape(pages.file_name(e))}.small.png" alt="{html.escape(e.title)}" loading="lazy">'
    )


def _summary(result: dict[str, Any]) -> str:
    """`3 hold, 2 differ`, and what the verdicts rest on where it is less than all."""
    count = Counter(claim["verdict"] for claim in result["claims"] if claim["verdict"])
    words = {"holds": "hold", "differs": "differ", "depends": "depend"}
    said = ", ".join(
        f'<span class="verdict {html.escape(v)}">{n} {html.escape(words.get(v, v) if n > 1 else v)}</span>'
        for v, n in count.items()
    )
    return (said or "No verdicts") + (" (preliminary)" if result.get("preliminary") else "")


def _claim(claim: dict[str, Any]) -> str:
    verdict = claim["verdict"] or "not scored"
    why = shorten(str(claim.get("why") or ""), LONGEST, placeholder=" …")
    text = f'{html.escape(claim["text"])}: <span class="verdict {html.escape(verdict)}">{html.escape(verdict)}</span>'
    return f"<li>{text}. {html.escape(why)}</li>"


def picture(source: Path, target: Path) -> None:
    """A copy of a figure for the page: narrower, with a palette."""
    from PIL import Image

    with Image.open(source) as image:
        full = image.convert("RGB")
        small = full.resize((WIDTH, round(full.height * WIDTH / full.width)), Image.Resampling.LANCZOS)
        small.quantize(64).save(target, optimize=True)


def main() -> None:
    """Reproduce the experiments that are named, or all that draw a figure, each into a folder of its own.

    So what is finished stays when it is interrupted, and some can be made again. Runs are shared by the store.
    """
    status = 0
    for name in library.matching(sys.argv[1:]) or drawn():
        folder = RESULTS / pages.file_name(library.load(name))
        command = [sys.executable, "-m", "interlayer", "reproduce", name, "--out", str(folder)]
        done = subprocess.run(command, stdout=subprocess.DEVNULL)
        if done.returncode == 130:  # Ctrl-C
            sys.exit(130)
        status = status or done.returncode
        print(f"{name}: {folder if done.returncode == 0 else 'no result'}", flush=True)
    sys.exit(status)


if __name__ == "__main__":
    main()
