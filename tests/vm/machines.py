# SPDX-License-Identifier: Apache-2.0
"""The virtual machines that the tests know: what each is made of, and what runs in it."""
import dataclasses

# What wardfs is linked with, and what its tests call, by Debian 12's names.
PROGRAMS = """systemd-sysv dbus libpam-systemd udev kmod initramfs-tools python3 git make gcc libc6-dev attr
acl procps iproute2 sqlite3 openssl strace check fuse3 passwd login e2fsprogs util-linux-extra curl
ca-certificates""".split()
# What debootstrap cannot resolve, and apt installs then: file systems, users' managers, AppArmor.
EXTRAS = """apparmor btrfs-progs busybox-static dbus-user-session less nfs-kernel-server tmux xfsprogs
zstd""".split()
LIBRARIES_12 = """libfuse3-3 libseccomp2 libinih1 libsodium23 libnettle8 libjansson4 libsqlite3-0 liburing2
libevent-2.1-7 libevent-pthreads-2.1-7 libc-ares2 libzstd1 zlib1g libvterm0 libarchive13
libssl3""".split()


# What a test may boot with (`# boot: NAME`): options of the kernel, which systemd reads, too.
BOOTS = {
    "default": "",
    "hybrid": "systemd.unified_cgroup_hierarchy=0 SYSTEMD_CGROUP_ENABLE_LEGACY_FORCE=1",
    "v1": "systemd.unified_cgroup_hierarchy=0 systemd.legacy_systemd_cgroup_controller=1"
          " SYSTEMD_CGROUP_ENABLE_LEGACY_FORCE=1",
}


@dataclasses.dataclass(frozen=True)
class Machine:
    """One machine. Its digest is that of all of this: another recipe makes another image."""
    suite: str
    kernel: str  # package
    packages: tuple
    extras: tuple  # packages too, but what apt installs
    size: str  # of its disk
    command_line: str
    about: str
    tests: tuple  # what runs where nothing is named
    seconds: int  # after which a run has failed
    builds: bool = False  # its libraries differ from this host's: wardfs is built among them


# What each machine runs by itself: what kernels and a booted systemd make different.
TESTS = ("unit", "escape", "cases/sandbox/limits", "cases/sandbox/limits-user",
         "cases/sandbox/hidden-processes", "cases/fs/verbs", "cases/fs/backings", "cases/fs/folding",
         "cases/run/rootless", "cases/run/host-groups", "cases/audit/system", "machine")

MACHINES = {
    "debian12": Machine(
        suite="bookworm", kernel="linux-image-cloud-amd64", packages=tuple(PROGRAMS + LIBRARIES_12),
        extras=tuple(EXTRAS), size="4G", command_line="",
        about="Debian 12, Linux 6.1: Landlock ABI 2, no passthrough, no io_uring in FUSE",
        tests=TESTS, seconds=3600),
    "debian13": Machine(
        suite="trixie", kernel="linux-image-cloud-amd64", packages=tuple(PROGRAMS), builds=True,
        extras=tuple(EXTRAS), size="6G", command_line="",
        about="Debian 13, Linux 6.12, libfuse 3.17: Landlock ABI 6, passthrough, no io_uring in FUSE",
        tests=TESTS, seconds=3600),
}
