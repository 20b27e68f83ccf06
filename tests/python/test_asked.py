"""Figures of pages that can be asked: they know what the result's JSON has, stand where it is drawn, and answer."""

from __future__ import annotations

import html
import json
import re
from typing import TYPE_CHECKING, Any

import pytest

import interlayer
import sampled
import toy_paper
from fake_core import Core
from interlayer.show import as_json, asked, files, plots
from interlayer.study import library
from interlayer.study.experiment import Expected
from web import FETCHES, contrast, known

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Locator, Page

    from interlayer.study.outcome import Outcome

HOSTILE = '</script><img src=x onerror="window.hit = 1"> & url(#a) id="b"'
TEXT = (
    f"{toy_paper.HEAD}\n[labels]\nplain = '''{HOSTILE}'''\n\"channel.per\" = \"loss\"\n"
    + toy_paper.claim("0.8")
    + toy_paper.claim("", "helped").replace("expected =", "low = 0.5\nhigh = 0.6")
    + toy_paper.claim("0.9", "fixed")
)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Outcome, Path]:
    """A toy with three open parameters and three claims, and the folder of its results."""
    folder = tmp_path_factory.mktemp("written")
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("toy")
        toy_paper.put(Core.installed(patch), folder)
        outcome = toy_paper.run(folder, TEXT)
        files.write_outcomes([outcome], folder)
    return outcome, folder


@pytest.fixture(scope="module")
def written(made: tuple[Outcome, Path]) -> Path:
    return made[1]


@pytest.fixture(scope="module")
def text(written: Path) -> str:
    return (written / "toy.html").read_text("utf-8")


# ------------------------------------------------------------------------------------------------------ what is known


def test_a_point_knows_the_number_of_the_json_to_the_last_digit(written: Path, text: str) -> None:
    result = json.loads((written / "toy.json").read_text("utf-8"))
    names = {"plain": HOSTILE, "helped": "helped", "fixed": "fixed"}
    rows = {}
    for row in result["rows"]:
        arm, at = row.pop("arm"), row.pop("channel.per")
        rows[names[arm], f"{at:g}"] = row
    (found,) = known(text)
    points = {(arm["name"], dict(p["lines"])["loss"]): p for arm in found["arms"] for p in arm["points"]}
    assert set(points) == set(rows)
    for at, row in rows.items():
        assert {key: points[at][key] for key in row} == row
        assert dict(points[at]["lines"])["runs"] == str(row["runs"])


def test_a_point_has_the_papers_number_the_difference_and_every_reading(written: Path, text: str) -> None:
    result = json.loads((written / "toy.json").read_text("utf-8"))
    (found,) = known(text)
    assert found["readings"] == result["open"]["readings"]
    points = [arm["points"][0] for arm in found["arms"]]
    for point, claim in zip(points, result["claims"], strict=True):
        of, number = claim["readings"]["of"], claim["id"].rpartition("#")[2]
        assert [one["reading"] for one in of] == found["readings"]
        assert len(point["readings"]) == len(of) >= 8
        for said, one in zip(point["readings"], of, strict=True):
            mean, half = (float(part) for part in said.removesuffix(" Mb/s").split(" ± "))
            assert (mean, half) == pytest.approx((one["measured"][0], one["ci95"][0]), rel=0.05)
        lines = dict(point["lines"])
        assert lines[f"verdict on claim {number}"] == claim["verdict"]
        off = point["mean"] - (claim["expected"] if number != "2" else 0.6)
        assert float(lines["mean less printed"].partition(" ")[0]) == pytest.approx(off, rel=0.01)
    assert dict(points[1]["lines"])["printed (claim 2)"] == "0.5 to 0.6 Mb/s"
    assert dict(points[1]["lines"])["mean less printed"].endswith("beyond the range")
    other = found["arms"][0]["points"][1]
    assert "readings" not in other
    assert dict(other["lines"])["reading"].startswith("base")


@pytest.mark.parametrize(
    ("printed", "unit", "said"),
    [
        (Expected(4.0), "Mb/s", "+1 Mb/s (+25.0 %)"),
        (Expected(0.0), "Mb/s", "+5 Mb/s"),
        (Expected(8.0), "%", "-3 points"),
        (Expected(low=4.0, high=6.0), "Mb/s", "within the range"),
        (Expected(low=4.0), "Mb/s", "within the range"),
        (Expected(high=2.0), "1", "+3 (+150.0 %) beyond the range"),
        (Expected(low=10.0, high=20.0), "Mb/s", "-5 Mb/s (-50.0 %) beyond the range"),
    ],
)
def test_the_difference_to_what_is_printed(printed: Expected, unit: str, said: str) -> None:
    assert asked._difference(5.0, printed, unit) == said


@pytest.mark.parametrize("name", ["lle-fig-3.7b", "lle-table-3.1", "c3tcp-fig-4.12"])
def test_a_point_stands_where_it_is_drawn_and_files_have_no_trace_of_it(name: str, tmp_path: Path) -> None:
    """Lines with printed numbers; points of categories; bars."""
    of = sampled.outcome(library.load(name))
    figure = plots.experiment(of)
    plots.save(figure, tmp_path / "a")
    element = asked.experiment(of, figure)
    svg = (tmp_path / "a.svg").read_text("utf-8")
    assert "arm-0." not in svg
    plain, drawn = (re.sub(r' id="[^"]*"', "", one[one.index("<svg") :]) for one in (svg, element))
    assert drawn.startswith(plain.rstrip()), "the figure of the page is that of the file, but for ids"
    (found,) = known(element)
    is_gain = bool(of.experiment.x) and of.experiment.show == "gain"
    means = sorted(row["mean"] for row in (as_json.gains(of) if is_gain else as_json.rows(of)))
    assert sorted(point["mean"] for arm in found["arms"] for point in arm["points"]) == means
    for i, arm in enumerate(found["arms"]):
        part = re.search(rf'<g id="arm-{i}\.part-0">(.*?)\n   </g>', element, re.DOTALL)
        assert part is not None
        places = [(float(x), float(y)) for x, y in re.findall(r'<use [^>]*\bx="([\d.]+)" y="([\d.]+)"', part[1])]
        if places:
            assert [point["at"] for point in arm["points"]] == [pytest.approx(place, abs=0.06) for place in places]
        else:  # a bar: its end
            corners = [(float(x), float(y)) for x, y in re.findall(r"[ML] ([\d.]+) ([\d.]+)", part[1])]
            (x, y), ys = arm["points"][0]["at"], [y for _, y in corners]
            assert x == pytest.approx(max(x for x, _ in corners), abs=0.06)
            assert y == pytest.approx((min(ys) + max(ys)) / 2, abs=0.06)


def test_no_name_ends_an_element_and_ids_stay_unique(written: Path, text: str) -> None:
    for page in (text, (written / "index.html").read_text("utf-8")):
        (found,) = known(page)
        assert found["arms"][0]["name"] == HOSTILE
        assert "<img" not in page
        assert html.escape("</script><img") in page, "it is in the tables"
        assert page.count("<script") == page.count("</script>") == 2
        assert not FETCHES.search(page.replace("url(#a)", ""))
        ids = re.findall(r'<[a-z]+ [^>]*?\bid="([^"]+)"', page)
        assert len(ids) == len(set(ids))


def test_a_page_is_the_same_bytes_again_and_one_without_a_figure_has_no_script(
    core: Core, made: tuple[Outcome, Path], tmp_path: Path
) -> None:
    outcome, written = made
    files.write_outcomes([outcome], tmp_path)
    for name in ("toy.html", "index.html", "toy.svg"):
        assert (tmp_path / name).read_bytes() == (written / name).read_bytes()
    assert "<script" not in asked.page("arithmetic", "<p>no figure</p>")


@pytest.mark.core
def test_pages_of_run_compare_and_sweep_can_be_asked_too(tmp_path: Path) -> None:
    cell = interlayer.wlan(2, duration="300 ms", warmup="0 s")
    ran = interlayer.run(cell, runs=2)
    compared = interlayer.compare(cell, arms={"a": {"radio.max_attempts": 2}, "b": {"radio.max_attempts": 1}}, runs=2)
    swept = interlayer.sweep(cell, {"radio.max_attempts": [1, 7]}, runs=2)
    for result, name in ((ran, "run"), (compared, "compare"), (swept, "sweep")):
        result.save(tmp_path / name)
    pages = {name: (tmp_path / name / "index.html").read_text("utf-8") for name in ("run", "compare", "sweep")}
    results = {name: json.loads((tmp_path / name / "result.json").read_text()) for name in pages}
    found = {name: known(page)[0]["arms"] for name, page in pages.items()}

    def numbers(rows: Any) -> list[Any]:
        return [(row["mean"], row["ci95"]) for row in rows]

    assert numbers(found["run"][0]["points"]) == numbers(row["goodput_bps"] for row in results["run"]["flows"])
    for arm, row in zip(found["compare"], results["compare"]["arms"], strict=True):
        own = [row["compared"]["goodput_bps"], *([row["difference"]["goodput_bps"]] if row["difference"] else [])]
        assert (arm["name"], numbers(arm["points"])) == (row["label"], numbers(own))
    assert numbers(found["sweep"][0]["points"]) == numbers(c["goodput_bps"] for c in results["sweep"]["cells"])
    assert {tuple(p["lines"][0]) for p in found["sweep"][0]["points"]} == {("radio max attempts", n) for n in "17"}


# --------------------------------------------------------------------------------------------------------- in a browser


@pytest.fixture(scope="module")
def opened(browser: Browser, written: Path) -> Iterator[Page]:
    """One page for all tests, from a file. Nothing is requested but that file, and no script fails."""
    with browser.new_context(viewport={"width": 1600, "height": 1000}) as context:
        page = context.new_page()
        requested: list[str] = []
        failed: list[str] = []
        page.on("request", lambda request: requested.append(request.url))
        page.on("pageerror", lambda error: failed.append(str(error)))
        address = (written / "toy.html").as_uri()
        page.goto(address)
        yield page
        assert (requested, failed) == ([address], [])
        assert page.evaluate("window.hit") is None


@pytest.fixture
def page(opened: Page) -> Page:
    """The page as it begins."""
    opened.evaluate("document.activeElement.blur()")
    opened.mouse.move(2, 2)
    for box in opened.get_by_role("checkbox").all():
        box.check()
    assert opened.locator(".told").is_hidden()
    return opened


def told(page: Page) -> Locator:
    return page.locator(".told:visible")


def point(page: Page, arm: int, i: int) -> Locator:
    return page.get_by_role("listbox").get_by_role("group").nth(arm).get_by_role("option").nth(i)


def middle(mark: Locator) -> tuple[float, float]:
    box = mark.bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_a_hovered_point_says_its_value_its_runs_and_all_digits(page: Page, text: str) -> None:
    known_ = known(text)[0]["arms"][1]["points"][0]
    x, y = middle(point(page, 1, 0))
    page.mouse.move(x + 4, y - 4)  # near is enough
    said = told(page).inner_text()
    for name, value in known_["lines"]:
        assert f"{name}\n{value}" in said
    assert f"{known_['mean']} ± {known_['ci95']} Mb/s" in said
    assert told(page).locator("strong").inner_text() == "helped"
    page.keyboard.press("Escape")
    assert not told(page).count()
    page.mouse.move(2, 2)
    page.mouse.move(x, y)
    told(page).hover()  # it stays while the pointer is over it
    assert told(page).count() == 1
    page.mouse.move(2, 2)
    assert not told(page).count()


def test_a_printed_number_that_is_hovered_means_its_point(page: Page, text: str) -> None:
    of = known(text)[0]["arms"][1]["points"][0]
    at = page.evaluate(
        "([x, y]) => { const p = new DOMPoint(x, y).matrixTransform(document.querySelector('figure > svg')"
        ".getScreenCTM()); return [p.x, p.y]; }",
        of["also"][0],
    )
    page.mouse.move(*at)
    assert "0.5 to 0.6 Mb/s" in told(page).inner_text()


def test_keys_go_from_point_to_point_and_open_the_readings(page: Page, text: str) -> None:
    page.locator(".arms input").last.focus()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.getAttribute('role')") == "option"
    focused = page.locator("[role=option]:focus")
    seen = []
    for key in ("Home", "ArrowRight", "ArrowDown", "ArrowLeft", "End"):
        page.keyboard.press(key)
        seen.append(str(focused.get_attribute("aria-label")))
        assert seen[-1].startswith(told(page).locator("strong").inner_text())
    assert [said.rpartition("loss ")[2][:3] for said in seen] == ["0.1", "0.2", "0.2", "0.1", "0.2"]
    assert seen[2].startswith("helped: ")
    assert page.locator("[aria-selected=true]").count() == 1
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    rows = told(page).locator("tbody tr").all_inner_texts()
    found = known(text)[0]
    expected = zip(found["readings"], found["arms"][1]["points"][0]["readings"], strict=True)
    assert [row.split("\t") for row in rows] == [[*pair] for pair in expected]
    page.keyboard.press("Escape")
    assert not told(page).count()
    assert focused.count() == 1, "the focus is back at the point"
    page.keyboard.press("Enter")
    assert told(page).count() == 1
    told(page).locator("summary").click()
    told(page).locator("details:not([open])").wait_for()


def test_an_arm_that_is_switched_off_is_neither_drawn_nor_met(page: Page) -> None:
    x, y = middle(point(page, 2, 0))
    parts = page.locator('[id*="arm-2.part-"]')
    assert parts.count() >= 2
    page.get_by_role("checkbox", name="fixed").uncheck()
    assert not [part for part in parts.all() if part.is_visible()]
    assert looks(page, '[id*="arm-2.name-"]') == {("0.35", "grayscale(1)")}
    assert looks(page, ".arms label:nth-of-type(3) svg") == {("0.35", "grayscale(1)")}
    assert looks(page, '[id*="arm-1.name-"], .arms label:nth-of-type(2) svg') == {("1", "none")}
    assert page.locator('[id*="arm-2.name-"]').locator("path, use").count() > 0, "its line, not its name alone"
    page.mouse.move(x, y)
    assert "fixed" not in page.locator(".told strong").all_inner_texts()
    point(page, 1, 0).focus()
    page.keyboard.press("ArrowDown")
    assert told(page).locator("strong").inner_text() == "helped", "there is no arm below it"
    page.get_by_role("checkbox", name="fixed").check()
    page.keyboard.press("Tab")
    assert [part for part in parts.all() if part.is_visible()]


def looks(page: Page, selector: str) -> set[tuple[str, str]]:
    """Opacity and filter of elements."""
    script = "all => all.map(e => getComputedStyle(e)).map(style => [style.opacity, style.filter])"
    found = page.locator(selector).evaluate_all(script)
    assert len(found) > 0
    return {(opacity, filter_) for opacity, filter_ in found}


@pytest.mark.parametrize(("width", "scheme"), [(400, "dark"), (1600, "light")])
def test_nothing_is_wider_than_the_window_and_all_of_it_can_be_read(
    browser: Browser, written: Path, width: int, scheme: Any
) -> None:
    with browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme) as context:
        page = context.new_page()
        page.goto((written / "index.html").as_uri())
        for arm in range(3):
            for i in range(2):
                mark = point(page, arm, i)
                mark.focus()
                box, (_, y) = told(page).bounding_box(), middle(mark)
                assert box is not None
                assert box["x"] >= 0
                assert box["x"] + box["width"] <= width
                assert 0 <= box["y"] <= box["y"] + box["height"] <= 800
                assert width > 400 or y < box["y"], "the point is not under it"
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        colours = page.evaluate(
            """() => [...document.querySelectorAll(".told :is(strong, dt, dd, summary), .arms :is(legend, label)")]
            .map(e => [e, e.closest(".told") ?? document.body].map(e => getComputedStyle(e)))
            .map(([own, behind]) => [own.color, behind.backgroundColor])"""
        )
        assert len(colours) > 10
        assert min(contrast(*pair) for pair in colours) >= 4.5


def test_everything_has_a_name_for_a_screen_reader(page: Page) -> None:
    point(page, 1, 0).focus()
    tree = page.locator("body").aria_snapshot()
    for part in ('group "Arms shown"', 'checkbox "helped" [checked]', 'listbox "Points. Left', 'group "helped"'):
        assert part in tree
    assert re.search(r'option "helped: loss 0\.1; .*95 % interval .*In 8 readings .*" \[selected\]', tree)
    assert page.locator('[tabindex="0"]').count() == 1


def test_without_scripts_the_page_reads_as_before(browser: Browser, written: Path, page: Page) -> None:
    with browser.new_context(java_script_enabled=False) as context:
        still = context.new_page()
        still.goto((written / "toy.html").as_uri())
        assert still.locator("fieldset, .told, [role=listbox]").count() == 0
        assert "interlayer points" not in still.locator("body").inner_text()
        assert still.locator("figure svg").is_visible()
