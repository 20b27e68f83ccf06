"""Nothing half-written, nothing left behind, and a place that cannot be written is known beforehand."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from interlayer.errors import InputError, InterlayerError, OutputError
from interlayer.show import output

not_root = pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")


def names(folder: Path) -> list[str]:
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*"))


def test_a_folder_appears_whole_at_commit(tmp_path: Path) -> None:
    with output.folder(tmp_path / "a" / "out") as staged:
        assert staged is not None
        (staged.path / "x").write_text("1")
        assert not (tmp_path / "a" / "out").exists()
        staged.commit()
    assert names(tmp_path) == ["a", "a/out", "a/out/interlayer.json", "a/out/x"]


def test_without_a_commit_nothing_is_left_not_even_the_parents(tmp_path: Path) -> None:
    with output.folder(tmp_path / "a" / "b" / "out") as staged:
        assert staged is not None
        (staged.path / "x").write_text("1")
    assert names(tmp_path) == []


def test_in_a_folder_that_exists_other_files_stay(tmp_path: Path) -> None:
    with output.folder(tmp_path / "out") as staged:
        assert staged is not None
        (staged.path / "x").write_text("old")
        staged.commit()
    (tmp_path / "out" / "mine").write_text("kept")
    with output.folder(tmp_path / "out") as staged:
        assert staged is not None
        (staged.path / "x").write_text("new")
        (staged.path / "sub").mkdir()
        (staged.path / "sub" / "y").write_text("new")
        staged.commit()
    assert names(tmp_path) == ["out", "out/interlayer.json", "out/mine", "out/sub", "out/sub/y", "out/x"]
    assert (tmp_path / "out" / "x").read_text() == "new"


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path: Path) -> None:
    target = tmp_path / "r.json"
    target.write_text("old")
    with output.file(target) as staged:
        assert staged is not None
        staged.path.write_text("half")
    assert target.read_text() == "old"
    with output.file(target) as staged:
        assert staged is not None
        staged.path.write_text("new")
        staged.commit()
    assert target.read_text() == "new"
    assert names(tmp_path) == ["r.json"]


def test_written_files_have_the_users_permissions(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        with output.file(tmp_path / "r.json") as a, output.folder(tmp_path / "out") as b:
            assert a is not None
            assert b is not None
            a.commit()
            b.commit()
    finally:
        os.umask(before)
    assert (tmp_path / "r.json").stat().st_mode & 0o777 == 0o644
    assert (tmp_path / "out").stat().st_mode & 0o777 == 0o755


def test_none_is_nowhere() -> None:
    with output.folder(None) as a, output.file(None) as b:
        assert a is None
        assert b is None


@pytest.mark.parametrize("place", ["file/out", "file", "dir.json"])
def test_a_place_that_cannot_be_is_refused_before_anything_runs(place: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "dir.json").mkdir()
    manager = output.file if place.endswith(".json") else output.folder
    with pytest.raises(InterlayerError) as caught, manager(tmp_path / place):
        pytest.fail("entered")
    assert str(tmp_path) in str(caught.value)
    assert names(tmp_path) == ["dir.json", "file"]


def test_a_file_in_no_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no folder"), output.file(tmp_path / "a" / "r.json"):
        pytest.fail("entered")


@not_root
def test_a_folder_without_permission_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(OutputError, match="permission denied"), output.folder(tmp_path / "out"):
        pytest.fail("entered")
    with pytest.raises(OutputError, match="permission denied"), output.folder(tmp_path):
        pytest.fail("entered")
