"""How often should the MAC try before it gives up, when one attempt in three fails?"""

import interlayer as il

print("attempts  goodput, Mb/s   given up   TCP timeouts")
for attempts in (1, 2, 3, 4, 5, 7):
    cell = il.wlan(rate="11 Mb/s", flow=il.tcp("newreno", preset="rfc"), loss=1 / 3, radio={"max_attempts": attempts})
    result = il.run(cell, seed=1, runs=10)
    nodes = result.nodes.sum()
    lost = nodes["msdus_given_up"][0] / nodes["msdus_offered"][0]
    timeouts = result.estimate("flow.0.timeouts")
    print(f"{attempts:>8}  {result.estimate('flow.0.goodput').scaled(1e-6)}  {lost:>8.2%}   {timeouts}")
