# SPDX-License-Identifier: Apache-2.0
"""What it costs that a session tells programs inside of what the host changes: `git checkout` outside of FILES
files, without a session, beside one in which nobody watches, and beside one that watches every directory."""
import os
import subprocess
import time

FILES, DIRS = 4000, 40
POLICY = "[policy]\nversion = 1\n[files]\nwrite = /workspace\n"
WATCHER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support/inotify.py")
TICKS = os.sysconf("SC_CLK_TCK")


def _git(where, *argv):
    subprocess.run(["git", "-c", "user.name=bench", "-c", "user.email=bench@localhost", *argv], cwd=where, check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def prepare(where):
    """Two branches, one and two, in which every file differs."""
    _git(where, "init")
    for branch in "one", "two":
        for i in range(FILES):
            path = f"{where}/d{i % DIRS}"
            os.makedirs(path, exist_ok=True)
            with open(f"{path}/{i}", "w", encoding="ascii") as out:
                out.write(f"{branch} {i}\n" * 20)
        _git(where, "checkout", "-b", branch)
        _git(where, "add", "-A")
        _git(where, "commit", "-m", branch)
    with open(f"{where}/.git/info/exclude", "a", encoding="ascii") as out:
        out.write("/.watch.py\n/.bench.policy\nstop\nmark\n")
    with open(f"{where}/.bench.policy", "w", encoding="ascii") as out:
        out.write(POLICY)
    with open(WATCHER, encoding="utf-8") as f, open(f"{where}/.watch.py", "w", encoding="utf-8") as out:
        out.write(f.read())


def _checkout(where, branch):
    began = time.monotonic()
    _git(where, "checkout", branch)
    return time.monotonic() - began


def _children(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as f:
        return [int(child) for child in f.read().split()]


def _stat(pid):
    """Its name, and its processor time in seconds."""
    with open(f"/proc/{pid}/stat", encoding="utf-8") as f:
        text = f.read()
    fields = text[text.rindex(")") + 2:].split()
    return text[text.index("(") + 1:text.rindex(")")], (int(fields[11]) + int(fields[12])) / TICKS


def _cpu(supervisor):
    """Of wardfs-fs, and of our processes inside beside the command."""
    used = {"wardfs-fs": 0.0, "wardfs-init": 0.0}
    for pid in _children(supervisor):
        name, seconds = _stat(pid)
        if name == "wardfs-fs":
            used[name] += seconds
        for inner in _children(pid) if name == "wardfs-init" else []:
            name, seconds = _stat(inner)
            used["wardfs-init"] += seconds if name == "wardfs-init" else 0
    return used


def _wait_line(lines, wanted):
    for line in lines:
        if line.strip() == wanted:
            return


def _beside(build, where, paths):
    """A checkout beside a session that has looked at every file and watches these paths."""
    walk = "find . -path ./.git -prune -o -type f -exec cat {} + >/dev/null; exec python3 .watch.py 600 " + " ".join(paths)
    argv = [f"{build}/wardfs", "run", "--policy=./.bench.policy", "--", "sh", "-c", walk]
    with subprocess.Popen(argv, cwd=where, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True) as session:
        _wait_line(session.stdout, "ready")
        time.sleep(1)  # the backing is watched a moment later
        before = _cpu(session.pid)
        seconds = _checkout(where, "two")
        done = time.monotonic()
        top = paths[0]
        with open(f"{where}/{top}/mark", "w", encoding="ascii"):
            pass
        _wait_line(session.stdout, f"{top} create mark")
        told = time.monotonic() - done
        after = _cpu(session.pid)
        os.unlink(f"{where}/{top}/mark")
        with open(f"{where}/{top}/stop", "w", encoding="ascii"):
            pass
        session.stdout.read()
    os.unlink(f"{where}/{top}/stop")
    _checkout(where, "one")
    return {"checkout": seconds, "told": told, "fs": after["wardfs-fs"] - before["wardfs-fs"],
            "replayer": after["wardfs-init"] - before["wardfs-init"]}


def rows(build, where):
    _checkout(where, "one")
    result = {"alone": _checkout(where, "two")}
    _checkout(where, "one")
    os.makedirs(f"{where}/none", exist_ok=True)
    for name, paths in ("quiet", ["none"]), ("watched", [f"d{i}" for i in range(DIRS)]):
        result |= {f"{name}-{key}": value for key, value in _beside(build, where, paths).items()}
    return result


def said(m):
    return (f"git checkout outside of {FILES} files: {m['alone']:.2f} s; beside a session in which nobody watches "
            f"{m['quiet-checkout'] / m['alone']:.2f} times that, beside one that watches all directories "
            f"{m['watched-checkout'] / m['alone']:.2f} times (to reach: ≤ 1.3); everything was told {m['watched-told']:.2f} s "
            f"later; CPU of wardfs-fs {m['quiet-fs']:.2f} and {m['watched-fs']:.2f} s, of the replayer "
            f"{m['quiet-replayer']:.2f} and {m['watched-replayer']:.2f} s")
