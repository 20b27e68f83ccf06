"""The page of `interlayer explore` in a browser (the fixture `browser`)."""

from __future__ import annotations

import json
import math
import re
import time
import zipfile
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, unquote

import pytest

import interlayer
from explore_client import CELL, Client, served
from interlayer import simulator
from interlayer.explore import capture_size, cells, work
from interlayer.show import as_json, comparison_words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Locator, Page

pytestmark = pytest.mark.core


@pytest.fixture(scope="module")
def client(browser: Browser) -> Iterator[Client]:
    with served() as found:
        yield found


CELL_AT = "from=file&arm=radio.rts_threshold%3D0+B&runs=3"


@pytest.fixture(scope="module")
def opened(browser: Browser, client: Client) -> Iterator[Page]:
    """One page for all tests. No request goes elsewhere, and no script fails."""
    with browser.new_context(viewport={"width": 1600, "height": 1000}, accept_downloads=True) as context:
        found = context.new_page()
        asked: list[str] = []
        failed: list[str] = []
        found.on("request", lambda request: asked.append(request.url))
        found.on("pageerror", lambda error: failed.append(str(error)))
        found.goto(f"{client.of.address}#{CELL_AT}")
        done(found, 0)
        yield found
        own = (client.of.address, "data:", "blob:")
        assert [url for url in asked if not url.startswith(own)] == []
        assert failed == []


@pytest.fixture
def page(opened: Page) -> Page:
    """The page with the small cell, once it has been answered."""
    begin(opened, CELL_AT)
    return opened


_begun = count()


def begin(page: Page, of: str) -> None:
    """The page with a state, answered: also where it has that state already."""
    wanted = f"#{of}&test={next(_begun)}"
    page.evaluate(f"location.hash = '{wanted}'")
    page.wait_for_selector(f'body[data-of="{wanted}"]', state="attached", timeout=30_000)


@contextmanager
def answering(page: Page) -> Iterator[None]:
    """The question that is asked inside is answered whole."""
    before = answered(page)
    yield
    done(page, before)


def done(page: Page, before: int) -> None:
    """Waits until more questions have been answered than before."""
    deadline = time.monotonic() + 30
    while answered(page) <= before:
        assert time.monotonic() < deadline, "no answer"
        page.wait_for_timeout(10)


def answered(page: Page) -> int:
    return int(page.get_attribute("body", "data-done") or 0)


def field(page: Page, path: str) -> Locator:
    """The field of the cell's own value of a key."""
    return page.locator(f'.control[data-path="{path}"] > input:not([type=range])')


def enter(page: Page, path: str, value: str) -> None:
    field(page, path).fill(value)
    field(page, path).press("Enter")


def compared(page: Page) -> dict[str, list[str]]:
    """The page's table: each metric's cells."""
    rows = page.locator("#table tbody tr")
    return {row.locator("th").inner_text(): row.locator("td").all_inner_texts() for row in rows.all()}


def state(page: Page) -> str:
    return str(page.evaluate("location.hash"))


def test_the_table_has_the_numbers_of_compare_for_the_same_seeds(page: Page) -> None:
    arms = {"rts_threshold 0 B": "radio.rts_threshold=0 B"}
    found = as_json.comparison(interlayer.compare(interlayer.parse(CELL), arms=arms, runs=3))
    shown, same = compared(page), comparison_words.same_in_all(found["arms"])
    assert len(shown) == len(found["arms"][0]["compared"]) - len(same)
    assert page.inner_text("#same") == (f"The same in both arms: {', '.join(same.values())}." if same else "")
    for metric in set(found["arms"][0]["compared"]) - set(same):
        name, unit = comparison_words.name_and_unit(metric)
        head = name if unit in ("1", "packets") else f"{name}, {unit}"
        one, other = found["arms"]
        difference = comparison_words.difference_text(other["difference"][metric], metric, unit)
        words = [*(comparison_words.in_unit(arm["compared"][metric], metric) for arm in (one, other)), difference]
        assert shown[head][:3] == words
    page.select_option("#metric", "jain")
    assert page.inner_text("#meaning") == "summary.jain: Jain's index of the flows' goodput"
    assert "against the cell" in page.inner_text("#sentence")
    assert "paired by common seeds from 1" in page.inner_text("#table caption")
    assert page.locator("#dots svg").get_attribute("aria-label") is not None
    assert page.locator("#narrows canvas").count() == 1
    assert page.locator("#series canvas").count() == 4


def test_each_control_is_moved(page: Page) -> None:
    all_ = [c["path"] for g in described(page)["groups"] for c in g["controls"] if c["is_main"]]
    moved = {"slider": 0, "choice": 0, "text": 0}
    for path in all_:
        begin(page, CELL_AT.replace("runs=3", "runs=1"))
        box, before = page.locator(f'.control[data-path="{path}"]'), answered(page)
        if (select := box.locator("> select")).count():
            values = [option.get_attribute("value") for option in select.locator("option").all()]
            select.select_option(next(v for v in values if v != select.input_value()))
            kind = "choice"
        elif (slider := box.locator("> input[type=range]")).count():
            slider.press("PageUp" if int(slider.input_value()) < 500 else "PageDown")
            kind = "slider"
        else:
            enter(page, path, "400 B")
            kind = "text"
        assert f"set={path}=" in unquote(state(page))
        moved[kind] += 1
        # It is answered, or it is a mistake that stands at a control.
        at_control = page.locator("#cell p.wrong:not(:empty)")
        deadline = time.monotonic() + 30
        while answered(page) == before and not at_control.count():
            assert time.monotonic() < deadline, path
            page.wait_for_timeout(10)
    assert min(moved.values()) >= 1
    assert sum(moved.values()) >= 10


def described(page: Page) -> dict[str, Any]:
    question = {"source": "file", "changes": [], "other": []}
    address = page.url.partition("#")[0]
    answer = page.request.post(f"{address}describe", data=question, headers={"Content-Type": "application/json"})
    found: dict[str, Any] = answer.json()
    return found


def test_back_and_forward_of_the_browser_are_changes_taken_back_and_made_again(page: Page) -> None:
    attempts = field(page, "radio.max_attempts")
    for value in ("3", "2"):
        with answering(page):
            enter(page, "radio.max_attempts", value)
    two = compared(page)
    for value in ("3", "7"):
        with answering(page):
            page.evaluate("history.back()")
        assert attempts.input_value() == value
    for value in ("3", "2"):
        with answering(page):
            page.evaluate("history.forward()")
        assert attempts.input_value() == value
    assert compared(page) == two
    assert "max_attempts = 2" in page.inner_text("#toml")


def test_the_link_to_the_results_leaves_the_state_alone(page: Page) -> None:
    with answering(page):
        enter(page, "radio.queue.packets", "9")
    before = state(page)
    page.locator("a.skip").press("Enter")
    assert page.evaluate("document.activeElement.id") == "results"
    page.wait_for_timeout(200)
    assert state(page) == before
    assert field(page, "radio.queue.packets").input_value() == "9"


def test_what_is_of_the_cell_before_is_dimmed_after_a_refusal(page: Page) -> None:
    assert page.locator("#results.is-old").count() == 0
    page.locator("#runs").fill("1000")
    page.locator("#runs").press("Enter")
    page.locator("#results.is-old").wait_for()
    page.locator("#status", has_text="100").wait_for()
    assert page.locator("#results.is-old").count() == 1
    with answering(page):
        page.locator("#runs").fill("2")
        page.locator("#runs").press("Enter")
    assert page.locator("#results.is-old").count() == 0


def test_the_address_holds_the_state(page: Page, client: Client) -> None:
    with answering(page):
        enter(page, "radio.queue.packets", "9")
    with page.context.new_page() as other:
        other.goto(client.of.address + state(page))
        done(other, 0)
        assert compared(other) == compared(page)
        assert other.inner_text("#command") == page.inner_text("#command")


def test_a_mistake_stands_at_its_control_in_the_words_of_the_command_line(page: Page) -> None:
    box = page.locator('.control[data-path="radio.rts_threshold"]')
    enter(page, "radio.rts_threshold", "12 parsecs")
    line = box.locator("p.wrong")
    line.and_(page.locator(":not(:empty)")).wait_for()
    with pytest.raises(interlayer.InputError) as wrong:
        simulator.parse(CELL, [("radio.rts_threshold", "12 parsecs")])
    assert line.inner_text() == str(wrong.value)
    assert line.get_attribute("id") in str(box.locator("input").first.get_attribute("aria-describedby"))
    assert line.get_attribute("role") == "alert"
    assert compared(page), "what was shown stays"
    with answering(page):
        enter(page, "radio.rts_threshold", "off")
    assert page.locator("#cell p.wrong:not(:empty)").count() == 0


def test_the_other_arm_changes_one_thing_and_another_takes_its_place(page: Page) -> None:
    page.locator('.control[data-path="radio.max_attempts"] .swap').click()
    other = page.locator('.control[data-path="radio.max_attempts"] .other input').first
    assert page.evaluate("document.activeElement.id").endswith("max_attempts-other")
    with answering(page):
        other.fill("1")
        other.press("Enter")
    assert page.locator(".control .other").count() == 1
    assert "max_attempts 1 against the cell" in page.inner_text("#sentence")
    assert "--arm 'max_attempts 1=radio.max_attempts=1'" in page.inner_text("#command")


def add(page: Page, what: str, of: dict[str, str], press: str = "Add") -> Locator:
    """Opens the form of what can be added, and presses one of its buttons; the fields are chosen by their labels."""
    page.get_by_role("button", name=what, exact=True).click()
    form = page.locator(f'.adds:has(> button:text-is("{what}"))')
    for label, value in of.items():
        one = form.get_by_label(label, exact=True)
        if one.evaluate("one => one.tagName") == "SELECT":
            one.select_option(label=value)
        else:
            one.fill(value)
    form.get_by_role("button", name=press, exact=True).click()
    return form


def test_another_station_and_its_flow_are_added_changed_and_taken_back(page: Page, client: Client) -> None:
    with answering(page):
        add(page, "Another station", {"Name": "sta9", "Like": "sta1"})
    with answering(page):
        add(page, "Another flow", {})  # it begins with the new station, and goes where the last flow goes
    rows = page.locator("#flows tbody tr")
    assert [row.locator("th").inner_text() for row in rows.all()] == ["flow0", "flow1", "another-1"]
    with answering(page):
        page.locator('.control[data-path="flow.another-1.transport.congestion"] > select').select_option(label="veno")
    flow = '{ name = "another-1", from = "sta9", to = "receiver" }'
    said = [value for key, value in parse_qsl(state(page).removeprefix("#")) if key == "set"]
    assert said[:2] == ['node.+={ name = "sta9" }', f"flow.+={flow}"]
    assert [value.partition("=")[0] for value in said[2:]] == ["flow.another-1.transport.congestion"]
    arms = {"rts_threshold 0 B": "radio.rts_threshold=0 B"}
    cell = interlayer.parse(CELL).set("node.+", {"name": "sta9"})
    cell = cell.set("flow.+", {"name": "another-1", "from": "sta9", "to": "receiver"})
    cell = cell.set("flow.another-1.transport.congestion", "veno")
    found = as_json.comparison(interlayer.compare(cell, arms=arms, runs=3))
    mine = [arm["compared"]["goodput_bps"]["mean"] for arm in found["arms"]]
    shown = next(words for name, words in compared(page).items() if name.startswith("goodput"))
    assert [float(word.split()[0]) for word in shown[:2]] == pytest.approx([value / 1e6 for value in mine], rel=0.01)
    address = page.evaluate("location.hash")
    # Taken back with the change of it; the browser's back makes them again.
    with answering(page):
        page.get_by_role("button", name="Take back: Flow another-1").click()
    assert "flow." not in state(page)
    with answering(page):
        page.get_by_role("button", name="Take back: Station sta9").click()
    assert "set=" not in state(page)
    assert page.get_by_role("button", name=re.compile("Take back")).count() == 0
    begin(page, address.removeprefix("#"))
    assert page.get_by_role("button", name="Take back: Flow another-1").count() == 1


def test_another_flow_in_the_other_arm_is_what_that_arm_is_called(page: Page) -> None:
    with answering(page):
        add(page, "Another flow", {"From": "receiver", "To": "sta1"}, "⇄ Add in the other arm")
    assert "another flow" in page.locator("#table thead").inner_text()
    assert "arm=flow.%2B%3D" in state(page)
    assert "set=" not in state(page)
    with answering(page):
        page.get_by_role("button", name="Take back: Another flow in the other arm").click()
    assert "flow.%2B" not in state(page)


def test_a_mistake_of_what_is_added_stands_at_its_form_and_changes_nothing(page: Page) -> None:
    before = state(page)
    form = add(page, "Another flow", {"From": "sta1", "To": "sta1"})
    line = 'flow[2].to: the flow would run from "sta1" to itself'
    form.locator("p.wrong", has_text=line).wait_for()
    assert state(page) == before
    form = add(page, "Another station", {"Name": "sta1"})
    form.locator("p.wrong", has_text="node[3].name: ").wait_for()
    assert state(page) == before
    # In an address it stands at what was added, or at the form.
    for value, place in (("%7B+from%3D%22sta1%22%2C+to%3D%22sta1%22+%7D", "flow.2.to"), ("sta1", "")):
        page.evaluate(f"location.hash = 'from=file&set=flow.%2B%3D{value}&arm=radio.rts_threshold%3D0+B&runs=3'")
        at = f'.control[data-path="{place}"] > p.wrong' if place else '.adds[data-appends="flow.+"] > p.wrong'
        page.locator(at, has_text=line if place else "flow.+: expected a table").wait_for()


def test_a_slider_that_is_dragged_leaves_no_run_and_no_memory_behind(page: Page, client: Client) -> None:
    enter(page, "scenario.duration", "60 s")
    page.locator('.control[data-path="scenario.duration"] .is-changed').wait_for()
    slider = page.locator('.control[data-path="radio.max_attempts"] input[type=range]')
    slider.scroll_into_view_if_needed()
    box = slider.bounding_box()
    assert box is not None
    session = page.context.new_cdp_session(page)

    def drag(times: int) -> int:
        """Moves the slider to and fro; gives the bytes of the page's heap after it."""
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        page.mouse.down()
        for i in range(times):
            page.mouse.move(
                box["x"] + box["width"] * (0.2 + 0.6 * abs((i % 40) / 20 - 1)), box["y"] + box["height"] / 2
            )
            page.wait_for_timeout(20)
        page.mouse.up()
        session.send("HeapProfiler.collectGarbage")
        return int(session.send("Runtime.getHeapUsage")["usedSize"])

    few, many = drag(20), drag(80)
    assert many < few + 3_000_000
    desk = client.of.explorer.desk
    deadline = time.monotonic() + 5
    while desk._asked is not None and not desk._asked.is_over and time.monotonic() < deadline:
        page.wait_for_timeout(20)
    assert desk._asked is not None
    assert desk._asked.is_over, "no run is left"
    assert "max_attempts" in state(page)


def test_the_air_plays_in_the_page(page: Page) -> None:
    air = page.frame_locator("#air")
    air.locator("#play").wait_for()
    assert air.locator("#air").count() == 1
    before = air.locator("#clock").inner_text()
    air.locator("#play").click()
    deadline = time.monotonic() + 10
    while air.locator("#clock").inner_text() == before and time.monotonic() < deadline:
        page.wait_for_timeout(30)
    assert air.locator("#clock").inner_text() != before
    page.select_option("#air-arm", "1")
    page.frame_locator('#air[data-at$="/1"]').locator("#play").wait_for()


def told_stories(page: Page, station: str) -> list[tuple[str, str, str]]:
    """Of each frame of a guided station its sender, its kind and its story."""
    from playwright.sync_api import Error

    begin(page, f"from=station%3A{station}&runs=1")
    script = """() => {
      const scene = JSON.parse(document.getElementById("scene").textContent);
      const stories = new InterlayerStory.Stories(scene);
      return [scene.title, stories.rows.map((row, i) => [scene.nodes[row[2]].name, stories.kind(i), stories.text(i)])];
    }"""
    deadline, title, told = time.monotonic() + 20, "", []
    while title != station and time.monotonic() < deadline:
        with suppress(Error):  # the frame is exchanged for the station's while it is asked
            title, told = page.frame_locator("#air").locator("#story").evaluate(script)
    assert title == station
    return [(who, kind, text) for who, kind, text in told]


def test_the_story_of_a_hidden_station_says_whom_it_does_not_hear(page: Page) -> None:
    told = told_stories(page, "hidden")
    data = [(who, text) for who, kind, text in told if kind not in ("ack", "cts")]
    deaf = [(who, text) for who, text in data if "does not hear" in text]
    assert 0 < len(deaf) < len(data)
    stations = ["left", "right"]
    for who, text in deaf:
        assert who in stations
        [other] = (one for one in stations if one != who)
        assert f"{who} does not hear {other}: its medium was idle, though in the air was " in text
    assert not [text for _, kind, text in told if kind in ("ack", "cts") and "does not hear" in text]
    # Stations that hear each other collide, and nobody is deaf.
    told = told_stories(page, "anomaly")
    assert any("it collided with" in text for _, _, text in told)
    assert not [text for _, _, text in told if "does not hear" in text]


@pytest.mark.parametrize(("width", "is_beside"), [(1366, True), (1000, False), (400, False)])
@pytest.mark.parametrize("how", ["button", "key", "click"])
def test_the_story_that_was_asked_for_is_in_view(page: Page, width: int, is_beside: bool, how: str) -> None:
    window = page.viewport_size
    try:
        page.set_viewport_size({"width": width, "height": 700})
        air = page.frame_locator("#air")
        picture, title = air.locator("canvas#air"), air.locator("#story-title")
        page.select_option("#air-arm", "0")
        page.frame_locator('#air[data-at$="/0"]').locator("#play").wait_for()
        air.locator("#zoom").click()
        picture.evaluate("it => it.scrollIntoView({ block: 'start' })")
        if how == "button":
            air.locator("#tell").click()
        elif how == "key":
            air.locator("#time").focus()
            air.locator("body").evaluate("() => document.activeElement.blur()")
            picture.evaluate("it => it.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }))")
        else:
            picture.evaluate(CLICK_ON_AN_ARROW)
        title.wait_for()
        box = title.bounding_box()
        assert box is not None
        assert 0 <= box["y"] <= box["y"] + box["height"] <= 700
        assert title.evaluate("it => it === document.activeElement")
        if is_beside:
            drawn = picture.bounding_box()
            assert drawn is not None
            assert box["x"] >= drawn["x"] + drawn["width"]
            assert drawn["y"] < 700 / 2
        # A step leaves the page where it is.
        picture.evaluate("it => it.scrollIntoView({ block: 'start' })")
        before = picture.bounding_box()
        title.press("ArrowRight")
        assert picture.bounding_box() == before
    finally:
        assert window is not None
        page.set_viewport_size(window)


CLICK_ON_AN_ARROW = """canvas => {
  const box = canvas.getBoundingClientRect();
  for (let y = 8; y < box.height; y += 8) for (let x = 8; x < box.width; x += 8) {
    canvas.dispatchEvent(new MouseEvent("click", { clientX: box.x + x, clientY: box.y + y, bubbles: true }));
    if (!document.getElementById("story").hidden) return true;
  }
  return false;
}"""


def test_single_frames_of_another_instant_are_made_when_they_are_asked(page: Page, client: Client) -> None:
    def shown(of: Page, wanted: str) -> str:
        """The clock of the air, once it shows single frames from an instant on."""
        of.wait_for_selector(f'#air[data-at$="?frames={wanted}"]', state="attached")
        air = of.frame_locator("#air")
        air.locator('#zoom[aria-pressed="true"]').wait_for()
        # The frame may be the last one still while the next is loaded.
        clock = air.locator("#clock", has_text=f"{float(wanted.split('+')[0]):.6f} s")
        clock.wait_for()
        return clock.inner_text()

    page.fill("#frames", "0.7 s")
    page.keyboard.press("Enter")
    assert shown(page, "0.7+s") == "0.700000 s"
    assert "air-0.html?frames=0.7+s" in str(page.locator("#pictures a", has_text="HTML").first.get_attribute("href"))
    page.fill("#frames", "soon")
    page.keyboard.press("Enter")
    page.locator("#frames-wrong:not(:empty)").wait_for()
    assert page.inner_text("#frames-wrong") == 'frames: "soon" is no instant, as 2.5 s is'
    page.fill("#frames", "")
    page.keyboard.press("Enter")
    page.wait_for_selector('#air[data-at$="/0"]', state="attached")
    assert page.inner_text("#frames-wrong") == ""
    assert "frames" not in state(page)
    air = page.frame_locator("#air")
    air.locator("#time").evaluate("it => { it.value = '500'; it.dispatchEvent(new Event('input')); }")
    page.click("#frames-here")
    page.wait_for_selector('#air[data-at*="?frames="]', state="attached")
    here = page.input_value("#frames")
    assert float(shown(page, here.replace(" ", "+")).split()[0]) == float(here.split()[0])
    with page.context.new_page() as other:
        other.goto(client.of.address + state(page))
        assert float(shown(other, here.replace(" ", "+")).split()[0]) == float(here.split()[0])
    page.fill("#frames", "0.3 s")
    page.keyboard.press("Enter")
    page.locator("#frames-wrong", has_text="this answer is no longer kept").wait_for()


def test_segments_that_open_a_connection_have_their_names_in_stories(page: Page) -> None:
    page.fill("#frames", "0 s")
    page.keyboard.press("Enter")
    page.wait_for_selector('#air[data-at$="?frames=0+s"]', state="attached")
    air = page.frame_locator("#air")
    air.locator("#tell").click()
    title, said = air.locator("#story-title"), air.locator("#story-said")
    assert re.search(r"It carries a SYN of \w+, sequence number \d+\.", said.inner_text())
    for name in ("ack", "tcp-control"):
        while not title.inner_text().endswith(f", {name}"):
            title.press("ArrowRight")
    assert re.search(
        r"It carries a SYN(-ACK of \w+, sequence number \d+, up to \d+| of \w+, sequence number \d+)\.",
        said.inner_text(),
    )


def test_a_frame_of_the_air_tells_its_story_by_button_by_key_and_by_click(page: Page) -> None:
    air = page.frame_locator("#air")
    title, said = air.locator("#story-title"), air.locator("#story-said")
    air.locator("#tell").click()
    assert re.fullmatch(r"Frame 1: \w+ → \w+, [\w-]+", title.inner_text())
    assert said.locator("h3").all_inner_texts() == ["Why it was sent", "What it waited for", "What became of it"]
    assert title.evaluate("it => it === document.activeElement"), "a screen reader goes on from the heading"
    assert air.locator("#zoom").get_attribute("aria-pressed") == "true"
    while not title.inner_text().endswith(", ack"):
        title.press("ArrowRight")
    ack = title.inner_text()
    assert "For the SIFS of 10 µs after what it answers, and for nothing else." in said.inner_text()
    # The frame that it names names it in turn.
    said.locator("button.frame").first.click()
    told = said.inner_text()
    assert re.search(r"It carries (TCP data|a TCP ACK|a SYN|a SYN-ACK|a FIN) ?(of \w+)?.*", told)
    for sentence in (
        r"was queued at [\d.]+ s",
        r"(it counted \d+ idle slots?|No slot was left|It had no slot to count)",
        r"Acknowledged by ack",
        r"delivered at",
    ):
        assert re.search(sentence, told), (sentence, told)
    said.get_by_role("button", name=re.compile("^ack ")).first.click()
    assert title.inner_text() == ack
    title.press("Escape")
    assert not air.locator("#story").is_visible()
    assert air.locator("#tell").evaluate("it => it === document.activeElement")
    # Any point of an arrow will do.
    assert air.locator("canvas#air").evaluate(CLICK_ON_AN_ARROW)
    assert title.inner_text() == ack, "the frame that is in the air"
    air.locator("#story-end").click()


def test_arrow_keys_read_a_chart(page: Page) -> None:
    chart = page.locator("#series .chart").first
    assert "over time" in str(chart.get_attribute("aria-label"))
    chart.focus()
    chart.press("ArrowRight")
    first = page.locator("#series figure").first.locator(".read").inner_text()
    chart.press("ArrowRight")
    second = page.locator("#series figure").first.locator(".read").inner_text()
    assert re.match(r"[\d.]+: ", first)
    assert first != second


def test_what_is_shown_can_be_taken_away(page: Page, tmp_path: Path) -> None:
    with page.expect_download() as saved:
        page.locator('[data-save="toml"]').click()
    saved.value.save_as(tmp_path / "cell.toml")
    assert (tmp_path / "cell.toml").read_text() == CELL
    assert saved.value.suggested_filename == "small.toml"
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.locator('[data-copy="command"]').click()
    page.wait_for_timeout(50)
    assert page.evaluate("navigator.clipboard.readText()") == page.inner_text("#command")
    with page.expect_download() as picture:
        page.locator('#pictures a[download="comparison.json"]').click()
    picture.value.save_as(tmp_path / "comparison.json")
    found = json.loads((tmp_path / "comparison.json").read_text())
    assert found["runs"] == 3
    assert picture.value.suggested_filename == "small-comparison.json"
    page.select_option("#metric", "rtt_mean")
    with page.expect_download() as drawn:
        page.locator('#pictures a[download="comparison.svg"]').click()
    drawn.value.save_as(tmp_path / "comparison.svg")
    words = (tmp_path / "comparison.svg").read_text()
    assert "the cell" in words
    assert "paired difference to the cell, ms" in words
    with page.expect_download() as captures:
        page.locator('#pictures a[download="captures-1.zip"]').click()
    assert captures.value.suggested_filename == "small-captures-rts-threshold-0-B.zip"
    captures.value.save_as(tmp_path / "captures-1.zip")
    with zipfile.ZipFile(tmp_path / "captures-1.zip") as archive:
        assert archive.namelist() == ["receiver-1.pcapng", "sta1-1.pcapng", "sta2-1.pcapng"]


def test_captures_that_would_be_refused_are_no_link_and_say_why(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    link = page.locator('#pictures a[download="captures-0.zip"]')
    assert link.get_attribute("href") is not None
    monkeypatch.setattr(capture_size, "MOST_BYTES", 1000)
    begin(page, CELL_AT)
    assert (link.get_attribute("href"), link.get_attribute("aria-disabled")) == (None, "true")
    row = link.locator("..")
    assert re.search(
        r"ZIP captures would take some [\d.]+ [kM]B: the page gives 1 kB; take a shorter", row.inner_text()
    )
    before = page.inner_text("#status")
    link.click(force=True)
    page.wait_for_timeout(100)
    assert page.inner_text("#status") == before, "nothing is asked"


def test_a_station_is_a_cell_a_question_and_an_answer(page: Page) -> None:
    one = cells.stations()[0]
    with answering(page):
        page.select_option("#station", one.id)
    assert page.inner_text("#guide .question") == one.question
    assert not page.locator("#guide details p").is_visible()
    page.locator("#guide summary").click()
    assert page.inner_text("#guide details p") == one.answer
    page.locator(".control .other").wait_for()
    assert f"from=station%3A{one.id}" in state(page)
    with answering(page):
        page.locator("#guide button").click()
    assert page.inner_text("#guide .question") == cells.stations()[1].question
    assert f"from=station%3A{cells.stations()[1].id}" in state(page)


@pytest.mark.parametrize(("width", "scheme"), [(400, "dark"), (900, "light"), (1600, "dark")])
def test_nothing_is_wider_than_the_window(browser: Browser, client: Client, width: int, scheme: Any) -> None:
    with browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme) as context:
        page = context.new_page()
        page.goto(f"{client.of.address}#from=file&arm=radio.rts_threshold%3D0+B&runs=2")
        done(page, 0)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.frame_locator("#air").locator("#play").wait_for()
        frame = page.frame(url=re.compile("/air/"))
        assert frame is not None
        assert frame.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_everything_has_a_name_for_a_screen_reader(page: Page) -> None:
    for summary in page.locator("#groups summary").all()[:2]:
        summary.click()
    nameless = page.evaluate(
        """() => [...document.querySelectorAll("input, select, button, iframe, canvas, svg, section, [tabindex]")]
          .filter(one =>
          !(one.labels && one.labels.length && one.labels[0].textContent.trim()) && !one.getAttribute("aria-label")
          && !one.getAttribute("aria-labelledby") && !one.title && !one.textContent.trim()
          && !(one.closest("[role=img]"))).map(one => one.outerHTML.slice(0, 100))"""
    )
    assert nameless == []
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map(one => one.id)")
    assert len(ids) == len(set(ids))


def test_the_page_says_so_when_the_server_dies_and_keeps_what_it_shows(browser: Browser) -> None:
    with browser.new_context() as context:
        page = context.new_page()
        with served() as client:
            page.goto(f"{client.of.address}#from=file&arm=radio.rts_threshold%3D0+B&runs=2")
            done(page, 0)
            shown = compared(page)
        page.locator("#gone").wait_for(state="visible", timeout=10_000)
        assert "it has ended" in page.inner_text("#gone")
        assert compared(page) == shown
        page.locator("#again").click()
        page.locator("#gone").wait_for(state="visible")
        assert compared(page) == shown


def test_stop_ends_a_long_question(page: Page, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    # Of minutes, so that it is not over before a busy browser clicks, and not refused for that.
    monkeypatch.setattr(work, "MOST_S", math.inf)
    enter(page, "scenario.duration", "30000 s")
    while client.of.explorer.desk._asked is None or client.of.explorer.desk._asked.is_over:
        page.wait_for_timeout(10)
    page.locator("#stop").click()
    deadline = time.monotonic() + 5
    while not client.of.explorer.desk._asked.is_over and time.monotonic() < deadline:
        page.wait_for_timeout(20)
    assert client.of.explorer.desk._asked.is_over
    assert page.inner_text("#status") == "stopped"
