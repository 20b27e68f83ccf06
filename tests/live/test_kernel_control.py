"""A congestion control of the user's own in this kernel, from examples/bpf."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import namespaces
from interlayer.errors import KernelError, PlaceError
from interlayer.realtime import kernel_control
from interlayer.realtime.bpf_object import BpfObject
from interlayer.realtime.kernel_control import registered, remove_dead
from interlayer.realtime.programs import Programs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

EXAMPLE = Path(__file__).parents[2] / "examples/bpf"
OPS = 'SEC(".struct_ops")'
COMPILE = ["clang", "-target", "bpf", "-g", "-O2", "-c"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the example, compiled as its page says."""
    namespaces.needs("make", "clang", "bpftool")
    for file in ("/sys/kernel/btf/vmlinux", "/usr/include/bpf/bpf_helpers.h"):
        if not Path(file).exists():
            pytest.skip(f"no {file}")
    copy = tmp_path_factory.mktemp("bpf") / "example"
    shutil.copytree(EXAMPLE, copy, ignore=shutil.ignore_patterns("*.o"))
    subprocess.run(["make", "--silent", "-C", str(copy)], check=True)
    return copy


@pytest.fixture(scope="module")
def variant(folder: Path) -> Callable[..., str]:
    """Compiles the example with one text in the place of another; gives `bpf:FILE.o`."""

    def make(name: str, old: str, new: str, *options: str) -> str:
        source, made = folder / f"{name}.c", folder / f"{name}.o"
        text = (folder / "brake.bpf.c").read_text()
        assert old in text
        source.write_text(text.replace(old, new))
        subprocess.run([*COMPILE, *options, str(source), "-o", str(made)], check=True)
        return f"bpf:{made}"

    return make


def in_kernel() -> list[str]:
    return kernel_control.AVAILABLE.read_text().split()


def own(pid: int) -> list[str]:
    """What the kernel has of a process. Other tests may run beside this one."""
    return [name for name in in_kernel() if name.startswith(kernel_control._of_process(pid))]


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Path]:
    """A folder of tags. Neither there nor in the kernel has the test left anything when it is over."""
    if subprocess.run(["bpftool", "struct_ops", "list"], capture_output=True, check=False).returncode:
        pytest.skip("no privilege to load BPF programs")
    yield tmp_path / "run"
    assert own(os.getpid()) == []
    assert list((tmp_path / "run").glob("*")) == []


# --------------------------------------------------------------------------------------------------------- registered


def test_a_flow_runs_with_the_users_own_congestion_control(folder: Path, run: Path) -> None:
    namespaces.needs("iperf3", "ss", "ps")
    with namespaces.pair() as hosts, registered(f"bpf:{folder}/brake.o", run) as name, Programs(hosts) as running:
        assert name.endswith("_brake")
        flow = running.iperf3("up", "left", "right", seconds=5, total=1 << 23, congestion=name)
        running.wait()
        assert flow.report is not None
        assert flow.report.congestion == name


def test_the_same_file_twice_has_two_names_and_an_error_removes_both(folder: Path, run: Path) -> None:
    spec = f"bpf:{folder}/brake.o"

    def fail() -> None:
        with registered(spec, run) as one, registered(spec, run) as other:
            assert one != other
            assert {one, other} <= set(in_kernel())
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()


def test_an_error_of_the_run_stays_what_it_is(folder: Path, run: Path) -> None:
    def fail() -> None:
        with registered(f"bpf:{folder}/brake.o", run):
            raise OSError(5, "of the run")

    with pytest.raises(OSError, match="of the run") as caught:
        fail()
    assert type(caught.value) is OSError


def test_a_section_for_links_is_registered_without_one(variant: Callable[..., str], run: Path) -> None:
    with registered(variant("link", OPS, 'SEC(".struct_ops.link")'), run) as name:
        assert name in in_kernel()


def test_the_longest_name_keeps_to_the_kernels_length(variant: Callable[..., str], run: Path) -> None:
    with registered(variant("long", '.name = "brake"', '.name = "fifteen-letters"'), run) as name:
        assert len(name) <= 15
        assert name in in_kernel()


HOLD = """
import sys
from pathlib import Path
from interlayer.realtime.kernel_control import registered
with registered(sys.argv[1], Path(sys.argv[2])) as name:
    print(name, flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def foreign(folder: Path, tmp_path: Path, run: Path) -> Iterator[str]:
    """A congestion control that somebody else has registered. Its map has the name of ours."""
    name, file = f"x{os.getpid()}", tmp_path / "foreign.o"
    file.write_bytes(BpfObject(str(file), (folder / "brake.o").read_bytes()).renamed(name))
    subprocess.run(["bpftool", "struct_ops", "register", str(file)], check=True, capture_output=True)
    yield name
    (number,) = kernel_control._maps(name)
    subprocess.run(["bpftool", "struct_ops", "unregister", "id", str(number)], check=True, capture_output=True)


def test_what_a_killed_run_left_is_removed_by_the_next_start_and_nothing_else(
    folder: Path, run: Path, foreign: str
) -> None:
    spec = f"bpf:{folder}/brake.o"
    command = [sys.executable, "-c", HOLD, spec, str(run)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, **pipes) as killed, subprocess.Popen(command, **pipes) as other:
        dead, alive = killed.stdout.readline().strip(), other.stdout.readline().strip()
        killed.kill()
        killed.wait()
        assert own(killed.pid) == [dead]
        with registered(spec, run):
            assert own(killed.pid) == []
            assert own(other.pid) == [alive]
    assert own(other.pid) == []  # its standard input was closed
    assert foreign in in_kernel()


def test_what_bpftool_registers_after_its_parent_was_killed_is_removed_too(
    folder: Path, tmp_path: Path, run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow, begun = tmp_path / "bin" / "bpftool", tmp_path / "begun"
    slow.parent.mkdir()
    slow.write_text(f'#!/bin/sh\ntouch {begun}\nsleep 0.4\nexec {shutil.which("bpftool")} "$@"\n')
    slow.chmod(0o755)
    with monkeypatch.context() as patch:
        patch.setenv("PATH", f"{slow.parent}:{os.environ['PATH']}")
        command = [sys.executable, "-c", HOLD, f"bpf:{folder}/brake.o", str(run)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
            assert namespaces.soon(begun.exists)
            holder.kill()
    assert remove_dead(run) == []  # bpftool is still at it
    assert namespaces.soon(lambda: len(remove_dead(run)) == 1)
    assert own(holder.pid) == []


def test_a_tag_of_a_process_that_lives_or_of_what_it_cannot_have_registered_removes_nothing(run: Path) -> None:
    run.mkdir()
    gone = subprocess.Popen(["true"])
    gone.wait()
    kept = [f"bpf-{os.getpid()}-{kernel_control._start_time(os.getpid())}-il_0_0_brake", "bpf-notes"]
    for name in (*kept, f"bpf-{gone.pid}-1-reno", f"bpf-{gone.pid}-1-il_zzzz_0_brake"):
        (run / name).touch()
    assert remove_dead(run) == []
    assert {path.name for path in run.iterdir()} == set(kept)
    for name in kept:
        (run / name).unlink()


# ------------------------------------------------------------------------------------------------------------- refused


def refused(spec: str, run: Path) -> KernelError:
    with pytest.raises(KernelError) as caught, registered(spec, run):
        pass
    assert caught.value.status == 2
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith(f"{spec}: ")
    return caught.value


@pytest.mark.parametrize(
    ("old", "new", "told", "detail"),
    [
        ("own->queueing_us = ", "((struct tcp_sock *)sk)->srtt_us = ", "refuses acked: no write", "tcp_sock at off"),
        ("Dual MIT/GPL", "MIT", "refuses acked: struct ops programs must have a GPL compatible license", "license"),
        ("tcp_reno_undo_cwnd", "tcp_xeno_undo_cwnd", "'tcp_xeno_undo_cwnd': not found in kernel", "failed to load"),
        ("struct brake {", f"struct tcp_congestion_ops two {OPS} = {{}};\nstruct brake {{", "it has 2 congestion", ""),
        (OPS, 'SEC(".data.ops")', 'no struct tcp_congestion_ops in a section ".struct_ops"', ""),
        ("#define TOLERATE", f"int other {OPS} = 1;\n#define TOLERATE", '"other" in its section', ""),
    ],
)
def test_what_the_kernel_does_not_take_is_one_line(
    variant: Callable[..., str], run: Path, old: str, new: str, told: str, detail: str
) -> None:
    error = refused(variant("bad", old, new), run)
    assert told in str(error)
    assert detail in error.details
    assert len(error.details.splitlines()) <= 20


def test_what_is_no_bpf_object_is_one_line(variant: Callable[..., str], tmp_path: Path, run: Path) -> None:
    text = tmp_path / "brake.c"
    text.write_text("no object")
    assert "no BPF object file" in str(refused(f"bpf:{text}", run))
    assert "no BPF object file" in str(refused(f"bpf:{sys.executable}", run))
    assert "no BTF in it" in str(refused(variant("nobtf", "brake", "brake", "-g0"), run))
    with pytest.raises(PlaceError, match=r"absent\.o: no such file"), registered(f"bpf:{tmp_path}/absent.o", run):
        pass


def test_no_bpftool_is_one_line(folder: Path, run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = f"bpf:{folder}/brake.o"
    with monkeypatch.context() as patch:
        patch.setenv("PATH", "/nonexistent")
        assert "no bpftool" in str(refused(spec, run))


def test_no_privilege_is_one_line(folder: Path, tmp_path: Path) -> None:
    namespaces.needs("unshare")
    if os.geteuid():
        assert "no privilege" in str(refused(f"bpf:{folder}/brake.o", tmp_path / "run"))
        return
    command = ["unshare", "-r", sys.executable, "-c", HOLD, f"bpf:{folder}/brake.o", str(tmp_path / "run")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    if done.returncode and done.stderr.startswith("unshare"):
        pytest.skip("no user namespaces")
    assert "KernelError" in done.stderr.splitlines()[-1]
    assert "no privilege to load BPF programs" in done.stderr.splitlines()[-1]
    assert list((tmp_path / "run").iterdir()) == []


def test_a_damaged_object_is_refused_or_read_and_nothing_else(folder: Path) -> None:
    data = (folder / "brake.o").read_bytes()
    draw = random.Random(802)
    headers = int.from_bytes(data[40:48], "little")
    for _ in range(1000):
        broken = bytearray(data[: draw.choice([len(data), draw.randrange(len(data))])])
        for _ in range(draw.randrange(4)):
            at = draw.choice([draw.randrange(64), min(headers + draw.randrange(2048), len(broken) - 1)])
            broken[min(at, len(broken) - 1)] = draw.randrange(256)
        try:
            renamed = BpfObject("broken.o", bytes(broken)).renamed("il_1_0_brake")
        except KernelError:
            continue
        assert len(renamed) == len(broken)
