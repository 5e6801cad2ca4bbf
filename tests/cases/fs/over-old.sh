#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The cases of this directory with a kernel that offers less in INIT: as Linux 6.1 (protocol 7.37:
# no passthrough, no io_uring, no expiry of single entries), and without READDIRPLUS.
# timeout: 1800
set -eu
. "$WARD_SRC/tests/cases/fs/lib/transport.sh"
# Bits 35 to 37 and 41; then 13 and 14 (linux/fuse.h).
# keep.sh is not among them: absent names are kept with epochs alone.
WARD_INIT=37:23800000000
export WARD_INIT
# The control: what is offered as a rule.
cat >offered.sh <<'S'
set -eu
. "$WARD_SRC/tests/cases/fs/lib/fs.sh"
policy
fresh
as_owner sh -c "echo x >'$BACK/f'"
echo 'cat f >/dev/null' >"$WARD_TMP/look"
in_mode root "$WARD_TMP/look" || fail "look"
recorded '^open .*io=.cached.'
unset WARD_INIT
: >"$EVENTS"
in_mode root "$WARD_TMP/look" || fail "look"
grep -q 'io=.passthrough.' "$EVENTS" || skip "this kernel has no passthrough"
S
sh ./offered.sh
over plain names verbs
[ "${WARD_LONG-}" != 1 ] || over plain append append-moved contain dac death held hidden-counts left-open links \
	locks node-ids outside programs races setuid stall statx tmpfile trail trunc why
WARD_INIT=37:23800006000
over plain outside
[ "${WARD_LONG-}" != 1 ] || over plain contain dac held hidden-counts links names node-ids programs races \
	setuid stall tmpfile trail trunc verbs why
