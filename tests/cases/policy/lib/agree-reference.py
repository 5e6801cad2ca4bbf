# SPDX-License-Identifier: Apache-2.0
# Part of ../agree.sh.
import errno, json, os, random, shutil, subprocess

wardfs = os.path.join(os.environ["WARD_BUILD"], "wardfs")
top = os.getcwd()
source, mount = top + "/source", top + "/mount"
rnd = random.Random(7)
names = ["a", "b", "c", ".env", "x.pem"]
seen = {}


def fill():
    """The tree as it is before each request: files f in directories of two levels."""
    for entry in os.listdir(source):
        shutil.rmtree(f"{source}/{entry}")
    for d in ("a", "a/b", "a/.env", "b", "b/c", "c"):
        os.makedirs(f"{source}/{d}")
        for f in ("f", "x.pem"):
            with open(f"{source}/{d}/{f}", "w", encoding="ascii") as out:
                out.write("text\n")


def pattern():
    parts = [rnd.choice(names + ["*", "?", "[ab]", "f"]) for _ in range(rnd.randint(1, 2))]
    return rnd.choice(["", "/workspace/", "/workspace/**/"]) + "/".join(parts)


def policy():
    lines = ["[policy]", "version = 1", "[files]", "write = /workspace"]
    for _ in range(rnd.randint(1, 5)):
        verb = rnd.choice(["hide", "deny", "read", "append", "write", "ask", "noexec"])
        lines.append(f"{verb} = {pattern()}")
    lines.append("[guard]")
    for _ in range(rnd.randint(0, 2)):
        lines.append(f"{rnd.choice(['hide', 'deny', 'read', 'append'])} = {pattern()}")
    return "\n".join(lines) + "\n"


def path(kind):
    d = rnd.choice(["a", "a/b", "a/.env", "b", "b/c", "c"])
    if kind == "dir":
        return d
    return d + "/" + (rnd.choice(["f", "x.pem"]) if kind == "file" else rnd.choice(["n", "n.pem"]))


def attempt(action, p, p2):
    def opened(flags):
        os.close(os.open(p, flags, 0o644))

    try:
        if action == "stat":
            os.lstat(p)
        elif action == "list":
            os.listdir(p)
        elif action == "read":
            opened(os.O_RDONLY)
        elif action == "write":
            opened(os.O_WRONLY)
        elif action == "append":
            opened(os.O_WRONLY | os.O_APPEND)
        elif action == "create":
            os.mknod(p)
        elif action == "remove":
            os.unlink(p)
        elif action == "chmod":
            os.chmod(p, 0o600)
        elif action == "rename":
            os.rename(p, p2)
        elif action == "link":
            os.link(p, p2)
    except OSError as e:
        return errno.errorcode[e.errno]
    return None


def hidden_above(p, policy_file):
    """Is a directory on the way hidden? Then the kernel says so before the policy is asked."""
    while "/" in p:
        p = os.path.dirname(p)
        if explain(policy_file, "list", p)["verdict"] != "allow":
            return True
    return False


def explain(policy_file, action, *paths):
    run = subprocess.run([wardfs, "policy", "explain", "--json", "--policy", policy_file, action]
                         + ["/workspace/" + q for q in paths], cwd=source, check=False,
                         capture_output=True, text=True)
    assert run.returncode in (0, 1), run.stderr
    answer = json.loads(run.stdout)
    assert (run.returncode == 0) == (answer["verdict"] == "allow"), answer
    return answer


wanted = 10000 if os.environ.get("WARD_LONG") else 300
round = 0
while sum(seen.values()) < wanted:
    round += 1
    assert round < wanted / 10, "too few requests could be compared"
    fill()
    policy_file = f"{top}/{round}.policy"
    with open(policy_file, "w", encoding="ascii") as out:
        out.write(policy())
    if explain(policy_file, "list", "")["verdict"] != "allow":
        # the tree's own root is hidden: there is nothing to serve
        assert subprocess.run([wardfs, "mount", "--policy", policy_file, source, mount], check=False,
                              capture_output=True).returncode == 2
        continue
    subprocess.run([wardfs, "mount", "--policy", policy_file, source, mount], check=True)
    try:
        for _ in range(30):
            action = rnd.choice(["stat", "list", "read", "write", "append", "create", "remove",
                                 "chmod", "rename", "rename", "link"])
            p = path("dir" if action == "list" or (action == "rename" and rnd.random() < 0.4)
                     else "new" if action == "create" else "file")
            p2 = path("new") if action in ("rename", "link") else None
            if p2 and p2.startswith(p + "/"):
                continue  # into itself: the kernel says EINVAL
            if any(hidden_above(q, policy_file) for q in (p, p2) if q):
                continue
            told = explain(policy_file, action, *[q for q in (p, p2) if q])
            got = attempt(action, f"{mount}/{p}", f"{mount}/{p2}")
            with open(policy_file, encoding="ascii") as f:
                assert told["error"] == got, (action, p, p2, got, told, f.read())
            seen[got] = seen.get(got, 0) + 1
            # undo, from outside: what a request has changed
            if got is None and action in ("create", "remove", "rename", "link"):
                subprocess.run([wardfs, "umount", mount], check=True)
                fill()
                subprocess.run([wardfs, "mount", "--policy", policy_file, source, mount],
                               check=True)
    finally:
        subprocess.run([wardfs, "umount", mount], check=False)
print(f"{sum(seen.values())} requests: {seen}")
assert all(seen.get(e, 0) >= 5 for e in (None, "EACCES", "ENOENT", "EXDEV")), seen
