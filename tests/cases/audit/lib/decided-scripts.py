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


shown2 = shown | {"more": [{"path": "/workspace/.github/c d"}]}
digest2 = hashlib.sha256(json.dumps(shown2, separators=(",", ":")).encode()).hexdigest()


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


def joined(*rest, **more):
    """A question that another path joins, with a grant for each."""
    return [policy, ask(), ask(detail=shown2, shown=digest2, **more), grant(),
            grant(grant="g1111111111ab", path="/workspace/.github/c[ ]d"), *rest]


def moved(kind, old, new, **more):
    return {"ring": 1, "kind": kind, "action": kind, "path": f"/workspace/{old}", "path2": f"/workspace/{new}",
            "verdict": "allow", "source": "base"} | more


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


def ssh_signs(who, question, digest, kind=sa.SSH, space=sa.SPACE, flags=1, over=None, by=None, claims=None, **says):
    """An answer to this question with a signature of OpenSSH. over: other bytes that were signed; by: another
    key that signed; claims: another kind that the signature says."""
    text = signs(who, question, digest, **says).split("signature ")[0].encode()
    message = b"SSHSIG" + sa.string(space) + sa.string(b"") + sa.string(b"sha512") + \
        sa.string(hashlib.sha512(over or text).digest())
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


def asked(session, name, path, **more):
    """What is shown of a question, and its digest."""
    detail = {"question": name, "session": session, "rights": "write", "path": path,
              "argv": ["tee", "\u00e9\U0001f600\x1b\\u00e9"]} | more
    return detail, hashlib.sha256(ascii_json(detail)).hexdigest()


def demanding(approvers, keys=()):
    return {"kind": "policy", "compile": f"{POLICY}[approvals]\napprovers = {approvers}\n" +
            "".join(f"approver = {key}\n" for key in keys or (public("ann"), public("bob")))}


class Signed:
    """Trails of this session with a question whose answer has to be signed."""

    def __init__(self, session):
        path = "/workspace/.github/caf\u00e9"
        self.q, self.sum = asked(session, "q1", path)
        self.q2, self.sum2 = asked(session, "q2", path)
        self.elsewhere, self.sum_elsewhere = asked("another", "q1", path)

    def by(self, who, **says):
        return signs(who, self.q, self.sum, **says)

    def ssh(self, who, kind=sa.SSH, of=None, **more):
        """The same with a signature of OpenSSH."""
        return ssh_signs(who, *(of or (self.q, self.sum)), kind, **more)

    def trail(self, *texts, approvers=1, keys=(), gives=None, asks=None, more=(), **more_answer):
        """The answer has these texts, and gives a grant like this."""
        return [demanding(approvers, keys),
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


NOW = int(time.time())


def glass(who="ann", named="ann", line="deny = secret.*", record=(), drop=(), demands="", floor="", project=None, **says):
    """A trail in which a key lifted a guard, and what it lifts was used. named: by the floor.
    demands, floor, project: what else the policy, the floor and the project file say."""
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
             f"deny = secret.*\ndeny = *.pem\n{demands}",
             "floor": f"[policy]\nversion = 1\n[approvals]\nbreak-glass = {public(named)}\n{floor}",
             "project": project and f"[policy]\nversion = 1\n{project}"},
            given, use("/workspace/lib/secret.x")]


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
    "good-none": [done("open", "/workspace/docs/x", "write"), done("rename", "/workspace/docs/x") | {"path2": "/x"}],
    "good-moved": [policy, moved("rename", "a", "b"), moved("rename", "docs", "other"), moved("link", "a", "c"),
                   moved("rename", "a", "b", action="exchange"),
                   # A link alone does not say which name of the file counted.
                   moved("link", "docs/x", "c"),
                   # Refused, or by a grant, which its use is looked at for.
                   moved("rename", "docs/x", "b", verdict="deny"), moved("rename", "a", "docs/x", source="grant")],
    "rename-from-read": [policy, moved("rename", "docs/x", "b")],
    "rename-to-read": [policy, moved("rename", "a", "docs/x")],
    "rename-out-of-guard": [policy, moved("rename", "lib/x", "b")],
    "rename-to-asked": [policy, moved("rename", "a", ".github/x")],
    "rename-gains": [policy | {"compile": POLICY + "noexec = /workspace/down\n"}, moved("rename", "down/x", "b")],
    "good-rename-loses": [policy | {"compile": POLICY + "noexec = /workspace/down\n"}, moved("rename", "b", "down/x")],
    "exchange-gains": [policy | {"compile": POLICY + "noexec = /workspace/down\n"},
                       moved("rename", "b", "down/x", action="exchange")],
    "exchange-read": [policy, moved("rename", "a", "lib/x", action="exchange")],
    "link-to-read": [policy, moved("link", "a", "docs/x")],
    "link-quoted": [policy, moved("link", 'a"b', 'lib/"x')],
    "open-denied": [policy, done("open", "/workspace/docs/x", "write")],
    "create-read": [policy, done("create", "/workspace/docs/x")],
    "remove-guarded": [policy, done("remove", "/workspace/lib/x")],
    "open-asked": [policy, done("open", "/workspace/.github/x", "write")],
    # What decided.sh puts into sessions of review.
    "open-asked-staged": [policy, done("open", "/workspace/.github/x", "write"), done("create", "/workspace/.github/y"),
                          done("remove", "/workspace/.github/x"), done("open", "/workspace/.github/x", "read")],
    "rename-asked-staged": [policy, moved("rename", "a", ".github/x"), moved("rename", ".github/x", "b"),
                            moved("link", "a", ".github/z")],
    "open-quoted": [policy, done("open", '/workspace/a"b/secret.x', "read")],
    "use-elsewhere": [policy, ask(), grant(), answer(), use("/workspace/.github/other")],
    "answer-of-yesterday": [policy, grant(request="q1"), answer()],
    "answer-twice": [policy, ask(), grant(), answer(), answer()],
    "answer-other-digest": [policy, ask(), grant(), answer(shown="ab" * 32)],
    "ask-other-digest": [policy, ask(shown="ab" * 32)],
    "answer-elsewhere": [policy, ask(), grant(path="/workspace/.github/other"), answer()],
    "answer-wider": [policy, ask(), grant(path="/workspace/.github/*"), answer(scope="path")],
    "good-wider": [policy, ask(), grant(path="/workspace/.github/*"), answer(scope="pattern")],
    "good-joined": joined(answer(shown=digest2, grant="g0123456789ab g1111111111ab")),
    "good-joined-before": joined(answer()),
    "joined-not-shown": joined(answer(grant="g0123456789ab g1111111111ab")),
    "joined-other": joined(answer(), path="/workspace/.github/other"),
    "joined-other-rights": joined(answer(), asked=["write", "exec"]),
    "answer-more-rights": [policy, ask(), grant(asked=["write", "exec"]), answer()],
    "answer-no-grant": [policy, ask(), answer(grant="gffffffffffff")],
    "answer-by-agent": [policy, executed, ask(), grant(), answer()],
    "answer-by-other": [policy, ask(), grant(), answer(uid=1001)],
    "answer-by-nobody": [policy, ask(), grant(), answer(uid=None)],
    "grant-by-other": [policy, grant(uid=1001, how="wardfs grant", request=None)],
    "grant-asked-by-none": [policy, ask(), grant(request=None), answer()],
    "granted-without-grant": [policy, ask(), grant(), answer(grant=None)],
    "granted-empty": [policy, ask(), grant(), answer(grant="")],
    # Nobody can lift a guard with an ordinary grant.
    "guard-lifted": [policy, grant(request=None, how="wardfs grant", path="/workspace/lib/x"),
                     use("/workspace/lib/x")],
}
TOKEN = {"how": "token", "request": None, "token": "t0123456789abcdef"}
CLOSED = {"grant": None, "scope": None, "how": None}
SSH = ssh_line("ann"), ssh_line("bob", sa.SK)
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
        gives={"path": "/workspace/.github/c*"}, scope="pattern"),
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
    "signed-empty-pattern": lambda s: s.trail(s.by("ann", answer="for", seconds=600, pattern=""),
                                              gives={"ends": 2}),
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
    "good-ssh": lambda s: s.trail(s.ssh("ann"), keys=SSH),
    "good-ssh-two": lambda s: s.trail(s.ssh("ann"), s.ssh("bob", sa.SK), keys=SSH, approvers=2),
    "ssh-untouched": lambda s: s.trail(s.ssh("bob", sa.SK, flags=0), keys=SSH),
    "ssh-other-space": lambda s: s.trail(s.ssh("ann", space=b"file"), keys=SSH),
    "ssh-other-bytes": lambda s: s.trail(s.ssh("ann", over=b"x"), keys=SSH),
    "ssh-other-signer": lambda s: s.trail(s.ssh("ann", by="eve"), keys=SSH),
    "ssh-kind": lambda s: s.trail(s.ssh("ann", claims=sa.SK), keys=SSH),
    "ssh-changed": lambda s: s.trail(s.ssh("ann").replace('"path","until"', '"once","until"'),
                                     gives={"uses": 1}, keys=SSH),
    "ssh-cut": lambda s: s.trail(s.ssh("ann")[:-2], keys=SSH),
    "ssh-by-eve": lambda s: s.trail(s.ssh("eve"), keys=SSH),
    # A key counts in the form in which the policy has it.
    "ssh-for-wardfs": lambda s: s.trail(s.ssh("ann")),
    "wardfs-for-ssh": lambda s: s.trail(s.by("ann"), keys=SSH),
    "ssh-for-token": lambda s: s.trail(s.ssh("bob"), keys=SSH),
    "ssh-twice": lambda s: s.trail(s.by("ann"), s.ssh("ann"), approvers=2,
                                   keys=(public("ann"), ssh_line("ann"))),
    "ssh-replayed": lambda s: s.trail(s.ssh("ann", of=(s.q2, s.sum2)), keys=SSH),
    "ssh-late": lambda s: s.trail(s.ssh("ann", until=NOW - 3600), keys=SSH),
    "ssh-wider": lambda s: s.trail(s.ssh("ann"), keys=SSH, gives={"path": "/workspace/.github/*"}),
}
DEMANDS = f"[approvals]\napprovers = 1\napprover = {public('bob')}\n"
glasses = {
    "good-glass": {},
    "good-glass-two": {"line": "deny = *.pem\ndeny = secret.*"},
    "good-glass-approvers": {"demands": DEMANDS},
    # A line that the floor has as well, or [files] of the project: nothing lifts that one.
    "glass-of-floor": {"floor": "[guard]\ndeny=secret.*   ; here too\n"},
    "glass-of-floor-files": {"floor": "[files]\ndeny = secret.*\n"},
    "glass-of-project-files": {"project": "[files]\ndeny = secret.*\n"},
    "good-glass-floor": {"floor": "[guard]\n; deny = secret.*\ndeny = *.pem\n"},
    "good-glass-floor-files": {"floor": "[files]\ndeny = secret.*\nwrite = secret.x\n"},
    "good-glass-project": {"project": "[guard]\ndeny = secret.*\n"},
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
    # It lifts guards, and does not say so in `how`: approvers count.
    "glass-not-said": {"demands": DEMANDS, "record": {"how": "grant"}},
}
scripts |= {name: make(Signed(name)) for name, make in signed.items()}
scripts |= {name: glass(**{"session": name} | how) for name, how in glasses.items()}
os.mkdir(sys.argv[1])
for name, records in scripts.items():
    with open(f"{sys.argv[1]}/{name}", "w", encoding="ascii") as out:
        for r in records:
            print(json.dumps({k: v for k, v in r.items() if v is not None}), file=out)
