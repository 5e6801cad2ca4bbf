#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# session.start and session.end say for whom a session ran, who had logged in, and how good the
# clock was. Questions over sessions can select by labels.
set -eu
. "$WARD_SRC/tests/cases/audit/lib/audit.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root"
export XDG_STATE_HOME="$PWD"
STATE=$PWD/wardfs
mkdir work
cd work && git init -q .
expect 0 "$WARDFS" run --session one --label task=fix --label ticket="A-1 'é'" --label task=mend -- true
# Attack: the environment's values stay out of the trail. A command that is no known agent has no
# model.
expect 0 env ANTHROPIC_MODEL=unseen-model "$WARDFS" run --session two --label task=other -- true
for bad in task= =x Task=x 'ta sk=x' task 1=x "$(printf '%033d' 0 | tr 0 a)=x" "k=$(printf '%0257d' 0)"; do
	expect 2 "$WARDFS" run --label "$bad" -- true
	has "$ERR" 'give KEY=VALUE'
done
cd ..
python3 "$WARD_SRC/tests/cases/audit/lib/labels-said.py" "$STATE" || fail "not what was given"
names() { audit list --json "$@" 2>/dev/null | python3 -c 'import json, sys; print(*(s["session"] for s in json.load(sys.stdin)))'; }
[ "$(names)" = "one two" ] || fail "control: $(names)"
[ "$(names --label task=mend)" = one ] || fail "by a label: $(names --label task=mend)"
[ "$(names --label task=fix)" = "" ] || fail "the last of one key counts: $(names --label task=fix)"
[ "$(names --label task=mend --label "ticket=A-1 'é'" --kind probe)" = one ] || fail "two labels and a filter"
[ "$(names --label task=other --kind probe --no-index)" = two ] || fail "by every line"
[ "$(names --label task=other --label ticket=x)" = "" ] || fail "one of two labels"
expect 0 audit sql "SELECT session, value FROM labels WHERE key = 'task' ORDER BY session"
[ "$OUT" = "$(printf 'session\tvalue\none\tmend\ntwo\tother')" ] || fail "sql: $OUT"
expect 0 audit sql "SELECT count(*) > 1 FROM records WHERE kind = 'probe' AND time >= '2020-01-02' AND session IN (SELECT session FROM labels WHERE key = 'ticket' AND value GLOB 'A-1*')"
[ "$OUT" = "count(*) > 1
1" ] || fail "records by a label: $OUT"
expect 0 audit sql "SELECT session, verb, mode, records > 2, started < '2999', project GLOB '/*/work' FROM sessions ORDER BY session"
[ "$OUT" = "$(printf 'session\tverb\tmode\trecords > 2\tstarted < '"'2999'"'\tproject GLOB '"'/*/work'"'\none\trun\trestricted\t1\t1\t1\ntwo\trun\trestricted\t1\t1\t1')" ] ||
	fail "sessions: $OUT"
expect 2 audit list --label nonsense
agree "labels"
# Whose login it was: of three that the kernel told of, and two that it may not have.
STATE=$PWD/logins
for who in 7:3 7:4 8:3; do
	run --session "l${who%:*}s${who#*:}" --events 2 --start "{\"login_uid\":${who%:*},\"audit_session\":${who#*:}}"
done
run --session nobody --events 2
[ "$(names)" = "l7s3 l7s4 l8s3 nobody" ] || fail "control: $(names)"
[ "$(names --login 7)" = "l7s3 l7s4" ] || fail "--login: $(names --login 7)"
[ "$(names --audit-session 3)" = "l7s3 l8s3" ] || fail "--audit-session: $(names --audit-session 3)"
[ "$(names --login 7 --audit-session 4 --kind open)" = l7s4 ] || fail "both and a filter"
[ "$(names --login root)" = "" ] || fail "by a name: $(names --login root)"
expect 0 audit sql "SELECT group_concat(session, ' ') FROM (SELECT session FROM sessions WHERE login = 7 ORDER BY session)"
[ "$(echo "$OUT" | tail -n 1)" = "l7s3 l7s4" ] || fail "sql by a login: $OUT"
expect 0 audit sql "SELECT DISTINCT session FROM records WHERE audit_session = 3 AND kind = 'open' ORDER BY session"
[ "$OUT" = "session
l7s3
l8s3" ] || fail "sql by an audit session: $OUT"
expect 0 audit sql "SELECT login IS NULL, audit_session IS NULL FROM sessions WHERE session = 'nobody'"
has "$OUT" '1	1'
# Verbs of one session: the latest of those, and no other by its name.
of() {
	expect 0 audit summary --json "$@"
	printf '%s' "$OUT" | python3 -c 'import json, sys
print(json.load(sys.stdin)["session"])'
}
[ "$(of)" = nobody ] || fail "control: $(of)"
[ "$(of --login 7)" = l7s4 ] || fail "the latest of a login: $(of --login 7)"
[ "$(of latest --audit-session 3)" = l8s3 ] || fail "latest: $(of latest --audit-session 3)"
[ "$(of l7s3 --login 7)" = l7s3 ] || fail "by its name: $(of l7s3 --login 7)"
for verb in show tail denials summary export report policy attest bundle "file /workspace/a" "process 1"; do
	# shellcheck disable=SC2086 # a verb and its word
	expect 125 audit $verb l8s3 --login 7
	has "$ERR" "session l8s3 has other labels, or was of another login"
	# shellcheck disable=SC2086
	expect 125 audit $verb --login 9
	has "$ERR" "no session has these labels, or was of this login"
done
expect 0 audit show l8s3 --login 8
expect 2 audit list --login no-such-user
expect 2 audit list --audit-session x
for verb in guarantees network; do
	expect 0 audit $verb --login 7 --json
done
expect 0 audit guarantees --login 8 --json
has "$OUT" '"sessions": 1'
STATE=$PWD/wardfs
audit attest -o statement one || fail "attest"
python3 - statement <<'END' || fail "the attestation does not have the labels"
import base64, json, sys
start = json.loads(base64.b64decode(json.load(open(sys.argv[1]))["payload"]))["predicate"]["start"]
assert start["labels"]["task"] == "mend" and "source" in start["clock"], start
END
