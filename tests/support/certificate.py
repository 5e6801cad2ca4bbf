#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""certificate.py forge FROM TO: writes the certificate's envelope around a statement in which all
attempts held. certificate.py check FILE KERNEL: the statement in FILE is of this kernel; prints
"NAME VERDICT CONTROL" of its attempts."""
import base64
import json
import sys


def forge(source, target):
    with open(source, encoding="utf-8") as file:
        envelope = json.load(file)
    statement = json.loads(base64.b64decode(envelope["payload"]))
    for attempt in statement["predicate"]["attempts"]:
        attempt["verdict"] = "held"
    payload = json.dumps(statement, separators=(",", ":")).encode()
    envelope["payload"] = base64.b64encode(payload).decode()
    with open(target, "w", encoding="utf-8") as file:
        file.write(json.dumps(envelope, separators=(",", ":")) + "\n")


def check(source, kernel):
    with open(source, encoding="utf-8") as file:
        statement = json.load(file)
    predicate = statement["predicate"]
    assert statement["predicateType"] == "urn:wardfs:attestation:attack:v1", statement
    assert predicate["kernel"] == kernel and predicate["version"]["wardfs"], predicate["version"]
    assert len(predicate["version"]["program"]["sha256"]) == 64, predicate["version"]
    for attempt in predicate["attempts"]:
        print(attempt["name"], attempt["verdict"], attempt["control"])


{"forge": forge, "check": check}[sys.argv[1]](*sys.argv[2:])
