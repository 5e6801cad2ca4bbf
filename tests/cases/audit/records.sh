#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What a record says beside the path: which file (dev, ino), what was replaced, sizes before and
# after, rights requested and granted, the process of a thread, locks, and changes by others.
# timeout: 900
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/cases/audit/lib/session.sh"

# session NAME LOG CMD…
session() {
	name=$1
	printf '[policy]\nversion = 1\nextends = medium\n[files]\nread = /workspace/ro\nhide = /workspace/hidden\n[audit]\nlog = %s\n' \
		"$2" >../policy
	shift 2
	recorded "$name" "$@"
}

printf 12345 >old
printf 123 >ro
echo x >hidden
echo x >gone
stat -c '%n %i' old ro gone >../inodes
cp "$WARD_SRC/tests/cases/audit/lib/records-work.py" work.py
printf new >new
session io io python3 work.py
# A process with its threads; of another process there is nothing.
main=$(sed -n 's/.*"kind":"exec".*"pid":\([0-9]*\),.*"work.py".*/\1/p' ../io.jsonl | tail -n 1)
"$WARDFS" audit process --json "$main" io >../process 2>../err || fail "process: $(cat ../err)"
grep -q '"path":"/workspace/old"' ../process || fail "not of its own"
if grep '"path":"/workspace/by-thread"' ../io.jsonl | grep -q '"process"'; then # Linux 6.13
	grep -q '"kind":"create".*"path":"/workspace/by-thread"' ../process || fail "not of its thread: $(cat ../process)"
	grep -q '"kind":"exec"' ../process || fail "not its start"
fi
grep -v "\"pid\":$main," ../process | grep -v '"path":"/workspace/by-thread"' >../others || [ ! -s ../others ]
[ ! -s ../others ] || fail "of others: $(cat ../others)"
# The advice names the policy that was in force, not another one.
"$WARDFS" audit denials io >../told || fail "denials"
grep -q "in: .*\[files\] of .*/policy\$" ../told || fail "denials: $(cat ../told)"
has "$OUT" "ro EACCES"
has "$OUT" "lock EAGAIN"
has "$OUT" "flock EAGAIN"
cp "$WARD_SRC/tests/cases/audit/lib/records-check.py" ../check.py
python3 ../check.py ../io.jsonl io || fail "log = io"

# The same without io: no locks, the rest as before.
rm -f by-thread lock
printf 12345 >old
echo x >gone
printf new >new
stat -c '%n %i' old ro gone >../inodes
session opens opens python3 work.py
python3 ../check.py ../opens.jsonl opens || fail "log = opens"

# The name of the program, where opens follow each other at once: as it is when that changes, by an
# exec, by the program itself, or since the number is that of another thread.
cp "$WARD_SRC/tests/cases/audit/lib/records-names.py" names.py
: >after-exec
: >after-rename
session names opens python3 names.py
cp "$WARD_SRC/tests/cases/audit/lib/records-check-names.py" ../check.py
python3 ../check.py ../names.jsonl || fail "names of programs"

# Changes by others while the session runs, and not those of the session itself: by handles that
# pass through, by names that come again and again.
cp "$WARD_SRC/tests/cases/audit/lib/records-others.py" others.py
echo old >theirs
echo old >other
trail=$XDG_STATE_HOME/wardfs/sessions/external/trail.jsonl
(
	until [ -e ready ]; do sleep 0.05; done
	echo x >made
	mv other moved
	rm made
	# Told apart only once what the session wrote itself is out of the queue: until it was.
	for _ in $(seq 120); do
		echo more >>theirs
		chmod 640 theirs
		grep -q '"external".*"action":"attr","path":"/workspace/theirs"' "$trail" &&
			grep -q '"external".*"action":"write","path":"/workspace/theirs"' "$trail" && break
		sleep 0.5
	done
	: >go
	for _ in $(seq 120); do
		grep -q '"external".*"path":"/workspace/go"' "$trail" && break
		sleep 0.5
	done
	: >end
) &
helper=$!
session external opens python3 others.py
wait "$helper"
python3 "$WARD_SRC/tests/cases/audit/lib/records-external.py" ../external.jsonl || fail "external: $(grep '"external"' ../external.jsonl)"
# The control: without opens nothing of it.
rm -f ready go end
(
	until [ -e ready ]; do sleep 0.05; done
	: >go
	: >end
) &
helper=$!
session denials denials python3 others.py
wait "$helper"
grep -q '"external"' ../denials.jsonl && fail "external with log = denials"

# Actions while the last process inside ends are in the trail, before the end. That includes a
# thread of the guard that still waits, here for a lock of the host.
rm ready
mkfifo ../last
exec 4>theirs
flock -x 4
(
	exec 3>../last
	until [ -e ready ]; do sleep 0.05; done
	for i in $(seq 30); do : >"last-$i"; done
	echo >&3
) 4>&- &
helper=$!
session lastly opens sh -c 'for i in $(seq 40); do : >"own-$i"; done
flock -x theirs true & flock -x theirs true &
: >ready; read -r x' <../last 4>&-
wait "$helper"
exec 4>&-
[ "$(grep -c '"external".*"action":"create","path":"/workspace/last-' ../lastly.jsonl)" -eq 30 ] ||
	fail "lastly: $(grep -c '"external"' ../lastly.jsonl) of 30"
tail -n 1 ../lastly.jsonl | grep -q '"kind":"session.end"' || fail "lastly: its end is not the last"
exit 0
