# SPDX-License-Identifier: Apache-2.0
"""The virtual machines that the tests know: what each is made of, and what runs in it."""
import dataclasses

# What wardfs is linked with, and what its tests call, by Debian 12's names.
PROGRAMS = """systemd-sysv dbus libpam-systemd udev kmod initramfs-tools python3 git make gcc libc6-dev attr
acl procps iproute2 sqlite3 openssl strace check fuse3 passwd login e2fsprogs util-linux-extra curl
ca-certificates""".split()
LIBRARIES_12 = """libfuse3-3 libseccomp2 libinih1 libsodium23 libnettle8 libjansson4 libsqlite3-0 liburing2
libevent-2.1-7 libevent-pthreads-2.1-7 libc-ares2 libzstd1 zlib1g libvterm0 libarchive13
libssl3""".split()


@dataclasses.dataclass(frozen=True)
class Machine:
    """One machine. Its digest is that of all of this: another recipe makes another image."""
    suite: str
    kernel: str  # package
    packages: tuple
    size: str  # of its disk
    command_line: str
    about: str
    tests: tuple  # what runs where nothing is named
    seconds: int  # after which a run has failed
    builds: bool = False  # its libraries differ from this host's: wardfs is built among them


MACHINES = {
    "debian12": Machine(
        suite="bookworm", kernel="linux-image-cloud-amd64", packages=tuple(PROGRAMS + LIBRARIES_12),
        size="4G", command_line="",
        about="Debian 12, Linux 6.1: Landlock ABI 2, no passthrough, no io_uring in FUSE",
        tests=("unit", "escape", "cases/sandbox/limits",
               "cases/sandbox/limits-user", "cases/fs/verbs", "cases/run/rootless", "cases/audit/system"),
        seconds=1500),
    "debian13": Machine(
        suite="trixie", kernel="linux-image-cloud-amd64", packages=tuple(PROGRAMS), builds=True,
        size="6G", command_line="",
        about="Debian 13, Linux 6.12, libfuse 3.17: Landlock ABI 6, passthrough, no io_uring in FUSE",
        tests=("unit", "escape", "cases/sandbox/limits",
               "cases/sandbox/limits-user", "cases/fs/verbs", "cases/run/rootless", "cases/audit/system"),
        seconds=1500),
}
