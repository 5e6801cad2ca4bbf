#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# [expect]: wardfs records and counts refusals that the base expects, and does not print them at
# the end. It prints the others. A record with two paths needs both expected. A project file
# cannot say it.
set -eu
. "$WARD_SRC/tests/lib.sh"
project p
cd p || exit 1
mkdir -p quiet loud
echo x >quiet/a
echo x >loud/a
echo x >free
policy() {
	printf '[policy]\nversion = 1\nextends = medium\n[guard]\nread = /workspace/quiet\nread = /workspace/loud\n%b\n' \
		"$1" >../own.policy
}
try='for f in "$@"; do rm -f "$f" 2>/dev/null; done; exit 0'
policy ''
expect 0 "$WARDFS" run --policy ../own.policy -- sh -c "$try" sh quiet/a loud/a
has "$ERR" "2 refused"
policy '[expect]\npath = /workspace/quiet'
expect 0 "$WARDFS" run --policy ../own.policy --session only -- sh -c "$try" sh quiet/a
[ -z "$ERR" ] || fail "said: $ERR"
[ -e quiet/a ] || fail "it was not refused"
expect 0 "$WARDFS" audit denials only
has "$OUT" "0 refusals in session only"
has "$OUT" "1 more expected by the policy: wardfs audit denials --expected only"
hasnt "$OUT" quiet
expect 0 "$WARDFS" audit denials --expected only
has "$OUT" "unlink /workspace/quiet/a"
has "$OUT" "(expected by "
expect 0 "$WARDFS" audit verify only
expect 0 "$WARDFS" run --policy ../own.policy --session both -- sh -c "$try" sh quiet/a loud/a
has "$ERR" "1 refused: "
has "$ERR" /workspace/loud/a
hasnt "$ERR" quiet
expect 0 "$WARDFS" audit show --json both
[ "$(printf '%s\n' "$OUT" | grep -c '"expected":')" -eq 1 ] || fail "records: $OUT"
# Of a move both ends count.
expect 0 "$WARDFS" run --policy ../own.policy -- sh -c 'mv -T free quiet/b 2>/dev/null; mv -T quiet/a quiet/c 2>/dev/null; exit 0'
has "$ERR" "/workspace/free"
hasnt "$ERR" "rename /workspace/quiet/a"
# A pattern is a whole path: one that would be silent everywhere is none.
policy '[expect]\npath = a'
expect 2 "$WARDFS" policy check --policy ../own.policy
has "$OUT$ERR" "write the whole path"
policy '[expect]\npath = /workspace/**/a'
expect 0 "$WARDFS" run --policy ../own.policy -- sh -c "$try" sh quiet/a loud/a
[ -z "$ERR" ] || fail "by a pattern: $ERR"
echo "--- a secret that is there: looking for it is said where the command fails, touching it always"
echo key >.env
# Without the line of the profile, as the control.
printf '[policy]\nversion = 1\n[guard]\nsecret = .env\n[files]\nwrite = /workspace\n' >../bare.policy
expect 0 "$WARDFS" run --policy ../bare.policy -- sh -c '[ ! -e .env ]'
has "$ERR" "1 refused: lookup /workspace/.env"
expect 0 "$WARDFS" run --session quiet -- sh -c '[ ! -e .env ] && [ ! -e .env.local ]'
[ -z "$ERR" ] || fail "said: $ERR"
expect 0 "$WARDFS" audit summary quiet
has "$OUT" "hid               1  /workspace/.env"
expect 0 "$WARDFS" audit denials --expected quiet
has "$OUT" "wardfs policy add --lift-guard read /workspace/.env"
expect 3 "$WARDFS" run --session loud -- sh -c 'cat .env 2>/dev/null; exit 3'
has "$ERR" "it had looked for /workspace/.env, which exists, but is hidden as a secret: wardfs audit denials --expected loud"
expect 2 "$WARDFS" run -- sh -c 'echo x >.env'
has "$ERR" "1 refused: create /workspace/.env"
hasnt "$ERR" "had looked for"
# A test makes its key, and the next run finds it: the command in the line helps. Control: the first
# run, a run that succeeds, and a policy of --policy, which the command would not change.
there="existed before this session, and its name is that of a secret. If it is no secret (perhaps a test made it): wardfs policy add"
has "$ERR" "/workspace/.env $there --lift-guard write /workspace/.env"
expect 3 "$WARDFS" run -- sh -c 'echo key >made.pem; exit 3'
hasnt "$ERR" "$there"
expect 2 "$WARDFS" run -- sh -c 'echo key >made.pem'
has "$ERR" "/workspace/made.pem $there write /workspace/made.pem"
expect 0 "$WARDFS" run -- sh -c 'sh -c "echo key >made.pem" || :'
hasnt "$ERR" "$there"
expect 2 "$WARDFS" run --policy medium -- sh -c 'echo key >made.pem'
hasnt "$ERR" "$there"
expect 2 "$WARDFS" run -- sh -c '[ -e made.pem ] || mkdir none/made.pem || echo key >.env.local; exit 2'
hasnt "$ERR" "$there"
rm .env.local
expect 0 "$WARDFS" policy add write /workspace/made.pem
expect 0 "$WARDFS" run -- sh -c 'echo key >made.pem'
rm -r made.pem "$XDG_CONFIG_HOME/wardfs/projects"
echo key >id_rsa
expect 0 "$WARDFS" run -- sh -c '[ ! -e id_rsa ]'
has "$ERR" "1 refused: lookup /workspace/id_rsa"
rm .env id_rsa
# Neither project file nor command line says it.
printf '[policy]\nversion = 1\n[expect]\npath = /workspace/loud\n' >.wardfs.policy
policy ''
expect 2 "$WARDFS" run --policy ../own.policy -- true
has "$ERR" "[expect]"
rm .wardfs.policy
echo "--- hosts"
call='for h in "$@"; do curl -sS -o /dev/null --max-time 20 "http://$h/" 2>/dev/null; done; exit 0'
policy '[network]\nmode = allowlist\nallow = fine.example\n[expect]\nhost = *.telemetry.example\nhost = one.example:80'
expect 0 "$WARDFS" run --policy ../own.policy --session hosts -- sh -c "$call" sh a.telemetry.example one.example
[ -z "$ERR" ] || fail "hosts: $ERR"
expect 0 "$WARDFS" audit denials --expected hosts
has "$OUT" a.telemetry.example
has "$OUT" one.example
expect 0 "$WARDFS" run --policy ../own.policy -- sh -c "$call" sh telemetry.example one.example:81
has "$ERR" "connect telemetry.example"
has "$ERR" "connect one.example:81"
exit 0
# A line of the owner's file for the project is named as theirs; the file's long name is in denials.
mkdir ../own-file
cd ../own-file || exit 1
git init -q
echo x >free
expect 0 "$WARDFS" run -- cat free
expect 0 "$WARDFS" policy add deny /workspace/free
expect 1 "$WARDFS" run --session own-file -- cat free
echo "$ERR" | grep -q '1 refused: open /workspace/free (your policy:[0-9]*); more: ' || fail "not named: $ERR"
expect 0 "$WARDFS" audit denials own-file
has "$OUT" "own\\x2dfile.policy:"
