"""`preset = "linux"` of ours against the kernel of this machine, where it allows namespaces. About eleven minutes."""

import compare
import kernel
import pytest

OBSTACLE = kernel.obstacle()


@pytest.mark.skipif(OBSTACLE is not None, reason=f"this machine does not allow it: {OBSTACLE}")
@pytest.mark.parametrize("control", compare.CONTROLS)
def test_goodput_is_within_five_percent_of_the_kernels(control: str) -> None:
    if control not in kernel.controls():
        pytest.skip(f"this kernel has no {control}")
    for row in compare.measure((control,)):
        assert 0.95 <= row["ratio"] <= 1.05, {k: row[k] for k in ("control", "loss", "ours_mbps", "kernel_mbps")}


def test_a_hand_made_line_is_what_both_sides_say(tmp_path: object) -> None:
    """Ours alone: without loss 10 Mb/s of packets of 1500 B carry 1448 B of payload each, 9.653 Mb/s at most."""
    program = compare.build()
    run = compare.ours(program, "reno", [], 1)
    assert 0.97 * 9.653 < compare.goodput(run) <= 9.654
    assert run["dropped"] == 0
    # The first and the third data packet are lost: as many are dropped, and sent again.
    run = compare.ours(program, "reno", [1, 3], 1)
    assert run["dropped"] == 2
    assert run["retransmissions"] >= 2 + run["refused"]
