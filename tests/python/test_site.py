"""The site: every page has its place, links lead somewhere, nothing is loaded from elsewhere."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """docs/make_site.py, writing into a folder of its own."""
    spec = importlib.util.spec_from_file_location("make_site", ROOT / "docs" / "make_site.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for name in ("STAGE", "OUT", "CACHE"):
        monkeypatch.setattr(module, name, tmp_path / name.lower())
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


@pytest.mark.slow
def test_the_site_is_built_and_none_of_its_links_is_broken(tmp_path: Path) -> None:
    if importlib.util.find_spec("sphinx") is None:
        pytest.skip("the extra `docs` is not installed: run `make site`")
    command = [sys.executable, str(ROOT / "docs" / "make_site.py"), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    said = re.fullmatch(r".*guide/index.html: (\d+) pages, (\d+) links\n", done.stdout)
    assert said
    assert int(said[1]) > 50
    assert int(said[2]) > 1000
