"""A crate outside the repository: its core is found, its schemes are known, its results are its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
import zipfile
from configparser import ConfigParser
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest

import interlayer
import mirror
from interlayer import core as cores
from interlayer import simulator
from interlayer.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples/thin-acks"

# ------------------------------------------------------------------------------------------------- which core it takes


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Packages that bring a core, by name; the variable as it is out of the box."""
    monkeypatch.delenv("INTERLAYER_CORE")

    def install(**modules: ModuleType | None) -> None:
        monkeypatch.setattr(cores, "_installed", lambda: {name: f"{name}._core" for name in modules})
        for name, module in modules.items():
            monkeypatch.setitem(sys.modules, f"{name}._core", module)
        cores._outside.cache_clear()

    return install


def module(**attributes: Any) -> ModuleType:
    found = ModuleType("outside")
    stub = Path(interlayer.__file__).with_name("_core.pyi").read_text("utf-8")
    found.__dict__.update({"interface": stub, "__file__": __file__, **attributes})
    return found


def test_its_own_core_unless_a_crate_is_installed(installed: Callable[..., None], core: Any) -> None:
    installed()
    assert simulator.version() == "0.0.0-fake"
    mine = module(__version__="0.1.0", outside=("mine", "0.2.0", ["scheme my-idea"]))
    installed(mine=mine)
    assert cores.load() is mine
    digest = simulator.core_hash()
    assert simulator.version() == interlayer.__version__ == f"0.1.0+mine.0.2.0.{digest[:8]}"
    parts = {"crate": "mine", "version": "0.2.0", "parts": ["scheme my-idea"], "hash": digest}
    assert simulator.outside() == parts


def test_of_several_one_is_chosen(installed: Callable[..., None], core: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = module(), module()
    installed(one=one, other=other)
    with pytest.raises(InputError) as error:
        cores.load()
    assert str(error.value) == (
        "one, other: each brings a core of its own; choose one by INTERLAYER_CORE=NAME, or interlayer for none"
    )
    monkeypatch.setenv("INTERLAYER_CORE", "other")
    assert cores.load() is other
    monkeypatch.setenv("INTERLAYER_CORE", "interlayer")
    assert simulator.version() == "0.0.0-fake"
    monkeypatch.setenv("INTERLAYER_CORE", "othr")
    with pytest.raises(InputError) as error:
        cores.load()
    assert str(error.value) == ('INTERLAYER_CORE: no installed package brings a core "othr"; did you mean "other"?')


@pytest.mark.parametrize("interface", [None, "another"])
def test_a_core_of_another_version_is_refused(
    interface: str | None, installed: Callable[..., None], call: Callable[..., Any]
) -> None:
    installed(mine=module(interface=interface))
    why = "its core was built for another version of Interlayer; build it again against this version"
    line = f"interlayer: mine: {why}, or set INTERLAYER_CORE=interlayer to go without it\n"
    assert call("-V") == (2, "", line)


def test_a_core_that_does_not_load_is_an_input_error(installed: Callable[..., None]) -> None:
    installed(mine=None)
    with pytest.raises(InputError, match=r"^mine: .*; build it again against this version, or set "):
        cores.load()


# -------------------------------------------------------------------------------------------------- one that is built

UNOPTIMISED = {"CARGO_PROFILE_DEV_OPT_LEVEL": "0", "CARGO_PROFILE_DEV_DEBUG": "0"}


@pytest.fixture(scope="module", params=["member", pytest.param("wheel", marks=pytest.mark.whole)])
def site(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example as if it were installed: as a member of the repository, with what a wheel has laid out by hand, or
    its wheel, unpacked."""
    if shutil.which("cargo") is None:
        pytest.skip("no cargo")
    folder = tmp_path_factory.mktemp("outside")
    return _member(folder) if request.param == "member" else _wheel(folder)


def _member(folder: Path) -> Path:
    outside = mirror.workspace("thin-acks", ["thin-acks"])
    left_out = shutil.ignore_patterns("target", "Cargo.lock", "__pycache__")
    shutil.copytree(EXAMPLE, outside / "thin-acks", ignore=left_out)
    mirror.join(outside / "thin-acks")
    build = ("build", "--profile", "test", "-p", "thin-acks", "--features", "python", "--lib", "--offline", "--quiet")
    mirror.cargo(*build, cwd=outside)
    shutil.copytree(EXAMPLE / "python/thin_acks", folder / "thin_acks")
    shutil.copy(ROOT / "target/debug/libthin_acks.so", folder / "thin_acks/_core.abi3.so")
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text("utf-8"))["project"]
    about = folder / "thin_acks-0.1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: 0.1.0\n")
    points = ConfigParser()
    points.read_dict(project["entry-points"])
    with (about / "entry_points.txt").open("w", encoding="utf-8") as file:
        points.write(file)
    return folder


def _wheel(folder: Path) -> Path:
    if shutil.which("maturin", path=str(Path(sys.executable).parent)) is None:
        pytest.skip("no maturin")
    shutil.copy(ROOT / "Cargo.lock", EXAMPLE)
    maturin = [Path(sys.executable).with_name("maturin"), "build", "--profile", "dev", "--offline", "--quiet"]
    done = subprocess.run(
        [*maturin, "--out", folder],
        cwd=EXAMPLE,
        env={**os.environ, **UNOPTIMISED, "CARGO_TARGET_DIR": str(ROOT / "target")},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "site")
    return folder / "site"


@pytest.fixture
def command(site: Path, tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """`interlayer` where the example is installed; keywords are variables."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    here = str(Path(interlayer.__file__).parents[1])
    path = os.pathsep.join([str(site), here, os.environ.get("PYTHONPATH", "")])
    clean = {name: value for name, value in os.environ.items() if name != "INTERLAYER_CORE"}

    def run(*arguments: object, **variables: str) -> subprocess.CompletedProcess[str]:
        whole = [sys.executable, "-m", "interlayer", *map(str, arguments)]
        environment = {**clean, "PYTHONPATH": path, **variables}
        return subprocess.run(whole, cwd=tmp_path, env=environment, capture_output=True, text=True)

    return run


SHORT = ("examples/single-hop.toml", "--set", "scenario.duration=3 s", "--set", "scenario.warmup=1 s")
EVERY = ("--set", "flow.upload.transport.receiver=every")
THIN = (*SHORT, *EVERY, "--set", "scheme=[{ name = 'thin-acks', n = 2 }]")


@pytest.mark.slow
@pytest.mark.core
def test_the_example_is_known_runs_and_does_what_it_says(
    command: Callable[..., subprocess.CompletedProcess[str]],
) -> None:
    listed = json.loads(command("list", "schemes", "--json", "-").stdout)
    (entry,) = [scheme for scheme in listed if scheme["id"] == "thin-acks"]
    assert (entry["sits"], entry["turns"]) == ("to-air", "packets")
    done = command("run", *THIN, "--runs", 1, "--json", "-")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    rows = {row["node"]: row for row in result["schemes"]}
    seen, dropped = (rows["server"][name]["mean"] for name in ("acks_seen", "acks_dropped"))
    assert seen > 500
    assert dropped == (seen + 1) // 2  # the first of each two
    assert rows["laptop"]["acks_seen"]["mean"] <= 1  # its own ACK is that of the handshake
    # Fewer ACKs are on the air, so more is left for data.
    plain = json.loads(command("run", *SHORT, *EVERY, "--runs", 1, "--json", "-").stdout)
    assert result["flows"][0]["goodput_bps"]["mean"] > 1.03 * plain["flows"][0]["goodput_bps"]["mean"]


@pytest.mark.slow
@pytest.mark.core
def test_its_results_are_not_taken_for_those_of_the_released_package(
    command: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    version = command("-V").stdout.split()[1]
    released, plus, own = version.partition("+")
    assert (released, plus, own[:16]) == (simulator.version(), "+", "thin-acks.0.1.0.")
    # The same scenario without its scheme: the store has one run of each core, and each finds its own again.
    for variables in ({}, {"INTERLAYER_CORE": "interlayer"}, {}):
        done = command("run", *SHORT, "--runs", 1, "--json", "-", "--store", "runs.db", **variables)
        assert done.returncode == 0, done.stderr
        result = json.loads(done.stdout)
        outside = result.get("outside")
        if variables:
            assert (result["version"], outside) == (released, None)
        else:
            assert result["version"] == version
            assert (outside["crate"], outside["version"], outside["parts"]) == (
                "thin-acks",
                "0.1.0",
                ["scheme thin-acks"],
            )
            assert outside["hash"].startswith(own.rpartition(".")[2])
    found = json.loads(command("store", "list", "--store", "runs.db", "--json", "-").stdout)["cores"]
    assert {(core["version"], core["runs"]) for core in found} == {(version, 1), (released, 1)}
    assert len({core["core"] for core in found}) == 2
    # Tables and files say it, too.
    compared = command("compare", *SHORT, "--schemes", "none,thin-acks", "--runs", 2, "--out", "out")
    assert f"Interlayer {version}" in compared.stdout, compared.stderr
    assert version in (tmp_path / "out/index.html").read_text()
    # Without the crate its scheme is not known.
    without = command("run", *THIN, INTERLAYER_CORE="interlayer")
    assert without.returncode == 2
    assert 'no scheme "thin-acks"' in without.stderr


@pytest.mark.slow
@pytest.mark.core
def test_python_and_the_schema_know_it(site: Path) -> None:
    program = """
import json, interlayer
from interlayer import simulator
cell = interlayer.wlan(duration="2 s", warmup="1 s").set("scheme", [{"name": "thin-acks"}])
assert interlayer.run(cell, seed=1).flows["goodput_bps"].min() > 0
assert "thin-acks" in simulator._module().schema()
print(interlayer.__version__)
"""
    here = str(Path(interlayer.__file__).parents[1])
    clean = {name: value for name, value in os.environ.items() if name != "INTERLAYER_CORE"}
    environment = {**clean, "PYTHONPATH": os.pathsep.join([str(site), here])}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"{simulator.version()}+thin-acks.0.1.0.")
