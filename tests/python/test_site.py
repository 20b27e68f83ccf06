"""The site: every page has its place, links lead somewhere, nothing is loaded from elsewhere, nothing is cut off."""

from __future__ import annotations

import functools
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import interlayer
from interlayer.study import library

ROOT = Path(__file__).parents[2]
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """docs/make_site.py, writing into a folder of its own, with no results but those put into its `results`."""
    monkeypatch.syspath_prepend(ROOT / "docs")
    spec = importlib.util.spec_from_file_location("make_site", ROOT / "docs" / "make_site.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for name in ("STAGE", "OUT", "CACHE", "EXTRA"):
        monkeypatch.setattr(module, name, tmp_path / name.lower())
    monkeypatch.setattr(module, "RESULTS", [tmp_path / "results"])
    return module


def test_every_page_has_a_place_and_links_to_folders_and_files_hold(site: Any) -> None:
    pages = site.stage()
    site.contents(pages)
    first = (site.STAGE / "index.md").read_text("utf-8")
    assert all(f"\n{page}\n" in first for page in pages)
    assert {"README", "docs/first-hour", "docs/sweep", "examples/index"} <= set(pages)
    assert "](examples/index.md)" in (site.STAGE / "README.md").read_text("utf-8")
    assert "## coffee-shop.toml" in (site.STAGE / "examples" / "index.md").read_text("utf-8")
    for copy in ("LICENSE", "docs/lecture.ipynb", "docs/figures/timeline.png"):
        assert (site.STAGE / copy).read_bytes() == (ROOT / copy).read_bytes()


def test_a_page_that_has_no_place_is_named(site: Any) -> None:
    with pytest.raises(SystemExit, match="in no part of the site: docs/forgotten"):
        site.contents([*site.stage(), "docs/forgotten"])


def test_what_leads_nowhere_is_found(site: Any, tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        '<h1 id="top"></h1><a href="#top"></a><a href="b.html#here"></a><a href="c.html"></a><a href="b.html#gone"></a>'
        '<script src="https://elsewhere.example/x.js"></script><a href="https://elsewhere.example/"></a>'
    )
    (tmp_path / "b.html").write_text('<h1 id="here"></h1>')
    count, wrong = site.check(tmp_path)
    assert count == 4
    assert wrong == [
        "a.html: loads https://elsewhere.example/x.js",
        "a.html: c.html: no such file",
        "a.html: b.html#gone: no such heading",
    ]


# ------------------------------------------------------------------------------------ first page, gallery and reference


def test_the_first_page_has_a_figure_and_three_ways_in(site: Any) -> None:
    site.contents(site.stage())
    first = (site.STAGE / "index.md").read_text("utf-8")
    picture = re.search(r"!\[[^]]+\]\(([^)]+)\)", first)
    assert picture
    assert (site.STAGE / picture[1]).stat().st_size > 10_000
    ways, _, rest = first.partition("## Three ways in")[2].partition("\n## All pages")
    assert "```{toctree}" in rest  # the contents are in no card
    assert re.findall(r"^### (.*)", ways, re.MULTILINE) == ["Student or teacher", "Researcher", "Engineer"]
    for way in ways.split("###")[1:]:
        leads = re.findall(r"\]\(([^)]+)\)", way)
        assert len(leads) >= 3
        assert [lead for lead in leads if not (site.STAGE / lead).exists()] == []


def result(experiment: str) -> dict[str, Any]:
    """As little of a result's JSON as the gallery reads."""
    claims = [
        {"text": "One <is> more", "verdict": "holds", "why": "Measured 2 against 1"},
        {"text": "It falls", "verdict": "differs", "why": "It\nrises " + "so " * 200},
        {"text": "A sum", "verdict": None, "why": "Arithmetic"},
    ]
    return {"experiment": experiment, "version": "9.8.7", "seed": 3, "runs": 10, "preliminary": True, "claims": claims}


def card(page: str, id_: str) -> str:
    found = re.search(rf'<figure id="{re.escape(id_)}">.*?</figure>', page, re.DOTALL)
    assert found, id_
    return found[0]


def test_every_experiment_with_a_figure_is_in_the_gallery_and_a_result_shows_its_verdicts(
    site: Any, tmp_path: Path
) -> None:
    (results := tmp_path / "results" / "lle-fig-3.7a").mkdir(parents=True)
    (results / "lle-fig-3.7a.json").write_text(json.dumps(result("lle-fig-3.7a")), "utf-8")
    (results / "lle-fig-3.7a.html").write_text('<a href="lle-fig-3.7a.csv"></a>', "utf-8")
    (results / "lle-fig-3.7a.csv").write_text("a,b", "utf-8")
    (results / "lle-fig-3.7ab.csv").write_text("another's", "utf-8")
    shutil.copy(ROOT / "docs" / "figures" / "lle-fig-3.7a.png", results)
    os.utime(results / "lle-fig-3.7a.json", (1_700_000_000, 1_700_000_000))  # 2023-11-14
    site.stage()
    page = (site.STAGE / "gallery.md").read_text("utf-8")

    experiments = {name: library.load(name) for name in library.known()}
    drawn = [name for name, e in experiments.items() if e.base]
    assert len(drawn) > 100
    assert re.findall(r'<figure id="([^"]+)"', page) == [
        name.replace("/", "-") for paper in papers(drawn, experiments) for name in paper
    ]
    assert "dynarq-headline" not in page  # formulas alone, no figure

    ours = card(page, "lle-fig-3.7a")
    for said in (
        "1</span>",
        "holds",
        "differs",
        "(preliminary)",
        "9.8.7, seeds 3 to 12, 2023-11-14",
        "One &lt;is&gt; more",
    ):
        assert said.replace("1</span>", "1 holds</span>") in ours
    assert re.search(r"It rises (so )+…</li>", ours)
    assert ours.count("so ") < 90
    assert 'href="gallery/lle-fig-3.7a.html"' in ours
    assert "lle-fig-3.7a.small.png" in ours
    files = {path.name for path in (site.EXTRA / "gallery").iterdir()}
    assert {f"lle-fig-3.7a.{kind}" for kind in ("csv", "html", "json", "png", "small.png")} <= files
    assert "lle-fig-3.7ab.csv" not in files
    assert all(path.stat().st_size < 60_000 for path in (site.EXTRA / "gallery").glob("*.small.png"))
    assert "interlayer reproduce lle-fig-3.9<" in card(page, "lle-fig-3.9")
    assert f"1 of {len(drawn)} have a result here" in page


def papers(names: list[str], experiments: Any) -> list[list[str]]:
    """The names by paper, both in the order in which they come first."""
    found: dict[str, list[str]] = {}
    for name in names:
        found.setdefault(experiments[name].source.partition(",")[0], []).append(name)
    return list(found.values())


def test_every_public_name_is_in_the_reference_once(site: Any) -> None:
    text = "\n".join(site.site_api.pages().values())
    entries = re.findall(r"^\.\. (?:autoclass|autofunction|py:data):: interlayer\.(\w+)", text, re.MULTILINE)
    assert sorted(entries) == sorted(interlayer.__all__)
    assert site.site_api.kind("run") == site.site_api.kind("Scenario") == "questions"
    assert [site.site_api.kind(n) for n in ("Result", "Scheme", "InputError")] == ["answers", "parts", "errors"]


# ------------------------------------------------------------------------------------------------------- the built site


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The site, and what building it has printed."""
    if importlib.util.find_spec("sphinx") is None:
        pytest.skip("the extra `docs` is not installed: run `make site`")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, str(ROOT / "docs" / "make_site.py"), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    return folder / "guide", done.stdout


@pytest.mark.slow
def test_the_site_is_built_and_none_of_its_links_is_broken(built: tuple[Path, str]) -> None:
    guide, printed = built
    said = re.fullmatch(r".*guide/index.html: (\d+) pages, (\d+) links\n", printed)
    assert said
    assert int(said[1]) > 50
    assert int(said[2]) > 1000
    reference = "".join(path.read_text("utf-8") for path in (guide / "reference").glob("*.html"))
    for name in interlayer.__all__:
        assert f'id="interlayer.{name}"' in reference, name
    assert "Run a scenario: one that was built, or a file&#8217;s path" in reference.replace("’", "&#8217;")


MEASURE = """<!doctype html><body><script>
const pages = PAGES, found = {};
const scrolls = (e, w) => ["auto", "scroll"].includes(w.getComputedStyle(e).overflowX);
function measure(w) {
  const d = w.document, wide = d.documentElement.clientWidth + 1, bad = [];
  if (d.documentElement.scrollWidth > wide) bad.push("the page: " + d.documentElement.scrollWidth + " px");
  let boxes = 0;
  for (const e of d.querySelectorAll("pre, table, img, dt.sig, figure, code, article p, article li")) {
    const box = e.getBoundingClientRect();
    if (box.width === 0 || e.closest(".sidebar-drawer, .toc-drawer")) continue;  // folded away on a phone
    boxes += 1;
    let over = e;
    while (over && !scrolls(over, w)) over = over.parentElement;
    const inside = over && over !== d.documentElement && over !== d.body && over.getBoundingClientRect().right <= wide;
    if (!inside && (box.right > wide || e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 0 && e.tagName === "PRE"))
      bad.push(e.tagName + " to " + Math.round(box.right) + " px: " + e.textContent.trim().slice(0, 60));
  }
  return {bad, boxes};
}
(async () => {
  for (const page of pages) {
    const frame = document.createElement("iframe");
    frame.width = 400; frame.height = 900; frame.style.border = 0;
    const loaded = new Promise(done => frame.onload = done);
    frame.src = page;
    document.body.append(frame);
    await loaded;
    found[page] = measure(frame.contentWindow);
    frame.remove();
  }
  await fetch("/found", {method: "POST", body: JSON.stringify(found)});
})();
</script>"""


@contextmanager
def in_chromium(folder: Path, page: str, profile: Path) -> Iterator[dict[str, Any]]:
    """What `page`, served from `folder`, posts when Chromium has laid it out."""
    told: dict[str, Any] = {}
    is_told = threading.Event()

    class Handler(SimpleHTTPRequestHandler):
        def do_POST(self) -> None:
            told.update(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(204)
            self.end_headers()
            is_told.set()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    still = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
    still += ["--disable-component-update", "--disable-sync", f"--user-data-dir={profile}", "--remote-debugging-port=0"]
    url = f"http://127.0.0.1:{server.server_port}/{page}"
    with subprocess.Popen(
        [str(CHROMIUM), *still, url], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as browser:
        try:
            assert is_told.wait(300), "Chromium has not answered"
            yield told
        finally:
            browser.terminate()
            try:
                browser.wait(20)
            except subprocess.TimeoutExpired:
                browser.kill()
            server.shutdown()
            server.server_close()


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="no chromium on the PATH")
def test_on_a_phone_nothing_is_wider_than_the_screen_but_in_a_scroll_bar_of_its_own(
    built: tuple[Path, str], tmp_path: Path
) -> None:
    guide, _ = built
    (guide / "too-wide.html").write_text("<body><pre>" + "wide " * 200 + "</pre><table><td>" + "w" * 200 + "</table>")
    pages = sorted(str(p.relative_to(guide)) for p in guide.rglob("*.html") if p.parent.name != "gallery")
    (guide / "measure.html").write_text(MEASURE.replace("PAGES", json.dumps(pages)), "utf-8")
    with in_chromium(guide, "measure.html", tmp_path / "profile") as found:
        wide = found.pop("too-wide.html")["bad"]  # the test sees what it looks for
        assert [line.split()[0] for line in wide] == ["the", "PRE", "TABLE"]
        assert len(found) > 60
        assert sum(page["boxes"] for page in found.values()) > 5000
        assert {name: page["bad"] for name, page in found.items() if page["bad"]} == {}
