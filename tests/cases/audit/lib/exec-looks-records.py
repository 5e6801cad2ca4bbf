# SPDX-License-Identifier: Apache-2.0
# Part of ../exec-looks.sh.
import json, os, sys
what = sys.argv[1]
with open(sys.argv[2], encoding="utf-8") as f:
    records = [json.loads(line) for line in f]
execs = [r for r in records if r["kind"] == "exec"]


def whose(found):
    assert found, [r for r in records if r["kind"] in ("deny", "io", "open")]
    assert {r.get("comm") for r in found} == {"python3"}, found
    return {r["pid"] for r in found}


if what.startswith("link-"):
    link = [r for r in execs if r.get("path") == "/tmp/link"]
    assert len(link) == 1, execs
    hidden = [r for r in records if r["kind"] == "deny" and r["path"] == "/workspace/hid"]
    if what == "link-out":
        # The control: outside of trees it is known what a link leads to.
        st = os.stat("/usr/bin/true")
        assert (link[0]["dev"], link[0]["ino"]) == (st.st_dev, st.st_ino), link
        assert [r for r in records if r["kind"] == "program" and r["path"] == "/usr/bin/true" and "sha256" in r]
    else:
        assert "ino" not in link[0], link
    if what == "link-tree":
        # The control: what is not hidden is opened by the command.
        whose([r for r in records if r["kind"] == "open" and r["path"] == "/workspace/secret"])
    if what == "link-hidden":
        # The child's execve, and the parent's open.
        assert len(whose(hidden)) == 2, hidden
if what.startswith("map-"):
    reads = [r for r in records if r["kind"] == "io" and r["action"] == "read" and r["path"] == "/workspace/secret"]
    assert len(whose(reads)) == 1, reads
    here = [r for r in execs if r.get("path") == "/nonexistent"]
    assert [r["argv"] for r in here][-1] == ["seen", "seen"] and not here[-1].get("cut"), here
    if what == "map-exec":
        assert len(here) == 2 and here[0]["cut"] and here[0]["argv"] == ["seen"], here
if what == "programs":
    tools = sys.argv[3]
    programs = {r["path"]: r for r in records if r["kind"] == "program"}
    asked = {r.get("path") for r in execs}
    for name in ["open", "only-x", "private", "data", "closed/open"]:
        assert tools + "/" + name in asked, asked
    assert {"/proc/sys/kernel/ostype", "/proc/version"} <= asked, asked
    # The control: what the command may execute and read has a digest.
    assert "sha256" in programs[tools + "/open"], programs
    assert programs[tools + "/only-x"].get("sha256") is None, programs
    assert "cannot be read" in programs[tools + "/only-x"]["text"], programs
    assert {p for p in programs if p.startswith(tools)} == {tools + "/open", tools + "/only-x"}, programs
    assert not [p for p in programs if p.startswith(("/proc/", "/sys/"))], programs
