# SPDX-License-Identifier: Apache-2.0
"""Where the bench runs its commands: natively, on its peers, in sessions of all kinds."""
import fcntl
import json
import os
import shutil
import subprocess
import time

HERE = os.path.dirname(os.path.abspath(__file__))
# Of a section that has its own, in its directory.
POLICY = "./.bench.policy"
DENIALS = "[policy]\nversion = 1\nextends = medium\n[audit]\nlog = denials\n"
BWRAP = ["bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--ro-bind", "/usr", "/usr",
         "--symlink", "usr/bin", "/bin", "--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64",
         "/lib64", "--ro-bind", "/etc", "/etc", "--proc", "/proc", "--dev", "/dev", "--tmpfs",
         "/tmp", "--tmpfs", "/run", "--bind", ".", "/workspace", "--cap-drop", "ALL", "--"]


def quiet(*argv, good=(0,), **how):
    done = subprocess.run(argv, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **how)
    if done.returncode not in good:
        raise subprocess.CalledProcessError(done.returncode, argv)


class Native:
    name = "native"

    def run(self, where, argv):
        return subprocess.run(argv, cwd=where, check=True, text=True, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE).stdout


class Bwrap(Native):
    """The sandbox alone, with no file system in between."""
    name = "bwrap"

    def __init__(self, _scratch):
        pass

    def run(self, where, argv):
        return super().run(where, [*BWRAP[:-1], "--chdir", "/workspace", "--"] + argv)


class Mounted:
    """Another file system in between, mounted for each run."""

    def __init__(self, scratch):
        self.point = os.path.join(scratch, "mnt", self.name)
        os.makedirs(self.point)

    def mount(self, where):
        raise NotImplementedError

    def run(self, where, argv):
        self.mount(where)
        try:
            return Native().run(self.point, argv)
        finally:
            for _ in range(100):
                if subprocess.run(["umount", self.point], stderr=subprocess.DEVNULL,
                                  check=False).returncode == 0:
                    break
                time.sleep(0.05)


class Bindfs(Mounted):
    name = "bindfs"

    def mount(self, where):
        quiet("bindfs", where, self.point)


class FuseOverlayfs(Mounted):
    name = "fuse-overlayfs"

    def mount(self, where):
        # What a run leaves stays for the next one, as elsewhere.
        upper, work = where + ".upper", where + ".work"
        for path in (upper, work):
            os.makedirs(path, exist_ok=True)
        quiet("fuse-overlayfs", "-o", f"lowerdir={where},upperdir={upper},workdir={work}",
              self.point)


class Setting:
    """FUSE over io_uring allowed ("Y") or not ("N") on this host, then as it was before. Tests that
    change it too hold the same lock. None: as it is."""
    path = "/sys/module/fuse/parameters/enable_uring"

    def __init__(self, value):
        self.value = value

    def __enter__(self):
        if self.value:
            self.fd = os.open(self.path, os.O_RDWR)
            fcntl.flock(self.fd, fcntl.LOCK_EX)
            self.before = os.pread(self.fd, 1, 0)
            os.pwrite(self.fd, self.value.encode(), 0)

    def __exit__(self, *_):
        if self.value:
            os.pwrite(self.fd, self.before, 0)
            os.close(self.fd)


# Where the CPUs cannot be kept awake: there, rings are chosen.
NO_LATENCY = ["unshare", "--mount", "sh", "-ec",
              "mount --bind /dev/cpu_dma_latency /dev/cpu_dma_latency; "
              'mount -o remount,bind,nodev /dev/cpu_dma_latency; exec "$@"', "sh"]


class Guarded:
    options = []

    def __init__(self, build, name="guarded", allowed=None):
        self.wardfs = os.path.join(build, "wardfs")
        self.name = name
        self.allowed = allowed
        self.options = []
        self.transport = None

    def run(self, where, argv):
        policy = [f"--policy={POLICY}"] if os.path.exists(os.path.join(where, POLICY)) else []
        before = NO_LATENCY if self.allowed == "Y" else []
        with Setting(self.allowed):
            out = Native().run(where, [*before, self.wardfs, "run", *self.options, *policy, "--"] + argv)
        self.transport = self.transport or transport_of_last()
        return out


class Engine(Guarded):
    """The same session in a container of an engine."""

    def __init__(self, build, name):
        super().__init__(build, name)
        self.options = ["--engine", name]


class Reviewed(Guarded):
    """The same session with its changes staged, and thrown away."""

    def __init__(self, build):
        super().__init__(build, "review")
        self.options = ["--review"]

    def run(self, where, argv):
        out = super().run(where, argv)
        reviews = os.path.join(os.environ["XDG_STATE_HOME"], "wardfs", "reviews")
        for session in os.listdir(reviews):
            quiet(self.wardfs, "review", "discard", "--session", session, cwd=where)
        return out


class Rootless(Guarded):
    """An ordinary user's session, who may open /dev/fuse as on most machines."""
    uid = "54321"
    after_home = []
    before = ["unshare", "--mount", "sh", "-ec",
              'mount -t tmpfs -o mode=755 tmpfs "$0"; mknod -m 666 "$0/fuse" c 10 229; '
              'mount --bind "$0/fuse" /dev/fuse; umount -l "$0"; unset XDG_CONFIG_HOME; HOME=$1; '
              'XDG_STATE_HOME=$1/state; export HOME XDG_STATE_HOME; shift; exec "$@"']

    def __init__(self, build, scratch, name="rootless"):
        super().__init__(self.readable(build, os.path.join(scratch, "build")), name)
        self.home = os.path.join(scratch, "home")
        self.point = os.path.join(scratch, "dev")
        for path in (self.home, self.point):
            os.mkdir(path)
        os.chown(self.home, int(self.uid), int(self.uid))

    @staticmethod
    def readable(build, to):
        """The programs where that user can reach them."""
        os.mkdir(to)
        for name in os.listdir(build):
            path = os.path.join(build, name)
            if os.path.isfile(path) and os.access(path, os.X_OK):
                shutil.copy(path, to)
        shutil.copytree(os.path.join(build, "conf"), os.path.join(to, "conf"))
        return to

    def run(self, where, argv):
        # Once: a chown to the same owner changes ctime, and git reads all of a changed file.
        quiet("find", where, "!", "-uid", self.uid, "-exec", "chown", "-h",
              f"{self.uid}:{self.uid}", "{}", "+")
        policy = [f"--policy={POLICY}"] if os.path.exists(os.path.join(where, POLICY)) else []
        out = Native().run(where, [
            *self.before, self.point, self.home, *self.after_home, "setpriv", f"--reuid={self.uid}",
            f"--regid={self.uid}", "--clear-groups", self.wardfs, "run", *policy, "--"] + argv)
        self.transport = self.transport or transport_of_last(os.path.join(self.home, "state"))
        return out


class Hosted(Rootless):
    """The same where the host has wardfs-hostd, which is started for each run."""
    caps = "+sys_admin,+setuid,+setgid"
    service = ("mount -t tmpfs -o mode=755 tmpfs /run; mkdir /run/wardfs-host; "
               'python3 "$2" /run/wardfs-host/socket 0 /usr/bin/setpriv --reuid=54322 --regid=54322 '
               f"--clear-groups --inh-caps=-all,{caps} --ambient-caps=-all,{caps} "
               '"$3/wardfs-hostd" & service=$!; until [ -S /run/wardfs-host/socket ]; do sleep 0.01; '
               'done; shift 3; "$@"; kill "$service"')

    def __init__(self, build, scratch):
        os.mkdir(os.path.join(scratch, "with-hostd"))
        super().__init__(build, os.path.join(scratch, "with-hostd"), "hostd")
        script = self.before[-1].replace('shift; exec "$@"', self.service)
        activate = os.path.join(HERE, "../support/activate.py")
        self.before = [*self.before[:-1], script]
        self.after_home = [activate, os.path.dirname(self.wardfs)]


def transport_of_last(state=None):
    """How requests reached the guard in the last session, as its trail says."""
    sessions = os.path.join(state or os.environ["XDG_STATE_HOME"], "wardfs", "sessions")
    trails = [os.path.join(sessions, name, "trail.jsonl") for name in os.listdir(sessions)]
    with open(max(trails, key=os.path.getmtime), encoding="utf-8") as f:
        return json.loads(f.readline())["detail"].get("transport", "?")


class Unwatched(Guarded):
    """A session that cannot watch the backing: what the watches cost is the difference."""

    def __init__(self, build):
        super().__init__(build, "unwatched")

    def run(self, where, argv):
        knockout = os.path.join(os.path.dirname(self.wardfs), "tests/support/knockout")
        return Native().run(where, [knockout, "fanotify_init=ENOSYS", "--", self.wardfs, "run",
                                    "--"] + argv)


class Denials(Guarded):
    """A session that records refusals alone: what the records of opens cost is the difference."""

    def __init__(self, build):
        super().__init__(build, "denials")

    def run(self, where, argv):
        policy = os.path.join(where, POLICY)
        if not os.path.exists(policy):
            with open(policy, "w", encoding="ascii") as f:
                f.write(DENIALS)
        return super().run(where, argv)


PEERS = (Bindfs, FuseOverlayfs, Bwrap)
