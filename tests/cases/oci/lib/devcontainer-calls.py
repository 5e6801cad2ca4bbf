#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the kernel, or a list in front of it, says: a user namespace, a new keyring, the keyring's id."""
import ctypes
import errno
import platform

libc = ctypes.CDLL(None, use_errno=True)
KEYCTL = {"x86_64": 250, "aarch64": 219}[platform.machine()]
joined = libc.syscall(KEYCTL, 1, 0) > 0  # KEYCTL_JOIN_SESSION_KEYRING
ctypes.set_errno(0)
libc.syscall(KEYCTL, 0, -3, 0)  # KEYCTL_GET_KEYRING_ID of the session's
keys = "refused" if ctypes.get_errno() in (errno.EPERM, errno.ENOSYS) else "answered"
print(f"unshare {libc.unshare(0x10000000)}, join {joined}, keys {keys}")
