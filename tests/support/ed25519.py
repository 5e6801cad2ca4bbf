# SPDX-License-Identifier: Apache-2.0
"""Ed25519 by openssl(1), for tests that read or make signatures without wardfs: RFC 8032, and the
DER of RFC 8410 around raw keys."""
import os
import subprocess
import tempfile


def openssl(args, **files):
    with tempfile.TemporaryDirectory() as d:
        for name, data in files.items():
            with open(os.path.join(d, name), "wb") as f:
                f.write(data)
        done = subprocess.run(["openssl"] + [a.replace("@", d + "/") for a in args],
                              capture_output=True, check=False)
        return done.returncode, done.stdout


def verifies(public, text, signature):
    der = bytes.fromhex("302a300506032b6570032100") + public
    return openssl(["pkeyutl", "-verify", "-pubin", "-keyform", "DER", "-inkey", "@key", "-rawin",
                    "-in", "@text", "-sigfile", "@sig"], key=der, text=text, sig=signature)[0] == 0


def secret(seed):
    return bytes.fromhex("302e020100300506032b657004220420") + seed


def public(seed):
    return openssl(["pkey", "-inform", "DER", "-in", "@key", "-pubout", "-outform", "DER"],
                   key=secret(seed))[1][-32:]


def sign(seed, text):
    return openssl(["pkeyutl", "-sign", "-keyform", "DER", "-inkey", "@key", "-rawin", "-in", "@text"],
                   key=secret(seed), text=text)[1]
