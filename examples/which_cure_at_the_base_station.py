"""The radio loses one datagram in a hundred for good: which cure at the access point helps a server behind a wire?"""

from pathlib import Path

import interlayer as il

cures = ["none", "lle-tcp", "snoop", "eln", "ebsn", "ewa", "i-tcp"]
result = il.compare(Path(__file__).with_name("coffee-shop.toml"), cures, runs=10)
print("           goodput, Mb/s   against none   timeouts")
for cure in cures:
    goodput, timeouts = result.estimate(cure).scaled(1e-6), result.estimate(cure, "timeouts")
    change = "" if cure == "none" else result.difference(cure)
    against = f"{change.relative:+.0f} %{'' if change.significant else ' (not shown)'}" if change else ""
    print(f"{cure:<10} {goodput!s:<15} {against:<14} {timeouts}")
