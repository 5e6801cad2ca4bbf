# SPDX-License-Identifier: Apache-2.0
"""Part of verify.py: accesses decided again, and who can have answered (docs/audit-format.md)."""
import calendar
import hashlib
import json
import re
import time

import signed_answers
from connected import Connections, Network
from ed25519 import verifies
from recorded import files_of, policies, raw

SEE, LOOK = {"stat", "list"}, {"stat", "list", "read", "exec"}
RIGHTS = ["stat", "list", "read", "exec", "append", "create", "write", "remove", "attr"]
VERBS = {"hide": set(), "deny": SEE, "read": LOOK, "append": LOOK | {"append", "create"},
         "write": LOOK | {"append", "create", "write", "remove", "attr"}}
EVERY = VERBS["write"]
CHANGES = EVERY - LOOK
FLOOR, PROJECT = 3, 4  # kinds of files that a policy comes from


def name_regex(name):
    """A regular expression for one name of a pattern."""
    out, i = b"", 0
    while i < len(name):
        c, i = name[i:i + 1], i + 1
        if c == b"\\":
            out, i = out + re.escape(name[i:i + 1]), i + 1
        elif c in b"*?":
            out += b"[^/]*" if c == b"*" else b"[^/]"
        elif c == b"[":
            end = name.index(b"]", i + (2 if name[i:i + 1] == b"!" else 1))
            inner = name[i:end].replace(b"\\", b"\\\\").replace(b"[", b"\\[").replace(b"^", b"\\^")
            out += b"[" + (b"^/" + inner[1:] if inner[:1] == b"!" else inner) + b"]"
            i = end + 1
        else:
            out += re.escape(c)
    return out


def covers(pattern, path):
    """Does the pattern name this path, or something above it?"""
    names = pattern.strip(b"/").split(b"/")
    out = b"" if pattern.startswith(b"/") else b"(?:/[^/]+)*"
    for n, name in enumerate(names):
        if name == b"**":
            out += b"(?:/[^/]+)+" if n == len(names) - 1 else b"(?:/[^/]+)*"
        elif name:
            out += b"/" + name_regex(name)
    return re.fullmatch(out + b"(?:/.*)?", path, re.S) is not None


def rules_of(meaning):
    """{section: [(verb, pattern)]}, or None where something else than these verbs counts."""
    rules, section = {}, b""
    for line in meaning.split(b"\n"):
        if line.startswith(b"["):
            section = line.strip(b"[]")
            continue
        key, _, value = line.partition(b" = ")
        if not value:
            continue
        if section == b"lift" or key in (b"secret", b"exec", b"fold"):
            return None
        if section == b"guard" or section.split(b" ")[0] == b"files":
            rules.setdefault(section, []).append((key.decode(), value))
    return rules


def lines_of(text):
    """[(section, line "VERB = PATTERN")] of a policy file that was loaded."""
    section, out = b"", []
    for line in re.split(rb"\r?\n", text):
        if line[:1] in (b";", b"#", b""):
            continue
        if line.startswith(b"["):
            section = b" ".join(line[1:line.index(b"]")].split())
            continue
        key, _, value = line.partition(b"=")
        out.append((section, key.strip(b" \t") + b" = " + re.split(rb"[ \t];", value)[0].strip(b" \t")))
    return out


def fixed(rules, sources):
    """Lines under [guard] of the meaning that nothing lifts, since not only a liftable guard says them."""
    stay = set()
    for kind, text in files_of(sources) or []:
        for section, line in lines_of(text):
            # A list that only takes away stands under [guard] as well.
            if kind == FLOOR and (section == b"guard" or section == b"files" and b"files floor" not in rules) or \
                    kind == PROJECT and section == b"files" and b"files project" not in rules:
                stay.add(line)
    return stay


def rules_in(policy):
    """What rules_of() says of the meaning, with what no grant lifts as "fixed"."""
    rules = rules_of(policy.meaning)
    if rules is not None:
        rules["fixed"] = fixed(rules, policy.sources)
    return rules


def no_exec(rules, path):
    return any(verb == "noexec" and covers(pattern, path)
               for section, r in rules.items() if section != "fixed" for verb, pattern in r)


def staged_at(mounts, path):
    """Whether changes there are staged: the mount nearest above the path says so."""
    above = [m for m in mounts if isinstance(m.get("path"), str) and
             (path + b"/").startswith(raw(m["path"]).rstrip(b"/") + b"/")]
    return bool(above) and max(above, key=lambda m: len(raw(m["path"]))).get("staged") is True


def given(rules, path, staged=False):
    """The rights that the rules leave there. staged: changes that are asked about are allowed."""
    rights = rights_by(rules, path, False)
    return rights | rights_by(rules, path, True) & CHANGES if staged and "stat" in rights else rights


def rights_by(rules, path, answered):
    """answered: with what a person could give besides."""
    def asked(rights):
        return EVERY if answered else rights & LOOK

    rights = set()
    for verb, pattern in rules.get(b"files", []):
        if covers(pattern, path) and verb != "noexec":
            rights = asked(rights) | SEE if verb == "ask" else VERBS[verb]
    for section in (b"files floor", b"files project"):
        left = None
        for verb, pattern in rules.get(section, []):
            if covers(pattern, path) and verb != "noexec":
                left = asked(rights if left is None else left) if verb == "ask" else VERBS[verb]
        rights = rights if left is None else rights & left
    for verb, pattern in rules.get(b"guard", []):
        if covers(pattern, path) and verb != "noexec":
            rights = rights & (asked(EVERY) if verb == "ask" else VERBS[verb])
    return rights - {"exec"} if no_exec(rules, path) else rights


def ceiling(rules, path, lifts):
    """The rights that a grant can give there, where these lines of [guard] do not count."""
    left = {"exec"} | VERBS["write"]
    lifts = set(lifts) - rules["fixed"]
    for verb, pattern in rules.get(b"guard", []):
        line = verb.encode() + b" = " + pattern
        if verb not in ("noexec", "ask") and line not in lifts and covers(pattern, path):
            left = left & VERBS[verb]
    for section in (b"files floor", b"files project"):
        last = left
        for verb, pattern in rules.get(section, []):
            if covers(pattern, path) and verb not in ("noexec", "ask"):
                last = left & VERBS[verb]
            elif covers(pattern, path) and verb == "ask":
                last = left
        left = last
    return left - {"exec"} if no_exec(rules, path) else left


def not_allowed(record, in_force, mounts):
    """Whether no policy that can have been in force gives what was asked for."""
    asked = record.get("asked") or {"create": ["create"], "remove": ["remove"]}.get(record["kind"])
    if not (asked and in_force and isinstance(record.get("path"), str)) or "cut" in record or \
            record.get("verdict") != "allow" or record.get("source") == "grant":
        return False
    at = max([n for n, (seq, _) in enumerate(in_force) if seq < record["seq"]], default=0)
    path = raw(record["path"])
    # An open with O_APPEND, or a write to a new file, needs only the right to append.
    weaker = {"append" if right == "write" else right for right in asked}
    staged = staged_at(mounts, path)
    return not any(rules is None or set(asked) <= given(rules, path, staged) or weaker <= given(rules, path, staged)
                   for _, rules in in_force[max(0, at - 1):at + 2])


def moved_by_none(record, in_force, mounts):
    """Whether no policy that can have been in force lets this file come to its second name."""
    if not in_force or "cut" in record or record.get("verdict") != "allow" or record.get("source") == "grant" or \
            not all(isinstance(record.get(p), str) for p in ("path", "path2")):
        return False
    at = max([n for n, (seq, _) in enumerate(in_force) if seq < record["seq"]], default=0)
    old, new = raw(record["path"]), raw(record["path2"])

    staged = staged_at(mounts, new)

    def moves(rules, old, new, more):
        has, gets = given(rules, old, staged), given(rules, new, staged)
        return {"remove"} | more <= has and {"create"} | more <= gets and gets <= has

    for _, rules in in_force[max(0, at - 1):at + 2]:
        if rules is None:
            return False
        if record["kind"] == "link":
            fits = "create" in given(rules, new, staged)
        elif record.get("action") == "exchange":
            fits = moves(rules, old, new, {"create", "remove"}) and moves(rules, new, old, {"create", "remove"})
        else:
            fits = moves(rules, old, new, set())
        if fits:
            return False
    return True


def guarded(record, grant, in_force):
    """Whether by each policy of that time a guard stands against what the grant gave there."""
    lifts = raw((grant.get("detail") or {}).get("lifts", "")).split(b"\n")
    at = max([n for n, (seq, _) in enumerate(in_force) if seq < record["seq"]], default=0)
    paths = [raw(record[p]) for p in ("path", "path2") if isinstance(record.get(p), str)]
    return bool(in_force) and not any(
        rules is None or set(record.get("asked", [])) <= ceiling(rules, path, lifts)
        for _, rules in in_force[max(0, at - 1):at + 2] for path in paths)


def uncovered(record, grants, in_force):
    """Whether the grant does not give what it is said to have been used for."""
    grant = grants.get(record.get("grant"))
    if grant is None or grant.get("path") is None or "cut" in record or \
            not isinstance(record.get("path"), str) or record.get("names", 0) > 2:
        return False
    return not any(covers(raw(grant["path"]), raw(record[p])) for p in ("path", "path2")
                   if isinstance(record.get(p), str)) or guarded(record, grant, in_force)


def ascii_json(value):
    """Compact JSON in ASCII, as what was shown is hashed: the digits after \\u are upper-case."""
    return re.sub(r"\\(?:u[0-9a-f]{4}|.)", lambda m: m[0][:2] + m[0][2:].upper(),
                  json.dumps(value, separators=(",", ":"))).encode()


def demands(meaning):
    """(how many signatures, the keys that count, those that may lift guards) of a policy."""
    needed, keys, glass, section = 0, [], [], b""
    for line in meaning.split(b"\n"):
        key, _, value = line.partition(b" = ")
        section = line if line.startswith(b"[") else section
        if section == b"[approvals]" and key == b"approvers":
            needed = int(value)
        elif section == b"[approvals]" and key == b"approver":
            keys.append(signed_answers.line_key(value.decode()))
        elif section == b"[approvals]" and key == b"break-glass":
            glass.append(value.decode())
    return needed, keys, glass


def unquoted(pattern):
    """The path that a pattern names, and nothing else; None: it covers more."""
    names = re.findall(rb"\\(.)|\[( )\]|(.)", pattern, flags=re.S)
    return None if any(c in (b"*", b"?", b"[") for _, _, c in names) else b"".join(b"".join(n) for n in names)


def paths_shown(question):
    """The paths that joined the question, as what was shown has them."""
    more = (question.get("detail") or {}).get("more") or []
    return [raw(m[p]) for m in more if isinstance(m, dict) for p in ("path", "path2") if isinstance(m.get(p), str)]


def only_shown(record, question, given):
    """Whether an answer about the paths that were shown has grants for no others."""
    if record.get("scope") not in ("once", "path", "always") or "cut" in question:
        return True
    shown = [raw(question[p]) for p in ("path", "path2") if p in question] + paths_shown(question)
    return all(unquoted(raw(g["path"])) in shown for g in (given[i] for i in record["grant"].split())
               if "path" in g and g.get("request") == record["request"])


def is_what_was_signed(grant, says, question):
    """Whether the grant gives what the answer says, and no more."""
    has = grant.get("path", grant.get("host"))
    if has is None:
        return False
    if "pattern" in says:
        fits = raw(has) == says["pattern"].encode()
    elif "path" in grant:
        fits = unquoted(raw(has)) in [raw(says[w]) for w in ("what", "what2") if w in says] + paths_shown(question)
    else:
        fits = has == says["what"]
    if says["answer"] == "once":
        return fits and grant.get("uses") == 1
    if says["answer"] == "for":
        return fits and grant.get("ends", 2 ** 63) <= grant["mono"] + (says["seconds"] + 1) * 10 ** 9
    return fits


def is_this(says, question, record):
    """Whether the signed answer is to this question, in time."""
    shown = question["detail"]
    at = calendar.timegm(time.strptime(record["time"][:19], "%Y-%m-%dT%H:%M:%S"))
    return all(says[k] == shown.get(k) for k in ("session", "question", "rights")) and \
        says["what"] == shown.get("host", shown.get("path")) and \
        says.get("what2") == shown.get("path2") and says["digest"] == record.get("shown") and \
        says["until"] > at - 60


def is_its_own(question):
    """Whether what was shown is of this question, in this session."""
    shown = question.get("detail")
    if not isinstance(shown, dict) or "shown" not in question or \
            shown.get("session") != question["session"] or shown.get("question") != question["request"]:
        return False
    if "host" in question:
        spelled = [f.format(question["host"], question.get("port", 0)) for f in ("{}:{}", "[{}]:{}")]
        return shown.get("host") in spelled and shown.get("rights") == "connect"
    rights = [r for r in RIGHTS if r in question.get("asked", [])]
    return "host" not in shown and shown.get("rights") == (",".join(rights) or "-") and \
        ("cut" in question or all(shown.get(p) == question.get(p) for p in ("path", "path2")))


def signed_as(policy, record, question, given, covered):
    """Whether the answer has the signatures that the policy demands. Adds what they cover."""
    needed, keys, _ = policy
    ids = record["grant"].split()
    texts = (record.get("detail") or {}).get("signed")
    if texts is None and needed == 0:
        return True
    if not is_its_own(question):
        return False
    if set(ids) <= covered:
        return True
    if texts is None:
        return False
    try:
        read = [signed_answers.read(t.encode()) for t in texts]
    except (signed_answers.Bad, ValueError, AttributeError):
        return False
    alike = [{k: v for k, v in says.items() if k != "until"} for says, _ in read]
    if len(read) < max(needed, 1) or len({public for _, (_, public, _) in read}) < len(read) or \
            any(a != alike[0] for a in alike) or any(key not in keys for _, key in read) or \
            not all(is_this(says, question, record) for says, _ in read):
        return False
    signed = {i for i, grant in given.items() if grant.get("request") == record["request"] and
              is_what_was_signed(grant, alike[0], question)}
    if not set(ids) <= signed:
        return False
    covered |= signed
    return True


def unasked_as(policy, record):
    """Whether the policy lets a grant be that answers no question."""
    needed, keys, _ = policy
    if needed == 0:
        return True
    try:
        return needed == 1 and record.get("how") == "token" and \
            signed_answers.line_key(record.get("key", "")) in keys
    except (signed_answers.Bad, ValueError, IndexError):
        return False


def seconds(text):
    return calendar.timegm(time.strptime(text[:19], "%Y-%m-%dT%H:%M:%S"))


def glass_is_signed(record, keys):
    """Whether one of the keys stands for all that this break-glass grant gives (docs/grants.md)."""
    detail = record.get("detail") or {}
    try:
        payload, lifts = detail["payload"], detail["lifts"]
        says = json.loads(payload, object_pairs_hook=signed_answers.once)
        key, signature = signed_answers.line_key(says["issuer"])[1], signed_answers.strict64(detail["signature"].encode())
        at, until = seconds(record["time"]), seconds(record["until"])
    except (KeyError, ValueError, AttributeError, TypeError, signed_answers.Bad):
        return False
    return verifies(key, b"wardfs-token 1\n" + bytes(64) + payload.encode(), signature) and \
        says["issuer"] in keys and says["issuer"] == record.get("key") and \
        says.get("lifts") == lifts and bool(lifts) and \
        record.get("session", says.get("session")) == says.get("session") and \
        raw(record.get("path", "")) == says.get("what", "").encode() and \
        set(record.get("asked", [])) <= VERBS.get(says.get("right"), set()) | {"exec"} and \
        bool(says.get("reason")) and record.get("text") == says["reason"] and \
        1 <= says.get("from", 0) < says["until"] <= says["from"] + 3600 and "ends" in record and \
        until <= says["until"] + 2 and says["from"] - 2 <= at < says["until"] + 2


class Answers:
    """What of the session tells who can have answered."""

    def __init__(self, in_force):
        self.waiting, self.given, self.processes, self.uids, self.own = {}, {}, set(), None, False
        self.in_force, self.covered = in_force, set()
        self.demanded, self.closed, self.used = {}, {}, {}

    def near(self, record):
        """What the policies demand that can have been in force."""
        at = max([n for n, (seq, _) in enumerate(self.in_force) if seq < record["seq"]], default=0)
        return [p for _, p in self.in_force[max(0, at - 1):at + 2]]

    def missing(self):
        """The record that used a grant whose answer was not signed as it has to be, or None."""
        for name, grant in self.demanded.items():
            closed = self.closed.get(grant.get("request"), {})
            ended = closed.get("result") == "ended" and closed["mono"] - grant["mono"] <= 10 ** 10
            if name in self.used and name not in self.covered and not ended:
                return self.used[name]
        return None

    def unsigned(self, record, question):
        """Whether the answer lacks signatures by each policy that can have been in force."""
        near = self.near(record)
        if near and not any(signed_as(p, record, question, self.given, self.covered) for p in near):
            return True
        self.covered |= set(record["grant"].split())
        return False

    def unproved(self, record):
        """Whether it lifts guards, and by no policy of that time somebody may."""
        if record.get("how") != "break-glass" and "lifts" not in (record.get("detail") or {}):
            return False
        near = self.near(record)
        return bool(near) and not any(glass_is_signed(record, glass) for _, _, glass in near)

    def start(self, record):
        detail = record.get("detail") or {}
        if isinstance(detail.get("owner_uid"), int):
            self.uids = {0, detail["owner_uid"], detail.get("started_by")}
            box = detail.get("sandbox") or {}
            self.own = "guarantees" in box and "integrity" not in box["guarantees"] and \
                "integrity" not in (box.get("missing") or {})

    def wrong_who(self, record):
        if self.uids is None:
            return False
        return self.own or record.get("uid") not in self.uids or \
            (record.get("pid"), record.get("started", "")) in self.processes

    def wrong(self, record):
        kind, request = record["kind"], record.get("request")
        if kind == "session.start":
            self.start(record)
        elif kind == "exec":
            self.processes.add((record.get("pid"), record.get("started")))
        elif kind == "ask":
            first = self.waiting.setdefault(request, [record])[0] if request is not None else record
            if first is not record:
                self.waiting[request].append(record)
            shown = ascii_json(record.get("detail"))
            return any(first.get(m) != record.get(m) for m in ("asked", "path", "path2", "host", "port", "rule")) or \
                "shown" in record and "cut" not in record and record["shown"] != hashlib.sha256(shown).hexdigest()
        elif kind == "grant" and "grant" in record:
            bad = self.wrong_who(record) or self.unproved(record)
            near = self.near(record)
            if record.get("how") == "break-glass":
                pass  # The floor names who may: approvers do not count for that.
            elif record.get("how") != "answer":
                bad |= bool(near) and not any(unasked_as(p, record) for p in near)
            else:
                question = self.waiting.get(request, [None])[0]
                bad |= question is None
                if near and all(needed for needed, _, _ in near):
                    self.demanded[record["grant"]] = record
                bad |= question is not None and \
                    not set(record.get("asked", [])) <= set(question.get("asked", []))
                self.given[record["grant"]] = record
            return bad
        elif kind == "answer" and request is not None:
            records = self.waiting.pop(request, [])
            question = next((q for q in records if q.get("shown") == record.get("shown")), None)
            if question is None or question.get("shown") != record.get("shown"):
                return True
            result = record.get("result")
            self.closed[request] = record
            return result in ("granted", "refused") and self.wrong_who(record) or \
                result == "granted" and (not record.get("grant", "").split() or
                                         not set(record["grant"].split()) <= set(self.given) or
                                         not only_shown(record, question, self.given) or
                                         self.unsigned(record, question))
        elif kind == "use" and "grant" in record:
            self.used.setdefault(record["grant"], record["seq"])
        return False


def judge_decided(lines, res):
    """Each decision of a trail whose lines are genuine, once more."""
    if res.state not in ("intact", "gap", "incomplete"):
        return None
    loaded = [s for s in policies(lines) if s.meaning and s.loaded]
    in_force = [(s.seq, rules_in(s)) for s in loaded]
    answers, grants = Answers([(s.seq, demands(s.meaning)) for s in loaded]), {}
    mounts = []
    connections = Connections([(s.seq, Network(s)) for s in loaded])
    for line in lines:
        if line.kind not in ("open", "create", "remove", "rename", "link", "use", "ask", "answer", "grant", "exec",
                             "session.start", "connect", "expire", "revoke"):
            continue
        record = json.loads(line.raw)
        record.update(seq=line.seq, kind=line.kind)
        if line.kind == "session.start":
            mounts = (record.get("detail") or {}).get("mounts") or mounts
        if line.kind == "grant" and "grant" in record:
            grants.setdefault(record["grant"], record)
        if line.kind in ("open", "create", "remove") and not_allowed(record, in_force, mounts) or \
                line.kind in ("rename", "link") and moved_by_none(record, in_force, mounts) or \
                line.kind == "use" and uncovered(record, grants, in_force) or answers.wrong(record) or \
                connections.wrong(record):
            return res.set("edited", line.seq)
    if res.state == "intact" and answers.missing() is not None:
        return res.set("edited", answers.missing())
    return None
