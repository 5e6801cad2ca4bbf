# SPDX-License-Identifier: Apache-2.0
"""Part of verify.py: connections decided again (docs/audit-format.md, Connections)."""
import socket

from recorded import files_of, raw

FLOOR = 3
USUAL = ["443", "80"]
V4 = bytes(10) + b"\xff\xff"
CLOSED_V4 = ["0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
             "192.0.0.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "168.63.129.16/32",
             "224.0.0.0/4", "240.0.0.0/4"]
CLOSED_V6 = ["2001::/32", "2001:2::/48", "2001:10::/28"]


def address(text):
    """16 bytes, IPv4 as IPv4-mapped; None: it is none."""
    for family, before in ((socket.AF_INET6, b""), (socket.AF_INET, V4)):
        try:
            return before + socket.inet_pton(family, text)
        except (OSError, ValueError):
            pass
    return None


def within(a, block):
    host, _, bits = block.partition("/")
    bits = int(bits) + (0 if ":" in host else 96)
    shift = 128 - bits
    return int.from_bytes(a, "big") >> shift == int.from_bytes(address(host), "big") >> shift


def carried(a):
    """The IPv4 address that a translator or router reaches for this one, or None."""
    if within(a, "64:ff9b::/96"):
        return V4 + a[12:]
    return V4 + a[2:6] if within(a, "2002::/16") else None


def public(a):
    a = carried(a) or a
    if a.startswith(V4):
        return not any(within(a, b) for b in CLOSED_V4)
    return within(a, "2000::/3") and not any(within(a, b) for b in CLOSED_V6)


def loopback(a):
    return within(a, "127.0.0.0/8") or any(a == address(own) for own in ("::1", "0.0.0.0", "::"))


class Destination:
    """HOST[:PORT,…][/udp]"""

    def __init__(self, text):
        self.udp = text.endswith("/udp")
        text = text[:-4] if self.udp else text
        self.ports = None
        if text.startswith("["):
            host, _, rest = text[1:].partition("]")
            self.ports = rest[1:].split(",") if rest else None
        elif text.count(":") == 1:
            host, _, ports = text.partition(":")
            self.ports = ports.split(",")
        else:
            host = text
        self.host = host[:-1].lower() if host.endswith(".") and len(host) > 1 else host.lower()
        self.address = address(self.host.partition("/")[0])
        # Programs read such a spelling in different ways.
        self.odd = False
        if self.address is None and self.host[:1].isdigit():
            try:
                socket.inet_aton(self.host)
                self.odd = True
            except OSError:
                pass

    def usual(self):
        self.ports = self.ports or USUAL
        return self

    def names(self, other, takes):
        if self.host == "*":
            return takes or other.address is None or public(other.address)
        if self.address is not None or other.address is not None:
            if self.address is None or other.address is None:
                return False
            block = self.host if "/" in self.host else self.host + ("/128" if ":" in self.host else "/32")
            return any(a is not None and within(a, block) for a in (other.address, carried(other.address)))
        if self.host.startswith("*."):
            return other.host.endswith(self.host[1:]) and len(other.host) > len(self.host) - 1
        return self.host == other.host

    def covers(self, other, takes):
        """takes: of a line that takes away, or asks."""
        return (self.udp == other.udp or takes and self.ports is None) and \
            (self.ports is None or other.ports is None or other.ports[0] in self.ports) and self.names(other, takes)


class Network:
    """What a policy says of [network]."""

    def __init__(self, policy):
        self.mode, self.lines = "none", {}
        section = b""
        for line in policy.meaning.split(b"\n"):
            section = line if line.startswith(b"[") else section
            key, _, value = line.partition(b" = ")
            if section == b"[network]" and key == b"mode":
                self.mode = value.decode()
            elif section == b"[network]" and value:
                self.lines.setdefault(key.decode(), []).append(value.decode("utf-8", "surrogateescape"))
        self.allow = [Destination(v).usual() for v in self.lines.get("allow", [])]
        self.deny, self.ask = ([Destination(v) for v in self.lines.get(k, [])] for k in ("deny", "ask"))
        self.floor = [Destination(v).usual() for v in floor_allows(policy.sources)]

    def floor_leaves(self, to):
        return not self.floor or any(f.covers(to, False) for f in self.floor)

    def connects(self, to, grants):
        if self.mode == "none" or any(d.covers(to, True) for d in self.deny) or to.udp and self.mode == "proxy":
            return False
        asked = any(a.covers(to, True) for a in self.ask)
        if not to.odd and not asked and any(a.covers(to, False) for a in self.allow):
            return True
        if not asked and self.mode == "host":
            return True
        return not to.odd and self.floor_leaves(to) and any(g.covers(to, False) for g in grants)

    def answers(self, to, grants):
        """May a name lead to this address?"""
        if any(d.covers(to, True) for d in self.deny):
            return False
        granted = self.floor_leaves(to) and any(g.address is not None and g.covers(to, False) for g in grants)
        if any(a.address is not None and a.covers(to, True) for a in self.ask) and not granted:
            return False
        return public(to.address) or granted or \
            any(a.address is not None and a.covers(to, False) for a in self.allow)

    def leads(self, key, port):
        return any(int(v.rpartition(":")[2]) == port for v in self.lines.get(key, []))

    def names_socket(self, path):
        for value in self.lines.get("socket", []):
            rest = value.removeprefix("~")
            if "./" in rest or value == path or not value.startswith("/") and \
                    path.endswith(rest if rest.startswith("/") else "/" + rest) and path != rest:
                return True
        return False


def floor_allows(sources):
    section, out = b"", []
    for text in [t for kind, t in files_of(sources) or [] if kind == FLOOR]:
        for line in text.splitlines():
            key, _, value = line.partition(b"=")
            if line.startswith(b"["):
                section = b" ".join(line[1:line.index(b"]")].split())
            elif section == b"network" and key.strip() == b"allow":
                out.append(value.split(b" ;")[0].strip().decode())
    return out


def spelled(host, record):
    udp = "/udp" if record.get("proto") == "udp" else ""
    return Destination((f"[{host}]" if ":" in host else host) + f":{record.get('port', 0)}{udp}")


class Connections:
    """The grants for hosts of a trail, and what they lead to."""

    def __init__(self, in_force):
        self.in_force, self.grants = in_force, {}

    def near(self, record):
        at = max([n for n, (seq, _) in enumerate(self.in_force) if seq < record["seq"]], default=0)
        return [n for _, n in self.in_force[max(0, at - 1):at + 2]]

    def live(self, record):
        return [g["to"] for g in self.grants.values() if g["since"] <= record["mono"] <= g["over"]]

    def allowed(self, network, record, granted):
        host, addr, port = record.get("host"), record.get("addr"), record.get("port", 0)
        if network.mode == "none":
            return False
        if "path" in record:
            return network.names_socket(raw(record["path"]).decode("utf-8", "surrogateescape"))
        if record.get("action") == "accept":
            return network.leads("publish", port)
        if host is None and addr is None:
            return False
        if host is None and record.get("proto") != "udp" and network.leads("forward", port) and \
                loopback(address(addr)):
            return True
        if not network.connects(spelled(host or addr, record), granted):
            return False
        return not (host and addr) or network.answers(spelled(addr, record), self.live(record))

    def wrong(self, record):
        name = record.get("grant")
        if record["kind"] == "grant" and name is not None and "host" in record:
            self.grants.setdefault(name, {"to": Destination(record["host"]).usual(), "since": record["mono"],
                                          "over": record.get("ends", float("inf"))})
        elif record["kind"] in ("expire", "revoke") and name in self.grants and \
                record.get("result", "spent") != "spent":
            self.grants[name]["over"] = min(self.grants[name]["over"], record["mono"])
        elif record["kind"] == "connect" or record["kind"] == "use" and name in self.grants:
            return self.connects_wrongly(record)
        return False

    def connects_wrongly(self, record):
        rule = record.get("rule", "")
        name = record["grant"] if record["kind"] == "use" else rule[6:] if rule.startswith("grant ") else None
        granted = [self.grants[name]["to"]] if name in self.grants else []
        host = record.get("host", record.get("addr"))
        if "cut" in record or record["kind"] == "use" and host is None:
            return False
        if granted and host is not None and not granted[0].covers(spelled(host, record), False):
            return True
        near = self.near(record)
        return bool(near) and not any(self.allowed(n, record, granted) for n in near)
