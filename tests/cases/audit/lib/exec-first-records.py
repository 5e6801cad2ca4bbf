# SPDX-License-Identifier: Apache-2.0
# Part of ../exec-first.sh: the records of wardfs-init's own execve calls in root's sessions and in
# those of an ordinary user. They are the same, but for where the project lies.
import hashlib, json, os, sys

SESSIONS = ("first", "name", "relative", "beneath", "long", "many", "listed", "unlisted", "held", "inside", "closed")


def load(home, name):
    with open(f"{home}/{name}.json", encoding="utf-8") as f:
        return [json.loads(line) for line in f]


def plain(home, r):
    def put(v):
        return v.replace(home, "HOME") if isinstance(v, str) else v
    kept = {k: put(r[k]) for k in ("path", "exe", "cwd", "cut", "verdict", "rule_text", "dev", "ino") if k in r}
    kept["argv"] = [put(a) for a in r.get("argv", [])]
    return kept


def calls(home, name):
    found = [plain(home, r) for r in load(home, name)
             if r["kind"] in ("exec", "deny") and r.get("comm") == "wardfs-init" and r.get("action") == "exec"]
    return sorted(found, key=lambda r: (r["argv"], r["path"], "verdict" in r)) if all("path" in r for r in found) else found


def programs(home, name):
    return sorted((r["path"], r["ino"], r.get("sha256")) for r in load(home, name) if r["kind"] == "program")


root, user = sys.argv[1:]
for name in SESSIONS:
    ours, theirs = calls(root, name), calls(user, name)
    assert ours, f"control: {name}: root's session has no such record"
    assert ours == theirs, f"{name}:\nroot {ours}\nuser {theirs}"
    assert programs(root, name) == programs(user, name), (name, programs(root, name), programs(user, name))
    for r in theirs:
        assert r["exe"].endswith("/wardfs-init") and r["cwd"].startswith("HOME/p"), (name, r)

by = {name: calls(user, name) for name in SESSIONS}
first = by["first"]
assert len(first) == 1 and first[0]["argv"] == ["sh", "-c", '/bin/true "$@"', "sh", "one", "", "two\\nwords"], first
assert first[0]["path"].endswith("/sh") and first[0]["ino"] == os.stat(first[0]["path"]).st_ino, first
digests = {ino: sha for _, ino, sha in programs(user, "first")}
with open(first[0]["path"], "rb") as f:
    assert hashlib.sha256(f.read()).hexdigest() == digests[first[0]["ino"]], digests
assert by["relative"][0]["path"] == "HOME/p/script", by["relative"]
assert by["beneath"][0]["path"] == "HOME/p/sub/other", by["beneath"]
for name in ("long", "many"):
    assert by[name][0]["cut"] is True and by[name][0]["argv"][0] == "true", by[name]
assert sum(len(a) + 1 for a in by["long"][0]["argv"]) == 6144 and len(by["many"][0]["argv"]) == 512
assert not any("verdict" in r for r in by["listed"]), by["listed"]
assert [r.get("verdict") for r in by["unlisted"]] == [None, "deny"], by["unlisted"]
assert not any(r.get("cut") for n in SESSIONS if n not in ("long", "many") for r in by[n])
held = {tuple(r["argv"]): r for r in by["held"]}
for argv, path in ((("/bin/echo", "left"), "/bin/echo"), (("./other", "alone"), "HOME/p/sub/other"),
                   (("/nowhere/at-all",), "/nowhere/at-all")):
    assert held[argv]["path"] == path, held
assert held[("env", "printf", "right")]["path"].endswith("/env"), held
assert held[("./other", "alone")]["cwd"] == "HOME/p/sub", held
closed = [r for r in load(user, "closed") if r["kind"] == "exec" and r.get("argv") == ["closed", "memory"]]
assert len(closed) == 1 and closed[0]["path"] == "/bin/true" and closed[0]["cwd"].endswith("/p"), closed
assert "/python3" in closed[0]["exe"] and closed[0]["ino"] == os.stat("/bin/true").st_ino, closed
