# SPDX-License-Identifier: Apache-2.0
"""approve-ssh-key.py KEY FILE: the key of wardfs in KEY as a private key of OpenSSH (PROTOCOL.key)."""
import base64
import os
import struct
import subprocess
import sys


def string(data):
    return struct.pack(">I", len(data)) + data


with open(sys.argv[1], encoding="ascii") as f:
    seed = base64.b64decode(f.read().split("\n")[1])
der = bytes.fromhex("302e020100300506032b657004220420") + seed
public = subprocess.run(["openssl", "pkey", "-inform", "DER", "-pubout", "-outform", "DER"], input=der,
                        capture_output=True, check=True).stdout[-32:]
pub = string(b"ssh-ed25519") + string(public)
private = bytes(8) + pub + string(seed + public) + string(b"")
private += bytes(range(1, 1 + -len(private) % 8))
text = base64.b64encode(b"openssh-key-v1\0" + string(b"none") * 2 + string(b"") + struct.pack(">I", 1) +
                        string(pub) + string(private)).decode()
with open(os.open(sys.argv[2], os.O_WRONLY | os.O_CREAT, 0o600), "w", encoding="ascii") as f:
    f.write("-----BEGIN OPENSSH PRIVATE KEY-----\n" + text + "\n-----END OPENSSH PRIVATE KEY-----\n")
