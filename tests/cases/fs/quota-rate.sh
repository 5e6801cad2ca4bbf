#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# [quota] rate: a write that is too fast waits before it happens. Reads and files outside the
# quota do not wait. Writers that run side by side, are killed, are signalled, copy or map files
# are no faster than the rate. If the daemon gets no more memory, no write passes without waiting.
# timeout: 600
set -eu
. "$WARD_SRC/tests/cases/fs/lib/fs.sh"

cp "$WARD_SRC/tests/cases/fs/lib/quota-rate.py" "$WARD_TMP/rate.py"
for mode in $MODES; do
	for rate in none 1G/s 1K/h; do
		if [ $rate = none ]; then policy; else policy '[quota /workspace/slow]' "rate = $rate"; fi
		fresh
		as_owner sh -c "mkdir '$BACK/slow' && echo mine >'$BACK/slow/there'"
		in_mode $mode -c "exec python3 '$WARD_TMP/rate.py' '$BACK' $rate" || fail "$mode $rate"
	done
done

# A waiting write gets its answer in the end: a rate that a few seconds satisfy.
policy '[quota /workspace]' 'rate = 100K/s'
fresh
in_mode root -c 'dd if=/dev/zero of=f bs=50K count=4 2>/dev/null && [ "$(stat -c %s f)" = 204800 ]' || fail "answered"

# No memory and no thread more for the daemon once the file is open: whoever writes waits, or
# nothing is written.
cp "$WARD_SRC/tests/cases/fs/lib/quota-rate-short.py" "$WARD_TMP/short.py"
# A sanitizer dies without memory.
grep -qE '__[at]san_init' "$WARD_BUILD/wardfs-fs" || for what in free rated; do
	if [ $what = rated ]; then policy '[quota /workspace/slow]' 'rate = 1K/h'; else policy; fi
	fresh
	mkdir "$BACK/slow"
	"$FSMOUNT" -m other -p "$WARD_TMP/pid" "$POLICY" "$BACK" "$MNT" \
		python3 "$WARD_TMP/short.py" "$BACK" "$WARD_TMP/pid" $what || fail "no memory: $what"
done
