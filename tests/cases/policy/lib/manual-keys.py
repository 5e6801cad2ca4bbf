# SPDX-License-Identifier: Apache-2.0
# Part of ../manual.sh.
import os, re, subprocess

build = os.environ["WARD_BUILD"]
wardfs = build + "/wardfs"
src = os.environ["WARD_SRC"]


def run(*argv):
    return subprocess.run([wardfs, "policy", *argv], capture_output=True, text=True, check=False)


table = subprocess.run([build + "/enforcer/policy/policy-keys"], capture_output=True, text=True, check=True)
keys = {tuple(line.split("\t")[:2]) for line in table.stdout.splitlines()}
assert len(keys) > 60, len(keys)
floor_only = [line.split("\t")[1] for line in table.stdout.splitlines() if "\tfloor only\t" in line]
assert floor_only
with open(build + "/docs/wardfs-policy.5", encoding="utf-8") as f:
    page = f.read()
shown, section, key = {}, None, None
examples = []
for piece in re.split(r"^(?=\.Ss |\.It Cm |\.Bd -literal)", page, flags=re.M):
    head = piece.split("\n", 1)[0]
    if head.startswith(".Ss "):
        found = re.match(r"\.Ss \[([a-z]+)", head)  # others are of docs/wardfs-policy.5.md
        section, key = found and found.group(1), None
    elif head.startswith(".It Cm "):
        key = head.split()[2]
    elif head == ".Bd -literal":
        example = re.search(r"\.Bd -literal\n(.*?)^\.Ed", piece, re.S | re.M).group(1)
        examples.append(example)
        if section and key:
            assert re.search(rf"^{key}\s*=", example, re.M), (section, key, "is not in its example")
            shown[section, key] = example
assert set(shown) == keys, set(shown) ^ keys
for n, example in enumerate(examples):
    name = f"./{n}.policy"
    with open(name, "w", encoding="utf-8") as f:
        f.write(example)
    check = run("check", name)
    if any(re.search(rf"^{key}\s*=", example, re.M) for key in floor_only):
        assert check.returncode == 2 and "only the floor can set" in check.stderr, check.stderr
        continue
    assert check.returncode == 0, (example, check.stdout + check.stderr)
    explain = run("explain", "--json", "--policy", name, "read", "/workspace/src/a.c")
    assert explain.returncode in (0, 1) and '"verdict"' in explain.stdout, (example, explain.stderr)
    with open(name, "a", encoding="utf-8") as f:
        f.write("nonsense = 1\n")
    assert run("check", name).returncode == 2, ("the control", example)
# each verb's example does what the page says
for (section, verb), path, action, verdict in (
        (("files", "hide"), "/workspace/k.pem", "stat", "hide"),
        (("files", "deny"), "/workspace/id_rsa", "read", "deny"),
        (("files", "read"), "/workspace/docs/x/a.md", "write", "deny"),
        (("files", "write"), "/workspace/src/a.c", "write", "allow"),
        (("files", "append"), "/workspace/log/x", "append", "allow"),
        (("files", "ask"), "/workspace/db/x", "write", "ask"),
        (("files", "noexec"), "/workspace/a.sh", "exec", "deny")):
    with open("verb.policy", "w", encoding="utf-8") as f:
        f.write(shown[section, verb])
    out = run("explain", "--json", "--policy", "verb.policy", action, path).stdout
    assert f'"verdict": "{verdict}"' in out, (verb, out)
# a key that the template does not have gets its entry from the table, with an example that loads
make = [src + "/docs/man/policy_keys.py", build + "/enforcer/policy/policy-keys", "cut.in",
        src + "/docs/wardfs-policy.5.md"]
with open(src + "/docs/man/wardfs-policy.5.in", encoding="utf-8") as f:
    template = f.read()
entry = re.compile(r"^\.It Cm (wall|tmp|forward|sni)\n.*?^\.Ed\n", re.S | re.M)
with open("cut.in", "w", encoding="utf-8") as f:
    f.write(entry.sub("", template))
made = subprocess.run(["python3", *make], capture_output=True, text=True, check=True).stdout
for key in ("wall", "tmp", "forward", "sni"):
    example = re.search(rf"^\.It Cm {key} No.*?^\.Bd -literal\n(.*?)^\.Ed", made, re.S | re.M).group(1)
    with open("made.policy", "w", encoding="utf-8") as f:
        f.write(example)
    assert run("check", "made.policy").returncode == 0, example
with open("cut.in", "w", encoding="utf-8") as f:
    f.write(template.replace(".It Cm wall\n", ".It Cm nonsense\n"))
assert subprocess.run(["python3", *make], capture_output=True, check=False).returncode, "the control"
print(len(examples), "examples")
