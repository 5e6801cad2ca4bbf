#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# timeout: 600
# [quota] rate: what is too fast is answered later, and nothing else waits meanwhile: reads, other files outside of the
# quota, and (more writers than the daemon has threads) each other's; a writer that waits can be killed. Where the daemon
# gets no more memory, nothing is written without waiting.
set -eu
. "$WARD_SRC/tests/cases/fs/lib/fs.sh"

cp "$WARD_SRC/tests/cases/fs/lib/quota-rate.py" "$WARD_TMP/rate.py"
for mode in $MODES; do
	for rate in 1G/s 1K/h; do
		policy '[quota /workspace/slow]' "rate = $rate"
		fresh
		as_owner sh -c "mkdir '$BACK/slow' && echo mine >'$BACK/slow/there'"
		if [ $rate = 1K/h ]; then what=slow; else what=control; fi
		in_mode $mode -c "exec python3 '$WARD_TMP/rate.py' '$BACK' $what" || fail "$mode $rate"
	done
done

# What waits is answered in the end: a rate that a few seconds keep.
policy '[quota /workspace]' 'rate = 100K/s'
fresh
in_mode root -c 'dd if=/dev/zero of=f bs=50K count=4 2>/dev/null && [ "$(stat -c %s f)" = 204800 ]' || fail "answered"

# No memory and no thread more for the daemon once the file is open: whoever writes waits, or nothing is written.
cp "$WARD_SRC/tests/cases/fs/lib/quota-rate-short.py" "$WARD_TMP/short.py"
# A sanitizer dies without memory.
grep -qE '__[at]san_init' "$WARD_BUILD/wardfs-fs" || for what in free rated; do
	if [ $what = rated ]; then policy '[quota /workspace/slow]' 'rate = 1K/h'; else policy; fi
	fresh
	mkdir "$BACK/slow"
	"$FSMOUNT" -m other -p "$WARD_TMP/pid" "$POLICY" "$BACK" "$MNT" \
		python3 "$WARD_TMP/short.py" "$BACK" "$WARD_TMP/pid" $what || fail "no memory: $what"
done
