"""What of the laboratory a Linux access point can run today: priority for TCP's control packets, by nftables.

`ruleset` is the text, `conditions` what must hold, `ack_priority` loads and removes it, `openwrt` is the hotplug
script. `system` alone runs programs and reads the machine.
"""
