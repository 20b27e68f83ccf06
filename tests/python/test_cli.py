"""The command line as a contract: statuses, one plain line of error, JSON, files; over the test double."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from interlayer import cli
from interlayer.study import library

if TYPE_CHECKING:
    from fake_core import Core

SCENARIO = """
[scenario]
name = "toy"
[radio]
[[node]]
name = "a"
[[node]]
name = "b"
[[flow]]
name = "up"
from = "a"
to = "b"
transport = { protocol = "tcp", preset = "rfc", datagram = "1500 B", receiver = "every" }
"""


@pytest.fixture
def toy(tmp_path: Path) -> Path:
    path = tmp_path / "toy.toml"
    path.write_text(SCENARIO)
    return path


@pytest.fixture
def interlayer(capsys: pytest.CaptureFixture[str], core: Core) -> Any:
    """Calls the command; gives (status, stdout, stderr)."""

    def call(*arguments: object) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as stop:
            cli.main([str(a) for a in arguments])
        out, err = capsys.readouterr()
        assert isinstance(stop.value.code, int)
        return stop.value.code, out, err

    return call


def tree(folder: Path) -> list[str]:
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())


# ---------------------------------------------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("run", "missing argument 'FILE.toml|EXAMPLE'"),
        ("rnu x.toml", "no such command 'rnu'; did you mean \"run\"?"),
        ("run TOY --rums 3", 'no such option: --rums; did you mean "--runs"?'),
        ("run TOY --runs many", "invalid value for '--runs'"),
        ("run TOY --runs 0", "invalid value for '--runs'"),
        ("run TOY --runs", "option '--runs' requires an argument"),
        ("run TOY extra", "extra"),
        ("run none.toml", "none.toml: no such file or directory"),
        ("run TOY --set radio", '--set: "radio" is no PATH=VALUE'),
        ("run TOY --set flwo.x=1", "toy.toml: flwo: unknown key"),
        ("run TOY --out TOY", "is a file, not a folder"),
        ("run TOY --json nowhere/r.json", "no folder"),
        (
            "run TOY --window 1s..2s --out out",
            "--window: is of the timeline, which --series writes into --out; add --s",
        ),
        ("run TOY --window 1s..2s --series", "add --out DIR"),
        ("run TOY --series --out out --window 1s", '--window: "1s" is neither FROM..UNTIL, as in "2 s..2.01 s", nor'),
        ("run TOY --series --out out --window 1..2", '--window: "1..2" is neither'),
        ("run TOY --series --out out --window 1B..2B", '--window: "1B..2B" is neither'),
        ("run TOY --series --out out --window ..2s", '--window: "..2s" is neither'),
        ("run TOY --series --out out --window 2s..1s", "--window: 2s..1s ends before it begins"),
        ("run TOY --series --out out --window 1s..1000ms", "ends before it begins"),
        ("run TOY --series --out out --window=-1s..1s", "--window: -1s is before the run begins"),
        ("run TOY --series --out out --window 29s..31s", "--window: 31s is after the end of the scenario (30 s)"),
        ("run TOY --windwo 1s..2s", 'no such option: --windwo; did you mean "--window"?'),
        ("check none.toml", "no such file"),
        ("reproduce", "which experiment?"),
        ("reproduce lle-fig-3.7", 'no experiment "lle-fig-3.7"; did you mean "lle-fig-3.7a" or "lle-fig-3.7b"?'),
        ("check --assumptions TOY", "toy.toml: this is a scenario; --assumptions needs an experiment"),
        ("reproduce --all lle-fig-3.9", "not both"),
        ("reproduce lle-fig-3.9 --quick --runs 5", "--quick"),
        ("reproduce lle-fig-3.9 --set channel.errors.per=0.5", "lle-fig-3.9 sets it itself"),
        ("run TOY --seed 9223372036854775808", "seed: 9223372036854775808 is not from 0 to 9223372036854775807"),
        ("reproduce lle-fig-3.9 --seed 99999999999999999999999", "is not from 0 to"),
        ("readings lle-fig-3.9 --runs 1", "one run has no interval"),
        ("run TOY --runs 99999999999999", "--runs: 99999999999999 is more than 1000000000, the most of one scenario"),
        (
            "compare TOY --schemes none,lle-tcp --runs 1000000001",
            "interlayer: --runs: 1000000001 is more than 1000000000",
        ),
        ("reproduce lle-fig-3.9 --runs 1000000001", "interlayer: --runs: 1000000001 is more than 1000000000"),
        ("compare none.toml", "none.toml: no such file or directory"),
        ("compare TOY", "toy.toml: no [[scheme]] to compare; say which: --schemes none,lle-tcp"),
        ("compare TOY --schemes none,lle-tpc", '--schemes: no scheme "lle-tpc"; did you mean "lle-tcp"?'),
        ("compare TOY --schemes none,c3tcp", '--schemes: scheme "c3tcp" is not modelled yet'),
        ("reproduce lle-fig-3.122", 'no experiment "lle-fig-3.122"; did you mean "lle-fig-3.12"?'),
        ("reproduce lle-fig-3.9 --live x.csv", "--live: none of these experiments has recorded arms"),
        ("reproduce nobody-fig-*", 'no experiment is like "nobody-fig-*"'),
        ("compare TOY --schemes nnoe,lle-tcp", 'no scheme "nnoe"; did you mean "none"?'),
        ("compare TOY --schemes none", "it takes two to compare"),
        ("compare TOY --schemes lle-tcp,none,lle-tcp", '"lle-tcp" comes twice'),
        ("compare TOY --schemes none,,lle-tcp", 'an empty part in "none,,lle-tcp"'),
        ("compare TOY --schemes none,lle-tcp:sack", '"sack" in "lle-tcp:sack" is no parameter'),
        ("compare TOY --schemes none,lle-tcp:a=1;;b=2", 'an empty part in "a=1;;b=2"'),
        ("compare TOY --schemes none,lle-tcp:a=1;a=2", 'a parameter comes twice in "lle-tcp:a=1;a=2"'),
        ("compare TOY --schemes none,lle-tcp:name=x", '"name=x" in "lle-tcp:name=x" is no parameter'),
        ("compare TOY --schemes none:a=1,lle-tcp", '"none" has no parameters'),
        ("compare TOY --schemes none,lle-tcp --set scheme.0.sack=keep", "compare sets the schemes itself"),
        ("compare TOY --schemes none,lle-tcp --set flwo.x=1", "toy.toml: flwo: unknown key"),
        ("compare TOY --schemes none,lle-tcp --runs 0", "invalid value for '--runs'"),
        ("compare TOY --scheme none,lle-tcp", 'no such option: --scheme; did you mean "--schemes"?'),
        ("compare TOY --schemes none,lle-tcp --out TOY", "is a file, not a folder"),
        ("list scheems", 'no list of "scheems"; did you mean "schemes"?'),
    ],
)
def test_wrong_input_is_one_plain_line_and_status_2(
    arguments: str, says: str, interlayer: Any, toy: Path, core: Core, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(toy.parent)
    status, out, err = interlayer(*arguments.replace("TOY", str(toy)).split())
    assert (status, out) == (2, "")
    assert says in err
    assert re.fullmatch(r"interlayer: [^\n]+\n", err)
    assert "\x1b" not in err
    assert core.batches == []
    assert tree(toy.parent) == ["toy.toml"]


def test_wrong_toml_is_one_line_too(interlayer: Any, toy: Path) -> None:
    toy.write_text("[scenario\nname = 1")
    for verb in ("run", "check"):
        status, out, err = interlayer(verb, toy)
        assert (status, out, err.count("\n")) == (2, "", 1)
        assert "line 1" in err


def test_a_failure_of_ours_is_status_1_and_leaves_nothing(toy: Path) -> None:
    """A bug shows its traceback and a status that is none of the others; in a process of its own, as users see it."""
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from fake_core import Core\nimport interlayer\ncore = Core()\n"
        "core.model = lambda data, rng: 1 / 0\n"
        "sys.modules['interlayer._core'] = interlayer._core = core.module()\n"
        "from interlayer.cli import main; main(sys.argv[2:])"
    )
    out = toy.parent / "out"
    arguments = [str(Path(__file__).parent), "run", str(toy), "--out", str(out), "--json", str(out) + ".json"]
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True)
    assert done.returncode == 1
    assert "ZeroDivisionError" in done.stderr
    assert tree(toy.parent) == ["toy.toml"]


# ------------------------------------------------------------------------------------------------------------- run


def without_clock(text: str) -> Any:
    def strip(value: Any) -> Any:
        if isinstance(value, dict):
            return {k: strip(v) for k, v in value.items() if k not in ("wall_s", "sim_s")}
        return [strip(v) for v in value] if isinstance(value, list) else value

    return strip(json.loads(text))


def test_run_json_has_the_contracts_shape(interlayer: Any, toy: Path) -> None:
    status, out, err = interlayer("run", toy, "--runs", 3, "--seed", 7, "--json", "-")
    assert (status, err) == (0, "")
    found = json.loads(out)
    assert list(found)[:7] == ["scenario", "version", "seed", "runs", "wall_s", "sim_s", "flows"]
    assert (found["scenario"], found["seed"], found["runs"]) == ("toy", 7, 3)
    flow = found["flows"][0]
    assert (flow["id"], flow["from"], flow["to"]) == ("up", "a", "b")
    assert set(flow["goodput_bps"]) == {"mean", "ci95"}
    assert flow["goodput_bps"]["ci95"] > 0
    assert {"goodput_bps", "jain"} <= set(found["summary"])


def test_one_run_has_no_interval(interlayer: Any, toy: Path) -> None:
    out = toy.parent / "out"
    status, text, _ = interlayer("run", toy, "--runs", 1, "--json", "-", "--out", out)
    assert status == 0
    assert json.loads(text)["flows"][0]["goodput_bps"]["ci95"] is None
    page, figure = ((out / name).read_text() for name in ("index.html", "flows.svg"))
    assert "interval" not in page + figure
    assert "1 run, seed 1" in figure
    assert "±" not in interlayer("run", toy, "--runs", 1)[1]
    assert "±" in interlayer("run", toy, "--runs", 2)[1]
    several = toy.parent / "several"
    assert interlayer("run", toy, "--runs", 2, "--out", several)[0] == 0
    assert "bars: 95 % intervals" in (several / "flows.svg").read_text()


def test_the_default_number_of_runs_is_by_the_scenarios_size(interlayer: Any, toy: Path, core: Core) -> None:
    # The double's scenarios last 30 s: 33 nodes are 990 node-seconds, 34 are 1020, 133 are 3990, 134 are 4020.
    for nodes, runs in ((2, 10), (33, 10), (34, 5), (133, 5), (134, 1)):
        more = "".join(f'[[node]]\nname = "n{i}"\n' for i in range(nodes - 2))
        toy.write_text(SCENARIO.replace("[[flow]]", f"{more}[[flow]]"))
        assert json.loads(interlayer("run", toy, "--json", "-")[1])["runs"] == runs
    toy.write_text(SCENARIO)
    for recorded in (["--series"], ["--pcap", toy.parent / "captures"]):
        assert json.loads(interlayer("run", toy, "--json", "-", *recorded)[1])["runs"] == 1
    said = " ".join(interlayer("run", "--help")[1].split())
    by_size = "10 where nodes × simulated seconds are at most 1000, 5 up to 4000, else 1"
    assert f"{by_size}; 1 with --pcap, --series or --animate" in said


def test_same_input_same_json(interlayer: Any, toy: Path) -> None:
    first, second = (interlayer("run", toy, "--runs", 3, "--json", "-")[1] for _ in range(2))
    assert without_clock(first) == without_clock(second)
    other = interlayer("run", toy, "--runs", 3, "--seed", 2, "--json", "-")[1]
    assert without_clock(first) != without_clock(other)


def test_set_changes_the_scenario(interlayer: Any, toy: Path) -> None:
    def goodput(*more: str) -> float:
        return float(json.loads(interlayer("run", toy, "--json", "-", *more)[1])["flows"][0]["goodput_bps"]["mean"])

    assert goodput("--set", "flow.0.transport.datagram=500 B") < 0.7 * goodput()


def test_json_to_a_file_and_the_table_to_the_terminal(interlayer: Any, toy: Path) -> None:
    status, out, _ = interlayer("run", toy, "--json", toy.parent / "r.json")
    assert status == 0
    assert json.loads((toy.parent / "r.json").read_text())["scenario"] == "toy"
    assert "goodput" in out


def test_run_out_writes_figure_data_page_and_captures(interlayer: Any, toy: Path) -> None:
    folder = toy.parent / "out"
    status, *_ = interlayer("run", toy, "--runs", 2, "--series", "--out", folder, "--pcap", folder / "captures")
    assert status == 0
    data = {f"{t}.{kind}" for t in ("flows", "nodes", "frames", "series", "timeline") for kind in ("csv", "parquet")}
    figures = {f"{t}.{kind}" for t in ("flows", "series", "timeline") for kind in ("png", "svg")}
    captures = {f"captures/{n}-{s}.pcapng" for n in "ab" for s in (1, 2)}
    lists = {"interlayer.json", "captures/interlayer.json"}
    others = {"index.html", "result.json", "timeline.trace.json"}
    assert set(tree(folder)) == data | figures | captures | lists | others


def test_a_pipe_gets_no_colour_and_no_progress(interlayer: Any, toy: Path) -> None:
    _, out, err = interlayer("run", toy)
    assert "\x1b" not in out + err
    assert err == ""


def test_queues_are_shown_where_something_was_dropped_and_kept_in_every_form(
    interlayer: Any, toy: Path, core: Core
) -> None:
    assert "queue" not in interlayer("run", toy)[1]
    core.queues = {"ap.air": 0, "server->ap": 0}
    assert "queue" not in interlayer("run", toy)[1]
    core.queues["server->ap"] = 7
    _, out, _ = interlayer("run", toy, "--runs", 2, "--out", toy.parent / "out")
    shown = next(line for line in out.splitlines() if "server->ap" in line)
    assert shown.split() == ["server->ap", "1000", "±", "0", "7", "±", "0", "12.5", "±", "0", "25", "±", "0"]
    assert "dropped_early" not in out  # 0 in all of them
    assert "ap.air" not in out
    assert {"queues.csv", "queues.parquet"} <= set(tree(toy.parent / "out"))
    assert "<h2>Queues</h2>" in (toy.parent / "out" / "index.html").read_text()
    found = json.loads(interlayer("run", toy, "--runs", 1, "--json", "-")[1])["queues"]
    assert [q["id"] for q in found] == ["ap.air", "server->ap"]
    assert found[1]["dropped_packets"] == {"mean": 7, "ci95": None}


def test_an_interrupted_run_keeps_what_was_finished(interlayer: Any, toy: Path, core: Core) -> None:
    core.stop_after = 2
    folder = toy.parent / "out"
    status, out, _ = interlayer("run", toy, "--runs", 5, "--out", folder, "--pcap", folder, "--json", "-")
    assert status == 130
    found = json.loads(out)
    assert (found["runs"], found["interrupted"]) == (2, True)
    assert json.loads((folder / "result.json").read_text())["runs"] == 2
    assert sorted(f for f in tree(folder) if f.endswith("pcapng")) == [
        "a-1.pcapng",
        "a-2.pcapng",
        "b-1.pcapng",
        "b-2.pcapng",
    ]


def test_interrupted_before_the_first_run_writes_nothing(interlayer: Any, toy: Path, core: Core) -> None:
    core.stop_after = 0
    status, out, err = interlayer("run", toy, "--out", toy.parent / "out", "--json", toy.parent / "r.json")
    assert (status, out) == (130, "")
    assert err == (
        "interlayer: interrupted: no run is finished; "
        "give --store FILE, and the same command goes on where it was stopped\n"
    )
    assert tree(toy.parent) == ["toy.toml"]


# ------------------------------------------------------------------------------------------------------- reproduce


def test_reproduce_json_has_the_contracts_shape(interlayer: Any) -> None:
    status, out, err = interlayer("reproduce", "lle-fig-3.7b", "--json", "-")
    assert (status, err) == (0, "")
    found = json.loads(out)
    assert {"experiment", "version", "runs", "wall_s", "rows", "claims"} <= set(found)
    assert found["runs"] == 10
    assert len(found["rows"]) == 6 * 3
    assert {"arm", "flow.0.transport.datagram", "mean", "ci95"} <= set(found["rows"][0])
    keys = {"id", "text", "kind", "unit", "expected", "measured", "ci95", "verdict", "why"}
    for n, claim in enumerate(found["claims"], start=1):
        assert claim["id"] == f"lle-fig-3.7b#{n}"
        assert keys <= set(claim)
        assert claim["verdict"] in ("holds", "differs", "depends", "untestable")
        assert claim["readings"]["k"] == claim["readings"]["K"] == len(claim["readings"]["of"]) == 4
        assert claim["why"]
    first = found["claims"][0]
    assert (first["expected"], first["unit"]) == (20.0, "%")
    assert first["measured"] == pytest.approx(19, abs=1)  # in the claim's unit: percent, not a fraction
    assert found["claims"][1]["expected"] == [50.0, 70.0]
    assert "preliminary" not in found


def test_one_id_is_an_object_and_several_are_an_array(interlayer: Any) -> None:
    one = json.loads(interlayer("reproduce", "lle-fig-3.9", "--quick", "--json", "-")[1])
    assert one["experiment"] == "lle-fig-3.9"
    several = json.loads(interlayer("reproduce", "lle-fig-3.9", "lle-fig-3.7a", "--quick", "--json", "-")[1])
    assert [o["experiment"] for o in several] == ["lle-fig-3.9", "lle-fig-3.7a"]


def test_all_is_every_experiment(interlayer: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paper = library.folder() / "kliazovich-2006"
    shutil.copytree(paper / "cells", tmp_path / "cells")
    shutil.copytree(paper / "open", tmp_path / "open")
    for name in ("lle-fig-3.9", "lle-fig-3.7b", "lle-fig-3.7a"):  # what the double can run
        shutil.copy(paper / f"{name}.toml", tmp_path)
    monkeypatch.setattr(library, "folder", lambda: tmp_path)
    several = json.loads(interlayer("reproduce", "--all", "--quick", "--json", "-")[1])
    listed = [line.split()[0] for line in interlayer("list", "experiments")[1].splitlines()]
    assert [o["experiment"] for o in several] == listed == ["lle-fig-3.7a", "lle-fig-3.7b", "lle-fig-3.9"]


def test_readings_of_a_chapter_by_a_pattern(interlayer: Any, tmp_path: Path) -> None:
    arguments = ["readings", "lle-fig-3.7*", "--runs", "10", "--json", tmp_path / "r.json", "--out", tmp_path / "out"]
    status, out, err = interlayer(*map(str, arguments))
    assert (status, err) == (0, "")
    found = json.loads((tmp_path / "r.json").read_text())
    assert found["experiments"] == ["lle-fig-3.7a", "lle-fig-3.7b"]
    assert (found["k"], found["K"], len(found["readings"])) == (8, 8, 8)
    assert found["readings"][0]["reading"] == "base"
    assert set(found["readings"][0]["claims"]) == {c["id"] for c in found["claims"]}
    assert "8 of 8 readings run, 10 runs each" in out
    assert (tmp_path / "out" / "readings.svg").exists()
    assert interlayer("readings", "lle-fig-3.7b", "--json", "-", "--readings", "base")[0] == 0
    for wrong, says in (
        (["lle-fig-3.6*"], "no experiment is like"),
        (["lle-fig-3.8a"], "has recorded arms"),
        (["beyond/ftca-why"], "declares nothing open"),
        (["lle-fig-3.7b", "--readings", "bse"], 'did you mean "base"'),
    ):
        status, out, err = interlayer("readings", *wrong)
        assert (status, out) == (2, "")
        assert says in err


def test_reproduce_with_the_base_reading_is_preliminary(interlayer: Any) -> None:
    found = json.loads(interlayer("reproduce", "lle-fig-3.7b", "--readings", "base", "--json", "-")[1])
    assert found["preliminary"] is True
    assert (found["open"]["k"], found["open"]["K"]) == (1, 4)
    assert found["claims"][0]["verdict"] == "holds"


def test_quick_is_preliminary_and_without_verdicts(interlayer: Any) -> None:
    found = json.loads(interlayer("reproduce", "lle-fig-3.7a", "--quick", "--json", "-")[1])
    assert found["preliminary"] is True
    assert {c["verdict"] for c in found["claims"]} == {None}
    assert all(c["measured"] is not None for c in found["claims"])


def test_reproduce_same_input_same_json(interlayer: Any) -> None:
    first, second = (interlayer("reproduce", "lle-fig-3.9", "--json", "-")[1] for _ in range(2))
    assert without_clock(first) == without_clock(second)


def test_reproduce_out_writes_every_form(interlayer: Any, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    assert interlayer("reproduce", "lle-fig-3.7a", "--out", folder)[0] == 0
    forms = {f"lle-fig-3.7a.{kind}" for kind in ("png", "svg", "html", "csv", "parquet", "json")}
    assert set(tree(folder)) == forms | {"index.html", "interlayer.json"}


def test_reproduce_twice_gives_the_same_figure(interlayer: Any, tmp_path: Path) -> None:
    for name in ("one", "two"):
        interlayer("reproduce", "lle-fig-3.7a", "--quick", "--out", tmp_path / name)
    for kind in ("png", "svg", "csv"):
        one, two = ((tmp_path / name / f"lle-fig-3.7a.{kind}").read_bytes() for name in ("one", "two"))
        assert one == two


def test_interrupted_reproduce_keeps_finished_runs_marked(interlayer: Any, tmp_path: Path, core: Core) -> None:
    core.stop_after = 40
    status, out, _ = interlayer("reproduce", "lle-fig-3.7a", "lle-fig-3.9", "--json", "-", "--out", tmp_path / "out")
    assert status == 130
    found = json.loads(out)
    assert [o["experiment"] for o in found] == ["lle-fig-3.7a"]
    assert found[0]["interrupted"] is True
    assert {c["verdict"] for c in found[0]["claims"]} == {None}
    assert "lle-fig-3.7a.html" in tree(tmp_path / "out")


def test_list_of_experiments_shows_evidence_and_number_of_claims(interlayer: Any) -> None:
    line = next(li for li in interlayer("list", "experiments")[1].splitlines() if li.startswith("lle-fig-3.9"))
    assert re.search(r"\[Kliazovich 2006, Fig. 3.9, section 3.5.3; simulation, 5 claims; about \d+ s\]$", line)
    entries = {entry["id"]: entry for entry in json.loads(interlayer("list", "experiments", "--json", "-")[1])}
    assert (entries["lle-fig-3.9"]["evidence"], entries["lle-fig-3.9"]["claims"]) == ("simulation", 5)


def test_several_experiments_are_on_one_page(interlayer: Any, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert interlayer("reproduce", "lle-fig-3.9", "lle-fig-3.7b", "--quick", "--out", out)[0] == 0
    page = (out / "index.html").read_text()
    assert page.count("<svg") == 2
    assert page.count("a quick look: no verdicts") == 2
    assert "lle-fig-3.9.html" in tree(out)


# --------------------------------------------------------------------------------------------- list, check, version


@pytest.mark.parametrize("kind", cli._LISTS)
def test_list_has_one_id_first_on_each_line(kind: str, interlayer: Any) -> None:
    status, out, _ = interlayer("list", kind)
    assert status == 0
    ids = [entry["id"] for entry in json.loads(interlayer("list", kind, "--json", "-")[1])]
    assert [line.split()[0] for line in out.splitlines()] == ids
    assert ids


def test_metrics_are_listed_with_unit_and_pattern(interlayer: Any) -> None:
    status, out, _ = interlayer("list", "metric")
    lines = {line.split()[0]: line.split()[1:] for line in out.splitlines()}
    assert status == 0
    assert lines["flow.NAME.transfer_time_p95"][:2] == ["s", "users:"]
    assert lines["summary.goodput"][0] == "b/s"
    assert "scheme.SCHEME@NODE.COUNTER" in lines
    assert "metrics" in interlayer("list", "metrisc")[2]


def test_check_says_what_is_there(interlayer: Any, toy: Path) -> None:
    status, out, _ = interlayer("check", toy)
    assert (status, out) == (0, f"{toy}: scenario toy, 2 nodes, 1 flow, 30 s of which 5 s warm-up\n")


def test_check_reads_experiments_too(interlayer: Any) -> None:
    from interlayer.study import library, readings

    status, out, _ = interlayer("check", library.files()["lle-fig-3.9"])
    assert status == 0
    e = library.load("lle-fig-3.9")
    assert e.open is not None
    varied = f"{len(readings.chosen(e.open.parameters))} readings"
    assert f"experiment lle-fig-3.9, 15 cells, 5 claims, {varied}" in out


def test_version_and_help(interlayer: Any) -> None:
    assert interlayer("--version") == (0, "interlayer 0.0.0-fake\n", "")
    status, out, _ = interlayer()
    assert status == 0
    assert all(verb in out for verb in ("run", "compare", "reproduce", "list", "check"))


# -------------------------------------------------------------------------------------------------------- processes


def test_a_reader_that_leaves_early_causes_no_traceback() -> None:
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "interlayer.cli", "list", "experiments"]
    try:
        done = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, text=True)
    finally:
        os.close(write)
    assert (done.returncode, done.stderr) == (0, "")
