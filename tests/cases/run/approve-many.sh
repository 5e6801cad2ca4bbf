#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A command that asks without end: at most 10,000 questions wait, in 16 MiB of what is shown. More
# of them cost no more memory, and the answer to one of them acts. The control is the first question
# of all, which is there and has its answer.
# timeout: 1200
set -eu
. "$WARD_SRC/tests/cases/run/lib/approve.sh"
asking_project '[approvals]' 'timeout = 20m'
cp "$WARD_SRC/tests/cases/run/lib/approve-many.py" many.py

# Kilobytes that the processes of a session in which questions are held have.
kb() {
	sum=0
	for p in "$supervisor" "$(pgrep -P "$supervisor" -x wardfs-fs)"; do
		one=$(sed -n 's/^VmRSS:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$p/status")
		sum=$((sum + one))
	done
	echo $sum
}
asked() { "$WARDFS" audit show --json --kind ask "$session" | wc -l; }

# A sanitizer keeps what was freed, and a shadow of all.
most=$((96 << 10))
if grep -aq __asan_init "$WARD_BUILD/wardfs"; then most=$((768 << 10)); fi

# many SESSION LENGTH LEAST MOST [DIR]: asks with names of that length. So many questions are taken.
many() {
	session=$1
	begin "$session" python3 many.py "$2" ${5+"$5"}
	wait_until 60 member "$session" 'q["question"]' || fail "no question: $(cat "../$session.err")"
	supervisor=$(status_of "$session" pid)
	Q=$(member "$session" 'q["question"]')
	before=$(kb)
	touch go.1
	wait_until 600 grep -qx 'done 1' "../$session.out" || fail "$(cat "../$session.out" "../$session.err")"
	n=$(asked)
	full=$(kb)
	echo "$session: $before kB, with $n questions $full kB"
	[ "$n" -ge "$3" ] && [ "$n" -le "$4" ] || fail "$n questions"
	[ $((full - before)) -lt $most ] || fail "$n questions cost $((full - before)) kB"

	touch go.2
	wait_until 600 grep -qx 'done 2' "../$session.out" || fail "$(cat "../$session.out" "../$session.err")"
	more=$(kb)
	echo "$session: after more of them $more kB"
	[ $((more - full)) -lt $((most / 4)) ] || fail "from $full to $more kB"
	# A shorter one may have found room.
	n=$(asked)
	[ "$n" -le "$4" ] || fail "$n questions"

	expect 0 "$WARDFS" approve "$Q" yes
	touch go.3
	wait_until 600 grep -qx 'done 3' "../$session.out" || fail "$(cat "../$session.out" "../$session.err")"
	grep -qx 'made first' "../$session.out" || fail "$(cat "../$session.out")"
	[ "$(asked)" -gt "$n" ] || fail "no room: $n questions, then $(asked)"
	end 0 "$session"
	[ "$("$WARDFS" audit show --json --kind answer "$session" | grep -c '"result":"ended"')" -ge "$3" ] ||
		fail "questions without an end"
	rm go.?
	rmdir .github/first
}

echo "--- as many as can be; more cost nothing, and the answer to one makes room for another one"
# On a busy machine some of them have ended before the last ones come.
many short 20 5000 10000
echo "--- the same where what is shown is long: fewer of them"
deep=$(printf '%250s' '' | tr ' ' y)
mkdir -p ".github/$deep/$deep"
many long 250 1000 9900 "$deep/$deep"
