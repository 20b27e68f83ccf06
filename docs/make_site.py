"""The documentation as a site: `make site` writes target/guide, and fails on a link that leads nowhere. No network.

The pages are those of the repository. They are copied beside each other, so that links between them hold; a link to a
file that is no page becomes a download; a folder that is linked gets a page that lists it. Three things are made here:
the first page (docs/first-page.md.in with the contents), the gallery (site_gallery.py) and the reference of the Python
package (site_api.py). Sphinx does the rest.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import site_api
import site_gallery

ROOT = Path(__file__).parents[1]
STAGE, OUT, CACHE, EXTRA = (ROOT / "target" / name for name in ("guide-pages", "guide", "guide-cache", "guide-extra"))
RESULTS = [site_gallery.RESULTS, ROOT / "target" / "validate"]
"""Folders with results for the gallery; the first that has an experiment counts."""
FIRST = Path("docs/first-page.md.in")
"""No page of the repository: it leads to pages that are made here."""

PARTS = {
    "See": ["gallery"],
    "Begin": ["README", "docs/first-hour", "docs/getting-started", "docs/explore", "docs/glossary"],
    "Ask": [
        "docs/compare",
        "docs/sweep",
        "docs/experiment-file",
        "docs/scenario-reference",
        "docs/many-machines",
        "docs/lecture",
        "docs/python-controllers",
    ],
    "Answers": [
        "docs/engineers",
        "docs/base-station",
        "docs/ftca",
        "docs/lle-tcp",
        "docs/link-recovery",
        "docs/senders",
        "docs/senders-on-the-radio",
        "docs/strings-and-c3tcp",
        "docs/routing",
        "docs/mobile",
        "docs/queues",
        "docs/rates",
        "docs/today",
        "docs/live",
        "docs/deploy",
        "docs/users",
    ],
    "Python": [f"reference/{page}" for page in site_api.TITLES],
    "Schemes": ["docs/schemes/*"],
    "Papers": ["docs/reading-a-verdict", "docs/experiments", "docs/verdicts", "python/interlayer/experiments/README"],
    "Trust": ["docs/not-modelled", "docs/comparison", "validation/*", "validation/*/README", "bench/README"],
    "Build": [
        *("docs/new-scheme", "docs/driving", "CONTRIBUTING", "CHANGELOG", "docs/packages", "docs/design/*"),
        *("examples/index", "examples/*/README"),
    ],
}
"""The parts of the site and their pages; `*` is every page of a folder. A page that is in none is a mistake."""

LINK = re.compile(r"(?<=\]\()([^)\s#:]+)(?=(?:#[^)\s]*)?\))")
FENCE = re.compile(r"(^```.*?^```|`[^`\n]*`)", re.MULTILINE | re.DOTALL)

SETTINGS = {
    "project": "Interlayer",
    "copyright": "",
    "extensions": ["myst_parser", "sphinx.ext.autodoc"],
    "autodoc_member_order": "bysource",
    "autodoc_typehints_format": "short",
    "autodoc_preserve_defaults": True,
    "add_module_names": False,
    "maximum_signature_line_length": 60,
    "default_role": "code",
    "html_static_path": [str(ROOT / "docs" / "guide.css")],
    "html_css_files": ["guide.css"],
    "myst_heading_anchors": 6,
    "root_doc": "index",
    "html_theme": "furo",
    "html_title": "Interlayer",
    "html_copy_source": False,
    "html_show_sphinx": False,
    "html_show_copyright": False,
    "html_theme_options": {"top_of_page_buttons": []},
    "suppress_warnings": ["myst.header", "misc.highlighting_failure"],
}


def tracked() -> list[Path]:
    """The files of the repository, and those that are new."""
    names = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    return [Path(name) for name in names.splitlines() if (ROOT / name).is_file()]


def stage() -> list[str]:
    """Copy the pages and what they link to; gives the names of the pages, without suffix."""
    shutil.rmtree(STAGE, ignore_errors=True)
    pages = [path for path in tracked() if path.suffix == ".md" and path.parts[0] != "crates"]
    folders: set[Path] = set()
    for page in pages:
        text = (ROOT / page).read_text("utf-8")
        parts = FENCE.split(text)
        for i in range(0, len(parts), 2):  # what is no code
            parts[i] = LINK.sub(lambda m: _target(page, m[1], folders), parts[i])  # noqa: B023
        _write(page, "".join(parts))
    for folder in sorted(folders):
        pages.append(_listing(folder))
    shutil.rmtree(EXTRA, ignore_errors=True)
    pages.append(Path("gallery.md"))
    _write(pages[-1], site_gallery.page(RESULTS, EXTRA / "gallery", ROOT / "docs" / "figures"))
    for name, text in site_api.pages().items():
        pages.append(Path("reference", f"{name}.md"))
        _write(pages[-1], text)
    return [str(page.with_suffix("")) for page in pages]


def _target(page: Path, link: str, folders: set[Path]) -> str:
    """Where a link leads in the copy: a folder has its page; a file that is no page is copied, too."""
    there = (ROOT / page.parent / link).resolve()
    if not there.is_relative_to(ROOT) or not there.exists():
        return link  # the test of links names it
    path = there.relative_to(ROOT)
    if there.is_dir():
        if (there / "README.md").exists():
            return f"{link.rstrip('/')}/README.md"
        folders.add(path)
        return f"{link.rstrip('/')}/index.md"
    if path.suffix != ".md":
        copy = STAGE / path
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(there, copy)
    return link


def _listing(folder: Path) -> Path:
    """A page with the files of a folder."""
    kinds = {".py": "python", ".toml": "toml", ".out": "text"}
    parts = [f"# {folder.name.capitalize()}\n"]
    for file in sorted(p for p in tracked() if p.parent == folder and p.suffix in kinds):
        parts.append(f"## {file.name}\n\n```{kinds[file.suffix]}\n{(ROOT / file).read_text('utf-8')}```\n")
    page = folder / "index.md"
    _write(page, "\n".join(parts))
    return page


def _write(page: Path, text: str) -> None:
    copy = STAGE / page
    copy.parent.mkdir(parents=True, exist_ok=True)
    copy.write_text(text, "utf-8")


def contents(pages: list[str]) -> None:
    """The first page, with every page in its part. Raises `SystemExit` for a page that is in none."""
    left = dict.fromkeys(pages)
    lines = [_first(), ""]
    for part, patterns in PARTS.items():
        found: list[str] = []
        for pattern in patterns:
            matching = [p for p in left if re.fullmatch(pattern.replace("*", "[^/]+"), p)]
            if not matching:
                sys.exit(f"make_site: no page is like {pattern}")
            found += sorted(matching)
            for page in matching:
                del left[page]
        lines += ["```{toctree}", f":caption: {part}", ":maxdepth: 1", "", *found, "```", ""]
    if left:
        sys.exit(f"make_site: in no part of the site: {', '.join(left)}")
    _write(Path("index.md"), "\n".join(lines))


def _first() -> str:
    """The text of the first page. It stands a folder higher than the file, so its links do, too."""
    text = (ROOT / FIRST).read_text("utf-8")
    for picture in re.findall(r"!\[[^]]*\]\(([^)]+)\)", text):
        copy = STAGE / FIRST.parent / picture
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / FIRST.parent / picture, copy)
    return LINK.sub(lambda m: os.path.normpath(FIRST.parent / m[1]), text)


def build() -> None:
    """Run Sphinx over the copy. A warning is an error."""
    from sphinx.cmd.build import build_main

    shutil.rmtree(OUT, ignore_errors=True)
    settings = {**SETTINGS, "html_extra_path": [str(EXTRA)]}
    (STAGE / "conf.py").write_text("".join(f"{k} = {v!r}\n" for k, v in settings.items()), "utf-8")
    if build_main(["-q", "-W", "--keep-going", "-E", "-d", str(CACHE), str(STAGE), str(OUT)]):
        sys.exit("make_site: see above")


class _Page(HTMLParser):
    """The ids of a page, and where it leads."""

    def __init__(self) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.leads: list[str] = []
        self.loads: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id" and value:
                self.ids.add(value)
            elif name == "href" and value and tag == "a":
                self.leads.append(value)
            elif name in ("src", "href") and value and tag != "a":
                self.loads.append(value)


def check(folder: Path) -> tuple[int, list[str]]:
    """How many links there are within a site, and what is wrong: a link to nothing, something loaded from elsewhere."""
    pages: dict[Path, _Page] = {}
    for path in folder.rglob("*.html"):
        pages[path.resolve()] = found = _Page()
        found.feed(path.read_text("utf-8"))
    count, wrong = 0, []
    for path, page in pages.items():
        name = path.relative_to(folder.resolve())
        wrong += [f"{name}: loads {url}" for url in page.loads if re.match(r"(https?:)?//", url)]
        for url in [*page.leads, *page.loads]:
            if re.match(r"(\w+:|//)", url):
                continue
            count += 1
            target, _, anchor = url.partition("#")
            there = (path.parent / unquote(target.partition("?")[0])).resolve() if target else path
            if not there.exists():
                wrong.append(f"{name}: {url}: no such file")
            elif anchor and there in pages and unquote(anchor) not in pages[there].ids:
                wrong.append(f"{name}: {url}: no such heading")
    return count, wrong


def main() -> None:
    global STAGE, OUT, CACHE, EXTRA
    if len(sys.argv) > 1:  # a folder instead of target/
        STAGE, OUT, CACHE, EXTRA = (Path(sys.argv[1]).absolute() / path.name for path in (STAGE, OUT, CACHE, EXTRA))
    contents(stage())
    build()
    count, wrong = check(OUT)
    for line in wrong:
        print(line, file=sys.stderr)
    if wrong:
        sys.exit(f"make_site: {len(wrong)} links lead nowhere")
    print(f"{OUT / 'index.html'}: {len(list(OUT.rglob('*.html')))} pages, {count} links")


if __name__ == "__main__":
    main()
