"""Our `preset = "linux"` against this machine's kernel: the same line, the same data packets lost, goodput of both."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import mean
from typing import Any

import kernel

ROOT = Path(__file__).resolve().parents[2]
PATH = {"rate_bps": 10_000_000, "delay_us": 20_000, "buffer_bytes": 50_000}
"""10 Mb/s, 20 ms each way, and a buffer of one bandwidth-delay product."""
SECONDS = 30
RUNS = 5
LOSSES = (0.0, 0.001, 0.01, 0.03)
CONTROLS = ("reno", "cubic", "bbr")


def ordinals(loss: float, seed: int) -> list[int]:
    """Which data packets are lost: each with this probability, as many as a minute could need."""
    draws = random.Random(f"{loss} {seed}")
    return [i for i in range(1, 60_000) if draws.random() < loss]


def build() -> Path:
    """Compiles our side."""
    command = ["cargo", "build", "--release", "--quiet", "--locked", "-p", "interlayer-tcp", "--example", "line"]
    subprocess.run(command, cwd=ROOT, check=True)
    return ROOT / "target" / "release" / "examples" / "line"


def ours(program: Path, control: str, lost: list[int], seed: int) -> dict[str, Any]:
    """One run of ours."""
    numbers = [PATH["rate_bps"], PATH["delay_us"], PATH["buffer_bytes"], SECONDS, seed]
    done = subprocess.run(
        [str(program), control, *map(str, numbers)],
        input=" ".join(map(str, lost)),
        capture_output=True,
        text=True,
        check=True,
    )
    by_second, counts = done.stdout.splitlines()
    data, dropped, refused, retransmissions, timeouts = map(int, counts.split())
    return {
        "by_second": list(map(int, by_second.split())),
        "data_packets": data,
        "dropped": dropped,
        "refused": refused,
        "retransmissions": retransmissions,
        "timeouts": timeouts,
    }


def theirs(line: Path, control: str, lost: list[int]) -> dict[str, Any]:
    """One run of the kernel's."""
    with kernel.start(line, control, PATH, lost, SECONDS) as process:
        assert process.stdout is not None
        return json.loads(process.stdout.read())


def goodput(run: dict[str, Any]) -> float:
    """Mb/s of payload that arrived in the whole time."""
    return sum(run["by_second"]) * 8 / SECONDS / 1e6


def measure(
    controls: tuple[str, ...] = CONTROLS, losses: tuple[float, ...] = LOSSES, at_once: int = 3
) -> list[dict[str, Any]]:
    """A row for each control and loss: the mean goodput of both, and the runs."""
    program = build()
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(at_once) as pool:
        line = kernel.build(Path(folder))
        tasks = {
            (control, loss): [pool.submit(theirs, line, control, ordinals(loss, seed)) for seed in range(1, RUNS + 1)]
            for control in controls
            for loss in losses
        }
        rows = []
        for (control, loss), futures in tasks.items():
            kernel_runs = [future.result() for future in futures]
            our_runs = [ours(program, control, ordinals(loss, seed), seed) for seed in range(1, RUNS + 1)]
            both = mean(map(goodput, our_runs)), mean(map(goodput, kernel_runs))
            rows.append(
                {
                    "control": control,
                    "loss": loss,
                    "ours_mbps": both[0],
                    "kernel_mbps": both[1],
                    "ratio": both[0] / both[1],
                    "ours": our_runs,
                    "kernel": kernel_runs,
                }
            )
            row = rows[-1]
            spread = [sorted(round(goodput(r), 2) for r in runs) for runs in (our_runs, kernel_runs)]
            print(
                f"{control:6} {loss:6.3f}  ours {both[0]:6.3f}  kernel {both[1]:6.3f}",
                f"{100 * (row['ratio'] - 1):+5.1f} %",
                *spread,
                max(r["late_ns"][1] for r in kernel_runs) // 1000,
                flush=True,
            )
    return rows


if __name__ == "__main__":
    measure(tuple(sys.argv[1:]) or CONTROLS)
