#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# With sync = record, no operation is answered before fdatasync(2), even if the writer is killed.
# batch and close answer earlier and end as whole trails.
# timeout: 1800
set -eu
. "$WARD_SRC/tests/cases/audit/lib/audit.sh"

# traced MODE: the system calls of a writer that takes one record after the other
traced() {
	rm -f calls.*
	"$WARD_BUILD/tests/support/auditrun" --program "$PWD/traced-audit" --state "$STATE" \
		--session "$1" --sync "$1" --events 40 >acked 2>run.err || fail "$1: $(cat run.err)"
	# none is an answer as well
	cat calls.* | grep -cE '^fdatasync\([0-9]+\)' || [ $? -eq 1 ]
}
cat >traced-audit <<EOF
#!/bin/sh
exec strace -o "$PWD/calls" -ff -e trace=write,fdatasync "$WARD_BUILD/wardfs-audit"
EOF
chmod 755 traced-audit
if strace -o /dev/null true 2>/dev/null; then
	traced record >count || fail "record"
	# One thread waits for each record: as many syncs at least.
	[ "$(cat count)" -ge 40 ] || fail "record: $(cat count) syncs for 40 records"
	traced close >count || fail "close"
	[ "$(cat count)" -le 10 ] || fail "close: $(cat count) syncs"
else
	echo "strace cannot start the writer here: its calls were not counted"
fi

for mode in record batch close; do
	run --session "control-$mode" --events 300 --threads 3 --sync $mode
	check_acked "control-$mode"
	[ "$(state_of "control-$mode")" = "intact 902 0" ] || fail "$(state_of "control-$mode")"
done

rounds=${WARD_ROUNDS:-${WARD_LONG:+200}}
rounds=${rounds:-8}
round=1
while [ $round -le "$rounds" ]; do
	run --session "k$round" --events 800 --threads 3 --sync record --kill-ms $((round * 11 % 60))
	check_acked "k$round"
	[ "$(wc -l <acked)" -eq 2400 ] || fail "k$round: $(wc -l <acked) answered"
	case $(state_of "k$round") in
	"incomplete "*" 0") ;;
	*) fail "k$round: $(state_of "k$round")" ;;
	esac
	round=$((round + 1))
done
agree "after the kills"
