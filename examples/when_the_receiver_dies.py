"""LLE-TCP acknowledges what the other *station* has, not its host. What is lost if it dies? 20 deaths each."""

import interlayer as il

SLOW = {"model": "rate", "rate": "1 Mb/s"}
print("ACKs      reader    acknowledged and never delivered, worst of 20")
for scheme in ("none", "lle-tcp"):
    for reader in ("instant", "slow"):
        lost = []
        for i in range(20):
            cell = il.wlan(
                rate="11 Mb/s", flow=il.tcp(preset="rfc"), duration="6 s", scheme=() if scheme == "none" else scheme
            )
            cell = cell.set("event", [{"at": f"{3000 + 13.7 * i:.1f} ms", "kill": "receiver"}])
            cell = cell.set("flow.0.reader", SLOW if reader == "slow" else {"model": "instant"})
            lost.append(il.run(cell, seed=1 + i).flows["acked_undelivered_bytes"][0])
        print(f"{'TCP' if scheme == 'none' else scheme:<8}  {reader:<8}  {max(lost):>6} B")
