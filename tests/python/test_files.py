"""Files that are no scenario: the same line from every verb and from Python, and it names the file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import interlayer as il
from interlayer import cli
from interlayer.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

VERBS = (
    ["run", "FILE"],
    ["check", "FILE"],
    ["compare", "FILE", "--schemes", "none,lle-tcp"],
    ["sweep", "FILE", "--over", "radio.rts_threshold=off,0 B"],
)
CALLS = (
    il.run,
    lambda path: il.compare(path, "none,lle-tcp"),
    lambda path: il.sweep(path, {"radio.rts_threshold": ["off"]}),
)
FILES = {
    "empty": ("", "is empty"),
    "blank": ("\n \n", "is empty"),
    "nul": ("[scenario]\n\0\n", "has NUL bytes, so it is no TOML text"),
    "no-toml": ("hello world\n", "line 1, column 7: key with no value, expected `=`"),
    "twice": ("[radio]\n[radio]\n", "line 2, column"),
    "incomplete": ('[scenario]\nname = "x"\nnode = 3\n[radio]\n', "scenario.node: no such key here"),
}


@pytest.mark.core
@pytest.mark.parametrize("name", FILES)
def test_every_verb_and_python_say_the_same_of_a_wrong_file(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content, says = FILES[name]
    path = tmp_path / f"{name}.toml"
    path.write_text(content)
    found = set()
    for words in VERBS:
        with pytest.raises(SystemExit) as stop:
            cli.main([str(path) if word == "FILE" else word for word in words])
        assert stop.value.code == 2
        told = capsys.readouterr().err.splitlines()
        assert all(line.startswith("interlayer: ") for line in told)
        found.add("\n".join(line.removeprefix("interlayer: ") for line in told))
    for call in CALLS:
        with pytest.raises(InputError) as caught:
            call(str(path))
        found.add(str(caught.value))
    assert len(found) == 1, found
    assert found.pop().startswith(f"{path}: {says}")


@pytest.mark.parametrize("name", ["empty", "blank", "nul"])
def test_load_refuses_a_file_that_can_be_no_scenario(name: str, tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_text(FILES[name][0])
    with pytest.raises(InputError, match=rf"x\.toml: {FILES[name][1]}"):
        il.load(path)


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("", 'scenario: "" names no file; give a path, or a scenario'),
        ("[scenario]\n", "scenario: expected a file's path; for TOML text there is interlayer.parse(text)"),
        ("a\0b", r"scenario: 'a\x00b' names no file"),
        (3, "scenario: expected a scenario or a file's path, not 3"),
        (None, "scenario: expected a scenario or a file's path, not None"),
    ],
)
def test_what_is_no_path_is_told(path: Any, says: str) -> None:
    for call in (il.load, *CALLS):
        with pytest.raises(InputError) as caught:
            call(path)
        assert str(caught.value) == says


@pytest.mark.core
def test_a_file_that_was_changed_is_named_and_a_parameter_of_the_call_is_not(tmp_path: Path) -> None:
    path = tmp_path / "cell.toml"
    path.write_text(il.wlan(duration="1 s", warmup="0 s").to_toml())
    with pytest.raises(InputError, match=r"cell\.toml: radio\.x: no such key"):
        il.run(il.load(path).set("radio.x", 1))
    with pytest.raises(InputError, match=r"^seed: -1 is not from 0"):
        il.run(path, seed=-1)
    assert il.load(path) == il.Scenario(path.read_text())
