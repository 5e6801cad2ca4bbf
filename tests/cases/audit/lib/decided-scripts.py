# SPDX-License-Identifier: Apache-2.0
# Part of ../decided.sh: writes what auditrun --script is to put into each trail.
import hashlib
import json
import os
import sys

POLICY = """[policy]
version = 1
[files]
write = /workspace
read = /workspace/docs/**
deny = secret.*
ask = .github
[guard]
read = /workspace/lib
"""
policy = {"kind": "policy", "compile": POLICY}
shown = {"question": "q1", "path": "/workspace/.github/ci"}
digest = hashlib.sha256(json.dumps(shown, separators=(",", ":")).encode()).hexdigest()


def done(kind, path, *asked, **more):
    r = {"ring": 1, "kind": kind, "path": path, "verdict": "allow", "rule": "base:4",
         "source": "base", **more}
    return r | ({"asked": list(asked)} if asked else {})


def ask(**more):
    return {"kind": "ask", "request": "q1", "pid": 700, "uid": 1000, "action": "open",
            "path": "/workspace/.github/ci", "asked": ["write"], "verdict": "ask",
            "shown": digest, "detail": shown} | more


def grant(**more):
    return {"kind": "grant", "request": "q1", "pid": 900, "uid": 1000, "how": "answer",
            "result": "granted", "grant": "g0123456789ab", "path": "/workspace/.github/ci",
            "asked": ["write"]} | more


def answer(**more):
    r = {"kind": "answer", "request": "q1", "pid": 900, "uid": 1000, "started": 5000,
         "how": "approve", "result": "granted", "scope": "once", "by": "uid 1000",
         "grant": "g0123456789ab", "shown": digest} | more
    return {k: v for k, v in r.items() if v is not None}


def use(path):
    return {"ring": 1, "kind": "use", "action": "open", "path": path, "asked": ["write"],
            "grant": "g0123456789ab", "used": 1}


executed = {"kind": "exec", "pid": 900, "uid": 1000, "path": "/usr/bin/wardfs", "started": 5000}
scripts = {
    "good-access": [policy, done("open", "/workspace/a", "read", "write"),
                    done("open", "/workspace/docs", "write"),
                    done("open", "/workspace/docs/x", "read"),
                    done("open", "/workspace/.github/x", "read"),
                    done("create", "/workspace/n"), done("remove", "/workspace/n"),
                    done("open", '/workspace/a"b', "write"),
                    done("open", "/workspace/secrets", "write"),
                    # Refused, or without a policy to look at, it is nothing.
                    done("open", "/workspace/docs/x", "write") | {"verdict": "deny"}],
    "good-answer": [policy, executed | {"started": 4000}, ask(), grant(), answer(),
                    use("/workspace/.github/ci"),
                    ask(request="q2"), answer(request="q2", result="refused", grant=None),
                    ask(request="q3"),
                    answer(request="q3", result="expired", grant=None, uid=None, pid=None)],
    "good-none": [done("open", "/workspace/docs/x", "write")],
    "open-denied": [policy, done("open", "/workspace/docs/x", "write")],
    "create-read": [policy, done("create", "/workspace/docs/x")],
    "remove-guarded": [policy, done("remove", "/workspace/lib/x")],
    "open-asked": [policy, done("open", "/workspace/.github/x", "write")],
    "open-quoted": [policy, done("open", '/workspace/a"b/secret.x', "read")],
    "use-elsewhere": [policy, ask(), grant(), answer(), use("/workspace/.github/other")],
    "answer-of-yesterday": [policy, grant(request="q1"), answer()],
    "answer-twice": [policy, ask(), grant(), answer(), answer()],
    "answer-other-digest": [policy, ask(), grant(), answer(shown="ab" * 32)],
    "ask-other-digest": [policy, ask(shown="ab" * 32)],
    "answer-more-rights": [policy, ask(), grant(asked=["write", "exec"]), answer()],
    "answer-no-grant": [policy, ask(), answer(grant="gffffffffffff")],
    "answer-by-agent": [policy, executed, ask(), grant(), answer()],
    "answer-by-other": [policy, ask(), grant(), answer(uid=1001)],
    "answer-by-nobody": [policy, ask(), grant(), answer(uid=None)],
    "grant-by-other": [policy, grant(uid=1001, how="wardfs grant", request=None)],
}
os.mkdir(sys.argv[1])
for name, records in scripts.items():
    with open(f"{sys.argv[1]}/{name}", "w", encoding="ascii") as out:
        for r in records:
            print(json.dumps({k: v for k, v in r.items() if v is not None}), file=out)
