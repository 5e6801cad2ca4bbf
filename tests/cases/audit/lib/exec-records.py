# SPDX-License-Identifier: Apache-2.0
# Part of ../exec.sh.
import hashlib, json, os, sys
recs = [json.loads(line) for line in open(sys.argv[1])]
programs = [r for r in recs if r["kind"] == "program"]
recs = [r for r in recs if r["kind"] == "exec"]
by = {}
for r in recs:
    by.setdefault((r.get("argv") or ["?"])[0], []).append(r)
assert all(r["how"] == "observed" and r["action"] == "exec" and r["ring"] == 0 for r in recs)
main = [r for r in by["python3"] if r["argv"][1:] == ["work.py"]][-1]
assert main["path"].endswith("/python3") and main["comm"] == "wardfs-init", main
hostile = by["hostile"][0]
assert hostile["argv"] == ["hostile", 'a\\xff\\n"b\\\\c\\x1b[31m', ""], hostile
assert hostile["path"] == "/bin/true" and hostile["parent"] == main["pid"], hostile
assert hostile["comm"] == "python3" and "/python3" in hostile["exe"], hostile
assert hostile["cwd"] == main["cwd"] and hostile["started"] >= main["started"], hostile
long = by["true"][0]
assert long["cut"] and 6000 < sum(map(len, long["argv"])) <= 6144, "a long list of arguments"
assert by["by-descriptor"][0]["path"].endswith("/usr/bin/true"), by["by-descriptor"]
# which file it was, and once what is in it; not of what is in the tree, which the guard tells
python = [r for r in programs if "/python3" in r["path"]]
assert len(python) == 1 and python[0]["ino"] == main["ino"] and python[0]["dev"] == main["dev"], python
st = os.stat(python[0]["path"])
assert (st.st_dev, st.st_ino, st.st_size) == tuple(python[0][k] for k in ("dev", "ino", "size")), python
with open(python[0]["path"], "rb") as f:
    assert hashlib.sha256(f.read()).hexdigest() == python[0]["sha256"], python
trues = [r for r in programs if r["path"].endswith("/true")]
assert len(trues) == 1, trues
assert "ino" not in by["./script"][0] and "ino" not in by["n"][0]
assert by["by-thread"][0]["path"] == "/bin/true"
# asked for and refused by the kernel: that is why it says "observed"
assert by["n"][0]["path"].endswith("/p/nowhere"), by["n"]
script = by["./script"][0]
assert script["argv"] == ["./script", "one", "two words"] and script["path"].endswith("/p/script"), script
assert len({(r["pid"], r["started"]) for r in recs}) >= 6
