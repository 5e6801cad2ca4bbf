#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Mutation of the table verb -> rights: unit_policy_decide fails if any right of any verb is
# flipped or any verb is exchanged for another.
# plain
set -eu
. "$WARD_SRC/tests/lib.sh"
build=$WARD_BUILD_TREE
command -v cc >/dev/null || skip "no compiler"
[ -f "$build/tests/unit/unit_policy_decide.p/policy_decide.c.o" ] || skip "no unit tests were built"

# Built once: the mutant is chosen by a variable. "V B": bit B of verb V is flipped; "V=O": verb V
# is taken for O.
sed 's/^uint32_t ward_verb_rights(enum ward_verb v)$/static uint32_t unchanged(enum ward_verb v)/' \
	"$WARD_SRC/enforcer/policy/outcome.c" >outcome.c
grep -q '^static uint32_t unchanged' outcome.c || { echo "the table has moved"; exit 1; }
cat >>outcome.c <<'END'
#include <stdio.h>
#include <stdlib.h>
uint32_t ward_verb_rights(enum ward_verb v)
{
	const char *m = getenv("MUTANT");
	unsigned verb = 0, x = 0;
	if (m && sscanf(m, "%u=%u", &verb, &x) == 2 && verb == (unsigned)v)
		return unchanged((enum ward_verb)x);
	if (m && sscanf(m, "%u %u", &verb, &x) == 2 && verb == (unsigned)v)
		return unchanged(v) ^ 1U << x;
	return unchanged(v);
}
END
sanitize=
if nm "$build/tests/unit/unit_policy_decide" 2>/dev/null | grep -q __asan_init; then
	sanitize=-fsanitize=address,undefined
fi
# shellcheck disable=SC2086 # no word, or one
cc -std=gnu17 -D_GNU_SOURCE -fPIE -I"$WARD_SRC" $sanitize -c outcome.c -o outcome.o
# the object comes first: of the library's own nothing is taken
# shellcheck disable=SC2046,SC2086
cc -pie $sanitize -o mutant "$build/tests/unit/unit_policy_decide.p/policy_decide.c.o" outcome.o \
	-Wl,--start-group "$build/tests/unit/libtest_policies.a" "$build/enforcer/policy/libward_policy.a" "$build/enforcer/modes/table/libward_mode_table.a" "$build/enforcer/base/libward_base.a" \
	"$build/enforcer/ipc/libward_ipc.a" "$build/conf/libward_conf.a" -Wl,--end-group \
	$(pkg-config --libs check inih libsodium) -pthread

./mutant >out 2>&1 || { echo "control: unchanged, the test fails"; cat out; exit 1; }
verbs=7 rights=9 n=0 survived=0
try() {
	n=$((n + 1))
	if MUTANT=$1 ./mutant >out 2>&1; then
		echo "survived: $1"
		survived=$((survived + 1))
	fi
}
v=0
while [ $v -lt $verbs ]; do
	b=0
	while [ $b -lt $rights ]; do
		try "$v $b"
		b=$((b + 1))
	done
	o=0
	while [ $o -lt $verbs ]; do
		case $v=$o in
		0=0 | 1=1 | 2=2 | 3=3 | 4=4 | 5=5 | 6=6) ;;
		# read and ask stand for the same rights
		2=5 | 5=2) ;;
		*) try "$v=$o" ;;
		esac
		o=$((o + 1))
	done
	v=$((v + 1))
done
echo "$n mutants, $survived survived"
[ "$survived" -eq 0 ] && [ "$n" -eq 103 ]
