"""Shared fixtures. `core` is a test double; tests marked `core` use the compiled module itself."""

from __future__ import annotations

import os
import shutil
import sys
from importlib.util import find_spec

import pytest
from hypothesis import settings

from fake_core import Core

# The same examples every time, however busy the machine: a red test is then a red test.
settings.register_profile("interlayer", derandomize=True, deadline=None)
settings.load_profile("interlayer")


@pytest.fixture
def core(monkeypatch: pytest.MonkeyPatch) -> Core:
    """The package over the test double."""
    import interlayer

    double = Core()
    module = double.module()
    monkeypatch.setitem(sys.modules, "interlayer._core", module)
    monkeypatch.setattr(interlayer, "_core", module, raising=False)
    return double


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if find_spec("interlayer._core") is None:
        skip = pytest.mark.skip(reason="interlayer._core is not built: run `make build`")
        for item in items:
            if item.get_closest_marker("core"):
                item.add_marker(skip)


@pytest.fixture
def tshark() -> str:
    """The path of tshark. Without it the test is skipped, or fails where INTERLAYER_REQUIRE_TSHARK=1."""
    path = shutil.which("tshark")
    if path is None:
        if os.environ.get("INTERLAYER_REQUIRE_TSHARK") == "1":
            pytest.fail("tshark is required (INTERLAYER_REQUIRE_TSHARK=1) and not installed")
        pytest.skip("tshark is not installed")
    return path
