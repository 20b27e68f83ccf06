"""What the documents say is there: links, anchors, files, keys of scenarios, experiments, tests, options."""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from interlayer import toml_text
from interlayer.errors import InputError
from interlayer.study import library, reader
from interlayer.study.reader import ledger

ROOT = Path(__file__).parents[2]
TRACKED = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
PAGES = [Path(name) for name in TRACKED if name.endswith(".md")]
RUST = [Path(name) for name in TRACKED if name.endswith(".rs")]


@cache
def text(path: Path) -> str:
    return (ROOT / path).read_text("utf-8")


def without_code(page: str) -> str:
    return re.sub(r"`[^`\n]*`", "", re.sub(r"^```.*?^```", "", page, flags=re.MULTILINE | re.DOTALL))


def blocks(language: str) -> list[Any]:
    """The code blocks of all pages in a language, each with its page."""
    found = []
    for page in PAGES:
        for i, match in enumerate(re.finditer(rf"^```{language}\n(.*?)^```", text(page), re.MULTILINE | re.DOTALL)):
            found.append(pytest.param(page, match[1], id=f"{page}-{i}"))
    return found


def code(page: Path) -> list[str]:
    """What stands in backticks or in a block of commands."""
    inline = re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", text(page), flags=re.MULTILINE | re.DOTALL))
    shell = re.findall(r"^```(?:sh|console|bash|)\n(.*?)^```", text(page), re.MULTILINE | re.DOTALL)
    return [*inline, *(line for block in shell for line in block.replace("\\\n", " ").splitlines())]


# ------------------------------------------------------------------------------------------------------- links, anchors


def anchors(page: Path) -> set[str]:
    """The anchors that GitHub gives to the headings of a page."""
    found = set()
    for heading in re.findall(r"^#+ (.*)$", without_fences(text(page)), re.MULTILINE):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading.replace("`", ""))
        slug = re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
        found.add(slug if slug not in found else f"{slug}-1")
    return found


def without_fences(page: str) -> str:
    return re.sub(r"^```.*?^```", "", page, flags=re.MULTILINE | re.DOTALL)


def test_every_link_leads_to_a_file_and_every_anchor_to_a_heading() -> None:
    broken, links = [], 0
    for page in PAGES:
        for target in re.findall(r"\]\(([^)\s]+)\)", without_code(text(page))):
            if "://" in target or target.startswith("mailto:"):
                continue
            links += 1
            name, _, anchor = target.partition("#")
            leads_to = (ROOT / page).parent / name if name else ROOT / page
            if not leads_to.exists():
                broken.append(f"{page}: {target}: no such file")
            elif anchor and anchor not in anchors(leads_to.resolve().relative_to(ROOT)):
                broken.append(f"{page}: {target}: no such heading")
    assert links > 70
    assert not broken, "\n".join(broken)


# ---------------------------------------------------------------------------------------------------------------- files

PATH = re.compile(r"(?<![\w/.-])((?:crates|docs|python|tests|validation|examples|bench|tools)/[\w./*{},-]*[\w*}])")


def exists(name: str) -> bool:
    """A path of the repository, with `*` and `{a,b}`; `DIR`, `ID` and the like stand for a name."""
    if alternatives := re.search(r"\{([^}]*)\}", name):
        parts = alternatives[1].split(",")
        return all(exists(name[: alternatives.start()] + part + name[alternatives.end() :]) for part in parts)
    if re.search(r"(?<![a-z])[A-Z]{2,}(?![a-z])", name.replace("README", "")):
        return True
    if (ROOT / name).exists() or any((ROOT / f"{name}{suffix}").exists() for suffix in (".rs", ".py")):
        return True
    return "*" in name and any(ROOT.glob(name))


def test_every_file_that_a_document_names_is_there() -> None:
    missing = []
    for page in [*PAGES, *RUST, *(Path(n) for n in TRACKED if n.endswith((".py", ".toml", "Makefile")))]:
        if page.name in (Path(__file__).name, "CHANGELOG.md") or page.suffix == ".lock":
            continue
        told = text(page) if page.suffix == ".md" else "\n".join(re.findall(r"(?://[/!]?|#|\"\"\").*", text(page)))
        for name in PATH.findall(told):
            # Sources and manifests name the tests of their own crate without the crate.
            here = "/".join(page.parts[:2]) if page.suffix in (".rs", ".toml") else ""
            if not (exists(name) or (here and exists(f"{here}/{name}")) or name in EXAMPLES):
                missing.append(f"{page}: {name}")
    assert not missing, "\n".join(missing)


EXAMPLES = {
    *("crates/tcp/src/cc/veno.rs",),  # CONTRIBUTING: how a controller is added
    *("crates/schemes/src/thinner.rs", "crates/schemes/tests/all/thinner.rs", "docs/schemes/thinner.md"),  # contract.md
    *("docs/schemes/my-scheme.md", "my_scheme"),  # new-scheme.md: what `interlayer new` writes
    "examples/bpf/brake.o",  # what `make -C examples/bpf` writes
    "free_failures",  # design/scenario.md: how a key is added
}
"""What a page makes up to show how something is done."""


# ------------------------------------------------------------------------------------------------- tests that are named


def test_every_cargo_test_that_a_document_names_is_there() -> None:
    wrong, seen = [], 0
    for page in PAGES:
        for line in code(page):
            for crate, rest in re.findall(r"cargo test(?: --release)? --test (\w+)((?: [^\s`|;&]+)*)", line):
                seen += 1
                words = [w for w in rest.split() if not w.startswith("--")]
                sources = [p for p in RUST if p.is_relative_to(f"crates/{crate}/tests/all")]
                if not sources:
                    wrong.append(f"{page}: --test {crate}")
                known = {part for p in sources for part in (*p.parts[4:-1], p.stem)}
                functions = set(re.findall(r"fn (\w+)", "\n".join(map(text, sources))))
                for word in words:
                    last = word.split("::")[-1]
                    if last not in EXAMPLES and not any(last in name for name in known | functions):
                        wrong.append(f"{page}: {crate}: {word}")
    assert seen > 20
    assert not wrong, "\n".join(wrong)


# ------------------------------------------------------------------------------------------------------- scenario keys


@cache
def keys() -> frozenset[str]:
    """Every key of a scenario, by the core's schema."""
    from interlayer import _core

    found: set[str] = set()

    def walk(node: Any) -> None:
        if isinstance(node, dict):
            if isinstance(properties := node.get("properties"), dict):
                found.update(properties)
            for value in node.values():
                walk(value)
        elif isinstance(node, list):
            for value in node:
                walk(value)

    walk(json.loads(_core.schema()))
    return frozenset(found)


BASE = """
[scenario]
duration = "1 s"
[radio]
standard = "802.11b"
[[node]]
name = "ap"
role = "ap"
position = [0, 0]
[[node]]
name = "high"
position = [1, 0]
[[node]]
name = "server"
[[link]]
between = ["server", "ap"]
rate = "1 Gb/s"
[[flow]]
from = "server"
to = "high"
"""


_OF_EXPERIMENTS = {"where", "order", "open", "unit", "formula", "claim", "parameter", "title", "mark", "unmodelled"}
"""What a page may show of an experiment file, an open file or a ledger, without a scenario around it."""


@pytest.mark.core
@pytest.mark.parametrize(("page", "block"), blocks("toml"))
def test_every_key_in_a_block_of_toml_is_one_of_a_scenario(page: Path, block: str, tmp_path: Path) -> None:
    from interlayer import simulator

    tables = tomllib.loads(block)
    if "mark" in tables:
        (tmp_path / ledger.FILE).write_text(block, encoding="utf-8")
        assert ledger.read_ledger(tmp_path)
        return
    if "base" in tables:  # an experiment, beside those of examples/
        reader.parse(block, str(page), ROOT / "examples" / "experiments")
        return
    if (
        page.parts[0] == "python" or page.name == "experiment-file.md"
    ):  # keys of experiments: a part of a claim, or of [open]
        assert set(tables) <= _OF_EXPERIMENTS
        return
    if {"scenario", "flow"} <= set(tables):
        simulator.parse(block, [])
        return
    overrides = [(key, toml_text.literal(value)) for key, value in tables.items() if key != "radio"]
    overrides += [(f"radio.{key}", toml_text.literal(v)) for key, v in tables.get("radio", {}).items()]
    try:
        simulator.parse(BASE, overrides)
    except InputError as e:
        raise AssertionError(f"{page}: {e}") from e


@pytest.mark.core
def test_every_key_in_a_comment_of_the_whole_scenario_is_one() -> None:
    text = (ROOT / "docs" / "design" / "scenario.md").read_text("utf-8")
    block = re.search(r"^```toml\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert block is not None
    comments = [line.removeprefix("#") for line in block[1].splitlines() if line.startswith("#")]
    named = {key for line in comments for key in re.findall(r"(?:^|[{,;]) *([a-z][a-z0-9_]*) = ", line)}
    assert len(named) > 40
    assert named <= keys(), sorted(named - keys())


FIRST = {
    "radio",
    "channel",
    "scenario",
    "layout",
    "routing",
    "link",
    "event",
    "flow",
    "node",
    "scheme",
    "queue",
    "frame",
    "summary",
}
SOURCES = "\n".join((ROOT / p).read_text("utf-8") for p in RUST if "/src/" in str(p))
NAMES = frozenset(re.findall(r'"(?:flow\.\{\}\.)?([a-z][a-z0-9_]*)"', SOURCES)) | frozenset(
    re.findall(r'format!\("(?:flow|queue)\.\{\w*\}\.(\w+)"', SOURCES)
)
NAMES |= frozenset("_".join(gauge) for gauge in re.findall(r'gauge\("(\w+)\.(\w+)"', SOURCES))
UNITS = ("_bps", "_s", "_bytes", "_packets", "_m", "_dbm", "_db")


def is_named(word: str) -> bool:
    """A key of a scenario, or a column of results with or without its unit."""
    columns = {name.removesuffix(unit) for name in NAMES for unit in ("", *UNITS)}
    return word in keys() or word in columns


@pytest.mark.core
def test_every_path_in_code_ends_in_a_key_or_a_column() -> None:
    wrong, seen = [], 0
    pattern = re.compile(r"(?<![\w./-])((?:[a-z]+)(?:\.[\w*>@+-]+)+)(?![\w(/:])")
    for page in PAGES:
        if page.name in ("CHANGELOG.md", "contract.md"):  # old names; fields of Rust
            continue
        for span in code(page):
            for path in pattern.findall(span):
                first, *_, last = path.split(".")
                if (
                    first not in FIRST
                    or last in ("toml", "rs", "md", "py", "out", "csv")
                    or re.fullmatch(r"[\d*+-]+|.*->.*", last)
                ):
                    continue
                if any(part in ("rs", "md", "py", "toml") for part in path.split(".")):
                    continue
                seen += 1
                if not is_named(last) and not last.endswith("*") and last not in EXAMPLES:
                    wrong.append(f"{page}: {path}")
    assert seen > 40
    assert not wrong, "\n".join(wrong)


# --------------------------------------------------------------------------------------------------------- experiments


def test_every_experiment_that_is_named_is_there() -> None:
    ids = set(library.known()) | {name.rpartition("/")[2] for name in library.known()}
    wrong, seen = [], 0
    for page in PAGES:
        if page.name == "CHANGELOG.md":
            continue
        for span in code(page):
            for match in re.finditer(
                r"(?<![\w/.-])((?:lle|ftca)-(?:fig|table|sec|headline|conclusion)[\w.*-]*|beyond/[\w.*-]+)", span
            ):
                name = match[1].rstrip(".").partition("#")[0]
                if name.startswith("beyond/cells") or name == "beyond/":
                    continue
                seen += 1
                if "*" in name or name.endswith("-"):
                    if not any(known.startswith(name.rstrip("*")) for known in ids):
                        wrong.append(f"{page}: {name}")
                elif name not in ids:
                    wrong.append(f"{page}: {name}")
    assert seen > 40
    assert not wrong, "\n".join(wrong)


DATA = [Path(name) for name in TRACKED if name.startswith("python/interlayer/experiments/") and name.endswith(".toml")]
CITED_FILE = re.compile(r"(?<![\w./*-])([\w./*-]+\.(?:toml|md|csv|json|py|rs))(?![\w-])")
CITED_ID = re.compile(
    r"(?<![\w./-])((?:lle|c3tcp|dynarq|linkarq|nackvegas|ftca)-(?:fig|table|sec|eq|scenario)-\d(?:[\w.-]*\w)?)(?![\w.-]*[*\[])"
)


def absent_from(file: Path, told: str) -> list[str]:
    """What a file of experiment data cites, in comments as in values, and what is not there."""
    ids = {name.rpartition("/")[2] for name in library.known()}
    folders = [folder for folder in (ROOT / file).parents if folder.is_relative_to(ROOT)]
    files = [
        name
        for name in CITED_FILE.findall(told)
        if not any((folder / name).exists() or ("*" in name and any(folder.glob(name))) for folder in folders)
    ]
    return files + [name for name in CITED_ID.findall(told) if name not in ids]


def test_every_file_and_experiment_that_experiment_data_cites_is_there() -> None:
    cited = sum(len(CITED_FILE.findall(text(file))) + len(CITED_ID.findall(text(file))) for file in DATA)
    assert cited > 300
    missing = [f"{file}: {name}" for file in DATA for name in absent_from(file, text(file))]
    assert not missing, "\n".join(missing)


def test_what_a_cell_cites_wrongly_is_found() -> None:
    cell = next(file for file in DATA if file.name == "mix-80211a.toml")
    told = "# open/section-4.toml varies the rest, open/radio.toml too, and dynarq-table-9 beside dynarq-table-2."
    assert absent_from(cell, told) == ["open/section-4.toml", "dynarq-table-9"]


# ------------------------------------------------------------------------------------------- the command, the contract


def test_every_verb_and_option_of_a_command_is_there() -> None:
    import typer.main

    from interlayer import cli

    command: Any = typer.main.get_command(cli.app)
    wrong, seen = [], 0
    for page in PAGES:
        for line in code(page):
            if not (match := re.match(r"(?:\$ )?(?:\.venv/bin/)?interlayer (\w+)(.*)", line)):
                continue
            seen += 1
            verb, rest = match[1], match[2].partition("#")[0]
            if verb not in command.commands:
                wrong.append(f"{page}: {line}")
                continue
            own = command.commands[verb]
            own = getattr(own, "commands", {}).get((rest.split() or [""])[0], own)  # `store list` has its own
            known = {option for parameter in own.params for option in parameter.opts} | {"--help"}
            wrong += [f"{page}: {line}" for option in re.findall(r"(?<!\S)(--[a-z-]+)", rest) if option not in known]
    assert seen > 20
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(("name", "file"), [("cx", "cx.rs"), ("site", "site.rs")])
def test_every_call_of_the_contract_is_there(name: str, file: str) -> None:
    source = text(Path("crates/schemes/src") / file)
    members = set(re.findall(r"(?:fn|pub(?:\(\w+\))?) (?:fn )?(\w+)", source))
    used = {
        word for page in PAGES for word in re.findall(rf"\b{name}\.(\w+)", text(page)) if page.name != "CHANGELOG.md"
    }
    assert used - members == set()


def test_the_tree_of_contributing_is_that_of_the_repository() -> None:
    page = text(Path("CONTRIBUTING.md"))
    tree = re.search(r"^crates/.*?\n((?:  .*\n)+)", page, re.MULTILINE)
    assert tree
    first, *rest = [line for line in tree[1].splitlines() if line[2] != " "]  # others go on with a line
    listed = [*first.split(), *(line.split()[0] for line in rest)]
    assert listed.pop() == "*/tests"
    assert set(listed) == {path.name for path in (ROOT / "crates").iterdir() if (path / "Cargo.toml").exists()}


# ------------------------------------------------------------------------------------------------------- doc comments

QUESTIONS = re.compile(r"^\s*//[/!] (?:What|Whether|How|Who|Whose|Which|Where|When|Why|Returns whether) ", re.MULTILINE)
"""Beginnings of doc comments that are not noun phrases, nor verbs of functions."""

LEFT: dict[str, int] = {}
"""Comments that begin so, by crate: none, and none may come."""


def test_doc_comments_begin_with_a_noun_or_a_verb() -> None:
    found: dict[str, int] = {}
    for path in RUST:
        if path.parts[0] == "crates" and (ROOT / path).exists():
            found[path.parts[1]] = found.get(path.parts[1], 0) + len(QUESTIONS.findall(text(path)))
    assert {crate: n for crate, n in found.items() if n > LEFT.get(crate, 0)} == {}


# --------------------------------------------------------------------------------------------------- what is not there


def test_the_first_thirty_lines_of_the_readme_say_what_is_and_is_not_modelled() -> None:
    top = "\n".join(text(Path("README.md")).splitlines()[:30])
    assert "docs/not-modelled.md" in top
    for word in (
        "802.11b",
        "802.11a",
        "802.11g",
        "EDCA",
        "TCP",
        "802.11n",
        "aggregation",
        "mobility",
        "rate adaptation",
    ):
        assert word in top, word
    assert re.search(r"[Nn]ot modelled", top)


# ----------------------------------------------------------------------------------------------------------- registries

REGISTRIES = "|".join(
    r"\b" + name.replace(" ", r"\.")
    for name in ("pypi", "crates io", "pythonhosted org", "anaconda org", "npmjs", "rubygems org", "proxy golang org")
)
"""Package registries by host; a dot is written as a space, so that no file of ours holds one."""


def test_no_registry_of_packages_is_named_by_its_host() -> None:
    kinds = (".md", ".in", ".toml", ".lock", ".py", ".ipynb", ".css", "Makefile")
    ours = [name for name in TRACKED if name.endswith(kinds) and name.split("/")[0] not in ("crates", "bench")]
    assert {"README.md", "Makefile", "pyproject.toml", "docs/getting-started.md", "python/interlayer/cli.py"} <= set(
        ours
    )
    found = {name: re.findall(REGISTRIES, text(Path(name)), re.IGNORECASE) for name in ours}
    found.pop("tests/python/test_documents.py")  # the list above
    # The locks of Rust's builds name it by their format.
    assert {name: hosts for name, hosts in found.items() if hosts and not name.endswith("Cargo.lock")} == {}
