# SPDX-License-Identifier: Apache-2.0
"""Validates events against OCSF 1.3.0 as ocsf-1.3.0.txt has it: wrong(event) says what is not as the
schema has it, and what the schema does not have.
"""
import ipaddress
import os
import re

STRING_MAX = 65535  # max_len of string_t
# https://github.com/ocsf/ocsf-schema, dictionary.json of tag 1.3.0
HOSTNAME = re.compile(r"(([a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9\-]*[a-zA-Z0-9])\.)*"
                      r"([A-Za-z0-9]|[A-Za-z0-9][A-Za-z0-9\-]*[A-Za-z0-9])")
MAC = re.compile(r"([0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}")
BITS = {"integer_t": 63, "long_t": 63, "timestamp_t": 63}


def numbers(text):
    for part in text.split(","):
        first, _, last = part.partition("-")
        yield from range(int(first), int(last or first) + 1)


def load(path):
    """({class uid: (category, attributes)}, {object: (at least one, attributes)})"""
    classes, objects, where = {}, {}, None
    with open(path, encoding="utf-8") as f:
        for line in f:
            words = line.split()
            if not words or words[0].startswith("#"):
                continue
            if not line.startswith(" "):
                where = {}
                if words[0] == "class":
                    classes[int(words[1])] = int(words[2]), where
                else:
                    one = [w.split("=")[1].split(",") for w in words[2:]]
                    objects[words[1]] = (one[0] if one else None), where
                continue
            name, requirement, kind, *rest = words
            where[name] = {
                "required": requirement == "required", "type": kind.removesuffix("[]"),
                "list": kind.endswith("[]"),
                "values": next((set(numbers(w)) for w in rest if w[0] != "@"), None),
                "profile": next((w[1:] for w in rest if w[0] == "@"), None)}
    base = classes[0][1]
    return {uid: (c, {**base, **a}) for uid, (c, a) in classes.items()}, objects


CLASSES, OBJECTS = load(os.path.join(os.path.dirname(os.path.abspath(__file__)), "ocsf-1.3.0.txt"))


def wrong_number(kind, value):
    if not isinstance(value, int) or isinstance(value, bool):
        return "is no number"
    if kind == "port_t":
        return None if 0 <= value <= 65535 else "is no port"
    return None if abs(value) < 1 << BITS[kind] else "is too large"


def wrong_text(kind, value):
    if not isinstance(value, str):
        return "is no text"
    if len(value) > STRING_MAX:
        return "is longer than a string_t"
    if kind == "hostname_t" and not HOSTNAME.fullmatch(value):
        return "is no hostname_t"
    if kind == "mac_t" and not MAC.fullmatch(value):
        return "is no mac_t"
    if kind == "ip_t":
        try:
            ipaddress.ip_address(value)
        except ValueError:
            return "is no ip_t"
    return None


def wrong_value(a, value, where, profiles):
    kind = a["type"]
    if kind in OBJECTS:
        yield from wrong_object(kind, value, where, profiles)
        return
    if kind == "object":
        if not isinstance(value, dict):
            yield f"{where}: is no object"
        return
    if kind == "boolean_t":
        said = None if isinstance(value, bool) else "is no boolean_t"
    elif kind == "port_t" or kind in BITS:
        said = wrong_number(kind, value)
    elif kind.endswith("_t"):
        said = wrong_text(kind, value)
    else:
        said = f"is of type {kind}, which the table does not have"
    if not said and a["values"] and value not in a["values"]:
        said = f"{value} is no value of it"
    if said:
        yield f"{where}: {said}"


def wrong_attributes(attributes, o, where, profiles):
    for name, a in attributes.items():
        if a["required"] and name not in o and (not a["profile"] or a["profile"] in profiles):
            yield f"{where}lacks {name}"
    for name, value in o.items():
        a = attributes.get(name)
        at = f"{where}{name}"
        if not a:
            yield f"{at}: the schema does not have it"
        elif a["profile"] and a["profile"] not in profiles:
            yield f"{at}: the profile {a['profile']} is not named"
        elif a["list"] and not (isinstance(value, list) and value):
            yield f"{at}: is no list, or an empty one"
        else:
            for item in value if a["list"] else [value]:
                yield from wrong_value(a, item, at, profiles)


def wrong_object(kind, o, where, profiles):
    one, attributes = OBJECTS[kind]
    if not isinstance(o, dict):
        yield f"{where}: is no object"
        return
    if one and not set(one) & set(o):
        yield f"{where}: has none of {', '.join(one)}"
    yield from wrong_attributes(attributes, o, where + ".", profiles)


def wrong(event):
    """What is not as the schema has it, a list of texts."""
    if event.get("class_uid") not in CLASSES:
        return [f"class {event.get('class_uid')}"]
    category, attributes = CLASSES[event["class_uid"]]
    metadata = event.get("metadata")
    profiles = metadata.get("profiles") if isinstance(metadata, dict) else None
    profiles = profiles if isinstance(profiles, list) else []
    found = list(wrong_attributes(attributes, event, "", profiles))
    if event.get("category_uid") != category:
        found.append(f"category {event.get('category_uid')}")
    if event.get("type_uid") != event["class_uid"] * 100 + event.get("activity_id", -1):
        found.append(f"type {event.get('type_uid')}")
    # A value of "other" has its name beside it.
    found += [f"{name} is 99 and has no name" for name in ("activity_id", "disposition_id", "status_id")
              if event.get(name) == 99 and not event.get(
                  {"activity_id": "activity_name"}.get(name, name.removesuffix("_id")))]
    return found
