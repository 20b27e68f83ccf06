"""Shared fixtures. `core` is a test double; tests marked `core` use the compiled module itself.

`reproduced` gives an experiment over the compiled module. It runs once, whichever test modules ask for it.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from functools import partial
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings

import toy_paper
from fake_core import Core

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Browser

    from explore_client import Client
    from interlayer.study.outcome import Outcome

ROOT = Path(__file__).parents[2]

# The same examples every time, however busy the machine: a red test is then a red test.
settings.register_profile("interlayer", derandomize=True, deadline=None)
settings.load_profile("interlayer")


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    """The explorer's page, asked by HTTP."""
    from explore_client import served

    with served() as found:
        yield found


@pytest.fixture(autouse=True)
def no_store(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A store of the user's is none of the tests' business; what judges papers shares that of `make validate`."""
    if request.node.get_closest_marker("papers") is None:
        monkeypatch.delenv("INTERLAYER_STORE", raising=False)


@pytest.fixture
def common_store(
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path_factory: pytest.TempPathFactory,
    no_store: None,
) -> Iterator[None]:
    """One store for tests of the same experiment, in all processes of pytest: one test at a time, the first simulates.

    `test_store` shows that a store changes no result.
    """
    if request.node.get_closest_marker("papers") is not None:
        yield
        return
    base = tmp_path_factory.getbasetemp()
    folder = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    monkeypatch.setenv("INTERLAYER_STORE", str(folder / "common.db"))
    with (folder / "common.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@pytest.fixture(autouse=True)
def own_core(monkeypatch: pytest.MonkeyPatch) -> None:
    """The package's own core, whatever crate with schemes the user has installed."""
    monkeypatch.setenv("INTERLAYER_CORE", "interlayer")


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[Any, str, str]]:
    """Calls the command; gives (status, stdout, stderr)."""
    from interlayer import cli

    def run(*arguments: object) -> tuple[Any, str, str]:
        with pytest.raises(SystemExit) as stop:
            cli.main(list(map(str, arguments)))
        return stop.value.code, *capsys.readouterr()

    return run


@pytest.fixture
def core(monkeypatch: pytest.MonkeyPatch) -> Core:
    """The package over the test double."""
    return Core.installed(monkeypatch)


@pytest.fixture
def toy(core: Core, tmp_path: Path) -> Callable[..., Outcome]:
    """Runs the toy of a paper with the claims that it is given. Modules may have another toy of their own."""
    toy_paper.put(core, tmp_path)
    return partial(toy_paper.run, tmp_path)


@pytest.fixture(scope="session")
def renew() -> Any:
    """docs/renew.py: what the pages show. It keeps the outcomes of the experiments that it has run."""
    spec = spec_from_file_location("renew", ROOT / "docs" / "renew.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "docs")  # it imports stamps.py beside it
        spec.loader.exec_module(module)
    return module


@pytest.fixture
def reproduced(renew: Any, common_store: None) -> Callable[[str], Outcome]:
    """An experiment's outcome by its id, each run once in the whole session."""
    found: Callable[[str], Outcome] = renew.reproduced
    return found


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if find_spec("interlayer._core") is None:
        skip = pytest.mark.skip(reason="interlayer._core is not built: run `make build`")
        for item in items:
            if item.get_closest_marker("core"):
                item.add_marker(skip)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium of the system, driven by Playwright. Without one of them the test is skipped, or fails where
    INTERLAYER_REQUIRE_BROWSER=1."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    missing = "chromium" if chromium is None else "playwright" if find_spec("playwright") is None else None
    if missing is not None:
        if os.environ.get("INTERLAYER_REQUIRE_BROWSER") == "1":
            pytest.fail(f"{missing} is required (INTERLAYER_REQUIRE_BROWSER=1) and not installed")
        pytest.skip(f"{missing} is not installed")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--js-flags=--expose-gc"])
        yield found
        found.close()


@pytest.fixture
def tshark() -> str:
    """The path of tshark. Without it the test is skipped, or fails where INTERLAYER_REQUIRE_TSHARK=1."""
    path = shutil.which("tshark")
    if path is None:
        if os.environ.get("INTERLAYER_REQUIRE_TSHARK") == "1":
            pytest.fail("tshark is required (INTERLAYER_REQUIRE_TSHARK=1) and not installed")
        pytest.skip("tshark is not installed")
    return path
