#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The kernel caches entries for a long time: it answers while the daemon is stopped. Changes by
# others still show soon, even if events were lost.
# plain
# timeout: 600
set -eu
. "$WARD_SRC/tests/cases/fs/lib/fs.sh"

script keep <<END
B="$BACK"
pid=\$(cat "$WARD_TMP/pid")
# A signal takes effect in each thread when that gets to run: until then it may answer.
stop() {
	kill -STOP \$pid
	n=0
	while grep -h ^State: /proc/\$pid/task/*/status | grep -qv 'T (stopped)'; do
		n=\$((n + 1))
		[ \$n -lt 600 ] || { echo "FAIL: the daemon does not stand still"; exit 1; }
		sleep 0.05
	done
}
exists() { if [ -e "\$1" ]; then echo yes; else echo no; fi; }
# Everything is seen twice, the second time by directories that are watched, and what might be kept
# for a second is forgotten.
look() {
	ls -lR . >/dev/null
	for name in absent d/absent d/e/absent; do same "\$(exists \$name)" no; done
}
seen() {
	look
	sleep 1.1
	look
}
# a few requests alone would not be worth a watch
i=0
while [ \$i -lt 20 ]; do
	i=\$((i + 1))
	echo x >f && rm f
done
mkdir -p d/e d/gone && echo one >d/e/f && echo two >f && echo x >d/gone/x
# The control: what the kernel does not know waits for the daemon. (A daemon that could not run for
# a while, on a busy machine, lets nothing be kept until it has caught up: then it is looked again.)
kept() {
	seen
	sleep 1.1
	stop
	if timeout -s KILL 1 test -e d/e/never-seen; then rc=0; else rc=\$?; fi
	state="\$rc \$(timeout -s KILL 10 stat -c %s d/e/f || echo waits)"
	state="\$state \$(timeout -s KILL 10 sh -c 'test -e d/absent && echo there || echo absent' || echo waits)"
	kill -CONT \$pid
}
i=0
kept
while [ "\$state" != "137 4 absent" ] && [ \$i -lt 5 ]; do
	i=\$((i + 1))
	kept
done
same "\$state" "137 4 absent"

# changes by others, one kind after the other
echo longer >"\$B/d/e/f" && soon 7 stat -c %s d/e/f
chmod 600 "\$B/f" && soon 600 stat -c %a f
chmod 640 "\$B/f" && soon 640 stat -c %a f
touch -d @1000000000 "\$B/d/e" && soon 1000000000 stat -c %Y d/e
echo n >"\$B/d/absent" && soon yes exists d/absent
ls d | grep -q absent || { echo "FAIL: not in the listing"; exit 1; }
rm "\$B/d/absent" && soon no exists d/absent
if ls d | grep -q absent; then echo "FAIL: still in the listing"; exit 1; fi
seen
rm -r "\$B/d/gone" && soon no exists d/gone/x
mv "\$B/d/e" "\$B/d/e2" && soon 7 stat -c %s d/e2/f && soon no exists d/e/f
mv "\$B/d/e2" "\$B/d/e" && soon 7 stat -c %s d/e/f
# an editor's save
seen
echo again-longer >"\$B/d/e/new" && mv "\$B/d/e/new" "\$B/d/e/f" && soon 13 stat -c %s d/e/f
# appended to by one who keeps it open
exec 3>>"\$B/d/e/f"
seen
echo more >&3
soon 18 stat -c %s d/e/f
exec 3>&-
# a directory closed to its owner, and opened again; what lies in it was known
seen
chmod 0 "\$B/d/e" && soon no exists d/e/f
soon refused sh -c 'ls d/e >/dev/null 2>&1 || echo refused'
chmod 700 "\$B/d/e" && soon yes exists d/e/f

# stores into a mapping
seen
python3 "$WARD_SRC/tests/cases/fs/lib/keep-store.py"

# more events than the kernel keeps for us
mkdir many && touch many/0
seen
sleep 1.1
stop
python3 "$WARD_SRC/tests/cases/fs/lib/keep-events.py" "\$B"
kill -CONT \$pid
soon no exists f
soon yes exists absent
soon 3 stat -c %s d/e/f
soon 20000 sh -c 'ls many | wc -l'
rm -r "\$B/many" "\$B/absent"
soon no exists many/0 && soon no exists absent

# what is hidden where the host puts a directory
mkdir -p open/dir/sub closed && echo s >open/dir/sub/secret && echo p >open/dir/sub/plain
seen
mv "\$B/open/dir" "\$B/closed/dir" && soon yes exists closed/dir/sub/plain
soon no exists closed/dir/sub/secret
same "\$(cat closed/dir/sub/plain)" p
refused "No such file" cat closed/dir/sub/secret
END
for mode in $MODES; do
	policy 'hide = /workspace/closed/dir/sub/secret'
	fresh
	rm -f "$WARD_TMP/pid"
	case $mode in
	root) opts="-m root -o $OWNER:$OWNER" ;;
	cached) opts="-m root -n -o $OWNER:$OWNER" ;;
	user) opts="-m user -o $OWNER:$OWNER" ;;
	esac
	# shellcheck disable=SC2086
	"$FSMOUNT" $opts -l "$EVENTS" -p "$WARD_TMP/pid" "$POLICY" "$BACK" "$MNT" \
		sh -eu "$WARD_TMP/keep" || fail "$mode: keep"
done
