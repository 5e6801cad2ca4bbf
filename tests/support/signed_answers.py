#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A second implementation of signed answers, from docs/approvals.md, PROTOCOL.sshsig and PROTOCOL.u2f
alone. It verifies, and it signs as a token would.

    signed_answers.py show FILE              what the answer says, and its key, as JSON; status 1: it does not fit
    signed_answers.py token KEY              makes a key as on a FIDO token in KEY; prints its line of KEY.pub
    signed_answers.py touch KEY FILE [FLAGS] prints an SSH signature of FILE with it; FLAGS: 1, present
"""
import base64
import hashlib
import json
import os
import re
import struct
import sys

from ed25519 import public as public_of, sign, verifies

HEAD = b"wardfs-answer 1\n"
SPACE = b"wardfs-answer"
BEGIN, END = b"-----BEGIN SSH SIGNATURE-----\n", b"-----END SSH SIGNATURE-----\n"
MUST = {"session", "question", "digest", "rights", "what", "answer", "until"}
SSH, SK = b"ssh-ed25519", b"sk-ssh-ed25519@openssh.com"


class Bad(Exception):
    pass


def string(data):
    return struct.pack(">I", len(data)) + data


def take(data):
    """(string, rest)"""
    if len(data) < 4 or len(data) - 4 < struct.unpack(">I", data[:4])[0]:
        raise Bad("a string is cut")
    n = 4 + struct.unpack(">I", data[:4])[0]
    return data[4:n], data[n:]


def strict64(data):
    try:
        raw = base64.b64decode(data, validate=True)
    except ValueError:
        raise Bad("base64") from None
    if base64.b64encode(raw) != data:
        raise Bad("base64")
    return raw


def blob_key(blob):
    """(kind, public half, application) of a key of OpenSSH."""
    kind, rest = take(blob)
    public, rest = take(rest)
    application = b""
    if kind == SK:
        application, rest = take(rest)
    if kind not in (SSH, SK) or len(public) != 32 or rest:
        raise Bad("a key of another kind")
    return kind, public, application


def line_key(line):
    """The same of a line of a policy."""
    if line.startswith("wardfs/"):
        raw = strict64(line.split("+", 2)[2].encode())
        return b"wardfs", raw[1:], b""
    return blob_key(strict64(line.split()[1].encode()))


def check_ssh(text, message):
    if not (text.startswith(BEGIN) and text.endswith(END)):
        raise Bad("no signature")
    blob = base64.b64decode(text[len(BEGIN):-len(END)].replace(b"\n", b""), validate=True)
    if blob[:10] != b"SSHSIG\0\0\0\1":
        raise Bad("no SSHSIG")
    fields, rest = [], blob[10:]
    for _ in range(5):
        one, rest = take(rest)
        fields.append(one)
    key, space, reserved, name, signature = fields
    if rest or reserved or space != SPACE or name not in (b"sha256", b"sha512"):
        raise Bad("fields")
    digest = hashlib.new(name.decode(), message).digest()
    over = b"SSHSIG" + string(space) + string(b"") + string(name) + string(digest)
    kind, public, application = blob_key(key)
    named, rest = take(signature)
    raw, rest = take(rest)
    if kind == SK:
        if len(rest) != 5 or not rest[0] & 1:
            raise Bad("nobody touched the token")
        over = hashlib.sha256(application).digest() + rest + hashlib.sha256(over).digest()
        rest = b""
    if named != kind or len(raw) != 64 or rest or not verifies(public, over, raw):
        raise Bad("signature")
    return kind, public, application


def once(pairs):
    if len({name for name, _ in pairs}) != len(pairs):
        raise Bad("a member stands twice")
    return dict(pairs)


def read(text):
    """(what it says, (kind, public half, application)) of a signed answer."""
    found = re.fullmatch(rb"(wardfs-answer 1\n([^\n]*)\n)(.+)", text, re.S)
    if not found or len(text) > 2048:
        raise Bad("no answer")
    message, line, behind = found.groups()
    if behind.startswith(b"signature "):
        parts = re.fullmatch(rb"signature (wardfs/[0-9a-f]{16}\+[0-9a-f]{8}\+\S{44}) (\S{88})\n", behind)
        if not parts:
            raise Bad("signature")
        key = line_key(parts[1].decode())
        if not verifies(key[1], message, strict64(parts[2])):
            raise Bad("signature")
    else:
        key = check_ssh(behind, message)
    says = json.loads(line, object_pairs_hook=once)
    answer, timed = says.get("answer"), says.get("answer") == "for"
    allowed = MUST | {"what2"} | ({"seconds"} if timed else set()) | (
        {"pattern"} if answer in ("for", "pattern") else set())
    if answer not in ("once", "path", "pattern", "for") or not MUST <= set(says) <= allowed or \
            timed != ("seconds" in says) or (answer == "pattern") > ("pattern" in says) or says.get("pattern") == "":
        raise Bad("members")
    return says, key


def load(path):
    with open(path, "rb") as f:
        return f.read()


def main(verb, path, *more):
    if verb == "show":
        try:
            says, (kind, public, application) = read(load(path))
        except Bad as e:
            sys.exit(f"{path}: {e}")
        json.dump({"says": says, "kind": kind.decode(), "key": public.hex(),
                   "application": application.decode()}, sys.stdout)
    elif verb == "token":
        seed = os.urandom(32)
        with open(path, "wb") as f:
            f.write(seed)
        public = public_of(seed)
        blob = string(SK) + string(public) + string(b"ssh:")
        with open(path + ".blob", "wb") as f:
            f.write(blob)
        print(SK.decode(), base64.b64encode(blob).decode(), "token")
    elif verb == "touch":
        flags = bytes([int(more[1]) if len(more) > 1 else 1]) + struct.pack(">I", 7)
        digest = hashlib.sha512(load(more[0])).digest()
        over = b"SSHSIG" + string(SPACE) + string(b"") + string(b"sha512") + string(digest)
        over = hashlib.sha256(b"ssh:").digest() + flags + hashlib.sha256(over).digest()
        raw = sign(load(path), over)
        blob = b"SSHSIG\0\0\0\1" + string(load(path + ".blob")) + string(SPACE) + string(b"") + \
            string(b"sha512") + string(string(SK) + string(raw) + flags)
        text = base64.b64encode(blob).decode()
        lines = [text[i:i + 70] for i in range(0, len(text), 70)]
        sys.stdout.write(BEGIN.decode() + "\n".join(lines) + "\n" + END.decode())


if __name__ == "__main__":
    main(*sys.argv[1:])
