# SPDX-License-Identifier: Apache-2.0
"""Part of verify.py: JSON of which a second reading says the same (RFC 8259, section 4 and 6)."""
import json
import math


def unique(pairs):
    if len({k for k, _ in pairs}) < len(pairs):
        raise ValueError("twice")
    return dict(pairs)


def finite(text):
    if math.isinf(float(text)):
        raise ValueError("too large")
    return float(text)


def whole(text):
    if not -1 << 63 <= int(text) < 1 << 63:
        raise ValueError("too large")
    return int(text)


def no_number(text):
    raise ValueError(text)


def strict_json(data):
    """The value, or ValueError."""
    return json.loads(data, object_pairs_hook=unique, parse_float=finite, parse_int=whole,
                      parse_constant=no_number)
