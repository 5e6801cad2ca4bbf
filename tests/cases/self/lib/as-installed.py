#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""as-installed.py BUILD DESTDIR [VERSION]: installs a build below DESTDIR as if it had the prefix /usr.

With VERSION, the program wardfs says that it is of this version, which must be as long as its own.
"""
import json
import os
import shutil
import sys

build, destdir = sys.argv[1:3]


def read(name):
    with open(os.path.join(build, "meson-info", name), encoding="utf-8") as f:
        return json.load(f)


prefix = next(o["value"] for o in read("intro-buildoptions.json") if o["name"] == "prefix")
for source, target in read("intro-installed.json").items():
    # Without QuickJS, whose licence is in no copy of the sources (copy.sh).
    if os.path.isfile(source) and not source.endswith("/wardfs-quickjs"):
        target = os.path.join(destdir, "usr", os.path.relpath(target, prefix))
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copyfile(source, target)
        os.chmod(target, 0o755 if os.access(source, os.X_OK) else 0o600)
if len(sys.argv) > 3:
    version = read("intro-projectinfo.json")["version"].encode()
    program = os.path.join(destdir, "usr/bin/wardfs")
    with open(program, "rb") as f:
        data = f.read()
    if version not in data or len(version) != len(sys.argv[3]):
        sys.exit(f"no {version} in {program}, or longer or shorter than {sys.argv[3]}")
    with open(program, "wb") as f:
        f.write(data.replace(version, sys.argv[3].encode()))
