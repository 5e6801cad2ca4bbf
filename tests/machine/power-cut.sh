#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The power goes while sessions work, once on each of three file systems. After the next boot, both
# verifiers tell the truth about each trail. With sync = record, nothing that was answered is
# missing. The next session starts, and records what happened. Staged changes are not in the
# project.
# alone
# timeout: 900
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/lib.sh"
SPARE=/dev/vdc
AT=/run/wardfs-spare
OFFSET=$((1 << 20)) # the sectors before it have the notes
ENOUGH=150          # files
LIB=$WARD_SRC/tests/machine/lib

# note SLOT: what the sector says
note() {
	dd if=$SPARE bs=512 skip="$1" count=1 status=none | tr -d '\0'
}

# write SLOT TEXT
write() {
	printf '%s\n' "$2" | python3 "$LIB/power-cut-answered.py" $SPARE "$1"
}

# states: "NAME STATE" of each session, by verify
states() {
	"$WARDFS" audit verify --all --json >verify.json || [ $? -eq 1 ] || fail "verify: exit $?"
	python3 -c 'import json
for r in json.load(open("verify.json")):
    print(r["name"], r["state"].replace(" ", "-"), r["records"], r["first_bad"] or 0)'
}

# both: the same, and the second verifier agrees
both() {
	states >mine
	python3 "$WARD_SRC/tests/support/verify.py" "$XDG_STATE_HOME/wardfs" >theirs || [ $? -eq 1 ] ||
		fail "the second verifier: exit $?"
	cmp -s mine theirs || {
		diff mine theirs >&2 || :
		fail "the verifiers do not agree"
	}
}

mounted() {
	mkdir -p $AT
	mount -o loop,offset=$OFFSET $SPARE $AT
	export XDG_STATE_HOME=$AT/state
}

# work SLOT NAME SYNC OPTION...: a session that makes files until the power goes
work() {
	slot=$1 name=$2
	printf '[policy]\nversion = 1\nextends = medium\n[audit]\nlog = opens\nsync = %s\n' "$3" >$AT/$name.policy
	shift 3
	(
		cd $AT/$name || exit 1
		"$WARDFS" run --session "$name" --policy ../"$name".policy "$@" -- sh -c 'i=0
			while i=$((i + 1)); do
				: >f$i || exit 1
				echo $i
			done' 2>"$WARD_TMP/$name.err" | python3 "$LIB/power-cut-answered.py" $SPARE "$slot"
	) &
}

enough() {
	for slot in 1 2 3; do
		[ "$(note $slot)" -ge $ENOUGH ] || return 1
	done
}

# cut_on KIND: makes that file system, works in it, and has the power cut
cut_on() {
	for slot in 1 2 3; do
		write $slot 0
	done
	losetup -o $OFFSET /dev/loop7 $SPARE
	wipefs -qa /dev/loop7
	"mkfs.$1" /dev/loop7 >mkfs 2>&1 || fail "mkfs.$1: $(cat mkfs)"
	losetup -d /dev/loop7
	mounted
	mkdir -m 700 "$XDG_STATE_HOME"
	for name in record batch staged; do
		project $AT/$name
	done
	sync -f $AT
	work 1 record record
	work 2 batch batch
	work 3 staged batch --review
	wait_until 600 enough || fail "$1: too little work: $(note 1) $(note 2) $(note 3) $(cat "$WARD_TMP"/*.err)"
	[ "$("$WARDFS" ps --json | grep -c '"verb": "run"')" -eq 3 ] || fail "control: $("$WARDFS" ps)"
	write 0 "$1"
	echo "vm: cut" >/dev/ttyS1
	sleep 600
	fail "the power stayed"
}

# judge KIND: after the next boot
judge() {
	mounted
	[ "$("$WARDFS" ps --json | tr -d ' \n')" = "[]" ] || fail "$1: sessions that run: $("$WARDFS" ps)"
	both
	cp mine before
	for name in record batch staged; do
		grep -q "^$name incomplete [1-9][0-9]* 0\$" mine || fail "$1: $name: $(cat mine verify.json)"
	done
	python3 "$LIB/power-cut-judge.py" "$WARDFS" record $AT/record "$(note 1)" || fail "$1: the trail"
	(cd $AT/record && expect 0 "$WARDFS" run --session next -- sh -c 'test -e f1 && : >again')
	[ -e $AT/record/again ] || fail "$1: the next session did nothing"
	"$WARDFS" audit show --json --kind gap record >gap
	has "$(cat gap)" "recovery: "
	both
	for name in record batch staged; do
		grep -q "^$name incomplete [1-9][0-9]* 0\$" mine || fail "$1: $name, then: $(cat mine)"
	done
	grep -q "^next intact " mine || fail "$1: $(cat mine)"
	[ -z "$(ls $AT/staged)" ] || fail "$1: staged changes are in the project: $(ls $AT/staged)"
	(
		cd $AT/staged || exit 1
		expect 0 "$WARDFS" review -s staged
		# btrfs writes other files than those that are synced up to 30 s later.
		[ "$1" = btrfs ] || has "$OUT" "A f1"
		expect 0 "$WARDFS" review discard -s staged
		[ -z "$(ls)" ] || fail "$1: discarded: $(ls)"
	)
	umount $AT
}

case $(note 0) in
'') cut_on ext4 ;;
ext4)
	judge ext4
	cut_on xfs
	;;
xfs)
	judge xfs
	cut_on btrfs
	;;
btrfs) judge btrfs ;;
*) fail "the note says $(note 0)" ;;
esac
