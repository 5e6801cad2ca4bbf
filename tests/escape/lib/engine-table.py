# SPDX-License-Identifier: Apache-2.0
"""Part of ../engine-table.sh.

engine-table.py DIR ENGINE...   prints the table of what each engine holds, from DIR/ENGINE/: attack.json, words,
                                trail.json. Says what an engine misses that it does not name as missing, and
                                exits with 1.
engine-table.py same PAGE TABLE   the page has this table
engine-table.py settled DIR ENGINE   every attempt was made; exits with 1, and says which were not, and why
"""
import json
import sys

# What docs/attack.md names for wardfs, and docs/containers.md for a container of an engine that
# calls wardfs-oci.
ALLOWED = {"keep-home", "envrc", "editor-tasks", "editor-settings", "agent-hooks", "agent-servers", "agent-config",
           "agent-text", "package-config", "compiler-config", "ci-workflow", "container-config", "personality"}
OCI_OWN = {
    "memory-map", "vm-socket", "netlink-audit", "netlink-netfilter", "netlink-xfrm", "netlink-connector",
    "netlink-devices", "netlink-generic", "netlink-diagnosis", "netlink-security", "mptcp-socket",
    "udp-lite-socket", "slabs", "kernel-mappings", "page-counts", "page-flags", "share-user", "share-cgroup",
    "superuser", "limit-processes", "many-processes"}
# runc run gives pipes to its container, the others hand on what their caller has.
HANDED_ON = {"error-before", "error-rewrite", "error-truncate", "error-mode"}
ENGINES_OWN = {"wardfs-oci": OCI_OWN, "crun+wardfs-oci": OCI_OWN | HANDED_ON, "runsc+wardfs-oci": OCI_OWN | HANDED_ON}
ROWS = {
    "files outside of the trees": ("outside",),
    "network": ("network",),
    "processes of the host": ("processes",),
    "descriptors, terminals": ("descriptors", "terminal"),
    "nothing stays for later": ("persist",),
    "kernel, system calls": ("kernel", "calls", "surface"),
    "user ids, capabilities": ("confinement",),
    "limits": ("exhaust",),
}
# What nobody outside can see behind a kernel of its own.
UNSEEN = ("kernel, system calls", "user ids, capabilities", "limits")


def load(path):
    with open(path, encoding="utf-8") as f:
        return [json.loads(line) for line in f]


def cells(at, name, wrong):
    """(row, word) of one engine."""
    with open(f"{at}/attack.json", encoding="utf-8") as f:
        report = json.load(f)
    trail = load(f"{at}/trail.json")
    own = name.startswith("runsc+") or any('"own_kernel": true' in json.dumps(r) for r in trail)
    for row, groups in ROWS.items():
        attempts = [a for a in report["attempts"] if a["group"] in groups]
        verdict = {v: {a["name"] for a in attempts if a["verdict"] == v} for v in ("held", "broken", "untested")}
        open_ones = verdict["broken"] - ALLOWED
        engines = ENGINES_OWN.get(name, set())
        missing = (open_ones | verdict["untested"]) - engines
        if own and row in UNSEEN and not open_ones:
            yield row, "own kernel"
            continue
        if missing or not verdict["held"]:
            said = [f"{a['name']} ({a['verdict']}: {a.get('seen')})" for a in attempts if a["name"] in missing]
            wrong.append(f"{name}: {row}: {', '.join(said) or 'nothing held'}")
        yield row, "partly" if (open_ones | verdict["untested"]) & engines else "yes"
    with open(f"{at}/words", encoding="utf-8") as f:
        yield from (line.strip().split(": ", 1) for line in f)
    probes = {r["name"]: r["result"] for r in trail if r["kind"] == "probe" and "name" in r}
    yield "Landlock", "yes" if probes.get("landlock") == "held" else "no"


def table(at, *names):
    wrong = []
    columns = [dict(cells(f"{at}/{n}", n, wrong)) for n in names]
    print("| holds | " + " | ".join(f"`{n}`" for n in names) + " |")
    print("|---|" + "---|" * len(names))
    for row in columns[0]:
        print(f"| {row} | " + " | ".join(c[row] for c in columns) + " |")
    sys.exit("\n".join(wrong) if wrong else 0)


def settled(at, name):
    with open(f"{at}/{name}/attack.json", encoding="utf-8") as f:
        attempts = json.load(f)["attempts"]
    unseen = {g for row in UNSEEN for g in ROWS[row]} if name.startswith("runsc") else set()
    left = [f"{a['name']}: {a.get('seen')}" for a in attempts
            if a["verdict"] == "untested" and a["group"] not in unseen and a["name"] not in ENGINES_OWN.get(name, ())]
    sys.exit("\n".join(left) if left else 0)


def same(page, made):
    with open(page, encoding="utf-8") as f:
        text = f.read()
    with open(made, encoding="utf-8") as f:
        if f.read() not in text:
            sys.exit(f"{page} has another table")
    sys.exit(0)


if __name__ == "__main__":
    if sys.argv[1] in ("same", "settled"):
        {"same": same, "settled": settled}[sys.argv[1]](*sys.argv[2:])
    table(*sys.argv[1:])
