#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A second implementation of tokens, from docs/grants.md alone. It verifies, and it forges.

    grant-token.py show FILE            what the token gives, as JSON; exit status 1: not whole
    grant-token.py attacks FILE DIR     writes attacks on the token FILE, which has one block with
                                        every member, and a control for each, into DIR: NAME.bad, NAME.good
"""
import base64
import json
import os
import sys

from ed25519 import public, sign, verifies

HEAD = b"wardfs-token 1\n"
RIGHTS = ["read", "append", "write"]
FIRST = {"id", "issuer", "session", "project", "right", "what", "from", "until", "uses", "reason", "lifts", "next"}
LATER = FIRST - {"issuer", "project", "lifts"}


class Bad(Exception):
    pass


def strict64(data, size=None):
    try:
        raw = base64.b64decode(data, validate=True)
    except ValueError:
        raise Bad("base64") from None
    if base64.b64encode(raw) != data or (size is not None and len(raw) != size):
        raise Bad("base64")
    return raw


def once(pairs):
    if len({name for name, _ in pairs}) != len(pairs):
        raise Bad("a member stands twice")
    return dict(pairs)


def beneath(outer, inner):
    """Of patterns without sets and without `**` but at the end."""
    a, b = outer.strip("/").split("/"), inner.strip("/").split("/")
    if ".." in b or "." in b or len(b) < len(a):
        return False
    return all(x == y or x in ("*", "**") for x, y in zip(a, b))


def check(gives, block, first):
    if set(block) - (FIRST if first else LATER):
        raise Bad("unknown member")
    for name, value in block.items():
        if name in ("from", "until", "uses"):
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise Bad("not a number")
        elif not isinstance(value, str) or not value:
            raise Bad("not a text")
    if first:
        if ("session" in block) == ("project" in block) or not {"right", "what", "until"} <= set(block):
            raise Bad("not complete")
        if "lifts" in block and ("session" not in block or not {"reason", "from"} <= set(block) or
                                 block["until"] - block["from"] > 3600 or block["right"] == "connect"):
            raise Bad("break glass")
        gives.update(block)
    else:
        if "lifts" in gives:
            raise Bad("narrowed break glass")
        wider = (
            "session" in gives and block.get("session", gives["session"]) != gives["session"],
            RIGHTS.index(block.get("right", "read")) > RIGHTS.index(gives["right"]),
            not beneath(gives["what"], block.get("what", gives["what"])),
            block.get("from", gives.get("from", 0)) < gives.get("from", 0),
            block.get("until", 0) > gives["until"],
            "uses" in gives and block.get("uses", 0) > gives["uses"])
        if any(wider):
            raise Bad("widens")
        gives.update(block)
    if gives["until"] <= gives.get("from", 0):
        raise Bad("ends before it begins")


def take(data):
    """(blocks as (payload, signature), seed)"""
    if not data.startswith(HEAD) or not data.endswith(b"\n"):
        raise Bad("not a token")
    *blocks, last = data[len(HEAD):-1].split(b"\n")
    if not last.startswith(b"key ") or not 1 <= len(blocks) <= 8:
        raise Bad("not whole")
    out = []
    for line in blocks:
        word, payload, signature = (line.split(b" ") + [b"", b""])[:3]
        if word != b"block" or line.count(b" ") != 2:
            raise Bad("not a block")
        out.append((strict64(payload), strict64(signature, 64)))
    return out, strict64(last[4:], 32)


def verify(data):
    blocks, seed = take(data)
    gives, ids, prev, key = {}, [], bytes(64), None
    for i, (payload, signature) in enumerate(blocks):
        try:
            block = json.loads(payload, object_pairs_hook=once)
        except ValueError:
            raise Bad("payload") from None
        if i == 0:
            key = strict64(block["issuer"].split("+", 2)[2].encode(), 33)[1:]
        if not verifies(key, HEAD + prev + payload, signature):
            raise Bad("signature")
        check(gives, block, i == 0)
        ids.append(block["id"])
        prev, key = signature, strict64(block["next"].encode(), 32)
    if public(seed) != key:
        raise Bad("key")
    gives["ids"] = ids
    return gives


# --- forging, with what a holder has ---

def text(blocks, seed):
    return HEAD + b"".join(b"block %s %s\n" % (base64.b64encode(p), base64.b64encode(s)) for p, s in blocks) + \
        b"key " + base64.b64encode(seed) + b"\n"


def narrow(data, block, drop=()):
    blocks, seed = take(data)
    new = os.urandom(32)
    block = {"id": "t" + os.urandom(16).hex(), **block, "next": base64.b64encode(public(new)).decode()}
    payload = json.dumps({k: v for k, v in block.items() if k not in drop}).encode()
    return text(blocks + [(payload, sign(seed, HEAD + blocks[-1][1] + payload))], new)


def attacks(data):
    gives = verify(data)
    fields = {
        "session": ({"session": gives["session"]}, {"session": gives["session"] + "x"}),
        "right": ({"right": "read"}, {"right": "write"}),
        "right-kind": ({"right": "append"}, {"right": "connect"}),
        "pattern": ({"what": gives["what"].replace("**", "a")}, {"what": "/workspace/**"}),
        "pattern-up": ({"what": gives["what"].replace("**", "a/b")},
                       {"what": gives["what"].replace("**", "../secret")}),
        "pattern-wild": ({"what": gives["what"].replace("**", "*")}, {"what": "/workspace/*/**"}),
        "pattern-deep": ({"what": gives["what"].replace("**", "a/**")}, {"what": "/**/docs/x"}),
        "pattern-sibling": ({"what": gives["what"].replace("/**", "/x")},
                            {"what": gives["what"].replace("/**", "x/a")}),
        "from": ({"from": gives["from"] + 1}, {"from": gives["from"] - 1}),
        "until": ({"until": gives["until"] - 1}, {"until": gives["until"] + 1}),
        "uses": ({"uses": gives["uses"]}, {"uses": gives["uses"] + 1}),
        "project": ({"reason": "x"}, {"project": "/"}),
        "unknown": ({"reason": "x"}, {"guards": "none"}),
        "number": ({"uses": 1}, {"uses": 0}),
        "negative": ({"uses": 1}, {"uses": -1}),
        "text": ({"uses": 1}, {"uses": "1"}),
        "empty": ({"session": gives["session"]}, {"session": ""}),
    }
    for name, (good, bad) in fields.items():
        yield name, narrow(data, good), narrow(data, bad)
    one = narrow(data, {"uses": gives["uses"]})
    two = narrow(one, {"right": "read"})
    blocks, seed = take(two)
    _, seed_one = take(one)
    _, seed_data = take(data)
    yield "swapped", two, text([blocks[0], blocks[2], blocks[1]], seed)
    yield "truncated", one, text(blocks[:2], seed)
    yield "truncated-first", data, text(blocks[:1], seed_one)
    yield "without-key", two, two[:two.rindex(b"key ")]
    yield "without-first", two, text(blocks[1:], seed)
    yield "missing-block", two, text([blocks[0], blocks[2]], seed)
    yield "foreign-key", two, narrow(text(blocks[:1], os.urandom(32)), {"right": "read"})
    yield "twice", two, text([blocks[0], blocks[1], blocks[1]], seed_one)
    payload = json.loads(blocks[0][0])
    payload["until"] += 1000
    yield "edited", data, text([(json.dumps(payload).encode(), blocks[0][1])], seed_data)
    yield "duplicate", data, text([(blocks[0][0][:-1] + b',"uses":9}', blocks[0][1])], seed_data)
    yield "trailing", two, two + b"x\n"
    yield "cut", two, two[:-1]
    yield "base64", two, two.replace(b"block ", b"block  ", 1)
    many = data
    for _ in range(7):
        many = narrow(many, {})
    yield "too-many", many, narrow(many, {})


def main():
    with open(sys.argv[2], "rb") as f:
        data = f.read()
    if sys.argv[1] == "show":
        try:
            print(json.dumps(verify(data)))
        except (Bad, KeyError, IndexError, AttributeError, TypeError, ValueError) as e:
            sys.exit(f"not whole: {e}")
    else:
        for name, good, bad in attacks(data):
            for kind, what in ("good", good), ("bad", bad):
                with open(os.path.join(sys.argv[3], f"{name}.{kind}"), "wb") as f:
                    f.write(what)


main()
