"""Delayed ACK, or one ACK per segment? What each costs on the air, and what is left when ACKs never use it."""

import interlayer as il


def ten_runs(receiver, **more):
    return il.run(
        il.wlan(rate="11 Mb/s", flow=il.tcp("reno", preset="rfc", receiver=receiver), **more), seed=1, runs=10
    )


def ack_share(result):
    airtime = result.frames.group_by("class").sum().select("class", "airtime_s").rows()
    return dict(airtime).get("tcp-ack", 0.0) / result.frames["airtime_s"].sum()


print("receiver              goodput, Mb/s      of the airtime: TCP ACKs")
for receiver in ("every", "delayed-ack", "dynamic-delayed-ack"):
    result = ten_runs(receiver)
    print(f"{receiver:<20}  {result.estimate('flow.0.goodput').scaled(1e-6)}   {ack_share(result):6.1%}")
result = ten_runs("delayed-ack", scheme="lle-tcp")
print(f"{'none (lle-tcp)':<20}  {result.estimate('flow.0.goodput').scaled(1e-6)}   {ack_share(result):6.1%}")
