"""All mistakes of a file are told at once: a line each on stderr, a list in Python."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest

import interlayer
from interlayer.errors import Collected, InputError, Mistake
from interlayer.study import campaign, library, readings

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.core

SCENARIO = """
[scenario]
duraton = "10 s"
seed = -1
[radio]
standard = "802.11be"
[[node]]
name = "a"
[[node]]
name = "b"
[[flow]]
from = "a"
to = "bb"
transport = { protocol = "tcp", congestion = "venno" }
"""
LINES = [
    'scenario.duraton: no such key; did you mean "duration"?',
    "scenario.seed: expected a whole number of at least 0, got integer -1",
    'radio.standard: standard "802.11be" is not modelled yet, see docs/not-modelled.md; '
    'the nearest that is: "802.11ax"',
    'flow[0].transport.congestion: no congestion control "venno"; did you mean "veno"?',
    'flow[0].to: no node "bb"; did you mean "b"?',
]
GOOD = """
[scenario]
duration = "2 s"
[radio]
standard = "802.11b"
[[node]]
name = "a"
[[node]]
name = "b"
[[flow]]
from = "a"
to = "b"
"""


@pytest.mark.parametrize("verb", [("check",), ("run",), ("compare", "--schemes", "none,lle-tcp")])
def test_the_command_has_a_line_for_each_and_writes_nothing(verb: tuple[str, ...], tmp_path: Path, call: Any) -> None:
    file = tmp_path / "bad.toml"
    file.write_text(SCENARIO)
    name, *more = verb
    out = [] if name == "check" else ["--out", tmp_path / "out", "--json", tmp_path / "r.json"]
    status, said, err = call(name, file, *more, *out)
    assert (status, said) == (2, "")
    assert err.splitlines() == [f"interlayer: {file}: {line}" for line in LINES]
    assert [p.name for p in tmp_path.iterdir()] == ["bad.toml"]


def test_an_exception_has_a_list_and_reads_as_lines(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        interlayer.parse(SCENARIO)
    e = caught.value
    assert [one.line for one in e.mistakes] == str(e).splitlines() == LINES
    assert e.path == e.mistakes[0].path == "scenario.duraton"
    assert [one.path for one in e.mistakes][2:] == ["radio.standard", "flow[0].transport.congestion", "flow[0].to"]
    again = pickle.loads(pickle.dumps(e))
    assert (str(again), again.mistakes, again.path) == (str(e), e.mistakes, e.path)
    # A cluster sends its cause too (tblib).
    assert str(pickle.loads(pickle.dumps(e.__cause__))) == str(e.__cause__)
    file = tmp_path / "bad.toml"
    file.write_text(SCENARIO)
    with pytest.raises(InputError) as of_file:
        interlayer.run(file)
    assert str(of_file.value).splitlines() == [f"{file}: {line}" for line in LINES]


def test_one_mistake_is_one_line_as_ever() -> None:
    with pytest.raises(InputError) as caught:
        interlayer.parse(GOOD.replace('to = "b"', 'to = "c"'))
    assert str(caught.value) == 'flow[0].to: no node "c"; there are "a" and "b"'
    assert caught.value.mistakes == (Mistake("flow[0].to", str(caught.value)),)


def test_wrong_options_are_told_together(tmp_path: Path, call: Any) -> None:
    file = tmp_path / "good.toml"
    file.write_text(GOOD)
    status, _, err = call("run", file, "--set", "flow.7.to=a", "--set", "node.c.role=ap")
    assert status == 2
    assert [line.split(": ")[2] for line in err.splitlines()] == ["flow.7.to", "node.c.role"]


@pytest.mark.parametrize(
    ("words", "schemes"),
    [
        ("none", []),
        ("lle-tcp", ["lle-tcp"]),
        ("lle-tcp:sack=keep", ["lle-tcp"]),
        ("class-retry,lle-tcp", ["class-retry", "lle-tcp"]),
    ],
)
def test_schemes_are_set_by_words_everywhere(words: str, schemes: list[str], tmp_path: Path, call: Any) -> None:
    file = tmp_path / "good.toml"
    file.write_text(GOOD + '[[scheme]]\nname = "eln"\n')
    status, out, err = call("check", file, "--set", f"scheme={words}", "--effective")
    assert (status, err) == (0, "")
    assert [line for line in out.splitlines() if line.startswith("name") and "eln" in line] == []
    assert [one for one in ("class-retry", "lle-tcp") if f'name = "{one}"' in out] == schemes
    text = interlayer.Scenario(GOOD).set("scheme", words).to_toml()
    assert [one for one in ("class-retry", "lle-tcp") if f'name = "{one}"' in text] == schemes
    if words == "lle-tcp:sack=keep":
        assert 'sack = "keep"' in out
    status, _, err = call("check", file, "--set", "scheme=lle-tpc")
    assert (status, err) == (2, f'interlayer: {file}: scheme[0].name: no scheme "lle-tpc"; did you mean "lle-tcp"?\n')


EXPERIMENT = """
id = "mine"
base = "good.toml"
metric = "flow.0.goodput"
unit = "Mb/s"
[sweep]
"flow.0.transport.datagram" = ["500 B", "1000 B"]
[arms]
reno = { "flow.0.transport.congestion" = "reno" }
veno = { "flow.0.transport.congestion" = "veno" }
[[claim]]
text = "as much"
kind = "value"
strength = "number"
expected = 3
where = { arm = "reno", "flow.0.transport.datagram" = "500 B" }
[[claim]]
text = "more"
kind = "value"
strength = "number"
expected = 4
where = { arm = "veno", "flow.0.transport.datagram" = "1000 B" }
"""


@pytest.fixture
def experiment(tmp_path: Path) -> Path:
    (tmp_path / "good.toml").write_text(GOOD)
    path = tmp_path / "mine.toml"
    path.write_text(EXPERIMENT)
    return path


def test_check_takes_an_experiment_by_file_and_by_id(experiment: Path, call: Any) -> None:
    assert call("check", experiment) == (0, f"{experiment}: experiment mine, 4 cells, 2 claims\n", "")
    status, out, _ = call("check", "lle-fig-3.9")
    assert status == 0
    e = library.load("lle-fig-3.9")
    assert e.open is not None
    varied = f"{len(readings.chosen(e.open.parameters))} readings"
    assert out.endswith(f"lle-fig-3.9.toml: experiment lle-fig-3.9, 15 cells, 5 claims, {varied}\n")


def test_check_tells_all_mistakes_of_an_experiment(experiment: Path, call: Any) -> None:
    text = EXPERIMENT.replace('arm = "reno"', 'arm = "rneo"').replace("expected = 4", "expectd = 4")
    experiment.write_text(text + "[[derived]]\ntext = 'x'\n")
    status, out, err = call("check", experiment)
    assert (status, out) == (2, "")
    told = [line.removeprefix(f"interlayer: {experiment}: ").split(":")[0] for line in err.splitlines()]
    assert told == ["claim[0].where", "claim[1]", "derived[0]"]


def test_check_reads_the_scenario_of_every_arm_and_tries_every_metric(experiment: Path, call: Any) -> None:
    arms = EXPERIMENT.replace('"veno" }', '"venno" }').replace('congestion" = "reno"', 'congestion" = "rneo"')
    experiment.write_text(arms)
    _, _, err = call("check", experiment)
    assert [line.split(": ", 2)[2] for line in err.splitlines()] == [
        'mine, reno: flow[0].transport.congestion: no congestion control "rneo"; did you mean "reno"?',
        'mine, veno: flow[0].transport.congestion: no congestion control "venno"; did you mean "veno"?',
    ]
    more = 'metric = "flow.9.goodput"\nexpected = 4'
    experiment.write_text(EXPERIMENT.replace("expected = 4", more).replace('"flow.0.goodput"', '"flow.0.goodputt"'))
    status, _, err = call("check", experiment)
    assert status == 2
    assert [line.split(": ")[2] for line in err.splitlines()] == ["metric", "metric", "claim[1].metric"]


def test_a_unit_that_a_metric_is_not_measured_in_is_found_before_anything_runs(experiment: Path, call: Any) -> None:
    of_counts = EXPERIMENT.replace("expected = 4", 'metric = "flow.0.delivered_packets"\nexpected = 4')
    experiment.write_text(of_counts)
    for verb in ("check", "reproduce"):
        status, out, err = call(verb, experiment)
        assert (status, out, err.count("\n")) == (2, "", 1)
        assert ': claim[1].unit: "flow.0.delivered_packets" is not measured in "Mb/s" (known: ' in err
    experiment.write_text(of_counts.replace("expected = 4", 'unit = "packets"\nexpected = 4'))
    assert call("check", experiment)[0] == 0


def test_a_unit_of_the_experiment_is_told_once_for_each_arm(experiment: Path, call: Any) -> None:
    experiment.write_text(EXPERIMENT.replace('unit = "Mb/s"', 'unit = "packets"'))
    status, _, err = call("check", experiment)
    assert status == 2
    assert [line.split(": ")[2] for line in err.splitlines()] == ["unit", "unit"]
    assert [line.split(" in arm ")[1] for line in err.splitlines()] == ["reno", "veno"]


def test_the_arm_that_a_gain_is_over_is_tried_too(experiment: Path, call: Any) -> None:
    udp = 'udp = { "flow.0.transport" = { protocol = "udp" }, "flow.0.traffic" = { model = "saturated" } }\n[[claim]]'
    gain = (
        '[[claim]]\ntext = "fewer"\nkind = "ratio"\nstrength = "words"\nunit = "%"\nmetric = "flow.0.timeouts"\n'
        'where = { "flow.0.transport.datagram" = "500 B" }\nof = { arm = "reno" }\nover = { arm = "udp" }\nhigh = 0\n'
    )
    experiment.write_text(EXPERIMENT.replace("[[claim]]", udp, 1) + gain)
    status, _, err = call("check", experiment)
    assert (status, err.count("\n")) == (2, 1)
    assert ': claim[2].metric: no metric "timeouts"' in err
    assert err.endswith(" in arm udp\n")


def test_a_counter_run_without_the_numbers_of_its_claim_is_found_before_anything_runs(
    experiment: Path, call: Any
) -> None:
    counts = EXPERIMENT.replace("expected = 4", 'metric = "flow.0.timeouts"\nunit = "events"\nexpected = 4')
    udp = '"flow.0.transport" = { protocol = "udp" }, "flow.0.traffic" = { model = "saturated" }'
    experiment.write_text(counts + f'[[explain]]\nclaim = 2\ntext = "without TCP"\nset = {{ {udp} }}\n')
    for verb in ("check", "reproduce"):
        status, out, err = call(verb, experiment)
        assert (status, out, err.count("\n")) == (2, "", 1)
        assert ': claim[1].metric: no metric "timeouts"' in err
        assert err.endswith('in arm veno, counter-run "without TCP"\n')
    at = 'where = { arm = "reno", "flow.0.transport.datagram" = "500 B" }\n'
    asks = f'unit = "1"\nformula = "n"\nlet = {{ n = "flow.0.timeoutz" }}\n{at}'
    experiment.write_text(counts + f'[[derived]]\ntext = "resends"\n{asks}')
    assert "derived[0].metric: no metric" in call("check", experiment)[2]


def test_what_is_wrong_in_an_open_file_and_in_a_base_file_is_found(experiment: Path, call: Any) -> None:
    (experiment.parent / "open.toml").write_text('title = "t"\nsource = "s"\n[[parameter]]\nname = "p"\n')
    experiment.write_text(EXPERIMENT.replace("[[claim]]", '[open]\nsetup = "open.toml"\n[[claim]]', 1))
    status, _, err = call("check", experiment)
    assert status == 2
    assert "open.toml" in err
    experiment.write_text(EXPERIMENT)
    (experiment.parent / "good.toml").write_text(GOOD.replace('to = "b"', 'to = "c"'))
    assert 'no node "c"' in call("check", experiment)[2]


@pytest.mark.parametrize("id_", ["lle-fig-3.7b", "c3tcp-fig-4.11", "ftca-fig-3.1"])
def test_the_packages_experiments_pass(id_: str) -> None:
    campaign.checked(library.load(id_))


@pytest.mark.whole
@pytest.mark.parametrize("id_", library.known())
def test_every_experiment_of_the_package_passes(id_: str) -> None:
    campaign.checked(library.load(id_))


def test_collected_mistakes_come_once_each_in_their_order() -> None:
    found = Collected()
    found.told()  # nothing: nothing is raised
    for line in ("b: 1", "a: 2", "b: 1"):
        with found.noted():
            raise InputError(line, line[0])
    with pytest.raises(InputError) as caught:
        found.told()
    assert [tuple(one) for one in caught.value.mistakes] == [("b", "b: 1"), ("a", "a: 2")]
    assert str(caught.value.behind("f: ")) == "f: b: 1\nf: a: 2"
