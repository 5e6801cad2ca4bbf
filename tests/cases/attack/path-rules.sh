#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# wardfs attack --path-rules: every operation on names that a policy's rules mean, and on their
# neighbours, goes as the policy says. Without a guard the same attempts are broken.
# Nothing is left, and no file of the project is touched.
# plain
set -eu
. "$WARD_SRC/tests/lib.sh"

WARDFS=$WARD_BUILD/wardfs
export XDG_STATE_HOME="$WARD_TMP/state"
mkdir -p project/src && cd project
echo mine >.env
echo mine >src/file
cat >t.policy <<'P'
[policy]
version = 1
[tree /workspace]
source = .
[guard]
deny = .env
[files]
read = /workspace
write = /workspace/src
append = /workspace/log
hide = *.pem
noexec = /workspace/downloads
write = /workspace/k[0-4]y
read = /workspace/src/[!a-m]y
read = /workspace/src/café
P
find . -printf '%p %s %T@ %m\n' | sort >../before
expect 0 "$WARDFS" attack --path-rules t.policy --json --junit ../paths.xml --sarif ../paths.sarif
printf '%s\n' "$OUT" >../paths.json
made() { # made OPERATION PATH SEEN
	python3 -c '
import json, sys
print(*(a["seen"] for a in json.load(open("../paths.json"))["attempts"]
        if [a["operation"], a["path"]] == sys.argv[1:]))' "$1" "$2" | grep -qxF "$3" || fail "$1 $2 is not: $3"
}
done="allowed, and done" refused="refused, and not done"
for a in read:.env stat:q.pem read:deep/.env/beneath write:srcx write:log/beneath remove:beneath execute:downloads/beneath \
	exchange:.env exchange:src/beneath attribute:.env times:.env write:kqy write:src/café/beneath; do
	made "${a%%:*}" "${a#*:}" "$refused"
done
for a in stat:.env read:.env~ read:.ENV stat:Q.PEM write:src/beneath append:log/beneath create:log/beneath remove:src/beneath execute:beneath \
	attribute:src/beneath times:src/beneath mkdir:src/beneath write:k0y/beneath write:src/café \
	write:src/ay; do
	made "${a%%:*}" "${a#*:}" "$done"
done
grep -q '<testcase classname="path rules" name="read .env">' ../paths.xml || fail "$(head -5 ../paths.xml)"
find . -printf '%p %s %T@ %m\n' | sort | grep -v '^\. ' >../after
grep -v '^\. ' ../before | diff - ../after || fail "the project was touched"
[ ! -e "$XDG_STATE_HOME" ] || fail "a trail was left"

echo "--- an exchange, where both names may be written"
printf '[policy]\nversion = 1\n[tree /workspace]\nsource = .\n[files]\nwrite = /workspace\n' >w.policy
expect 0 "$WARDFS" attack --path-rules w.policy --json
printf '%s\n' "$OUT" >../paths.json
made exchange beneath "$done"

echo "--- without a guard"
# The programs of --knock-out: wardfs-fs asks the policy, and its refusals count for nothing.
mkdir "$WARD_TMP/programs"
for program in audit net attack; do
	cp "$WARD_BUILD/wardfs-$program" "$WARD_TMP/programs"
done
cp "$WARD_BUILD/wardfs" "$WARD_TMP/programs"
for program in fs init; do
	cp "$WARD_BUILD/tests/support/wardfs-$program-knocked" "$WARD_TMP/programs/wardfs-$program"
done
echo guard >"$WARD_TMP/programs/knock"
chmod 755 "$WARD_TMP/programs"
expect 1 "$WARD_TMP/programs/wardfs" attack --path-rules t.policy
echo "$OUT" | grep -q 'broken   read     .env (name): the policy refuses it, and it was done' || fail "$OUT"
"$WARD_TMP/programs/wardfs" attack --path-rules t.policy --sarif ../broken.sarif >/dev/null || :
python3 "$WARD_SRC/tests/support/paths-sarif.py" ../paths.sarif ../broken.sarif || fail "SARIF"
echo "$OUT" | grep -q 'broken   write    srcx (.*): the policy refuses it, and it was done' || fail "$OUT"

echo "--- what is wrong is said"
printf '[policy]\nversion = 1\n[tree /workspace]\nsource = /srv\n[files]\nread = /workspace/a\n' >other.policy
expect 2 "$WARDFS" attack --path-rules other.policy
echo "$ERR" | grep -q 'a copy cannot stand for it' || fail "$ERR"
expect 2 "$WARD_BUILD/wardfs-attack" --path-rules t.policy
[ -z "$(find . -name 'wardfs-paths.*')" ] || fail "left: $(ls -A)"

echo "--- names whose rule depends on what stands there"
cat >states.policy <<'P'
[policy]
version = 1
[files]
write = /workspace
secret = /workspace/**/*.pem
[guard]
read = /workspace/.jj/repo/config.toml
P
expect 0 "$WARDFS" attack --path-rules states.policy
echo "$OUT" | grep -q ' 0 broken, 0 untested$' || fail "$OUT"
