#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""archive.py DIR NAME FILE: the directory as an image of one layer that sleeps, for `ctr images import`."""
import hashlib
import io
import json
import os
import sys
import tarfile

root, name, path = sys.argv[1:]
layer = io.BytesIO()
with tarfile.open(fileobj=layer, mode="w") as tar:
    tar.add(root, ".")
data = layer.getvalue()
config = {"architecture": {"x86_64": "amd64", "aarch64": "arm64"}[os.uname().machine],
          "os": "linux", "config": {"Entrypoint": ["/bin/sleep", "600"], "Env": ["PATH=/bin"]},
          "rootfs": {"type": "layers", "diff_ids": ["sha256:" + hashlib.sha256(data).hexdigest()]}}
parts = {"layer.tar": data, "config.json": json.dumps(config).encode(), "manifest.json": json.dumps(
    [{"Config": "config.json", "RepoTags": [name], "Layers": ["layer.tar"]}]).encode()}
with tarfile.open(path, mode="w") as tar:
    for part, text in parts.items():
        info = tarfile.TarInfo(part)
        info.size = len(text)
        tar.addfile(info, io.BytesIO(text))
