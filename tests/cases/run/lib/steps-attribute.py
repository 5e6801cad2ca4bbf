# SPDX-License-Identifier: Apache-2.0
"""Attributes of the guard, for review-steps-inside: get(NAME) and set(NAME, VALUE), and what follows."""
import os


def get(name):
    return os.getxattr(".", "user.wardfs." + name).decode()


def set(name, value):  # pylint: disable=redefined-builtin
    try:
        os.setxattr(".", "user.wardfs." + name, value.encode())
        return "done"
    except OSError as e:
        return os.strerror(e.errno)
