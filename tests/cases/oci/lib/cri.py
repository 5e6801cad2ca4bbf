#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A pod by the kubelet's way: asks a runtime over the socket of its CRI (runtime.v1), as crictl does.

cri.py SOCKET run HANDLER POD IMAGE SOURCE [ANNOTATION=VALUE... | SOURCE:PATH...] -- CMD...
    a pod in the namespace "team", with one container "main" that has SOURCE at /workspace, and
    each other SOURCE at its PATH; prints "POD-ID CONTAINER-ID"
cri.py SOCKET exec CONTAINER-ID CMD...   prints what it prints; its exit status
cri.py SOCKET state CONTAINER-ID         created, running or exited
cri.py SOCKET remove POD-ID

Messages are written by hand, with the field numbers of the API's api.proto: no package of Debian has
them for Python.
"""
import sys

import grpc

SERVICE = "/runtime.v1.RuntimeService/"


def varint(n):
    out = bytearray()
    while n > 0x7f:
        out.append(n & 0x7f | 0x80)
        n >>= 7
    return bytes(out + bytes([n]))


def message(*fields):
    """(number, int | str | bytes | list of these): one message."""
    out = b""
    for number, value in fields:
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, int):
                out += varint(number << 3) + varint(one)
                continue
            data = one.encode() if isinstance(one, str) else one
            out += varint(number << 3 | 2) + varint(len(data)) + data
    return out


def read(data):
    """{number: last value}: of the two kinds that the answers have."""
    found, at = {}, 0

    def number():
        nonlocal at
        n = shift = 0
        while True:
            byte = data[at]
            at += 1
            n |= (byte & 0x7f) << shift
            shift += 7
            if byte < 0x80:
                return n
    while at < len(data):
        tag = number()
        if tag & 7 == 0:
            found[tag >> 3] = number()
        elif tag & 7 == 2:
            size = number()
            found[tag >> 3] = data[at:at + size]
            at += size
        else:
            raise ValueError(f"wire type {tag & 7}")
    return found


def main():
    socket, verb, *args = sys.argv[1:]
    channel = grpc.insecure_channel(f"unix://{socket}")

    def call(name, *fields):
        try:
            return read(channel.unary_unary(SERVICE + name)(message(*fields), timeout=120))
        except grpc.RpcError as e:
            sys.exit(f"{name}: {e.details()}")
    if verb == "run":
        at = args.index("--")
        handler, pod, image, source, *notes = args[:at]
        mounts = [message((1, to), (2, at)) for at, to in (n.split(":") for n in notes if n[0] == "/")]
        notes = [message((1, key), (2, value))
                 for key, value in (n.split("=", 1) for n in notes if n[0] != "/")]
        config = message((1, message((1, pod), (2, "uid-" + pod), (3, "team"))), (2, pod),
                         (7, notes), (8, message((1, "/" + pod))))
        pod_id = call("RunPodSandbox", (1, config), (2, handler))[1].decode()
        container = message((1, message((1, "main"))), (2, message((1, image))), (3, args[at + 1:]),
                            (7, message((1, "/workspace"), (2, source))), (7, mounts),
                            (10, notes))
        try:
            made = call("CreateContainer", (1, pod_id), (2, container), (3, config))[1].decode()
            call("StartContainer", (1, made))
        except SystemExit:
            call("RemovePodSandbox", (1, pod_id))
            raise
        print(pod_id, made)
    elif verb == "exec":
        done = call("ExecSync", (1, args[0]), (2, args[1:]), (3, 60))
        sys.stdout.buffer.write(done.get(1, b""))
        sys.stderr.buffer.write(done.get(2, b""))
        sys.exit(done.get(3, 0))
    elif verb == "state":
        status = read(call("ContainerStatus", (1, args[0]))[1])
        print(("created", "running", "exited", "unknown")[status.get(3, 0)])
    elif verb == "remove":
        call("StopPodSandbox", (1, args[0]))
        call("RemovePodSandbox", (1, args[0]))
    else:
        sys.exit(__doc__)


main()
