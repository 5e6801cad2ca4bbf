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


def changed(text):
    """The same with another signature."""
    head, _, sig = text.rpartition(" ")
    return f"{head} {'B' if sig[0] == 'A' else 'A'}{sig[1:]}"


def asked(session, name, path, **more):
    """What is shown of a question, and its digest."""
    detail = {"question": name, "session": session, "rights": "write", "path": path,
              "argv": ["tee", "\u00e9\U0001f600\x1b\\u00e9"]} | more
    return detail, hashlib.sha256(ascii_json(detail)).hexdigest()


def demanding(approvers):
    return {"kind": "policy", "compile": f"{POLICY}[approvals]\napprovers = {approvers}\n" +
            "".join(f"approver = {public(who)}\n" for who in ("ann", "bob"))}


class Signed:
    """Trails of this session with a question whose answer has to be signed."""

    def __init__(self, session):
        path = "/workspace/.github/caf\u00e9"
        self.q, self.sum = asked(session, "q1", path)
        self.q2, self.sum2 = asked(session, "q2", path)
        self.elsewhere, self.sum_elsewhere = asked("another", "q1", path)

    def by(self, who, **says):
        return signs(who, self.q, self.sum, **says)

    def trail(self, *texts, approvers=1, gives=None, asks=None, more=(), **more_answer):
        """The answer has these texts, and gives a grant like this."""
        return [demanding(approvers),
                ask(**{"detail": self.q, "shown": self.sum, "path": self.q["path"], **(asks or {})}),
                grant(**{"path": self.q["path"], **(gives or {})}),
                answer(**({"detail": {"signed": list(texts)}} if texts else {}),
                       **{"shown": self.sum, "scope": "path", **more_answer}), *more]

    def second(self):
        return ask(request="q2", detail=self.q2, shown=self.sum2, path=self.q2["path"])

    def replay(self):
        """Question, grant and answer of another session, whole."""
        return self.trail(signs("ann", self.elsewhere, self.sum_elsewhere), shown=self.sum_elsewhere,
                          asks={"detail": self.elsewhere, "shown": self.sum_elsewhere})

    def shown(self, **other):
        """What was shown, and signed, is not what the question asks."""
        q, digest = asked(self.q["session"], "q1", **({"path": self.q["path"]} | other))
        return self.trail(signs("ann", q, digest), shown=digest, asks={"detail": q, "shown": digest},
                          gives={"path": q["path"]})

    def quiet(self, *closing, **more):
        """Nobody answered, and the grant was used."""
        return self.trail(more=[use(self.q["path"])], **more)[:3] + [use(self.q["path"]), *closing]

    def partly(self):
        """One of two signed; then both signed another question, whose grant covers this one."""
        two = [signs(who, self.q2, self.sum2) for who in ("ann", "bob")]
        t = self.trail(self.by("ann"), approvers=2, grant="g1111111111ab")
        return [*t[:2], self.second(),
                grant(request="q2", path=self.q["path"], grant="g1111111111ab"),
                answer(request="q2", shown=self.sum2, scope="path", grant="g1111111111ab",
                       detail={"signed": two}), t[3]]


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
    "grant-asked-by-none": [policy, ask(), grant(request=None), answer()],
    "granted-without-grant": [policy, ask(), grant(), answer(grant=None)],
    "granted-empty": [policy, ask(), grant(), answer(grant="")],
}
TOKEN = {"how": "token", "request": None, "token": "t0123456789abcdef"}
CLOSED = {"grant": None, "scope": None, "how": None}
signed = {
    "good-signed": lambda s: s.trail(s.by("ann")),
    "good-signed-two": lambda s: s.trail(s.by("ann"), s.by("bob"), approvers=2),
    "good-signed-covers": lambda s: s.trail(s.by("ann"), more=[
        s.second(), answer(request="q2", shown=s.sum2, scope="path")]),
    "good-signed-partly": lambda s: s.partly(),
    "good-signed-once": lambda s: s.trail(s.by("ann", answer="once"), gives={"uses": 1},
                                          more=[use(s.q["path"])]),
    "good-signed-pattern": lambda s: s.trail(
        s.by("ann", answer="pattern", pattern="/workspace/.github/c*"),
        gives={"path": "/workspace/.github/c*"}),
    "good-token": lambda s: [demanding(1), grant(**TOKEN, key=public("ann"))],
    "good-ended": lambda s: s.quiet(answer(result="ended", shown=s.sum, **CLOSED)),
    "good-unused": lambda s: s.trail()[:3] + [answer(result="expired", shown=s.sum, **CLOSED)],
    "unsigned": lambda s: s.trail(),
    "signed-changed": lambda s: s.trail(changed(s.by("ann"))),
    "signed-changed-text": lambda s: s.trail(
        s.by("ann").replace('"path","until"', '"once","until"'), gives={"uses": 1}),
    "signed-too-few": lambda s: s.trail(s.by("ann"), approvers=2),
    "signed-twice": lambda s: s.trail(*[s.by("ann", until=int(time.time()) + n) for n in (900, 999)],
                                      approvers=2),
    "signed-differently": lambda s: s.trail(s.by("ann"), s.by("bob", answer="once"), approvers=2),
    "signed-replayed": lambda s: s.trail(signs("ann", s.q2, s.sum2)),
    "signed-other-digest": lambda s: s.trail(signs("ann", s.q, s.sum2)),
    "signed-other-session": lambda s: s.trail(signs("ann", s.elsewhere, s.sum)),
    "signed-by-eve": lambda s: s.trail(s.by("eve")),
    "signed-late": lambda s: s.trail(s.by("ann", until=int(time.time()) - 3600)),
    "grant-wider": lambda s: s.trail(s.by("ann"), gives={"path": "/workspace/.github/*"}),
    "grant-elsewhere": lambda s: s.trail(s.by("ann"), gives={"path": "/workspace/.github/cafe"}),
    "grant-not-once": lambda s: s.trail(s.by("ann", answer="once")),
    "grant-without-end": lambda s: s.trail(s.by("ann", answer="for", seconds=600)),
    "grant-other-pattern": lambda s: s.trail(
        s.by("ann", answer="pattern", pattern="/workspace/.github/c*"),
        gives={"path": "/workspace/.github/**"}),
    "covered-by-none": lambda s: s.trail(s.by("ann"), more=[
        s.second(), grant(request="q2", path=s.q["path"], grant="g1111111111ab"),
        answer(request="q2", shown=s.sum2, scope="path", grant="g1111111111ab")]),
    # A writer that leaves out what the signatures are compared with.
    "ask-without-detail": lambda s: s.trail(asks={"detail": None}),
    "ask-signed-without-detail": lambda s: s.trail(s.by("ann"), asks={"detail": None}),
    "ask-detail-no-object": lambda s: s.trail(asks={"detail": [], "shown": None}, shown=None),
    "ask-without-shown": lambda s: s.trail(s.by("ann"), asks={"shown": None}, shown=None),
    "grant-of-other-question": lambda s: s.trail(s.by("ann"), more=[
        s.second(), grant(request="q2", path=s.q["path"], grant="g1111111111ab"),
        answer(request="q2", shown=s.sum2, scope="path", grant="g0123456789ab g1111111111ab",
               detail={"signed": [signs("ann", s.q2, s.sum2)]})]),
    "session-replayed": lambda s: s.replay(),
    "shown-other-path": lambda s: s.shown(path="/workspace/.github/other"),
    "shown-other-rights": lambda s: s.shown(rights="append"),
    "shown-second-path": lambda s: s.shown(path2="/workspace/.github/other"),
    "used-without-answer": lambda s: s.quiet(),
    "used-and-refused": lambda s: s.quiet(answer(result="refused", shown=s.sum, **CLOSED)),
    "used-and-expired": lambda s: s.quiet(answer(result="expired", shown=s.sum, **CLOSED)),
    "unasked": lambda s: [demanding(1), grant(how="grant", request=None)],
    "unasked-token-of-two": lambda s: [demanding(2), grant(**TOKEN, key=public("ann"))],
    "unasked-token-of-eve": lambda s: [demanding(1), grant(**TOKEN, key=public("eve"))],
    "unasked-without-token": lambda s: [demanding(1), grant(how="grant", request=None, key=public("ann"))],
}
os.mkdir(sys.argv[1])
for name, records in (scripts | {name: make(Signed(name)) for name, make in signed.items()}).items():
    with open(f"{sys.argv[1]}/{name}", "w", encoding="ascii") as out:
        for r in records:
            print(json.dumps({k: v for k, v in r.items() if v is not None}), file=out)
