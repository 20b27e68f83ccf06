"""Wheels: what `make wheels` makes of them, and those that it has made (in the folder `INTERLAYER_WHEELS`)."""

from __future__ import annotations

import base64
import csv
import email
import hashlib
import importlib.util
import io
import json
import os
import platform
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
MADE = sorted(Path(os.environ["INTERLAYER_WHEELS"]).glob("*.whl")) if "INTERLAYER_WHEELS" in os.environ else []

needs_wheels = pytest.mark.skipif("INTERLAYER_WHEELS" not in os.environ, reason="wheels are tested by `make wheels`")


@pytest.fixture(scope="module")
def tool() -> Any:
    """tools/wheels.py."""
    spec = importlib.util.spec_from_file_location("wheels", ROOT / "tools" / "wheels.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def records_hold(wheel: Path) -> None:
    """RECORD has each file with its hash and size, as an installer checks them."""
    with zipfile.ZipFile(wheel) as file:
        assert file.testzip() is None
        (name,) = (n for n in file.namelist() if n.endswith(".dist-info/RECORD"))
        rows = {row[0]: row[1:] for row in csv.reader(io.StringIO(file.read(name).decode()))}
        assert set(rows) == set(file.namelist())
        for path, (digest, size) in rows.items():
            if path == name:
                continue
            content = file.read(path)
            found = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            assert (digest, int(size)) == (f"sha256={found}", len(content)), path


PAGE = """# A page

See [the list](docs/list.md#top) · [a site](https://example.org/) · [below](#end).

![A picture, with [brackets]](docs/figures/a.png)

```sh
run [this](as/it/stands.md)
```
"""


def test_links_of_the_page_lead_into_the_repository_or_are_text(tool: Any) -> None:
    assert tool.for_index(PAGE, "https://example.org/it").splitlines()[2:] == [
        "See [the list](https://example.org/it/blob/main/docs/list.md#top) · [a site](https://example.org/) · below.",
        "",
        "![A picture, with [brackets]](https://example.org/it/raw/main/docs/figures/a.png)",
        "",
        *PAGE.splitlines()[6:],
    ]
    assert tool.for_index(PAGE, None).splitlines()[2:] == [
        "See the list · [a site](https://example.org/) · below.",
        "",
        "",
        "",
        *PAGE.splitlines()[6:],
    ]
    readme = tool.for_index((ROOT / "README.md").read_text("utf-8"), None)
    assert "](docs/" not in readme
    assert "getting started ·" in readme
    assert "make demo" in readme


def test_a_finished_wheel_has_the_page_of_an_index_and_its_records_hold(tool: Any, tmp_path: Path) -> None:
    raw = tmp_path / "raw" / "it-1.0-py3-none-any.whl"
    raw.parent.mkdir()
    files = {
        "it/__init__.py": b"x = 1\n" * 1000,
        "it-1.0.dist-info/METADATA": f"Metadata-Version: 2.4\nName: it\nVersion: 1.0\n\n{PAGE}".encode(),
    }
    lines = [f"{name},sha256={'0' * 43},1" for name in files if name.endswith("METADATA")]
    digest = base64.urlsafe_b64encode(hashlib.sha256(files["it/__init__.py"]).digest()).rstrip(b"=").decode()
    lines += [f"it/__init__.py,sha256={digest},6000", "it-1.0.dist-info/RECORD,,"]
    with zipfile.ZipFile(raw, "w") as file:
        for name, content in {**files, "it-1.0.dist-info/RECORD": "\n".join(lines).encode()}.items():
            file.writestr(name, content)
    done = tool.finish(raw, tmp_path, None)
    records_hold(done)
    assert done.stat().st_size < raw.stat().st_size
    with zipfile.ZipFile(done) as file:
        message = email.message_from_bytes(file.read("it-1.0.dist-info/METADATA"))
        assert message["Name"] == "it"
        assert message.get_payload(decode=True).decode() == tool.for_index(PAGE, None)
        assert file.read("it/__init__.py") == files["it/__init__.py"]


def test_a_wheel_that_is_too_large_is_refused(tool: Any, tmp_path: Path) -> None:
    large = tmp_path / "it-1.0-py3-none-any.whl"
    large.write_bytes(b"\0" * (tool.MOST_BYTES + 1))
    assert tool.wrong(large) == "2000001 bytes, more than 2000000"
    large.write_bytes(b"\0" * tool.MOST_BYTES)
    assert tool.wrong(large) is None


@needs_wheels
def test_each_wheel_is_whole(tool: Any) -> None:
    assert MADE
    for wheel in MADE:
        records_hold(wheel)
        assert wheel.stat().st_size <= tool.MOST_BYTES
        assert wheel.name.startswith("interlayer-0.1.0-cp311-abi3-"), "one for every CPython from 3.11"
        with zipfile.ZipFile(wheel) as file:
            names = set(file.namelist())
            inside = "interlayer-0.1.0.dist-info"
            metadata = email.message_from_bytes(file.read(f"{inside}/METADATA"))
            assert "](docs/" not in str(metadata.get_payload())
            assert {f"{inside}/licenses/LICENSE-{one}" for one in ("MIT", "APACHE")} <= names
            assert json.loads(file.read(f"{inside}/sboms/interlayer-module.cyclonedx.json"))["bomFormat"] == "CycloneDX"
        assert any(name.startswith("interlayer/_core.") for name in names)
        here = {p.relative_to(ROOT / "python").as_posix() for p in (ROOT / "python/interlayer").rglob("*.toml")}
        page = (ROOT / "python/interlayer/explore/page").iterdir()
        here |= {file.relative_to(ROOT / "python").as_posix() for file in page}
        assert here <= names, "every experiment is inside, and the page of the explorer"


@needs_wheels
def test_the_wheel_of_this_machine_reproduces_a_figure_in_an_empty_environment(tmp_path: Path) -> None:
    (wheel,) = (w for w in MADE if platform.machine() in w.name)
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    python = tmp_path / "venv" / "bin" / "python"
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel]
    subprocess.run(install, check=True)
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "INTERLAYER"))}
    words = ["reproduce", "lle-fig-3.7b", "--quick", "--out", "out", "--json", "r.json"]
    command = [tmp_path / "venv" / "bin" / "interlayer", *words]
    subprocess.run(command, cwd=tmp_path, env=environment, check=True, stdout=subprocess.DEVNULL)
    assert (tmp_path / "out" / "lle-fig-3.7b.png").stat().st_size > 10_000
    found = json.loads((tmp_path / "r.json").read_text())
    here = [sys.executable, "-m", "interlayer", *words[:3], "--json", "-"]
    mine = json.loads(subprocess.run(here, capture_output=True, check=True).stdout)
    assert found["rows"] == mine["rows"], "another linker and another C library change no bit"
    assert found["rows"]
