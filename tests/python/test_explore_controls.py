"""The controls of `interlayer explore`: each key of a cell, what is set, left out, appended, and mistakes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import interlayer
from explore_client import CELL, RTS, Client
from interlayer import shipped, simulator
from interlayer.explore import controls
from interlayer.explore.cells import Source

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.core

ROOT = Path(__file__).parents[2]


def described(client: Client, name: str) -> dict[str, Any]:
    return client.describe(source=name, other=RTS)


@pytest.mark.parametrize("name", [f"example:{one}" for one in shipped.EXAMPLES])
def test_a_control_that_is_set_to_its_own_value_changes_nothing(client: Client, name: str) -> None:
    text = Source().text(name)
    whole = json.loads(simulator.parse(text).effective_json())
    all_ = [c for g in described(client, name)["groups"] for c in g["controls"]]
    assert len(all_) > 50
    assert [c["help"] for c in all_ if "](" in c["help"] + c["default"]] == []
    assert len([c for c in all_ if c["help"]]) > 0.95 * len(all_)
    moved = 0
    for control in all_:
        if control["value"] == "" or not control["is_main"]:
            continue
        set_ = [*(tuple(pair) for pair in control.get("needs", [])), (control["path"], control["value"])]
        assert json.loads(simulator.parse(text, set_).effective_json()) == whole, control["path"]
        moved += 1
    assert moved >= 8


def test_each_choice_is_a_scenario_or_a_mistake_with_a_line(client: Client) -> None:
    taken, refused = 0, []
    for name in ("example:coffee-shop", "example:walking"):
        text = Source().text(name)
        for control in (c for g in described(client, name)["groups"] for c in g["controls"] if c["is_main"]):
            for choice in control.get("choices", []):
                try:
                    simulator.parse(text, [(control["path"], choice["value"])])
                    taken += 1
                except interlayer.InputError as e:
                    refused.append(str(e))
    assert taken > 60
    assert refused
    assert not [line for line in refused if not line or "not TOML" in line]


def test_a_key_that_the_core_gains_is_on_the_page(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    schema = simulator.schema()
    schema["properties"]["radio"]["properties"]["glow"] = {
        "type": "string",
        "pattern": r"^\s*[-+.0-9eE_]+\s*(lm|klm)\s*$",
        "examples": ["3 lm"],
        "description": "Light of every radio. Default: none.",
    }
    monkeypatch.setattr(controls, "_schema", lambda: schema)
    (glow,) = (c for g in described(client, "file")["groups"] for c in g["controls"] if c["path"] == "radio.glow")
    assert (glow["help"], glow["default"], glow["units"]) == ("Light of every radio.", "none", ["lm", "klm"])
    assert not glow["is_main"]


def test_the_rates_of_a_radio_are_those_that_the_core_takes(client: Client) -> None:
    (rate,) = (
        c
        for g in described(client, "example:bursty-link")["groups"]
        for c in g["controls"]
        if c["path"] == "radio.data_rate"
    )
    labels = [choice["label"] for choice in rate["choices"]]
    assert labels == [f"{n} Mb/s" for n in (1, 2, 5.5, 6, 9, 11, 12, 18, 24, 36, 48, 54)]


def test_an_empty_value_leaves_a_key_out(client: Client) -> None:
    emptied = [["radio.streams", ""], ["radio.width", ""], ["node.ap.position", ""], ["link.0.queue", ""]]
    emptied += [["flow.*.dscp", ""], ["radio.nothing.there", ""], ["node.nobody.count", ""]]
    found = client.describe(source="example:home-ax", changes=emptied, other=RTS)
    assert found["mistakes"] == []
    before, after = (
        json.loads(simulator.parse(text).to_json())
        for text in (Source().text("example:home-ax"), found["exports"]["toml"])
    )
    assert before["radio"]["width"] == "80 MHz"
    assert not {"streams", "width"} & set(after["radio"])
    assert "position" not in after["node"][1]
    assert after["link"][0]["queue"] != before["link"][0]["queue"]
    assert {flow["dscp"] for flow in after["flow"]} == {0}
    (width,) = (c for g in found["groups"] for c in g["controls"] if c["path"] == "radio.width")
    assert (width["is_given"], width["is_needed"]) == (False, False)


def test_an_entry_that_is_appended_has_controls_and_says_which_change_made_it(client: Client) -> None:
    node, flow = ["node.+", '{ name = "sta9" }'], ["flow.+", '{ from = "sta9", to = "receiver" }']
    found = client.describe(changes=[node, flow, ["flow[2].transport.congestion", "veno"]], other=RTS)
    assert found["mistakes"] == []
    mine = {g["path"]: (g["at"], g["added"]) for g in found["groups"] if "added" in g}
    assert mine == {"node.sta9": ("node.3", node), "flow.2": ("flow.2", flow)}
    parsed = simulator.parse(found["exports"]["toml"])
    assert json.loads(parsed.to_json())["flow"][2]["transport"]["congestion"] == {"name": "veno"}
    # What is wrong does not hide what is right, nor what is wrong in the file itself.
    for wrong in (["flow.+", "sta9"], ["flwo.+", "{}"]):
        found = client.describe(changes=[node, wrong, flow, ["flow.9.to", "sta1"]], other=RTS)
        assert [m["path"] for m in found["mistakes"]] == [wrong[0], "flow.9.to"]
        assert {g["path"] for g in found["groups"] if "added" in g} == {"node.sta9", "flow.2"}
    # An empty value takes the last one back.
    found = client.describe(changes=[node, flow, ["flow.+", ""]], other=RTS)
    assert (found["mistakes"], len(simulator.tables(found["exports"]["toml"])["flow"])) == ([], 2)


@pytest.mark.parametrize("source", [f"example:{name}" for name in shipped.EXAMPLES])
def test_what_each_form_begins_with_can_be_added(client: Client, source: str) -> None:
    for added in client.describe(source=source, other=RTS)["added"]:
        chosen = [
            of["choices"][of["index"]]["value"] if "choices" in of else f"{of['key']} = {json.dumps(of['value'])}"
            for of in added["fields"]
        ]
        pair = [added["path"], f"{{ {', '.join(filter(None, [added['also'], *chosen]))} }}"]
        before = client.describe(source=source, other=RTS)["mistakes"]
        assert client.describe(source=source, changes=[pair], other=RTS)["mistakes"] == before, pair


@pytest.mark.parametrize(
    "pair",
    [
        ["flow.+", "sta1"],
        ["flow.+", '{ from = "sta1", to = "sta7" }'],
        ["flwo.+", '{ from = "sta1", to = "sta2" }'],
        ["radio.data_rate", "3 Mb/s"],
        ["radio.rts_threshold", "-1 B"],
        ["channel.errors.per", "2"],
        ["flow.*.transport.congestion", "venno"],
        ["node.sta9.position", "[0, 0]"],
        ["radio.nothing", "1"],
    ],
)
def test_a_mistake_is_the_line_of_the_command_line(
    client: Client, call: Callable[..., Any], pair: list[str], tmp_path: Path
) -> None:
    (tmp_path / "cell.toml").write_text(CELL)
    status, _, err = call("check", tmp_path / "cell.toml", "--set", "=".join(pair))
    lines = [line.removeprefix(f"interlayer: {tmp_path / 'cell.toml'}: ") for line in err.splitlines()]
    assert status == 2
    found = client.describe(changes=[pair])
    assert [m["line"] for m in found["mistakes"]] == lines
    assert found["groups"], "the controls stay"
    both = client.describe(changes=[pair], other=RTS)
    assert [m["line"] for m in both["mistakes"]] == lines, "of both arms, told once"
    arm = client.describe(other=[pair])["mistakes"]
    assert [(m["line"], m.get("arm", 1)) for m in arm] == [(line, 1) for line in lines]
