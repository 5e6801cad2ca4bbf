#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each header compiles alone, without a warning, and may be included twice."""
import subprocess

from _sources import SRC, files, finish

cflags = subprocess.run(["pkg-config", "--cflags", "fuse3", "libseccomp", "inih", "libsodium", "nettle",
                         "jansson"], capture_output=True, text=True, check=True).stdout.split()
flags = ["-std=gnu17", "-D_GNU_SOURCE", "-DFUSE_USE_VERSION=314", "-Wall", "-Wextra", "-Werror",
         "-Wno-unused-parameter", "-Wstrict-prototypes", "-fsyntax-only", "-I", SRC, "-x", "c", "-"]
complaints, headers = [], files(".h")
for header in headers:
    text = f'#include "{header}"\n#include "{header}"\nextern int not_empty;\n'
    result = subprocess.run(["cc"] + cflags + flags, input=text, capture_output=True, text=True,
                            cwd=SRC, check=False)
    if result.returncode:
        complaints.append(f"{header} does not compile alone:\n{result.stderr}")
finish(complaints, headers)
