"""Experiment files: what is read from them, and that every mistake is named with its place."""

from __future__ import annotations

import re
import shutil
import tomllib
from pathlib import Path
from typing import Any

import pytest

from interlayer import toml_text
from interlayer.errors import InputError
from interlayer.study import library, reader
from interlayer.study.experiment import Cell, Crossing, Experiment, Gain, Order, Ratio, Trend, Value

GOOD = """
id = "toy"
title = "A toy"
source = "nowhere"
evidence = "simulation"
base = "base.toml"
metric = "flow.0.goodput"
unit = "Mb/s"
max_runs = 20
assumptions = ["none"]
[set]
"radio.data_rate" = "11 Mb/s"
[sweep]
"flow.0.size" = ["100 B", "1500 B"]
"channel.per" = [0.0, 0.1, 0.2]
[arms]
reno = {}
new = { scheme = [{ name = "lle-tcp" }] }
[labels]
new = "New"
[figure]
x = "channel.per"
[[gain]]
of = "new"
over = "reno"
[[curve]]
label = "line"
formula = "a * x"
let = { a = 2 }
[[claim]]
text = "a value"
kind = "value"
strength = "number"
expected = 6
where = { arm = "new", "flow.0.size" = "1500 B", "channel.per" = 0.0 }
[[claim]]
text = "a mean gain"
kind = "ratio"
strength = "number"
expected = 20
of = "new"
over = "reno"
where = { "flow.0.size" = "1500 B" }
mean_over = ["channel.per"]
[[claim]]
text = "a ranking"
kind = "order"
strength = "words"
order = [{ arm = "new", "flow.0.size" = "1500 B" }, { arm = "reno", "flow.0.size" = "1500 B" }]
mean_over = ["channel.per"]
[[claim]]
text = "a trend"
kind = "trend"
strength = "words"
x = "channel.per"
direction = "decreases"
[[claim]]
text = "a shape"
kind = "shape"
strength = "words"
test = "peak"
x = "channel.per"
peak = 0.0
[[explain]]
claim = [1, 2]
text = "arithmetic"
formula = "2 * a"
let = { a = 3 }
unit = "Mb/s"
[[explain]]
claim = 2
text = "a counter-run"
set = { "flow.0.receiver" = "every" }
"""


@pytest.fixture
def beside(tmp_path: Path) -> Path:
    (tmp_path / "base.toml").write_text('[scenario]\nname = "base"\n')
    return tmp_path


def read(text: str, beside: Path) -> Experiment:
    return reader.parse(text, "toy.toml", beside)


def test_grid_is_points_times_arms_in_the_order_of_the_file(beside: Path) -> None:
    e = read(GOOD, beside)
    assert len(e.cells()) == 2 * 3 * 2
    assert e.cells()[:3] == [Cell("reno", (0, 0)), Cell("new", (0, 0)), Cell("reno", (0, 1))]
    assert e.value(Cell("new", (1, 2)), "channel.per") == 0.2
    assert e.overrides(Cell("new", (1, 2))) == [
        ("flow.0.size", "1500 B"),
        ("channel.per", 0.2),
        ("scheme", [{"name": "lle-tcp"}]),
    ]


def test_claims_become_lines_of_quantities(beside: Path) -> None:
    value, ratio, order, trend, shape = read(GOOD, beside).claims
    assert [c.id for c in (value, ratio, shape)] == ["toy#1", "toy#2", "toy#5"]
    assert isinstance(value.test, Value)
    assert value.cells() == [Cell("new", (1, 0))]
    assert isinstance(ratio.test, Ratio)
    assert ratio.unit == "%"
    assert ratio.quantities()[0].terms == tuple(Gain(Cell("new", (1, i)), Cell("reno", (1, i))) for i in range(3))
    assert isinstance(order.test, Order)
    assert [q.label for q in order.quantities()] == ["New, 1500 B", "reno, 1500 B"]
    assert [len(q.terms) for q in order.quantities()] == [3, 3]
    assert isinstance(trend.test, Trend)
    assert [line.label for line in trend.lines] == ["reno, 100 B", "reno, 1500 B", "New, 100 B", "New, 1500 B"]
    assert [q.x for q in trend.lines[0].quantities] == [0.0, 0.1, 0.2]


EACH = """
[[claim]]
text = "a value"
kind = "value"
strength = "words"
each = ["channel.per", "flow.0.size"]
where = { arm = "new", "channel.per" = [0.1, 0.2] }
low = 1
[[claim]]
text = "behind it"
kind = "value"
strength = "words"
where = { arm = "new", "flow.0.size" = "1500 B", "channel.per" = 0.0 }
low = 1
"""


def test_a_claim_for_each_of_several_points_is_as_many_claims(beside: Path) -> None:
    claims = read(GOOD + EACH, beside).claims[5:]
    assert [c.id for c in claims] == [f"toy#{n}" for n in range(6, 11)]
    assert [c.cells() for c in claims[:4]] == [[Cell("new", at)] for at in [(0, 1), (0, 2), (1, 1), (1, 2)]]
    assert claims[0].text == "a value (flow.0.size 100 B, channel.per 0.1)"
    assert claims[4].text == "behind it"


@pytest.mark.parametrize(
    ("each", "error"),
    [
        ('["channel.perr"]', 'claim[5].each: "channel.perr" is not swept: flow.0.size, channel.per'),
        ('"channel.per"', "claim[5].each: expected a list"),
        ("[]", "claim[5].each: names no swept path; leave it out"),
    ],
)
def test_each_names_swept_paths(each: str, error: str, beside: Path) -> None:
    with pytest.raises(InputError, match=re.escape(error)):
        read(GOOD + EACH.replace('["channel.per", "flow.0.size"]', each), beside)


def test_a_mistake_in_one_of_several_claims_names_its_place_in_the_file(beside: Path) -> None:
    with pytest.raises(InputError, match=re.escape("claim[6].kind")):
        read(GOOD + EACH.replace('text = "behind it"\nkind = "value"', 'text = "behind it"\nkind = "valu"'), beside)


def test_evidence_goes_to_the_claims_it_names(beside: Path) -> None:
    claims = read(GOOD, beside).claims
    assert [len(c.evidence) for c in claims] == [1, 2, 0, 0, 0]
    assert [e.is_counter_run for e in claims[1].evidence] == [False, True]


def keys_of(table: Any, where: str = "") -> list[str]:
    """Every key that the format itself has, as the error's path spells it."""
    free = {"set", "sweep", "arms", "labels", "let", "where", "order", "of", "over"}
    found = []
    for key, value in table.items():
        path = f"{where}.{key}" if where else key
        found.append(path)
        if key in free:
            continue
        if isinstance(value, dict):
            found += keys_of(value, path)
        if isinstance(value, list):
            found += [k for i, v in enumerate(value) if isinstance(v, dict) for k in keys_of(v, f"{path}[{i}]")]
    return found


@pytest.mark.parametrize("path", keys_of(tomllib.loads(GOOD)))
def test_every_key_misspelt_is_reported_with_its_path_and_what_was_meant(path: str, beside: Path) -> None:
    data = tomllib.loads(GOOD)
    *parents, last = path.replace("]", "").replace("[", ".").split(".")
    table: Any = data
    for part in parents:
        table = table[int(part)] if part.isdecimal() else table[part]
    wrong = last[:-1] + "q" + last[-1] if len(last) > 1 else "q" + last
    # Beside the right key: a key that is missing would be another mistake.
    table[wrong] = table[last]
    with pytest.raises(InputError) as caught:
        read("\n".join(f"{k} = {toml_text.literal(v)}" for k, v in data.items()), beside)
    assert caught.value.path == (path[: -len(last)] + wrong)
    assert f'did you mean "{last}"' in str(caught.value)
    assert str(caught.value).startswith("toy.toml: ")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('kind = "value"', 'kind = "valeu"', 'claim[0].kind: "valeu" is none of them; did you mean "value"?'),
        (
            'arm = "new", "flow.0.size" = "1500 B", "ch',
            'arm = "nwe", "flow.0.size" = "1500 B", "ch',
            "arm is never nwe",
        ),
        ('"channel.per" = 0.0 }', '"channel.per" = 0.3 }', "channel.per is never 0.3"),
        ('"channel.per" = 0.0 }', '"channel.prr" = 0.0 }', '"channel.prr" is not swept; did you mean "channel.per"?'),
        (', "channel.per" = 0.0 }', " }", 'leaves 3 values of "channel.per"'),
        ("expected = 6\n", "", "give either `expected` or a range"),
        ("expected = 6\n", "expected = 6\nlow = 5\n", "give either `expected` or a range"),
        ("expected = 6\n", "expected = 6\nband = 2\n", "another band needs its `band_reason`"),
        ("expected = 6\n", "expected = 6\nlargest_of = 1\n", "give the source's number of runs, 2 at least"),
        ("expected = 6\n", "expected = 6\nlargest_of = 8\none_of = 8\n", "one run is not the largest of several"),
        ("expected = 6\n", "low = 6\nlargest_of = 8\n", "needs an `expected`"),
        ('direction = "decreases"', 'direction = "decreases"\nlargest_of = 8', "only a value or an order can have it"),
        ("expected = 6\n", 'expected = "6"\n', 'expected a number, found "6"'),
        ("expected = 6\n", "expected = true\n", "expected a number, found true"),
        ('over = "reno"\nwhere', 'over = "new"\nwhere', "`of` and `over` are the same"),
        ('of = "new"\nover = "reno"\nwhere', "where", "a ratio compares"),
        ('direction = "decreases"', 'direction = "flat"', "needs a `margin`"),
        ('direction = "decreases"', 'direction = "decreases"\nmargin = 3', "only something flat or close has a margin"),
        ('x = "channel.per"\ndirection', 'x = "channel.prr"\ndirection', '"channel.prr" is not swept'),
        ("max_runs = 20", "max_runs = 9", "max_runs: a verdict needs 10 runs"),
        ("claim = 2", "claim = 6", "explain[1].claim: no claim 6; they are 1 to 5"),
        ('set = { "flow.0.receiver" = "every" }', "", "give either `set`"),
        ('formula = "2 * a"', 'formula = "2 * b"', 'no constant "b"'),
        ('formula = "a * x"', 'formula = "a * y"', 'no constant "y"'),
        ('formula = "2 * a"', 'formula = "2 / 0 * a"', "has no value"),
        ("let = { a = 3 }", "let = { a = 3, b = 4 }", "explain[0].let.b: the formula does not use it"),
        ("[0.0, 0.1, 0.2]", "[]", "expected a list of values"),
        ("[0.0, 0.1, 0.2]", "[0.0, 0.1, 0.1]", "a value comes twice"),
        ('base = "base.toml"', 'base = "bse.toml"', "no such file"),
        ('unit = "Mb/s"\nmax', 'unit = "Mbps"\nmax', 'unit: "Mbps" is none of them'),
        ("id =", "id ==", "toy.toml: "),
    ],
)
def test_mistakes_are_named(old: str, new: str, message: str, beside: Path) -> None:
    assert old in GOOD
    with pytest.raises(InputError) as caught:
        read(GOOD.replace(old, new, 1), beside)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_text_and_a_number_are_not_the_same_value(beside: Path) -> None:
    with pytest.raises(InputError, match="never true"):
        read(GOOD.replace('"channel.per" = 0.0 }', '"channel.per" = true }', 1), beside)


def test_unknown_id_is_suggested() -> None:
    with pytest.raises(InputError, match=r'no experiment "lle-fig-37a"; did you mean "lle-fig-3\.7a"'):
        library.load("lle-fig-37a")


# ---------------------------------------------------------------------------------------- the package's experiments


def test_experiments_are_known_in_natural_order() -> None:
    ordered = ["lle-fig-3.7a", "lle-fig-3.7b", "lle-fig-3.9", "lle-fig-3.14", "lle-fig-3.15"]
    ordered += ["lle-fig-3.16-coexistence", "lle-fig-3.16-fairness", "lle-fig-3.17", "lle-headline", "lle-table-2.1"]
    ordered += ["beyond/base-station-channels", "beyond/base-station-league"]
    assert [name for name in library.known() if name in ordered] == ordered


def test_an_experiment_in_a_folder_is_found_by_its_name_alone() -> None:
    assert library.load("base-station-league") == library.load("beyond/base-station-league")
    with pytest.raises(InputError, match='did you mean "beyond/base-station-league"'):
        library.load("beyond/base-station-leage")


@pytest.mark.parametrize("name", library.known())
def test_packaged_experiment_reads_and_is_named_as_its_file(name: str) -> None:
    e = library.load(name)
    assert e.id == name
    assert library.files()[name].stem == name.rpartition("/")[2]
    assert e.claims
    assert e.assumptions


def test_no_two_packaged_experiments_share_an_id() -> None:
    claiming = [file for file in library.folder().rglob("*.toml") if "[[claim]]" in file.read_text()]
    assert sorted(library.files().values()) == sorted(claiming)


def test_the_index_is_that_of_the_files() -> None:
    kept = (library.folder() / library.INDEX).read_text("utf-8")
    assert kept == library.index(), "experiments have changed: make index"


def test_a_list_of_the_package_reads_no_experiment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "load", lambda name: pytest.fail(f"{name} was read"))
    assert [entry.id for entry in library.listed()] == library.known()


@pytest.mark.parametrize("kept", [None, "", "{}", "the package's"])
def test_where_the_index_does_not_fit_the_files_are_listed(
    kept: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(library.folder(), tmp_path / "here")
    changed, added = (tmp_path / "here/kliazovich-2006" / name for name in ("lle-fig-3.9.toml", "lle-fig-3.8x.toml"))
    title = library.load("lle-fig-3.9").title
    text = changed.read_text("utf-8").replace(f'title = "{title}"', 'title = "Another title"')
    changed.write_text(text, "utf-8")
    added.write_text(text.replace('id = "lle-fig-3.9"', 'id = "lle-fig-3.8x"'), "utf-8")
    if kept is None:
        (tmp_path / "here" / library.INDEX).unlink()
    elif kept != "the package's":
        (tmp_path / "here" / library.INDEX).write_text(kept)
    before = [entry.id for entry in library.listed()]
    monkeypatch.setattr(library, "folder", lambda: tmp_path / "here")
    entries = library.listed()
    assert {entry.title for entry in entries if entry.id in ("lle-fig-3.9", "lle-fig-3.8x")} == {"Another title"}
    assert [entry.id for entry in entries if entry.id != "lle-fig-3.8x"] == before
    assert library.path_of("lle-fig-3.8x") == added


# Typed from the theses (Kliazovich 2006, sections 3.5.3 and 3.5.5; Sang 2014), not from our files.
# The windows of runs A and B, Fig. 7.4 and 7.5.
WINDOWS: list[tuple[str, Any]] = [
    *(("value", x) for x in (2.0, 2.5)),
    ("order", None),
    ("value", (None, 70.0)),
    ("value", (0.0, 1.0)),
    ("order", None),
]

PRINTED: dict[str, list[tuple[str, Any]]] = {
    "lle-fig-3.7a": [
        ("value", 6.09),
        ("value", 5.08),
        ("value", 4.71),
        ("value", 4.1),
        ("order", None),
        ("trend", "increases"),
    ],
    "lle-fig-3.7b": [
        ("ratio", 20.0),
        ("ratio", (50.0, 70.0)),
        ("ratio", 100.0),
        ("trend", "decreases"),
        ("ratio", (20.0, 100.0)),
    ],
    "lle-fig-3.9": [("ratio", 23.0), ("ratio", 7.0), ("order", None), ("trend", "flat"), ("trend", "decreases")],
    "lle-fig-3.14": [("shape", None), ("value", 0.0)],
    "lle-fig-3.15": [("shape", None), ("order", None)],
    "lle-fig-3.16-fairness": [("value", 0.95), ("value", 0.47)],
    "lle-fig-3.16-coexistence": [("value", 0.3), ("value", 0.93), ("value", 0.54), ("order", None)],
    "lle-fig-3.17": [
        ("value", 55.0),
        ("value", 87.0),
        ("value", 25.0),
        ("value", 19.5),
        ("order", None),
        ("ratio", 28.2),  # 25 over 19.5
    ],
    # Table 2.1, section 2.3; Table 3.1, section 3.1; the abstract.
    "lle-table-2.1": [
        *(("value", x) for x in (0.75, 1.41, 3.38, 5.32, 9.2, 16.2, 26.57)),
        *(("ratio", x) for x in (74.9, 70.7, 61.5, 48.4, 76.6, 67.5, 49.2)),
        ("trend", "decreases"),
        ("ratio", (None, 50.0)),
        ("order", None),
    ],
    "lle-table-3.1": [*(("value", x) for x in (0.7, 1.4, 5.0, 25.0, 25.0)), ("value", (100.0, None))],
    "lle-headline": [("ratio", (20.0, 100.0)), ("trend", "decreases"), *([("order", None)] * 4)],
    # Sang 2014: chapter 3 and section 3.1; 3.3; 3.5, of eight stations (1/9 and 8/9); chapter 5; section 6.3.
    "ftca-fig-3.1": [("value", 3.4), ("value", 0.54), ("order", None)],
    "ftca-fig-3.2": [("value", 1.93), ("value", 2.65), ("value", (None, 5.0)), ("value", (25.0, None))],
    "ftca-sec-3.3-capture": [
        ("value", 0.0),
        ("value", 10.0),
        ("value", (15.0, 25.0)),
        ("trend", "increases"),
        ("order", None),
        ("value", (1.0, 30.0)),
    ],
    "ftca-sec-3.5-asymmetry": [("ratio", 11.1), ("ratio", 88.9), ("order", None)],
    "ftca-fig-5.3": [("value", 2.0), ("value", 4.0)],
    "ftca-sec-6.3-link-per": [("value", 1.0)],
    # Chapter 7, section 7.1.
    "ftca-fig-7.1": [*(("value", x) for x in (0.95, 0.9996, 0.93, 0.9995, 0.97, 0.98)), ("order", None)],
    "ftca-fig-7.2": [("value", 3.0), ("value", 1.8), ("order", None)],
    "ftca-fig-7.3": [("value", x) for x in (2.8, 1.5, 0.65)],
    "ftca-fig-7.4": WINDOWS,
    "ftca-fig-7.5": WINDOWS,
    "ftca-fig-7.6": [("value", 2.3)],
    "ftca-fig-7.7": [("value", (5.0, 10.0)), ("value", (1.0, None))],
    "ftca-fig-7.8": [*(("value", x) for x in (2.22, 0.19, 0.65)), ("order", None)],
    "ftca-fig-7.9": [*(("value", x) for x in (13.57, 13.76, 10.17, 10.24, 12.9, 9.7)), ("order", None)],
    "ftca-fig-7.10": [
        *(("value", x) for x in (15.8, 12.4, (None, 0.01), 0.24, 0.06, 14.7, 0.3, 13.0, 12.5)),
        ("order", None),
    ],
    "ftca-fig-7.11": [*(("value", x) for x in (21.2, 13.4, 31.9, 31.8)), *([("order", None)] * 2), ("value", 30.3)],
    "ftca-fig-7.13": [("value", 3.14), ("value", 0.97), ("order", None)],
    "ftca-fig-7.14": [("value", 1.0), ("value", (None, 50.0))],
    "ftca-fig-7.15": [("value", 1.91), ("value", 1.23), ("value", (None, 15.0))],
    "ftca-fig-7.16": [("value", (None, 15.0))],
    # Grid, random disc, UDP beside TCP: sections 7.1.2 to 7.2. Ranges of what the text only says in words are ours.
    "ftca-fig-7.12": [
        ("value", 0.84),
        ("value", 0.97),
        ("value", 0.85),
        ("value", (0.76, 0.92)),
        ("order", None),
        ("shape", None),
        ("trend", "increases"),
    ],
    "ftca-fig-7.17": [("value", 3.0), ("value", 0.8), ("shape", None)],
    "ftca-fig-7.18": [("value", 13.06), ("value", 12.8), ("value", 10.22), ("order", None)],
    "ftca-fig-7.19": [
        ("value", 0.13),
        ("value", 0.35),
        ("value", (50.0, 100.0)),
        ("order", None),
        ("order", None),
        ("value", 2),
    ],
    "ftca-fig-7.20": [("value", 27.3), ("value", 19.9), ("value", 40.8), ("value", 40.7), ("value", 35.0)],
    "ftca-fig-7.21": [
        ("value", 0.72),
        ("value", 0.89),
        ("order", None),
        ("shape", None),
        ("order", None),
        ("trend", "increases"),
    ],
    "ftca-fig-7.22": [("order", None), ("order", None), ("order", None)],
    "ftca-fig-7.23": [("order", None), ("shape", None)],
    "ftca-fig-7.24": [("value", 14.5), ("value", 18.0), ("value", 0.9), ("value", 2.0)],
    "ftca-fig-7.25": [("value", 24.0), ("value", 40.0), ("shape", None)],
    "ftca-fig-7.26": [
        ("value", 0.911),
        ("value", 0.956),
        ("value", 0.73),
        ("value", 0.73),
        ("value", 0.75),
        ("value", 0.59),
        ("order", None),
    ],
    "ftca-fig-7.27": [("order", None), ("order", None)],
    "ftca-fig-7.28": [("value", 16.7), ("value", 16.5), ("value", 17.7), ("value", (50.0, 100.0)), ("order", None)],
    "ftca-fig-7.29": [("order", None), ("order", None), ("order", None)],
    "ftca-fig-7.30": [("value", (19.9, 100.0)), ("value", 35.0)],
}


@pytest.mark.parametrize("name", PRINTED)
def test_claims_carry_the_printed_numbers_in_order(name: str) -> None:
    found = []
    for claim in library.load(name).claims:
        match claim.test:
            case Value(expected=e) | Ratio(expected=e) | Crossing(expected=e):
                found.append((claim.kind, (e.low, e.high) if e.value is None else e.value))
            case Trend(direction=direction):
                found.append((claim.kind, direction))
            case _:
                found.append((claim.kind, None))
    assert found == PRINTED[name]


def test_a_base_lies_beside_the_file_or_else_in_the_folder_above(beside: Path) -> None:
    inner = beside / "beyond"
    inner.mkdir()
    assert 'name = "base"' in read(GOOD, inner).base
    (inner / "base.toml").write_text('[scenario]\nname = "nearer"\n')
    assert 'name = "nearer"' in read(GOOD, inner).base


def test_no_packaged_file_names_a_place_outside_the_package() -> None:
    for file in library.folder().rglob("*.toml"):
        text = file.read_text()
        places = re.findall(r'"([^"\n]*\.\./[^"\n]*)"', text)
        assert text.count("../") == sum(place.count("../") for place in places)
        for place in places:
            assert (file.parent / place).resolve().is_relative_to(library.folder().resolve()), place


# ----------------------------------------------------------------------------------------------- a file of a user's own

OWN = 'base = "base.toml"\nmetric = "summary.goodput"\nunit = "Mb/s"\n'


def test_a_file_of_ones_own_needs_no_paper(beside: Path) -> None:
    e = read(OWN, beside)
    assert (e.id, e.title, e.source, e.evidence, e.max_runs) == ("toy", "toy", "", "simulation", 10)
    assert e.cells() == [Cell("measured", ())]
    with pytest.raises(InputError, match="arms: there is none"):
        read(OWN + "[arms]\n", beside)
    for key in ("metric", "unit"):
        with pytest.raises(InputError, match=f'the key "{key}" is missing'):
            read(re.sub(rf"^{key} .*\n", "", OWN, flags=re.MULTILINE), beside)


def test_without_claims_there_is_no_table_of_them(core: Any, beside: Path, tmp_path: Path) -> None:
    from interlayer.show import files, terminal
    from interlayer.study import campaign

    (beside / "base.toml").write_text(
        '[scenario]\nname = "b"\n[[node]]\nname = "a"\n[[node]]\nname = "b"\n[[flow]]\nfrom = "a"\nto = "b"\n'
    )
    core.model = lambda data, rng: {"goodput_bps": 1e6 * data["radio"]["x"] + rng.random()}
    (beside / "mine.toml").write_text(OWN + '[sweep]\n"radio.x" = [1, 2]\n')
    found = campaign.run(library.load(beside / "mine.toml"))
    text = terminal.outcome(found)
    assert text.startswith("mine, summary.goodput in Mb/s\n")
    for word in ("claim", "verdict", "paper", "None", "()", ". ."):
        assert word not in text, word
    (tmp_path / "out").mkdir()
    files.write_outcomes([found], tmp_path / "out")
    for name in ("mine.html", "index.html"):
        page = (tmp_path / "out" / name).read_text("utf-8")
        assert "Paper, arithmetic" not in page
        assert "claim" not in re.sub(r"<style>.*?</style>", "", page, flags=re.DOTALL)
        assert "Measured" in page


@pytest.mark.core
def test_the_example_of_the_page_is_the_file() -> None:
    root = Path(__file__).parents[2]
    page = (root / "docs" / "experiment-file.md").read_text("utf-8")
    first = re.search(r"```toml\n(.*?)```", page, re.DOTALL)
    assert first
    assert first[1] == (root / "examples" / "experiments" / "retries.toml").read_text("utf-8")
    e = library.load(root / "examples" / "experiments" / "retries.toml")
    claim = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)[1]
    assert len(reader.parse(first[1] + claim, "x.toml", root / "examples" / "experiments").claims) == 1
    assert (e.id, len(e.cells())) == ("retries", 8)
