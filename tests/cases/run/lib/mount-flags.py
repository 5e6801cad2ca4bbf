# SPDX-License-Identifier: Apache-2.0
# Part of ../mount-flags.sh.
import sys
devices = {"/dev/" + n for n in ("null", "zero", "full", "random", "urandom", "tty")}
own = ("/workspace", "/tmp", "/var/tmp", "/run", "/dev/shm", "/home/", "/dev/mqueue", "/dev/pts", "/var/agent", "/proc", "/eph")
noexec = ["/dev/pts", "/dev/mqueue", "/proc"] + sys.argv[2:]
seen, bad = set(), []
for line in sys.stdin:
    field = line.split()
    path, flags, kind = field[4], set(field[5].split(",")), field[field.index("-") + 1]
    root = field[3]
    seen.add(path)
    # A device of the private /dev, or null in front of an entry of /proc: that file alone.
    node = kind == "devtmpfs" or (root in {"/" + d.rpartition("/")[2] for d in devices} and path.startswith(("/dev/", "/proc/")))
    if "nosuid" not in flags:
        bad.append(f"{path}: may set ids")
    if "nodev" not in flags and not node and path != "/dev/pts":
        bad.append(f"{path}: devices")
    inside = path.startswith(("/dev", "/proc"))
    if ((node and inside) or path in noexec or path.startswith("/proc")) and "noexec" not in flags:
        bad.append(f"{path}: may be executed")
    tree = kind == "fuse.wardfs" or path.startswith(own) or any(path == t for t in sys.argv[1].split(","))
    if "ro" not in flags and not node and not tree:
        bad.append(f"{path}: may be written")
for path in ["/", "/workspace", "/proc", "/proc/sys", "/dev/pts", "/dev/shm", "/tmp", "/usr"] + noexec:
    if path not in seen:
        bad.append(f"{path}: no mount of its own")
print("\n".join(bad))
