#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""manifests.py DEPLOY DIR: what deploy/kubernetes says is consistent; the data of each ConfigMap
becomes files of DIR/NAME."""
import os
import sys

import yaml

deploy, into = sys.argv[1:]
found = {}
for name in sorted(os.listdir(deploy)):
    if name.endswith(".yaml"):
        with open(os.path.join(deploy, name), encoding="utf-8") as f:
            for one in yaml.safe_load_all(f):
                key = one["kind"], one.get("metadata", {}).get("name")
                assert key not in found, f"{key} twice"
                found[key] = one
for (kind, name), one in found.items():
    if kind == "ConfigMap":
        os.makedirs(os.path.join(into, name))
        for file, text in one["data"].items():
            with open(os.path.join(into, name, file), "w", encoding="utf-8") as f:
                f.write(text)
handler = found["RuntimeClass", "wardfs"]["handler"]
with open(os.path.join(deploy, "../../conf/oci/containerd-config.toml"), encoding="utf-8") as f:
    assert f"containerd.runtimes.{handler}]" in f.read(), handler
policies = {"/etc/wardfs/policies/" + n for n in found["ConfigMap", "wardfs-policies"]["data"]}
pod = found["Pod", "agent"]
job = found["Job", "tasks"]["spec"]["template"]
for one in pod, job:
    assert one["spec"]["runtimeClassName"] == "wardfs", one
    assert one["metadata"]["annotations"]["wardfs.policy"] in policies, one
    names = {v["name"] for v in one["spec"]["volumes"]}
    for container in one["spec"]["containers"]:
        assert {m["name"] for m in container["volumeMounts"]} <= names, container
    chosen = found["NetworkPolicy", "agent"]["spec"]["podSelector"]["matchLabels"]
    assert chosen.items() <= one["metadata"]["labels"].items(), one
daemon = found["DaemonSet", "wardfs-installer"]
space = daemon["metadata"]["namespace"]
assert ("Namespace", space) in found
for volume in daemon["spec"]["template"]["spec"]["volumes"]:
    if "configMap" in volume:
        kept = found["ConfigMap", volume["configMap"]["name"]]
        assert kept["metadata"]["namespace"] == space, kept
listed = set(found["Kustomization", None]["resources"])
assert listed <= set(os.listdir(deploy)), listed
