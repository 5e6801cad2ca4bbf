#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# No record, no operation. A full ring makes operations wait and loses nothing. A failed log makes
# them fail with EIO, while operations without a record continue.
set -eu
. "$WARD_SRC/tests/cases/fs/lib/fs.sh"

# The reader of the ring (fsmount) is stopped while more is done than a ring holds.
cp "$WARD_SRC/tests/cases/fs/lib/trail-full.py" "$WARD_TMP/full.py"
script full <<END
python3 "$WARD_TMP/full.py" \$PPID
END
script broken <<'END'
# before, all of these are allowed
cat a >/dev/null && echo x >b && mv b c && rm c
# The log fails at this very record: what it is of may have been answered by then, or not.
true >fail || true
n=0
while cat a >/dev/null 2>&1; do
	n=$((n + 1))
	[ $n -lt 12000 ] || { echo "FAIL: goes on without a trail"; exit 1; }
	sleep 0.005
done
refused "Input/output error" cat a
refused "Input/output error" sh -c 'exec 3>b'
refused "Input/output error" mkdir d
refused "Input/output error" mv a e
refused "Input/output error" rm a
refused "Input/output error" truncate -s 0 a
refused "Input/output error" sh -c ': >a'
refused "Input/output error" chmod 600 a
refused "Input/output error" ln a l
refused "Input/output error" ln -s a s
# a refusal that cannot be recorded is no answer of the policy's either
refused "Input/output error" cat secret
ls . >/dev/null && stat a >/dev/null
END
policy 'deny = secret'
for mode in $MODES; do
	fresh
	as_owner sh -c "umask 022; echo a >'$BACK/a' && echo s >'$BACK/secret'"
	if [ "$mode" = root ]; then
		# as root, the script may stop its parent
		"$FSMOUNT" -m root -l "$EVENTS" "$POLICY" "$BACK" "$MNT" sh -eu "$WARD_TMP/full" ||
			fail "full ring"
		[ "$(grep -c '^open .*path=\[/workspace/a\]' "$EVENTS")" = 6000 ] || fail "records lost"
		if grep SPOILED "$EVENTS"; then fail "spoiled"; fi
	fi
	opts="-m $mode"
	[ "$mode" != cached ] || opts="-m root -n"
	# shellcheck disable=SC2086
	"$FSMOUNT" $opts -o $OWNER:$OWNER -x fail -l "$EVENTS" "$POLICY" "$BACK" "$MNT" \
		sh -eu "$WARD_TMP/broken" || fail "$mode: failed log"
	# and none of it was done
	[ "$(cat "$BACK/a")" = a ] && [ "$(stat -c %a "$BACK/a")" = 644 ] ||
		fail "$mode: changed without a record"
	rm -f "$BACK/fail"
	[ "$(ls "$BACK")" = "a
secret" ] || fail "$mode: made without a record: $(ls "$BACK")"
done

# A file that is open when the log fails: what the daemon sees of it stops too. It does not see the
# bytes of passthrough handles (mode root; an append area has none).
cp "$WARD_SRC/tests/cases/fs/lib/trail-held.py" "$WARD_TMP/held.py"
policy 'append = /workspace/log'
for mode in $MODES; do
	fresh
	as_owner sh -c "cd '$BACK' && mkdir log && : >log/x && : >held && echo source >src"
	opts="-m $mode"
	[ "$mode" != cached ] || opts="-m root -n"
	# shellcheck disable=SC2086
	"$FSMOUNT" $opts -o $OWNER:$OWNER -x fail -l "$EVENTS" "$POLICY" "$BACK" "$MNT" \
		python3 "$WARD_TMP/held.py" $mode || fail "$mode: held"
	[ "$(cat "$BACK/held")" = good ] && [ "$(cat "$BACK/log/x")" = log ] ||
		fail "$mode: written without a trail"
done
