"""The hotplug script for OpenWrt 24.10 and 25.12: it loads the table when a wireless device comes up.

- Which event: the kernel announces a device that was made or renamed, and procd calls /etc/hotplug.d/net with ACTION
  and INTERFACE (openwrt, package/system/procd/files/hotplug.json). `wifi reload` removes and makes devices, or renames
  that of a full-MAC driver (wifi-scripts, usr/share/hostap/common.uc: `wdev_create`). The scripts of
  /etc/hotplug.d/iface hear of netifd's interfaces, `lan` with br-lan, and not of the bridge's wireless ports.
- How: /sbin/hotplug-call sources each script in a subshell, so that `exit` ends this script alone.
- fw4 must not include it: before Linux 6.16 a table of an absent device is refused, and with it fw4's transaction.
  `fw4 reload` and `fw4 restart` leave other tables alone; `fw4 flush`, which is `service firewall stop`, deletes all
  (firewall4 b6e5157, root/sbin/fw4).
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from interlayer.errors import writing

from . import ruleset

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SCRIPT = "/etc/hotplug.d/net/90-interlayer-ack-priority"
_FIRST = "# interlayer deploy ack-priority"


def text(devices: list[str], klass: str) -> str:
    """The script. It looks for flow offload itself, since that can be turned on after it was written."""
    table = ruleset.text(["@"], klass).replace(ruleset.hook(["@"]), "devices = { $devices }")
    return f"""#!/bin/sh
{_FIRST}: TCP's control packets to the stations of these devices go as AC_{klass.upper()}.
# By hand, for one that is up: ACTION=add INTERFACE={devices[0]} sh {SCRIPT}

case "$ACTION" in add|move) ;; *) exit 0 ;; esac

devices=
asked=
for device in {" ".join(devices)}; do
	[ "$device" = "$INTERFACE" ] && asked=1
	[ -e "/sys/class/net/$device" ] && devices="$devices${{devices:+, }}\\"$device\\""
done
[ -n "$asked" ] && [ -n "$devices" ] || exit 0

refuse() {{
	logger -t interlayer "ack-priority: not loaded for $INTERFACE: $1" 2>/dev/null
	echo "ack-priority: not loaded for $INTERFACE: $1" >&2
	exit 1
}}

command -v nft >/dev/null || refuse "no nft"
nft list ruleset | grep -q '^[[:space:]]*flowtable ' && refuse "flow offload is on"
cat /sys/module/*/parameters/wed_enable 2>/dev/null | grep -q '[Y1]' && refuse "WED is on"

nft -f - <<END || refuse "nft refuses the table"
{table.rstrip()}
END
"""


@contextmanager
def written(script: Path, content: str) -> Iterator[None]:
    """Puts the script in its place at the end, whole. After an exception inside everything is as it was."""
    # Beside the folder: hotplug-call sources every file in it.
    new = script.parent.parent / f".{script.name}.new"
    try:
        with writing(script):
            new.write_text(content, "utf-8")
            new.chmod(0o755)
        yield
        with writing(script):
            script.parent.mkdir(exist_ok=True)
            new.replace(script)
    finally:
        new.unlink(missing_ok=True)


def is_ours(script: Path) -> bool:
    """True for a script that this package wrote."""
    try:
        return script.read_text("utf-8").splitlines()[1].startswith(_FIRST)
    except (OSError, UnicodeDecodeError, IndexError):
        return False
