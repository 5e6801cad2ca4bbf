# SPDX-License-Identifier: Apache-2.0
"""What OCSF 1.3.0 (https://schema.ocsf.io/1.3.0) asks of the events that wardfs exports: for each
class its required attributes and the activities that it knows, for each object its required
attributes and those of which there has to be at least one. wrong(event) says what is not so.
"""
BASE = {"activity_id", "category_uid", "class_uid", "metadata", "severity_id", "time", "type_uid"}
# class_uid: (category_uid, required besides BASE, known activities besides 0 and 99)
CLASSES = {
    0: (0, set(), range(0)),
    1001: (1, {"actor", "device", "file"}, range(1, 15)),
    1007: (1, {"actor", "device", "process"}, range(1, 6)),
    4001: (4, {"dst_endpoint"}, range(1, 8)),
    4003: (4, set(), (1, 2, 6)),
    6002: (6, {"app"}, range(1, 9)),
}
ENDPOINT = {"ip", "uid", "name", "hostname", "instance_uid", "interface_uid", "interface_name"}
# attribute: (required, at least one of)
OBJECTS = {
    "metadata": ({"product", "version"}, None),
    "product": ({"vendor_name"}, {"name", "uid"}),
    "app": ({"vendor_name"}, {"name", "uid"}),
    "device": ({"type_id"}, ENDPOINT),
    "actor": (set(), {"process", "user", "invoked_by", "session", "app_name", "app_uid"}),
    "process": (set(), {"pid", "uid"}),
    "parent_process": (set(), {"pid", "uid"}),
    "user": (set(), {"account", "name", "uid"}),
    "file": ({"name", "type_id"}, None),
    "file_result": ({"name", "type_id"}, None),
    "dst_endpoint": (set(), ENDPOINT | {"svc_name"}),
    "src_endpoint": (set(), ENDPOINT | {"svc_name"}),
    "connection_info": ({"direction_id"}, None),
    "tls": ({"version"}, None),
    "query": ({"hostname"}, None),
    "answers": ({"rdata"}, None),
    "firewall_rule": (set(), {"name", "uid"}),
}
# Attributes that a profile brings to a class: the profile has to be named in metadata.profiles.
SECURITY_CONTROL = {"action_id", "disposition_id", "firewall_rule"}
HOST = {"actor", "device"}
NUMBERS = {"activity_id", "category_uid", "class_uid", "severity_id", "time", "type_uid", "status_id",
           "action_id", "disposition_id", "type_id", "direction_id", "pid", "port", "sequence"}


def wrong_object(name, value, where):
    if isinstance(value, list):
        for item in value:
            yield from wrong_object(name, item, where)
        return
    if name in NUMBERS and (not isinstance(value, int) or isinstance(value, bool)):
        yield f"{where}: {value!r} is no number"
    if name in OBJECTS:
        required, some = OBJECTS[name]
        if not isinstance(value, dict):
            yield f"{where}: is no object"
            return
        for attribute in required - set(value):
            yield f"{where}: lacks {attribute}"
        if some and not some & set(value):
            yield f"{where}: has none of {sorted(some)}"
    if isinstance(value, dict):
        for attribute, inner in value.items():
            yield from wrong_object(attribute, inner, f"{where}.{attribute}")


def wrong(event):
    """What is not as the schema has it, a list of texts."""
    found = [f"lacks {a}" for a in BASE - set(event)]
    if found or event["class_uid"] not in CLASSES:
        return found or [f"class {event['class_uid']}"]
    category, required, activities = CLASSES[event["class_uid"]]
    found += [f"lacks {a}" for a in required - set(event)]
    if event["category_uid"] != category:
        found.append(f"category {event['category_uid']}")
    if event["activity_id"] not in (0, 99, *activities):
        found.append(f"activity {event['activity_id']}")
    if event["type_uid"] != event["class_uid"] * 100 + event["activity_id"]:
        found.append(f"type {event['type_uid']}")
    profiles = event["metadata"].get("profiles", [])
    if set(event) & SECURITY_CONTROL and "security_control" not in profiles:
        found.append("the profile security_control is not named")
    if "security_control" in profiles and "action_id" not in event:
        found.append("lacks action_id")
    if (set(event) - required) & HOST and "host" not in profiles:
        found.append("the profile host is not named")
    for attribute, value in event.items():
        found += wrong_object(attribute, value, attribute)
    return found
