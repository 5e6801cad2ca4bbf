# SPDX-License-Identifier: Apache-2.0
"""Tries to type into the terminal, as an owner's editor must not."""
import fcntl
import termios

try:
    fcntl.ioctl(0, termios.TIOCSTI, b"x")
    print("typed")
except OSError as e:
    # 25 (ENOTTY) is what the kernel says of what is no terminal; a filter answers before it: 1
    print("not typed", e.errno)
