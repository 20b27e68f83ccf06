"""How many saturated stations until collisions eat half of what they send?"""

import interlayer as il

print("senders  frames that collide  throughput, Mb/s")
for senders in (1, 2, 5, 10, 20, 30, 40, 50):
    cell = il.wlan(senders + 1, rate="11 Mb/s", flow=il.udp(), duration="12 s", radio={"queue": {"packets": 2}})
    result = il.run(cell, seed=1, runs=4)
    lost = result.estimate("summary.collision_probability")
    rate = result.estimate("summary.datagram_throughput").scaled(1e-6)
    print(f"{senders:>7}  {lost.mean:>19.1%}  {rate}{'   <- half' if lost.mean >= 0.5 else ''}")
    if lost.mean >= 0.5:
        break
