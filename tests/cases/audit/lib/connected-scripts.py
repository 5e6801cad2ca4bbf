# SPDX-License-Identifier: Apache-2.0
# Part of ../connected.sh: writes what auditrun --script is to put into each trail.
import json
import os
import sys

POLICY = """[policy]
version = 1
[files]
read = /workspace
[network]
mode = allowlist
allow = web.example
allow = *.wild.example:443,8443
allow = 192.0.2.0/24:22
allow = 10.1.0.0/16:5432
allow = [2001:db8:7::/48]:443
allow = ntp.example:123/udp
allow = asked.example:443
allow = 169.254.169.254:80
deny = bad.wild.example
deny = 192.0.2.66
ask = asked.example
ask = 10.1.9.0/24
forward = 8080:80
publish = 3000:3001
socket = /run/db/sock
socket = ~/agent/sock
"""
G = "g0123456789ab"


def policy(text=POLICY, **more):
    return {"kind": "policy", "compile": text} | more


def reload(text):
    return [policy(text), {"kind": "reload", "result": "loaded", "policy": "a" * 64}]


def to(host, port=443, **more):
    r = {"ring": 2, "kind": "connect", "host": host, "addr": "203.0.113.7", "port": port, "proto": "tcp",
         "verdict": "allow", "rule": "base:7"} | more
    return {k: v for k, v in r.items() if v is not None}


def at(addr, port=443, **more):
    return to(None, port, addr=addr, **more)


def given(host, **more):
    return {"kind": "grant", "pid": 900, "uid": 1000, "how": "wardfs grant", "by": "uid 1000", "result": "granted",
            "grant": G, "host": host} | more


def use(host, port=443, **more):
    r = {"ring": 2, "kind": "use", "action": "connect", "host": host, "port": port, "grant": G, "used": 1} | more
    return {k: v for k, v in r.items() if v is not None}


def by(record):
    return record | {"rule": f"grant {G}"}


def ended(record):
    return record | {"sent": 5, "received": 7, "duration": 9}


def without(line, text=POLICY):
    assert line in text
    return text.replace(line + "\n", "")


FLOOR = "[policy]\nversion = 1\n[network]\nallow = web.example\n"
BOTH = "[network]\nmode = allowlist\nallow = web.example\n"
new = "new.example"
honest = {
    "names": [to("web.example"), to("web.example", 80), to("WEB.example"), to("a.wild.example", 8443)],
    "blocks": [at("192.0.2.7", 22), at("10.1.2.3", 5432), at("2001:db8:7::1"), at("::ffff:192.0.2.7", 22)],
    "carried": [at("64:ff9b::c000:207", 22)],
    "udp": [to("ntp.example", 123, proto="udp"), ended(to("ntp.example", 123, proto="udp"))],
    "proxied": [to("web.example", addr=None, proto="connect"), to("web.example", proto="socks5"),
                to("web.example", 80, proto="http")],
    "resolved": [to("web.example", addr="2606:4700::1111"), to("web.example", 80, addr="169.254.169.254")],
    "ends": [to("web.example"), ended(to("web.example"))],
    "none-made": [to("web.example", errno=104, addr=None)],
    "ports": [at("127.0.0.1", 80, rule=None), at("::1", 80), at("127.0.0.1", 3001, action="accept")],
    "tally": [ended(at("127.0.0.1", 3001, action="accept", connections=70))],
    "sockets": [at(None, None, path="/run/db/sock", proto="unix"),
                at(None, None, path="/srv/me/agent/sock", proto="unix")],
    "refused": [to("bad.wild.example") | {"kind": "deny", "action": "connect", "verdict": "deny"}],
    "reloaded": [to("web.example"), *reload(POLICY + "allow = b.example\n"), to("b.example"), to("web.example")],
    # The record of the broker and that of the reload come by different rings.
    "reload-late": [to("b.example"), *reload(POLICY + "allow = b.example\n")],
    "granted": [given(new), use(new), by(to(new)), ended(by(to(new)))],
    "granted-ports": [given("*.new.example:22,25"), use("a.new.example", 25), by(to("a.new.example", 25))],
    "granted-asked": [given("asked.example"), use("asked.example"), by(to("asked.example"))],
    "granted-block": [given("10.1.9.0/24:5432"), use(None, 5432, addr="10.1.9.1"), by(at("10.1.9.1", 5432))],
    # The use of an address says which since this version; before, nobody can compare it.
    "granted-before": [given("10.1.9.0/24:5432"), use(None, 5432), by(at("10.1.9.1", 5432))],
    "granted-twice": [given(new, uses=2), use(new), by(to(new)), use(new, used=2), by(to(new))],
    "granted-failed": [given(new), use(new), by(to(new, addr=None, errno=104)), use(new, used=2), by(to(new))],
    # A name that a rule allows leads into a block that a grant opens.
    "granted-inside": [given("10.9.0.0/16:443"), use(None, addr="10.9.0.1"), by(at("10.9.0.1")),
                       to("web.example", addr="10.9.0.1")],
    "granted-ends": [given(new, ends=2 ** 62), use(new), by(to(new)), ended(by(to(new)))],
}
forged = {
    "name": [to(new)],
    "end-alone": [ended(to(new))],
    "neighbour": [to("web.example.org")],
    "apex": [to("wild.example", 8443)],
    "port": [to("web.example", 22)],
    "denied": [to("bad.wild.example")],
    "asked": [to("asked.example")],
    "udp": [to("web.example", proto="udp")],
    "no-udp": [to("ntp.example", 123)],
    "block": [at("192.0.3.7", 22)],
    "block-port": [at("192.0.2.7", 23)],
    "block-denied": [at("192.0.2.66", 22)],
    "block-asked": [at("10.1.9.1", 5432)],
    "block-carried": [at("64:ff9b::a09:807", 22)],
    "resolved-private": [to("web.example", addr="10.9.8.7")],
    "resolved-loopback": [to("web.example", addr="127.0.0.1")],
    "resolved-mapped": [to("web.example", addr="::ffff:10.9.8.7")],
    "resolved-nat64": [to("web.example", addr="64:ff9b::a09:807")],
    "resolved-denied": [to("web.example", addr="192.0.2.66")],
    "resolved-asked": [to("a.wild.example", 443, addr="10.1.9.1")],
    "odd": [to("0177.0.0.1", addr=None)],
    "forward": [at("127.0.0.1", 81)],
    "forward-outside": [at("203.0.113.7", 80)],
    "forward-named": [to("localhost", 80, addr="127.0.0.1")],
    "publish": [at("127.0.0.1", 3000, action="accept")],
    "socket": [at(None, None, path="/run/other/sock", proto="unix")],
    "socket-beside": [at(None, None, path="/srv/meagent/sock", proto="unix")],
    "nowhere": [at(None, None)],
    "granted-other": [given(new), use(new), by(to("other.example"))],
    "granted-port": [given(new), use(new), by(to(new, 22))],
    "granted-denied": [given("*.wild.example:22"), use("bad.wild.example", 22), by(to("bad.wild.example", 22))],
    "granted-private": [given(new), use(new), by(to(new, addr="10.9.8.7"))],
    "use-elsewhere": [given(new), use("other.example"), by(to(new))],
    "use-port": [given(new), use(new, 22), by(to(new))],
    "use-address": [given("10.1.9.0/24:5432"), use(None, 5432, addr="10.1.8.1"), by(at("10.1.9.1", 5432))],
    "granted-ruled": [given(new), use(new), to(new)],
    "ungiven": [use(new), by(to(new))],
    "unused": [given(new), by(to(new))],
    "once-more": [given(new), use(new), by(to(new)), by(to(new))],
    "spent": [given(new, uses=1), use(new), by(to(new)), use(new, used=2), by(to(new))],
    "expired": [given(new, ends=2), use(new), by(to(new))],
    "revoked": [given(new), {"kind": "revoke", "grant": G, "result": "revoked"}, use(new), by(to(new))],
    "inside-revoked": [given("10.9.0.0/16:443"), {"kind": "revoke", "grant": G, "result": "revoked"},
                       to("web.example", addr="10.9.0.1")],
    "reloaded": [*reload(POLICY + "; two\n"), *reload(without("allow = web.example") + "\n"),
                 *reload(without("allow = web.example") + "\n; four\n"), to("web.example")],
}
scripts = {f"good-{n}": [policy(), *r] for n, r in honest.items()}
scripts |= {f"bad-{n}": [policy(), *r] for n, r in forged.items()}
# The same connections by another policy: somebody edited it.
for name, line in (("names", "allow = web.example"), ("blocks", "allow = 10.1.0.0/16:5432"),
                   ("udp", "allow = ntp.example:123/udp"), ("ports", "forward = 8080:80"),
                   ("tally", "publish = 3000:3001"), ("sockets", "socket = /run/db/sock"),
                   ("resolved", "allow = 169.254.169.254:80")):
    scripts[f"bad-edited-{name}"] = [policy(without(line)), *honest[name]]
for name in honest.keys() - {"refused", "reloaded", "reload-late"}:
    scripts[f"bad-none-{name}"] = [policy(POLICY.replace("mode = allowlist", "mode = none")), *honest[name]]
base = "[policy]\nversion = 1\n[files]\nread = /workspace\n"
scripts |= {
    "good-floor": [policy(base + BOTH, floor=FLOOR), to("web.example")],
    "bad-floor": [policy(base + BOTH + "allow = b.example\n", floor=FLOOR), to("b.example")],
    # No grant leads around the floor's list, and one within it does.
    "bad-floor-granted": [policy(base + "[network]\nmode = allowlist\n", floor=FLOOR), given(new), use(new), by(to(new))],
    "good-floor-granted": [policy(base + "[network]\nmode = allowlist\n", floor=FLOOR), given("web.example"),
                           use("web.example"), by(to("web.example"))],
    "good-star": [policy(base + "[network]\nmode = allowlist\nallow = *\n"), to(new), at("203.0.113.9")],
    "bad-star": [policy(base + "[network]\nmode = allowlist\nallow = *\n"), at("10.0.0.1")],
    "good-proxy": [policy(base + "[network]\nmode = proxy\nproxy = http://p.example:3128\nallow = web.example\n"),
                   to("web.example", addr=None)],
    "bad-proxy": [policy(base + "[network]\nmode = proxy\nproxy = http://p.example:3128\nallow = web.example\n"),
                  to("p.example", 3128, addr=None)],
    "bad-proxy-udp": [policy(base + "[network]\nmode = proxy\nproxy = http://p.example:3128\n"
                             "allow = web.example:123/udp\n"), to("web.example", 123, proto="udp")],
    # A trail without a policy is not looked at.
    "good-unknown": [to(new)],
}
os.mkdir(sys.argv[1])
for name, records in scripts.items():
    with open(f"{sys.argv[1]}/{name}", "w", encoding="ascii") as out:
        for r in records:
            print(json.dumps({k: v for k, v in r.items() if v is not None}), file=out)
