"""`interlayer new`: what it writes compiles, what it refuses leaves everything as it was."""

from __future__ import annotations

import os
import re
import shutil
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import mirror
from interlayer import scaffold
from interlayer.errors import OutputError

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[2]


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout to write into, as the working folder."""
    root = tmp_path / "checkout"
    _copy(root)
    monkeypatch.chdir(root)
    return root


@pytest.fixture(scope="module")
def untouched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout into which nothing is written: thousands of files, copied once."""
    root = tmp_path_factory.mktemp("untouched") / "checkout"
    _copy(root)
    return root


def _copy(root: Path) -> None:
    root.mkdir(parents=True)
    for name in ("crates", "docs/schemes"):
        shutil.copytree(ROOT / name, root / name, symlinks=True)
    for name in (
        "Cargo.toml",
        "Cargo.lock",
        "docs/senders.md",
        "docs/design/contract.md",
        "examples/bpf/brake.rs",
        "python/interlayer/_core.pyi",
    ):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, root / name)
    shutil.copytree(ROOT / "python/interlayer/templates", root / "python/interlayer/templates")


def files(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


# --------------------------------------------------------------------------------------------------- in the repository


def test_a_scheme_is_a_file_a_line_a_test_and_a_page(call: Callable[..., Any], checkout: Path) -> None:
    before = files(checkout)
    status, out, err = call("new", "scheme", "my-idea")
    assert (status, err) == (0, "")
    after = files(checkout)
    new = {"crates/schemes/src/my_idea.rs", "crates/schemes/tests/all/my_idea.rs", "docs/schemes/my-idea.md"}
    changed = {"crates/schemes/src/lib.rs", "crates/schemes/tests/all/main.rs"}
    assert after.keys() - before.keys() == new
    assert {name for name in before if before[name] != after[name]} == changed
    assert set(out.splitlines()[:5]) == new | changed
    registry = (checkout / "crates/schemes/src/lib.rs").read_text()
    names = re.findall(r'^    "(.*)" => (\w+),$', registry, re.MULTILINE)
    assert ("my-idea", "my_idea") in names
    assert names == sorted(names)
    modules = re.findall(r"^mod (\w+);$", (checkout / "crates/schemes/tests/all/main.rs").read_text(), re.MULTILINE)
    assert "my_idea" in modules
    assert modules == sorted(modules)
    assert not [name for name in new if re.search(r"my[-_]scheme", (checkout / name).read_text())]


def test_a_sender_is_a_file_a_line_and_a_row(call: Callable[..., Any], checkout: Path) -> None:
    before = files(checkout)
    assert call("new", "sender", "zz-top")[0] == 0
    after = files(checkout)
    assert after.keys() - before.keys() == {"crates/tcp/src/cc/zz_top.rs"}
    assert {n for n in before if before[n] != after[n]} == {"crates/tcp/src/cc/mod.rs", "docs/senders.md"}
    assert '    "yeah" => yeah,\n    "zz-top" => zz_top,\n}\n' in after["crates/tcp/src/cc/mod.rs"].decode()
    page = after["docs/senders.md"].decode()
    assert page.index("| `zz-top` | ") < page.index("\n## ")


REFUSED = [
    (
        "scheme",
        "MyScheme",
        '"MyScheme": a name is words of small letters and digits with - between them; write "my-scheme"',
    ),
    (
        "scheme",
        "my_scheme",
        '"my_scheme": a name is words of small letters and digits with - between them; write "my-scheme"',
    ),
    ("scheme", "9-lives", '"9-lives": a name is words of small letters and digits with - between them'),
    ("sender", "", '"": a name is words of small letters and digits with - between them'),
    ("scheme", "match", '"match": is a reserved word; choose another name'),
    ("scheme", "none", '"none": is a reserved word; choose another name'),
    ("scheme", "snoop", '"snoop": there is a scheme of that name already'),
    ("sender", "veno", '"veno": there is a sender of that name already'),
    ("sender", "westwood-plus", '"westwood-plus": there is a sender of that name already'),
    ("scheme", "testing", '"testing": crates/schemes/src/testing.rs is there already; choose another name'),
    ("scheme", "five", '"five": crates/schemes/tests/all/five.rs is there already; choose another name'),
    ("scheme", "wire", '"wire": crate schemes uses a crate of that name; choose another'),
    (
        "scheme",
        "drop-tail",
        '"drop-tail": is a word of the layers below, which name no scheme (crates/mac/src/tx_queue/fifo.rs); '
        "choose another",
    ),
]


@pytest.mark.parametrize(("kind", "name", "why"), REFUSED, ids=[f"{kind}-{name}" for kind, name, _ in REFUSED])
def test_a_name_that_will_not_do_is_one_line_and_nothing_is_written(
    kind: str, name: str, why: str, call: Callable[..., Any], untouched: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(untouched)
    before = files(untouched)
    assert call("new", kind, name) == (2, "", f"interlayer: {why}\n")
    assert files(untouched) == before


def test_a_file_that_is_there_already_is_named(call: Callable[..., Any], checkout: Path) -> None:
    (checkout / "docs/schemes/my-idea.md").write_text("mine")
    before = files(checkout)
    why = '"my-idea": docs/schemes/my-idea.md is there already; choose another name'
    assert call("new", "scheme", "my-idea") == (2, "", f"interlayer: {why}\n")
    assert files(checkout) == before


def test_without_a_checkout_it_says_where_to_go(
    call: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    why = "no checkout of Interlayer here: `new scheme` writes into one; outside it, `interlayer new crate`"
    assert call("new", "scheme", "my-idea") == (2, "", f"interlayer: {why}\n")
    status, out, err = call("new", "sender", "my-idea", "--checkout", tmp_path)
    assert (status, out, err) == (2, "", f"interlayer: --checkout: {tmp_path} is in no checkout of Interlayer\n")
    monkeypatch.setattr(scaffold, "own_checkout", lambda: None)
    why = "no checkout of Interlayer here, which the crate is compiled with; name one with --checkout DIR"
    assert call("new", "crate", "my-idea") == (2, "", f"interlayer: {why}\n")
    assert not list(tmp_path.iterdir())


def test_what_cannot_be_written_whole_is_taken_back(checkout: Path) -> None:
    shutil.rmtree(checkout / "docs/schemes")
    (checkout / "docs/schemes").write_text("a file where a folder belongs")
    before = files(checkout)
    with pytest.raises(OutputError, match=r"my-idea.md: .*; nothing was written"):
        scaffold.in_tree("scheme", "my-idea", checkout)
    assert files(checkout) == before


# --------------------------------------------------------------------------------------------------------- outside it


def test_a_crate_is_a_project_that_depends_on_the_checkout(
    call: Callable[..., Any], checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    before = files(checkout)
    assert call("new", "crate", "my-ideas", "--sender", "my-idea", "--checkout", checkout)[0] == 0
    assert files(checkout) == before
    made = files(tmp_path / "my-ideas")
    assert set(made) == {
        *(".gitignore", "Cargo.lock", "Cargo.toml", "README.md", "pyproject.toml", "scenario.toml"),
        *("python/my_ideas/__init__.py", "src/lib.rs", "src/my_idea.rs", "tests/run.rs"),
    }
    assert made["Cargo.lock"] == (checkout / "Cargo.lock").read_bytes()
    cargo = tomllib.loads(made["Cargo.toml"].decode())
    assert {d["path"].rpartition("/crates/")[0] for d in cargo["dependencies"].values() if "path" in d} == {
        "../checkout"
    }
    project = tomllib.loads(made["pyproject.toml"].decode())["project"]
    assert project["entry-points"]["interlayer.core"] == {"my-ideas": "my_ideas._core"}
    left = re.compile(r"my-crate|my_crate|my-part|my_part|CHECKOUT|REGISTRY|\bMAKE\b|my[-_]sender|use crate::")
    assert not {name: found for name, text in made.items() if (found := left.search(text.decode()))}


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["Mine"], '"Mine": a name is words of small letters and digits with - between them; write "mine"'),
        (["json"], '"json": Python has a module or a word of that name; choose another'),
        (["world"], '"world": a crate of Interlayer is called so; choose another name'),
        (["mine", "--scheme", "snoop"], '"snoop": Interlayer has a scheme of that name; choose another'),
        (["mine", "--scheme", "lib"], '"lib": is a reserved word; choose another name'),
        (
            ["mine", "--scheme", "a", "--sender", "b"],
            "--sender: a new crate begins with a scheme or a sender; add the other one by hand",
        ),
        (["there"], "{}/there: is there already; choose another name, or go to another folder"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_crate_that_will_not_do_is_one_line_and_nothing_is_written(
    arguments: list[str], why: str, call: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there").mkdir()
    (tmp_path / "there/mine.txt").write_text("mine")
    before = files(tmp_path)
    assert call("new", "crate", *arguments, "--checkout", ROOT) == (2, "", f"interlayer: {why.format(tmp_path)}\n")
    assert files(tmp_path) == before


def test_the_example_is_what_new_crate_writes(tmp_path: Path) -> None:
    scaffold.crate("thin-acks", "scheme", "thin-acks", tmp_path, ROOT)
    own = {
        ".gitignore",
        "README.md",
        "src/thin_acks.rs",
        "scenario.toml",
        "tests/alone.rs",
        "tests/run.rs",
        "Cargo.lock",
    }
    made, example = files(tmp_path / "thin-acks"), ROOT / "examples/thin-acks"
    path = Path(os.path.relpath(ROOT, tmp_path / "thin-acks")).as_posix().encode()
    for name in made.keys() - own:
        made[name] = made[name].replace(path, b"../..")
        assert (example / name).read_bytes() == made[name], f"examples/thin-acks/{name}"


# ----------------------------------------------------------------------------------------------------------- compiles


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("cargo") is None, reason="no cargo")
def test_crates_that_are_written_compile_without_a_warning() -> None:
    """Clippy has none either, with the options of the repository, which has compiled what they need by it."""
    outside = mirror.workspace("new", ["my-ideas", "my-senders"])
    scaffold.crate("my-ideas", "scheme", "my-idea", outside, ROOT)
    scaffold.crate("my-senders", "sender", "my-own", outside, ROOT)
    for name in ("my-ideas", "my-senders"):
        mirror.join(outside / name)
    options = ("--all-targets", "--features", "python", "--offline", "--quiet", "--", "-D", "warnings")
    mirror.cargo("clippy", "-p", "my-ideas", "-p", "my-senders", *options, cwd=outside)


@pytest.mark.whole
@pytest.mark.skipif(shutil.which("cargo") is None, reason="no cargo")
def test_what_is_written_compiles_where_it_stands_without_a_warning() -> None:
    """In a copy that stays where it is, so that cargo knows it again. That it passes, the tests of the crates see:
    `my_scheme` of crate schemes and `my_sender` of crate tcp are the templates."""
    root, outside = ROOT / "target/new-checkout", ROOT / "target/new-crates"
    for folder in (root, outside):
        shutil.rmtree(folder, ignore_errors=True)
    _copy(root)
    outside.mkdir()
    scaffold.in_tree("scheme", "my-idea", root)
    scaffold.in_tree("sender", "my-own", root)
    crates = [word for name in ("schemes", "schemes-tests", "tcp") for word in ("-p", f"interlayer-{name}")]
    told = mirror.cargo("check", "--offline", "--tests", *crates, cwd=root)
    scaffold.crate("my-ideas", "scheme", "my-idea", outside, ROOT)
    scaffold.crate("my-senders", "sender", "my-own", outside, ROOT)
    # As the repository's Cargo.toml has it: what comes from the registry, clippy has compiled already.
    profile = {"CARGO_PROFILE_DEV_OPT_LEVEL": "1", "CARGO_PROFILE_DEV_DEBUG": "1"}
    for name in ("my-ideas", "my-senders"):
        told += mirror.cargo("check", "--offline", "--all-targets", cwd=outside / name, variables=profile)
    assert "warning" not in told, told
