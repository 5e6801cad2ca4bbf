# SPDX-License-Identifier: Apache-2.0
# Part of ../decided.sh: writes what auditrun --script is to put into each trail. The directory keys
# has those of ann, bob and eve, as wardfs token key makes them; the policy names ann and bob.
import base64
import hashlib
import json
import os
import sys
import time

sys.path.insert(0, os.path.join(os.environ["WARD_SRC"], "tests/support"))
import signed_answers as sa  # noqa: E402
from decided import ascii_json  # noqa: E402
from ed25519 import sign  # noqa: E402

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


def public(who):
    with open(f"keys/{who}.pub", encoding="ascii") as f:
        return f.read().strip()


def signs(who, question, digest, **says):
    """The text of an answer to this question, signed."""
    says = {"session": question["session"], "question": question["question"], "digest": digest,
            "rights": question["rights"], "what": question["path"], "answer": "path",
            "until": int(time.time()) + 3600} | says
    text = sa.HEAD + json.dumps(says, separators=(",", ":")).encode() + b"\n"
    with open(f"keys/{who}", encoding="ascii") as f:
        seed = base64.b64decode(f.read().split("\n")[1])
    raw = sign(seed, text)
    return f"{text.decode()}signature {public(who)} {base64.b64encode(raw).decode()}\n"


def ssh_blob(who, kind=sa.SSH):
    """The public half of the key, as OpenSSH has it."""
    raw = base64.b64decode(public(who).split("+", 2)[2])[1:]
    return sa.string(kind) + sa.string(raw) + (sa.string(b"ssh:") if kind == sa.SK else b"")


def ssh_line(who, kind=sa.SSH):
    return f"{kind.decode()} {base64.b64encode(ssh_blob(who, kind)).decode()}"


def ssh_signs(who, kind=sa.SSH, space=sa.SPACE, flags=1, over=None, by=None, claims=None, of=None, **says):
    """An answer to Q with a signature of OpenSSH. over: other bytes that were signed; by: another
    key that signed; claims: another kind that the signature says."""
    text = signs(who, *(of or (Q, Q_SUM)), **says).split("signature ")[0].encode()
    digest = hashlib.sha512(over or text).digest()
    message = b"SSHSIG" + sa.string(space) + sa.string(b"") + sa.string(b"sha512") + sa.string(digest)
    tail = bytes([flags]) + (7).to_bytes(4, "big") if kind == sa.SK else b""
    if kind == sa.SK:
        message = hashlib.sha256(b"ssh:").digest() + tail + hashlib.sha256(message).digest()
    with open(f"keys/{by or who}", encoding="ascii") as f:
        seed = base64.b64decode(f.read().split("\n")[1])
    raw = sign(seed, message)
    blob = b"SSHSIG\0\0\0\1" + sa.string(ssh_blob(who, kind)) + sa.string(space) + sa.string(b"") + \
        sa.string(b"sha512") + sa.string(sa.string(claims or kind) + sa.string(raw) + tail)
    armor = base64.b64encode(blob).decode()
    lines = "\n".join(armor[i:i + 70] for i in range(0, len(armor), 70))
    return f"{text.decode()}{sa.BEGIN.decode()}{lines}\n{sa.END.decode()}"


def changed(text):
    """The same with another signature."""
    head, _, sig = text.rpartition(" ")
    return f"{head} {'B' if sig[0] == 'A' else 'A'}{sig[1:]}"


def asked(name, path):
    """What is shown of a question, and its digest."""
    detail = {"question": name, "session": "release", "rights": "write", "path": path,
              "argv": ["tee", "\u00e9\U0001f600\x1b\\u00e9"]}
    return detail, hashlib.sha256(ascii_json(detail)).hexdigest()


def signed(*texts, approvers=1, gives=None, more=(), keys=(), **more_answer):
    """A trail with one question whose answer has these signatures, and gives a grant like this."""
    return [{"kind": "policy", "compile": f"{POLICY}[approvals]\napprovers = {approvers}\n" +
             "".join(f"approver = {key}\n" for key in keys or (public("ann"), public("bob")))},
            ask(detail=Q, shown=Q_SUM, path=Q["path"]), grant(**{"path": Q["path"], **(gives or {})}),
            answer(shown=Q_SUM, **({"detail": {"signed": list(texts)}} if texts else {}),
                   **{"scope": "path", **more_answer}), *more]


NOW = int(time.time())


def glass(who="ann", named="ann", line="deny = secret.*", record=(), drop=(), **says):
    """A trail in which a key lifted a guard, and what it lifts was used. named: by the floor."""
    says = {"id": "t" + "0" * 32, "issuer": public(who), "session": "SESSION", "right": "write",
            "what": "/workspace/lib/secret.x", "from": NOW - 60, "until": NOW + 600, "reason": "why",
            "lifts": line, "next": "A" * 43 + "="} | says
    payload = json.dumps({k: v for k, v in says.items() if k not in drop}, separators=(",", ":"))
    with open(f"keys/{who}", encoding="ascii") as f:
        seed = base64.b64decode(f.read().split("\n")[1])
    raw = sign(seed, b"wardfs-token 1\n" + bytes(64) + payload.encode())
    detail = {"lifts": line, "payload": payload, "signature": base64.b64encode(raw).decode()}
    given = grant(request=None, how="break-glass", path="/workspace/lib/secret.x", key=public(who), text="why",
                  until=(NOW + 600) * 10 ** 9, ends=2 ** 62, detail=detail) | dict(record)
    return [{"kind": "policy", "compile": "[policy]\nversion = 1\n[files]\nwrite = /workspace\n[guard]\n"
             "deny = secret.*\ndeny = *.pem\n",
             "floor": f"[policy]\nversion = 1\n[approvals]\nbreak-glass = {public(named)}\n"},
            given, use("/workspace/lib/secret.x")]


Q, Q_SUM = asked("q1", "/workspace/.github/caf\u00e9")
OTHER, OTHER_SUM = asked("q2", "/workspace/.github/caf\u00e9")
ann, bob = signs("ann", Q, Q_SUM), signs("bob", Q, Q_SUM)
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
    "good-signed": signed(ann),
    "good-signed-two": signed(ann, bob, approvers=2),
    "good-signed-covers": signed(ann, more=[
        ask(request="q2", detail=OTHER, shown=OTHER_SUM, path=OTHER["path"]),
        answer(request="q2", shown=OTHER_SUM, scope="path")]),
    "good-signed-once": signed(signs("ann", Q, Q_SUM, answer="once"), gives={"uses": 1}),
    "good-signed-pattern": signed(
        signs("ann", Q, Q_SUM, answer="pattern", pattern="/workspace/.github/c*"),
        gives={"path": "/workspace/.github/c*"}),
    "unsigned": signed(),
    "signed-changed": signed(changed(ann)),
    "signed-changed-text": signed(ann.replace('"path","until"', '"once","until"'), gives={"uses": 1}),
    "signed-too-few": signed(ann, approvers=2),
    "signed-twice": signed(ann, ann, approvers=2),
    "signed-differently": signed(ann, signs("bob", Q, Q_SUM, answer="once"), approvers=2),
    "signed-replayed": signed(signs("ann", OTHER, OTHER_SUM)),
    "signed-other-digest": signed(signs("ann", Q, OTHER_SUM)),
    "signed-other-session": signed(signs("ann", Q | {"session": "other"}, Q_SUM)),
    "signed-by-eve": signed(signs("eve", Q, Q_SUM)),
    "signed-empty-pattern": signed(signs("ann", Q, Q_SUM, answer="for", seconds=600, pattern=""),
                                   gives={"ends": 2}),
    "signed-late": signed(signs("ann", Q, Q_SUM, until=int(time.time()) - 3600)),
    "grant-wider": signed(ann, gives={"path": "/workspace/.github/*"}),
    "grant-elsewhere": signed(ann, gives={"path": "/workspace/.github/cafe"}),
    "grant-not-once": signed(signs("ann", Q, Q_SUM, answer="once")),
    "grant-without-end": signed(signs("ann", Q, Q_SUM, answer="for", seconds=600)),
    "grant-other-pattern": signed(
        signs("ann", Q, Q_SUM, answer="pattern", pattern="/workspace/.github/c*"),
        gives={"path": "/workspace/.github/**"}),
    "covered-by-none": signed(ann, more=[
        ask(request="q2", detail=OTHER, shown=OTHER_SUM, path=OTHER["path"]),
        grant(request="q2", path=OTHER["path"], grant="g1111111111ab"),
        answer(request="q2", shown=OTHER_SUM, scope="path", grant="g1111111111ab")]),
    "grant-by-other": [policy, grant(uid=1001, how="wardfs grant", request=None)],
    # Nobody can lift a guard with an ordinary grant.
    "guard-lifted": [policy, grant(request=None, how="wardfs grant", path="/workspace/lib/x"),
                     use("/workspace/lib/x")],
}
SSH = ssh_line("ann"), ssh_line("bob", sa.SK)
scripts |= {
    "good-ssh": signed(ssh_signs("ann"), keys=SSH),
    "good-ssh-two": signed(ssh_signs("ann"), ssh_signs("bob", sa.SK), keys=SSH, approvers=2),
    "ssh-untouched": signed(ssh_signs("bob", sa.SK, flags=0), keys=SSH),
    "ssh-other-space": signed(ssh_signs("ann", space=b"file"), keys=SSH),
    "ssh-other-bytes": signed(ssh_signs("ann", over=b"x"), keys=SSH),
    "ssh-other-signer": signed(ssh_signs("ann", by="eve"), keys=SSH),
    "ssh-kind": signed(ssh_signs("ann", claims=sa.SK), keys=SSH),
    "ssh-changed": signed(ssh_signs("ann").replace('"path","until"', '"once","until"'), gives={"uses": 1}, keys=SSH),
    "ssh-cut": signed(ssh_signs("ann")[:-2], keys=SSH),
    "ssh-by-eve": signed(ssh_signs("eve"), keys=SSH),
    # A key counts in the form in which the policy has it.
    "ssh-for-wardfs": signed(ssh_signs("ann")),
    "wardfs-for-ssh": signed(ann, keys=SSH),
    "ssh-for-token": signed(ssh_signs("bob"), keys=SSH),
    "ssh-twice": signed(ann, ssh_signs("ann"), keys=(public("ann"), ssh_line("ann")), approvers=2),
    "ssh-replayed": signed(ssh_signs("ann", of=(OTHER, OTHER_SUM)), keys=SSH),
    "ssh-late": signed(ssh_signs("ann", until=NOW - 3600), keys=SSH),
    "ssh-wider": signed(ssh_signs("ann"), keys=SSH, gives={"path": "/workspace/.github/*"}),
}
GLASSES = {
    "good-glass": {},
    "good-glass-two": {"line": "deny = *.pem\ndeny = secret.*"},
    "glass-by-eve": {"who": "eve"},
    "glass-other-session": {"session": "other"},
    "glass-other-guard": {"lifts": "deny = *.pem"},
    "glass-too-little": {"line": "deny = *.pem"},
    "glass-more": {"right": "read"},
    "glass-other-path": {"what": "/workspace/lib/other"},
    "glass-without-reason": {"drop": ("reason",)},
    "glass-other-reason": {"reason": "because"},
    "glass-two-hours": {"from": NOW - 60, "until": NOW + 7200},
    "glass-without-beginning": {"drop": ("from",)},
    "glass-over": {"from": NOW - 3600, "until": NOW - 600},
    "glass-longer": {"until": NOW + 300},
    "glass-without-end": {"record": {"ends": None, "until": None}},
    "glass-unsigned": {"record": {"detail": {"lifts": "deny = secret.*"}}},
    "glass-no-proof": {"record": {"detail": None}},
    "glass-hidden": {"record": {"how": "token"}, "who": "eve"},
    "glass-other-key": {"record": {"key": public("bob")}},
}
for name, how in GLASSES.items():
    scripts[name] = glass(**{"session": name} | how)
os.mkdir(sys.argv[1])
for name, records in scripts.items():
    with open(f"{sys.argv[1]}/{name}", "w", encoding="ascii") as out:
        for r in records:
            print(json.dumps({k: v for k, v in r.items() if v is not None}), file=out)
