#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every policy in the reference and the tutorial loads, and `policy explain` output there is true.
set -eu
. "$WARD_SRC/tests/lib.sh"

# verdict EXPECTED POLICY ACTION PATH...
verdict() {
	want=$1 policy=$2
	shift 2
	code=0
	got=$("$WARDFS" policy explain --json --policy "$policy" "$@") || code=$?
	case $got in
	*"\"verdict\": \"$want\""*) ;;
	*) fail "$policy: $*: wanted $want, got $got" ;;
	esac
	if [ "$want" = allow ]; then
		[ $code -eq 0 ] || fail "$*: exit status $code"
	else
		[ $code -eq 1 ] || fail "$*: exit status $code"
	fi
}

echo "--- each block loads"
awk '/^```ini$/ { n++; on = 1; next } /^```$/ { on = 0 } on { print > sprintf("%02d.policy", n) }' \
	"$WARD_SRC/docs/wardfs-policy.5.md" "$WARD_SRC/docs/policy.md"
[ "$(find . -name '*.policy' | wc -l)" -ge 17 ] || fail "the page has lost its examples"
for f in ./*.policy; do
	as=base
	! grep -q '^; as: project' "$f" || as=project
	"$WARDFS" policy check --as $as "$f" || fail "$f does not load"
done

echo "--- and its control: a line that means nothing is refused, with its place"
cp 01.policy bad
echo 'hid = x' >>bad
code=0
out=$("$WARDFS" policy check bad 2>&1) || code=$?
[ $code -eq 2 ] || fail "exit status $code: $out"
echo "$out" | grep -qF "bad:$(wc -l <bad): no key 'hid' in [limits]" || fail "$out"

echo "--- what the first example means"
mkdir -p project/src && cd project && git init -q .
cp ../01.policy ../p.policy
verdict allow ../p.policy read src/a.c
verdict allow ../p.policy write src/a.c
verdict deny ../p.policy write a.c
verdict allow ../p.policy read a.c
verdict hide ../p.policy read src/key.pem
verdict hide ../p.policy create src/key.pem
verdict deny ../p.policy read src/secrets.yml
verdict allow ../p.policy append log/x
verdict deny ../p.policy write log/x
verdict hide ../p.policy stat /etc/passwd
verdict allow ../p.policy list /
verdict deny ../p.policy connect example.org:443

echo "--- paths of the host, relative ones, and errors"
verdict allow ../p.policy write "$PWD/src/a.c"
cd src && verdict allow ../../p.policy write ./b/../a.c && cd ..
for bad in "read" "nonsense x" "rename a" "read a b" "read ../../../../../../../../../../../../../x"; do
	code=0
	# shellcheck disable=SC2086 # words
	"$WARDFS" policy explain --policy ../p.policy $bad >out 2>&1 || code=$?
	[ $code -eq 2 ] || fail "$bad: exit status $code: $(cat out)"
done

echo "--- lines of profiles that the documents name are those lines"
touch test.pem
for named in $(grep -oh 'lookup /workspace/certs/[a-z.]* (medium:[0-9]*)' "$WARD_SRC/README.md" "$WARD_SRC"/docs/*.md |
	sed 's/.*(\(.*\))/\1/' | sort -u); do
	"$WARDFS" policy explain --policy medium stat test.pem >out || :
	has "$(cat out)" "$named "
	seen=$named
done
[ "${seen-}" ] || fail "control: README.md names no line"
others=$(grep -n '\b\(low\|medium\|high\):[0-9]' "$WARD_SRC/README.md" "$WARD_SRC"/docs/*.md "$WARD_SRC"/docs/man/* |
	grep -v 'lookup /workspace/certs/') || :
[ -z "$others" ] || fail "a line number that nothing checks: $others"
rm test.pem

echo "--- a directory moves where nothing that exists beneath it gains a right"
printf '[policy]\nversion = 1\n[files]\nwrite = /workspace\ndeny = /workspace/old/secret\n' >../move.policy
mkdir -p old/d
verdict allow ../move.policy rename old new
touch old/secret
verdict deny ../move.policy rename old new
verdict deny ../move.policy rename new/ old
rm -r old
