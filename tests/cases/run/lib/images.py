#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes images for tests: images.py KIND OUT [BUSYBOX]. Each kind is one image; the hostile ones differ from the
good one in what their name says."""
import gzip
import hashlib
import io
import json
import os
import shutil
import sys
import tarfile


def entry(name, data=b"", **more):
    member = tarfile.TarInfo(name)
    member.mode, member.mtime = 0o644, 1700000000
    for key, value in more.items():
        setattr(member, key, value)
    if member.isreg():
        member.size = len(data)
    return member, data


def link(name, to):
    return entry(name, type=tarfile.SYMTYPE, linkname=to)


def hard(name, to):
    return entry(name, type=tarfile.LNKTYPE, linkname=to)


def folder(name, mode=0o755):
    return entry(name, type=tarfile.DIRTYPE, mode=mode)


def layer(*entries):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for member, data in entries:
            tar.addfile(member, io.BytesIO(data) if member.isreg() else None)
    return out.getvalue()


def base(busybox):
    names = ["sh", "cat", "ls", "id", "env", "stat", "true", "pwd", "touch"]
    return layer(folder("bin"), folder("etc"), folder("usr"), folder("var"), folder("opt"),
                 entry("bin/busybox", busybox, mode=0o755),
                 *[link("bin/" + name, "busybox") for name in names],
                 entry("etc/os-release", b"the-image\n"), entry("opt/lower", b"lower\n"),
                 entry("opt/gone", b"gone\n"), folder("opt/full"),
                 entry("opt/full/old", b"old\n"))


def digest(data):
    return "sha256:" + hashlib.sha256(data).hexdigest()


CONFIG = {"architecture": "amd64", "os": "linux",
          "config": {"Env": ["PATH=/bin:/opt/bin", "OF_IMAGE=yes", "LANG=of-the-image"],
                     "Entrypoint": ["/bin/sh", "-c"], "Cmd": ["pwd; echo own-command $OF_IMAGE"],
                     "WorkingDir": "/opt", "User": "0:0"}}


class Layout:
    """An OCI layout in a directory."""

    def __init__(self, out):
        self.out = out
        os.makedirs(os.path.join(out, "blobs/sha256"))
        self.write("oci-layout", b'{"imageLayoutVersion":"1.0.0"}')

    def write(self, name, data):
        with open(os.path.join(self.out, name), "wb") as f:
            f.write(data)

    def blob(self, data, kind, name=None):
        name = name or digest(data)
        self.write("blobs/sha256/" + name[7:], data)
        return {"mediaType": kind, "digest": name, "size": len(data)}

    def manifest(self, layers, packed=True, config=None):
        kind = "application/vnd.oci.image.layer.v1.tar" + ("+gzip" if packed else "")
        config = dict(config or CONFIG, rootfs={"type": "layers",
                                                "diff_ids": [digest(x) for x in layers]})
        body = {"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
                "config": self.blob(json.dumps(config).encode(),
                                    "application/vnd.oci.image.config.v1+json"),
                "layers": [self.blob(gzip.compress(x, mtime=0) if packed else x, kind)
                           for x in layers]}
        return self.blob(json.dumps(body).encode(), body["mediaType"])

    def index(self, *manifests):
        self.write("index.json", json.dumps({"schemaVersion": 2,
                                             "manifests": manifests}).encode())


def docker(out, layers, config=None, swap=False, links=False):
    """An archive as `docker save` writes it; with links, as podman does."""
    config = json.dumps(dict(config or CONFIG, rootfs={
        "type": "layers", "diff_ids": [digest(x) for x in layers]})).encode()
    old = [digest(x)[7:] + "/layer.tar" for x in layers]
    names = [digest(x)[7:] + ".tar" for x in layers] if links else old
    with tarfile.open(out, "w") as tar:
        for name, data in list(zip(names, layers)) + [
                (digest(config)[7:] + ".json", config),
                ("manifest.json", json.dumps([{"Config": digest(config)[7:] + ".json",
                                               "RepoTags": ["t:1"], "Layers": names}]).encode())]:
            if swap and name == names[0]:
                at = len(data) // 2  # in the largest file
                data = data[:at] + bytes([data[at] ^ 1]) + data[at + 1:]
            tar.addfile(*(lambda m: (m[0], io.BytesIO(m[1])))(entry(name, data)))
        for name, to in zip(old, names) if links else []:
            tar.addfile(link(name, "../" + to)[0])


OVER = layer(entry("opt/.wh.gone"), entry("opt/full/new", b"new\n"),
             entry("opt/full/.wh..wh..opq"), hard("opt/twin", "opt/lower"),
             entry("opt/" + "long" * 50 + "/" + "name" * 60, b"long\n"),
             entry("opt/ü", b"accent\n"), entry("opt/twice", b"first\n"),
             entry("opt/twice", b"second\n"))

# Configurations that no session could start from.
WRONG = {
    "wrong-env": {"Env": ["NAME WITHOUT VALUE"]},
    "wrong-env-name": {"Env": ["9=x"]},
    "wrong-env-text": {"Env": "PATH=/bin"},
    "wrong-env-number": {"Env": [7]},
    "wrong-cwd": {"WorkingDir": "opt"},
    "wrong-cwd-up": {"WorkingDir": "/opt/../etc"},
    "wrong-cwd-list": {"WorkingDir": ["/opt"]},
    "wrong-cmd": {"Cmd": [None]},
    "wrong-entrypoint": {"Entrypoint": {"0": "/bin/sh"}},
    "wrong-user": {"User": 0},
}

EVIL = {
    "dotdot": [entry("opt/../../../escaped", b"x")],
    "dotdot-first": [entry("../escaped", b"x")],
    "absolute": [entry("/escaped", b"x")],
    "link-through": [link("opt/out", "/tmp"), entry("opt/out/escaped", b"x")],
    "link-through-relative": [link("opt/out", "../../.."), entry("opt/out/escaped", b"x")],
    "hardlink-out": [hard("opt/out", "../../../etc/passwd")],
    "hardlink-absolute": [hard("opt/out", "/etc/passwd")],
    "hardlink-through": [link("opt/out", "/etc"), hard("opt/x", "opt/out/passwd")],
    "hardlink-absent": [hard("opt/x", "opt/absent")],
    "whiteout-dotdot": [entry("opt/.wh...", b"")],
    "whiteout-empty": [entry("opt/.wh.", b"")],
    "whiteout-through": [link("opt/out", "/tmp")],
    "deep": [entry("d/" * 200 + "x", b"x")],
    "long": [entry("x" * 300, b"x")],
}


def make(kind, out, busybox):
    good = base(busybox)
    if kind == "docker":
        return docker(out, [good, OVER])
    if kind == "podman":
        return docker(out, [good, OVER], links=True)
    if kind == "docker-swapped":
        return docker(out, [good, OVER], swap=True)
    if kind == "docker-link":
        with tarfile.open(out, "w") as tar:
            tar.addfile(link("manifest.json", "/etc/passwd")[0])
        return None
    if kind == "docker-old-name":
        with tarfile.open(out, "w") as tar:
            tar.addfile(link("x/layer.tar", "/etc/passwd")[0])
            member, data = entry("manifest.json", json.dumps(
                [{"Config": "x/layer.tar", "Layers": ["x/layer.tar"]}]).encode())
            tar.addfile(member, io.BytesIO(data))
        return None
    if kind == "docker-huge-manifest":
        with tarfile.open(out, "w") as tar:
            member, data = entry("manifest.json", b"[" + b" " * (5 << 20) + b"]")
            tar.addfile(member, io.BytesIO(data))
        return None
    if kind == "no-image":
        with tarfile.open(out, "w") as tar:
            member, data = entry("README", b"hello")
            tar.addfile(member, io.BytesIO(data))
        return None
    if kind == "garbage":
        with open(out, "wb") as f:
            f.write(b"\x1f\x8b" + bytes(range(256)) * 64)
        return None
    shutil.rmtree(out, ignore_errors=True)
    o = Layout(out)
    if kind == "oci":
        o.index(o.manifest([good, OVER]))
    elif kind == "plain":
        o.index(o.manifest([good, OVER], packed=False))
    elif kind in WRONG:
        o.index(o.manifest([good], config=dict(CONFIG, config=dict(CONFIG["config"], **WRONG[kind]))))
    elif kind == "two":
        a, b = o.manifest([good]), o.manifest([good, OVER])
        name = "org.opencontainers.image.ref.name"
        o.index(dict(a, annotations={name: "one"}), dict(b, annotations={name: "two"}))
    elif kind == "odd":  # bits and kinds that no session gets
        o.index(o.manifest([good, layer(
            entry("opt/setuid", b"x", mode=0o6755), entry("opt/device", type=tarfile.CHRTYPE,
                                                          devmajor=1, devminor=3),
            entry("opt/pipe", type=tarfile.FIFOTYPE), folder("opt/sticky", 0o3777),
            entry("opt/capable", b"x", pax_headers={
                "SCHILY.xattr.security.capability": "\1\0\0\2\0\0\0\0",
                "SCHILY.xattr.user.note": "x"}))]))
    elif kind == "digest":
        m = o.manifest([good])
        body = json.load(open(os.path.join(out, "blobs/sha256", m["digest"][7:])))
        name = body["layers"][0]["digest"]
        o.write("blobs/sha256/" + name[7:], gzip.compress(layer(entry("bin/sh", b"other")), mtime=0))
        o.index(m)
    elif kind == "digest-manifest":
        m = o.manifest([good])
        with open(os.path.join(out, "blobs/sha256", m["digest"][7:]), "ab") as f:
            f.write(b" ")
        o.index(m)
    elif kind == "digest-path":
        m = o.manifest([good])
        o.index(dict(m, digest="sha256:../../../../../etc/passwd"))
    elif kind == "cycle":
        # An index cannot hold its own digest: as many levels as one likes do the same.
        m = o.manifest([good])
        for _ in range(9):
            m = o.blob(json.dumps({"schemaVersion": 2, "manifests": [m]}).encode(),
                       "application/vnd.oci.image.index.v1+json")
        o.index(m)
    elif kind == "huge-index":
        o.write("index.json", b'{"manifests":[' + b" " * (5 << 20) + b"]}")
    elif kind == "bomb":
        data = layer(entry("opt/zeros", bytes(200 << 20)))
        o.index(o.manifest([good, data]))
    elif kind == "implied":  # two entries, and 180 directories that no entry names
        o.index(o.manifest([good, layer(entry("opt/1/" + "d/" * 89 + "x"),
                                        entry("opt/2/" + "d/" * 89 + "x"))]))
    elif kind == "layers":
        o.index(o.manifest([good] + [layer(entry("opt/%d" % i, b"x")) for i in range(200)]))
    elif kind == "blob-link":
        m = o.manifest([good])
        path = os.path.join(out, "blobs/sha256", m["digest"][7:])
        os.rename(path, path + ".real")
        os.symlink(path + ".real", path)
        o.index(m)
    elif kind == "whiteout-through":
        o.index(o.manifest([good, layer(*EVIL[kind]), layer(entry("opt/out/.wh.victim"))]))
    else:
        o.index(o.manifest([good, layer(*EVIL[kind])]))
    return None


if __name__ == "__main__":
    if sys.argv[1] == "evil":
        print("\n".join(sorted(EVIL)))
    elif sys.argv[1] == "wrong":
        print("\n".join(sorted(WRONG)))
    else:
        with open("/bin/busybox", "rb") as program:
            make(sys.argv[1], sys.argv[2], program.read())
