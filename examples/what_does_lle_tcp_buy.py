"""What does LLE-TCP buy when one frame in a hundred is lost?"""

import interlayer as il


def ten_runs(**more):
    return il.run(il.wlan(rate="11 Mb/s", flow=il.tcp("reno", preset="rfc"), loss=0.01, **more), seed=1, runs=10)


plain, cured = ten_runs(), ten_runs(scheme="lle-tcp")
for name, result in [("Reno", plain), ("Reno with LLE-TCP", cured)]:
    print(f"{name:<18} {result.estimate('flow.0.goodput').scaled(1e-6)} Mb/s")
print(f"{'gain':<18} {cured.gain_over(plain, 'flow.0.goodput').scaled(100)} %")
