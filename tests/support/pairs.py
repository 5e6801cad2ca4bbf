# SPDX-License-Identifier: Apache-2.0
"""Records beside their proofs (docs/audit-format.md, Proofs): for verify.py."""
import base64
import json


def unique(pairs):
    if len(dict(pairs)) != len(pairs):
        raise ValueError("a member twice")
    return dict(pairs)


def none(text):
    raise ValueError(text + " is no JSON")


def value(text):
    """What a text says as JSON, spelt in one way: 1, 1.0 and true are three."""
    return spelt(json.loads(text, object_pairs_hook=unique, parse_constant=none))


def spelt(what):
    return json.dumps(what, sort_keys=True)


def proofs_of_pairs(data):
    """The proofs of lines {"record":…,"proof":…}; None: one is not what it should be."""
    out = b""
    if not data.endswith(b"\n"):
        return None
    for line in data[:-1].split(b"\n"):
        try:
            pair = json.loads(line, object_pairs_hook=unique, parse_constant=none)
            proof = pair.pop("proof").encode()
            extra = proof.split(b"\n")[1].removeprefix(b"extra ")
            same = value(base64.b64decode(extra)) == spelt(pair.pop("record"))
        except (ValueError, LookupError, AttributeError):
            return None
        if pair or not same or proof.count(b"c2sp.org/tlog-proof@v1\n") != 1:
            return None
        out += proof
    return out
