#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""demo.py BUILD: the demonstration of `./bootstrap run`.

Copies this repository to a scratch directory, plants secrets in the copy, builds the project inside
its own sandbox, tries six forbidden things there, and shows for each what the trail has about it.
Each attempt has controls: the same thing where it is allowed succeeds. Exits 1 if anything did not
behave as it should, and leaves nothing behind.
"""
import contextlib
import hashlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

SRC = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
COLOR = sys.stdout.isatty() and "NO_COLOR" not in os.environ
TEMPORARY = ("tmpfs", "ramfs")
# Programs of the system, inside and outside alike.
PATH = "/usr/local/bin:/usr/bin:/bin"


def paint(code, text):
    return f"\033[{code}m{text}\033[0m" if COLOR else text


class Attempt:
    """A forbidden thing. Commands are sh; the project is the current directory inside and outside."""

    def __init__(self, title, command, allowed_inside, record=None, layer=None):
        self.title = title
        self.command = command  # fails inside, succeeds outside
        self.allowed_inside = allowed_inside  # its like, where the sandbox allows it
        self.record = record  # (action, path) of the refusal in the trail, or
        self.layer = layer  # what keeps it out, where no file operation is refused


class Listener:
    """A server on the host's loopback that counts who reaches it."""

    def __init__(self):
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        self.reached = 0
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self.socket.accept()
                self.reached += 1
                connection.close()

    def close(self):
        self.socket.close()


def attempts(scratch, port, mark):
    """The six. `mark` is an argument of a process of the host; `[x]` keeps grep from finding itself."""
    connect = ("python3 -c \"import socket; socket.create_connection(('127.0.0.1', {0}), 5); "
               "print('connected')\"")
    serve = ("python3 -c \"import socket; s = socket.create_server(('127.0.0.1', 0)); "
             "socket.create_connection(s.getsockname(), 5); print('connected')\"")
    look = f"grep -ls '[{mark[0]}]{mark[1:]}' /proc/[0-9]*/cmdline | grep ."
    rename = "python3 -c \"import os; os.rename('{0}', '{1}')\" && cat {1}/{2}"
    return [
        Attempt("read a hidden secret", "cat deploy/server.pem", "cat deploy/README",
                record=("", "/workspace/deploy/server.pem")),
        Attempt("write a read-only file", "echo changed >> LICENSE", "echo changed >> README.md",
                record=("", "/workspace/LICENSE")),
        Attempt("reach the network (a server of ours on the host)", connect.format(port), serve,
                layer="network"),
        Attempt("see a process of the host",
                look, f"sleep {mark} & sleep 0.3; {look}; found=$?; kill $!; (exit $found)",
                layer="processes"),
        Attempt("move the parent of a secret and read it there",
                rename.format("private", "moved", "key.txt"),
                rename.format("plain", "plain2", "notes.txt"),
                record=("rename", "/workspace/private")),
        Attempt("write outside of the project", f"echo x > {scratch}/outside/file",
                "echo x > /tmp/file && echo x > inside-file", layer="mounts"),
    ]


def copy_sources(to):
    """What git tracks, else all but builds."""
    listed = None
    if shutil.which("git"):
        git = subprocess.run(["git", "-c", f"safe.directory={SRC}", "-C", SRC, "ls-files", "-z"],
                             capture_output=True, check=False)
        if git.returncode == 0:
            listed = [os.fsdecode(name) for name in git.stdout.split(b"\0") if name]
    if listed is None:
        listed = []
        for where, folders, names in os.walk(SRC):
            folders[:] = [f for f in folders if not f.startswith("build") and f != ".git"]
            listed += [os.path.relpath(os.path.join(where, n), SRC) for n in names]
    for name in listed:
        source, target = os.path.join(SRC, name), os.path.join(to, name)
        if os.path.isfile(source):
            os.makedirs(os.path.dirname(target), exist_ok=True)
            shutil.copy2(source, target)
    return len(listed)


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def plant(project):
    """Secrets, and beside each something that is none. None of them opens anything."""
    write(f"{project}/.env", "API_KEY=demonstration-only\n")
    write(f"{project}/deploy/server.pem", "-- not a real key, but named like one --\n")
    write(f"{project}/deploy/README", "how to deploy\n")
    write(f"{project}/private/key.txt", "demonstration only\n")
    write(f"{project}/plain/notes.txt", "nothing secret\n")


class Demonstration:
    """The scratch directory, and everything that is run in it."""

    def __init__(self, build, scratch):
        self.wardfs = os.path.join(build, "wardfs")
        self.scratch, self.project = scratch, os.path.join(scratch, "project")
        self.policy = os.path.join(scratch, "demo.policy")
        self.wrong = 0
        self.env = {k: v for k, v in os.environ.items() if not k.startswith(("GIT_", "WARDFS_"))}
        self.env.update(XDG_STATE_HOME=f"{scratch}/state", XDG_RUNTIME_DIR=f"{scratch}/run",
                        XDG_CONFIG_HOME=f"{scratch}/config", PATH=PATH)

    def prepare(self):
        for name in ("state", "run", "config"):
            os.mkdir(f"{self.scratch}/{name}", 0o700)
        os.mkdir(f"{self.scratch}/outside")
        os.mkdir(self.project)
        shutil.copy(f"{SRC}/tests/demo/demo.policy", self.policy)
        count = copy_sources(self.project)
        plant(self.project)
        # The sandbox works as the one who called sudo: the copy is theirs, as a project would be.
        if os.geteuid() == 0 and os.environ.get("SUDO_UID", "").isdigit():
            owner = f"{os.environ['SUDO_UID']}:{os.environ.get('SUDO_GID', '')}"
            subprocess.run(["chown", "-R", owner, self.project, f"{self.scratch}/outside"],
                           check=True)
        return count

    def outside(self, command):
        return subprocess.run(["sh", "-c", command], cwd=self.project, env=self.env, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=60, check=False)

    def inside(self, session, script, options=(), **how):
        """Runs a script in a session. It comes by stdin, so that it stands in no argument list."""
        argv = [self.wardfs, "run", *options, "--policy", self.policy, "--session", session, "--", "sh"]
        return subprocess.run(argv, cwd=self.project, env=self.env, text=True, errors="replace",
                              input=script, timeout=1800, check=False, **how)

    def audit(self, verb, *args):
        """The records that `wardfs audit` prints as JSON, one a line."""
        result = subprocess.run([self.wardfs, "audit", verb, *args, "--json"], env=self.env,
                                capture_output=True, text=True, check=False)
        if result.returncode not in (0, 1):
            self.check(False, f"wardfs audit {verb}: {result.stderr.strip()}")
        return [json.loads(line) for line in result.stdout.splitlines() if line.strip()]

    def check(self, good, text):
        print("  " + (paint("32", "ok   ") if good else paint("31;1", "WRONG")) + " " + text)
        sys.stdout.flush()
        self.wrong += not good
        return good

    def build_inside(self):
        print(paint("1", "\nThe project, built inside its own sandbox"))
        print("  $ wardfs run -- sh -c 'meson setup -Dtests=disabled inside && ninja -C inside'")
        sys.stdout.flush()
        started = time.monotonic()
        result = self.inside("demo-build", "meson setup -Dtests=disabled inside && ninja -C inside",
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        took = time.monotonic() - started
        if not self.check(result.returncode == 0, f"built in {took:.1f} s"):
            print("".join(f"    | {line}\n" for line in result.stdout.splitlines()[-30:]), end="")
            return
        version = self.outside("inside/wardfs --version")
        self.check(version.returncode == 0, f"what was built runs: {version.stdout.splitlines()[0]}")

    def try_all(self, six):
        """Runs every attempt and its like in one session. Returns [(status, output)] in pairs."""
        script = ""
        for attempt in six:
            for command in (attempt.command, attempt.allowed_inside):
                script += f"( {command}\n) 2>&1 </dev/null; printf '\\036%d\\036' $?\n"
        result = self.inside("demo-attempts", script, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE)
        parts = result.stdout.split("\036")
        answers = [(int(status), text.strip()) for text, status in zip(parts[0::2], parts[1::2])]
        if len(answers) != 2 * len(six):
            self.check(False, f"the session ended early, status {result.returncode}: "
                              f"{result.stdout[-500:]}{result.stderr}")
            return None, ""
        return list(zip(answers[0::2], answers[1::2])), result.stderr

    def show(self, number, attempt, answers, records):
        (status, text), (like_status, like_text) = answers
        last = text.splitlines()[-1] if text else f"status {status}"
        print(paint("1", f"\n{number}. {attempt.title}"))
        print(f"  $ {attempt.command}")
        self.check(status != 0, f"inside, refused: {last}")
        self.check(like_status == 0, f"inside, where it is allowed: {attempt.allowed_inside}"
                   + (f" ({like_text})" if like_status else ""))
        control = self.outside(attempt.command)
        self.check(control.returncode == 0, "outside, the same command succeeds"
                   + (f" ({control.stdout.strip()})" if control.returncode else ""))
        if attempt.record:
            self.show_denial(attempt.record, records)
        else:
            self.show_layer(attempt.layer, records)

    def show_denial(self, wanted, records):
        action, path = wanted
        for r in records:
            if r.get("kind") == "deny" and r.get("path") == path and action in r.get("action", ""):
                self.check(bool(r.get("rule")),
                           f"record {r.get('seq')}: {r.get('action')} {path} → "
                           f"{r.get('errno')}, {r.get('verdict')} by {self.short(r.get('rule'))} "
                           f"({r.get('rule_text', 'no rule matches')})")
                return
        self.check(False, f"the trail has no refusal of {action or 'access'} {path}")

    def show_layer(self, layer, records):
        """No file operation is refused here: what keeps it out was in force from the start."""
        start = next((r for r in records if r.get("kind") == "session.start"), {})
        detail = start.get("detail", {})
        if layer == "network":
            rule = r"[network]\nmode = none"  # the record holds the text with \n for newlines
            policies = [r for r in records if r.get("kind") == "policy"]
            policy = next((r for r in policies if rule in r.get("text", "")), {})
            self.check(bool(policy), f"record {policy.get('seq')}: the policy in force says " +
                       rule.replace(r"\n", " "))
        elif layer == "mounts":
            # What a sandbox always shows of its own comes from nowhere near here.
            mounts = [p for m in detail.get("mounts", []) if not m.get("own")
                      for p in (m.get("source"), m.get("at")) if p]
            outside = f"{self.scratch}/outside/"
            self.check(bool(mounts) and not any(outside.startswith(p + "/") for p in mounts),
                       f"record {start.get('seq')}: all that is mounted from here: "
                       + ", ".join(self.short(p) for p in sorted(set(mounts))))
        else:
            self.check(detail.get("mode") == "restricted",
                       f"record {start.get('seq')}: the mode is {detail.get('mode')}: processes "
                       "are in a pid namespace of their own")

    def digests(self):
        """Of every file of the project, by name."""
        found = {}
        for where, _, files in os.walk(self.project):
            for name in files:
                path = os.path.join(where, name)
                with open(path, "rb") as f:
                    found[os.path.relpath(path, self.project)] = hashlib.sha256(f.read()).hexdigest()
        return found

    def review(self):
        """Changes that wait for a yes: nothing is changed, all of it is, nothing is again."""
        print(paint("1", "\nChanges that wait for a person's yes"))
        before = self.digests()
        script = "echo an agent was here >>README.md; echo new >added; rm -r docs; ls docs"
        print(f"  $ wardfs run --review -- sh -c '{script}'")
        result = self.inside("demo-review", script, ["--review"], stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT)
        self.check("docs" in result.stdout and result.returncode != 0, "inside, docs is gone")
        self.check(self.digests() == before, f"the project on the host has its {len(before)} files")
        gone = {name for name in before if name.startswith("docs/")}
        for verb, wanted in (("apply", before.keys() - gone | {"added"}), ("undo", before.keys())):
            print(f"  $ wardfs review {verb}")
            result = subprocess.run([self.wardfs, "review", verb, "-s", "demo-review"], cwd=self.project,
                                    env=self.env, text=True, stdin=subprocess.DEVNULL,
                                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
            now = self.digests()
            good = self.check(result.returncode == 0 and now.keys() == wanted and
                              (now == before) == (verb == "undo"),
                              (result.stdout.strip().splitlines() or ["it said nothing"])[-1])
            if not good:
                print(result.stdout)

    def short(self, text):
        return str(text).replace(self.scratch + "/", "")

    def trail(self, records, stderr):
        print(paint("1", "\nThe trail"))
        kinds = {}
        for r in records:
            kinds[r.get("kind")] = kinds.get(r.get("kind"), 0) + 1
        self.check(len(records) > 0, f"{len(records)} records: " +
                   ", ".join(f"{n} {kind}" for kind, n in sorted(kinds.items(), key=str)))
        verify = subprocess.run([self.wardfs, "audit", "verify", "demo-attempts"], env=self.env,
                                text=True, capture_output=True, check=False)
        self.check(verify.returncode == 0 and "intact" in verify.stdout,
                   (verify.stdout + verify.stderr).strip())
        print("  what the session said at its end:")
        print("".join(f"    {self.short(line)}\n" for line in stderr.splitlines()), end="")


def scratch_place():
    """A directory on a disk: a build should not depend on what a tmpfs has left."""
    for place in (os.environ.get("TMPDIR"), "/var/tmp", "/tmp"):
        if place and os.path.isdir(place) and os.access(place, os.W_OK):
            kind = subprocess.run(["stat", "-f", "-c", "%T", place], capture_output=True,
                                  text=True, check=False).stdout.strip()
            if kind not in TEMPORARY:
                return place
    return None


def main():
    build = os.path.abspath(sys.argv[1])
    scratch = os.path.realpath(tempfile.mkdtemp(prefix="wardfs-demo.", dir=scratch_place()))
    os.chmod(scratch, 0o755)
    mark = f"{os.getpid()}.{time.time_ns() % 10**9}"
    listener = Listener()
    process = subprocess.Popen(["sleep", f"1{mark}"])
    try:
        demo = Demonstration(build, scratch)
        count = demo.prepare()
        print(f"This repository ({count} files) is copied to {demo.project}, secrets are planted.")
        print("The policy is the shipped profile medium, and three rules:")
        with open(demo.policy, encoding="utf-8") as f:
            print("".join(f"    {line}" for line in f.read().split("[files]\n")[1].splitlines(True)))
        demo.build_inside()
        if demo.wrong:
            return 1
        six = attempts(scratch, listener.port, f"1{mark}")
        answers, stderr = demo.try_all(six)
        if answers:
            reached = listener.reached
            records = demo.audit("show", "demo-attempts")
            for number, (attempt, answer) in enumerate(zip(six, answers), 1):
                demo.show(number, attempt, answer, records)
            print(paint("1", "\nCounted on the host"))
            demo.check(reached == 0, f"connections from inside that reached the server: {reached}")
            demo.check(listener.reached > 0, "connections from outside: "
                                             f"{listener.reached - reached}")
            demo.trail(records, stderr)
        demo.review()
        print(paint("1", f"\n{demo.wrong} of all this went wrong." if demo.wrong else
                    "\nAll of this behaved as it should."))
        return 1 if demo.wrong else 0
    finally:
        process.kill()
        process.wait()
        listener.close()
        shutil.rmtree(scratch, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
