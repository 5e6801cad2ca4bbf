#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# wardfs audit verify, and the second verifier: connections that no line of [network] and no grant
# of the trail allows. The macs of all these trails are good. The controls are connections that the
# broker makes.
# timeout: 600
set -eu
. "$WARD_SRC/tests/cases/audit/lib/audit.sh"
start='{"owner_uid":1000,"started_by":1000,"sandbox":{"guarantees":["integrity"],"missing":{}}}'
python3 "$WARD_SRC/tests/cases/audit/lib/connected-scripts.py" scripts
for script in scripts/*; do
	run --session "${script#scripts/}" --events 0 --start "$start" --script "$script"
	[ ! -e "$script.sources" ] || cp "$script.sources" "state/sessions/${script#scripts/}/policy"
done
rm -f scripts/*.sources*
audit verify --all >verdicts || :
for script in scripts/good-*; do
	grep -q "^${script#scripts/}: intact" verdicts || fail "control: $(grep "^${script#scripts/}:" verdicts)"
done
found='an access that no rule and no live grant allows'
for script in scripts/bad-*; do
	grep -q "^${script#scripts/}: edited at record [0-9]*: $found: " verdicts ||
		fail "not found: $(grep "^${script#scripts/}:" verdicts)"
done
# why NAME REASON
why() {
	grep -q "^$1: edited at record [0-9]*: $found: $2 (" verdicts || fail "$1: $(grep "^$1:" verdicts)"
}
why bad-name 'no rule of the policy that was in force allows it'
why bad-granted-other 'the grant does not lead there'
why bad-granted-private 'no rule of the policy that was in force allows it'
why bad-use-elsewhere 'the grant does not lead there'
why bad-floor-granted 'a line that no grant lifts stands against the grant'
why bad-ungiven 'no grant of that id was given'
why bad-once-more 'no use of the grant is before it'
why bad-spent 'the uses of the grant were spent'
why bad-expired 'the grant had ended'
agree "connections"
