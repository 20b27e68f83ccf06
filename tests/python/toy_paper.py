"""A toy of a paper: a cell, a set-up with three open parameters, and claims. The fixture `toy` runs it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np

    from fake_core import Core
    from interlayer.study.outcome import Outcome

CELL = """
[scenario]
name = "cell"
[radio]
[channel]
per = 0.0
[[flow]]
from = "server"
to = "sta"
transport = { protocol = "tcp", preset = "rfc", datagram = "1000 B" }
"""
SETUP = """
title = "A set-up"
source = "nowhere"
[[parameter]]
name = "speed"
silent = "the text does not say how fast"
[[parameter.value]]
name = "slow"
[[parameter.value]]
name = "fast"
set = { "radio.speed" = 2 }
[[parameter]]
name = "counted"
silent = "nor what is counted"
[[parameter.value]]
name = "all"
[[parameter.value]]
name = "half"
metric = { goodput = "half" }
[[parameter]]
name = "helper"
silent = "nor how much it helps"
[[parameter.value]]
name = "a little"
[[parameter.value]]
name = "much"
scheme = { helper = { much = true } }
"""
HEAD = """
id = "toy"
title = "A toy"
source = "nowhere"
evidence = "simulation"
base = "cell.toml"
metric = "flow.0.goodput"
unit = "Mb/s"
max_runs = 20
[open]
setup = "setup.toml"
[sweep]
"channel.per" = [0.1, 0.2]
[arms]
plain = {}
helped = { scheme = [{ name = "helper" }] }
fixed = { "radio.speed" = 1 }
"""
VALUE = """
[[claim]]
text = "a claim"
kind = "value"
strength = "number"
expected = EXPECTED
where = { arm = "ARM", "channel.per" = 0.1 }
"""


def model(data: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """1 Mb/s less the errors, times the speed; a helper adds a tenth, or doubles it; a part in a thousand is noise."""
    rate = 1e6 * (1 - data["channel"]["per"]) * data["radio"].get("speed", 1) * (1 + 1e-3 * rng.standard_normal())
    for scheme in data.get("scheme", []):
        rate *= 2 if scheme.get("much") else 1.1
    return {"flows": [{"goodput_bps": rate, "half_bps": rate / 2, "until_s": 5.0, "drops": 0}]}


def put(core: Core, folder: Path) -> None:
    """The model into the test double, the files of the toy into a folder."""
    core.model = model
    (folder / "cell.toml").write_text(CELL)
    (folder / "setup.toml").write_text(SETUP)


def run(folder: Path, text: str, **options: Any) -> Outcome:
    """The toy of a paper with these claims, by the files of a folder."""
    from interlayer.study import campaign, reader

    return campaign.run(reader.parse(text, "toy.toml", folder), **options)


def claim(expected: str = "0.9", arm: str = "plain") -> str:
    return VALUE.replace("EXPECTED", expected).replace("ARM", arm)
