#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ask-records.py granted ASKS ANSWERS QUESTION | refused DENIED QUESTION: what the trail has."""
import json
import sys


def read(path):
    with open(path, encoding="utf-8") as f:
        return [json.loads(line) for line in f]


def granted(asks, answers, question):
    ask, answer = read(asks)[0], read(answers)[0]
    assert ask["request"] == answer["request"] == question, (ask, answer)
    assert ask["host"] == answer["host"] == "echo.example", ask
    assert ask["port"] == answer["port"] == 3000, ask
    assert ask["verdict"] == "ask" and ask["shown"] == answer["shown"], ask
    assert "path" not in ask, ask
    assert answer["result"] == "granted" and answer["how"] == "approve", answer
    assert answer["grant"][0] == "g", answer


def refused(path, question):
    denied = [d for d in read(path) if d["host"] == "echo.example"]
    assert len(denied) >= 2, denied
    assert all(d["verdict"] == "ask" and d["request"] == question for d in denied), denied
    assert "a person has refused it" in denied[0]["text"], denied


{"granted": granted, "refused": refused}[sys.argv[1]](*sys.argv[2:])
