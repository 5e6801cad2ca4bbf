# SPDX-License-Identifier: Apache-2.0
"""Of the second verifier (verify.py, which is v here): does an entry say that a trail was to go?"""
import calendar
import time


def seconds(text):
    return calendar.timegm(time.strptime(text[:19], "%Y-%m-%dT%H:%M:%S"))


def kept_long_enough(s, entry):
    return s["ended"] and seconds(entry["time"]) - seconds(s["end"]) >= (s["keep"] or 90 * 86400)


def took_place(v, key, other, rotations):
    """Is the other that key, or did it take its place?"""
    for entry in rotations:
        old, new = v.Key(entry["from"]), v.Key(entry["to"])
        sig = v.strict64(entry["signature"].encode())
        text = f"wardfs/rotate\n{entry['from']}\n{entry['to']}\n".encode()
        if key.public == old.public and sig is not None and len(sig) == 64 and \
                v.ed25519(old.public, text, sig):
            key = new
        if key.public == other.public:
            return True
    return key.public == other.public


def good_end(v, s, line, entry, revoked, rotations):
    text = f"wardfs/{line.kind}/{line.session}\n{entry['records']}\n{s['last']}\n".encode()
    sig = v.strict64(entry["signature"].encode())
    key = v.Key(entry["key"])
    return not s["held"] and key.public not in revoked and any(took_place(v, k, key, rotations) for k in s["keys"]) and \
        sig is not None and len(sig) == 64 and v.ed25519(key.public, text, sig) and \
        (line.kind == "removed" or kept_long_enough(s, entry))
