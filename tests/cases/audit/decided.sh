#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# wardfs audit verify, and the second verifier: accesses that the recorded policy and grants do not
# allow, and answers that nobody outside of the session gave. The macs of all these trails are good.
# The control is the same trail without what is wrong.
# timeout: 600
set -eu
. "$WARD_SRC/tests/cases/audit/lib/audit.sh"
start='{"owner_uid":1000,"started_by":1000,"sandbox":{"guarantees":["integrity"],"missing":{}}}'
mkdir keys
for who in ann bob eve; do "$WARD_BUILD/wardfs" token key keys/$who >keys/$who.pub; done
python3 "$WARD_SRC/tests/cases/audit/lib/decided-scripts.py" scripts
# try NAME START SCRIPT: a trail of that script.
try() {
	run --session "$1" --events 0 --start "$2" --script "scripts/$3"
	[ ! -e "scripts/$3.sources" ] || cp "scripts/$3.sources" "state/sessions/$1/policy"
}
# wrong NAME WHY
wrong() {
	audit verify "$1" >verdict && fail "$1 is not found: $(cat verdict)"
	grep -q "^$1: edited at record [0-9]*: $2" verdict || fail "$1: $(cat verdict)"
}
for script in scripts/*; do
	try "${script#scripts/}" "$start" "${script#scripts/}"
done
for good in good-access good-moved good-rename-loses good-answer good-none good-signed good-signed-two good-signed-covers \
	good-signed-once good-signed-pattern good-signed-partly good-token good-ended good-unused \
	good-glass good-glass-two good-glass-approvers good-glass-floor good-glass-floor-files \
	good-glass-project good-ssh good-ssh-two good-wider good-joined good-joined-before; do
	audit verify "$good" >verdict || fail "control: $(cat verdict)"
	grep -q "^$good: intact" verdict || fail "control: $(cat verdict)"
done
access='an access that no rule and no live grant allows'
wrong open-denied "$access: no rule of the policy"
wrong create-read "$access: no rule of the policy"
wrong remove-guarded "$access: no rule of the policy"
wrong open-asked "$access: no rule of the policy"
wrong open-quoted "$access: no rule of the policy"
for n in rename-from-read rename-to-read rename-out-of-guard rename-to-asked rename-gains exchange-gains \
	exchange-read link-to-read link-quoted; do wrong $n "$access: no rule of the policy"; done
wrong use-elsewhere "$access: the grant does not cover the path"
answer='an answer that nobody outside of the session gave'
wrong answer-of-yesterday "$answer: no question of that name waited"
wrong answer-twice "$answer: no question of that name waited"
wrong answer-other-digest "$answer: it is to a question that was shown otherwise"
wrong ask-other-digest "$answer: the digest of what was shown is another"
for n in answer-elsewhere answer-wider joined-not-shown; do wrong $n "$answer: its grant is for a path that was not shown"; done
for n in joined-other joined-other-rights; do wrong $n "$answer: it is shown in place of another question of that name"; done
wrong answer-more-rights "$answer: the grant gives more than was asked for"
wrong answer-no-grant "$answer: the trail has no such grant of an answer"
wrong answer-by-agent "$answer: a process of the session gave it"
wrong answer-by-other "$answer: neither root nor the owner of the session gave it"
wrong answer-by-nobody "$answer: nobody is named"
wrong grant-by-other "$answer: neither root nor the owner of the session gave it"
# Signed answers, where the policy demands them: each beside the control that differs in this alone.
nobody='nobody signed it, and the policy demands signatures'
wrong unsigned "$answer: $nobody"
wrong covered-by-none "$answer: $nobody"
for n in '' -text; do wrong signed-changed$n "$answer: a signature does not fit"; done
wrong signed-too-few "$answer: the policy demands more signatures"
for n in twice differently; do wrong signed-$n "$answer: its signers are not different ones of one answer"; done
for n in replayed other-digest other-session late; do wrong signed-$n "$answer: another answer was signed"; done
wrong signed-by-eve "$answer: no approver of the policy signed it"
for n in wider elsewhere not-once without-end other-pattern; do wrong grant-$n "$answer: the grant is not what was signed"; done
# Members that the writer leaves out or takes from elsewhere: there is nothing to compare with.
own='what was shown is not this question'
for n in ask-without-detail ask-signed-without-detail; do
	wrong $n "$answer: the digest of what was shown is another"
done
for n in ask-detail-no-object ask-without-shown session-replayed \
	shown-other-path shown-other-rights shown-second-path; do wrong $n "$answer: $own"; done
wrong grant-of-other-question "$answer: the grant is not what was signed"
wrong grant-asked-by-none "$answer: no question of that name waited"
for n in without-grant empty; do wrong granted-$n "$answer: it names no grant"; done
for n in without-answer and-refused and-expired; do wrong used-$n "$access: the policy demands a signed answer for this grant"; done
for n in unasked unasked-without-token; do wrong $n "$answer: the policy demands signed answers, and this grant is of none"; done
wrong unasked-token-of-two "$answer: the policy demands more signatures than a token has"
wrong unasked-token-of-eve "$answer: no approver of the policy signed its token"
wrong signed-empty-pattern "$answer: a signature does not fit"
# Signatures of OpenSSH and of tokens.
for n in untouched other-space other-bytes other-signer kind changed cut; do wrong ssh-$n "$answer: a signature does not fit"; done
for n in ssh-by-eve ssh-for-wardfs wardfs-for-ssh ssh-for-token; do wrong $n "$answer: no approver of the policy signed it"; done
for n in replayed late; do wrong ssh-$n "$answer: another answer was signed"; done
wrong ssh-twice "$answer: its signers are not different ones of one answer"
wrong ssh-wider "$answer: the grant is not what was signed"
# Guards that somebody lifted: each beside the control that differs in this alone.
wrong guard-lifted "$access: a guard stands against the grant"
wrong glass-too-little "$access: a guard stands against the grant"
for n in floor floor-files project-files; do wrong glass-of-$n "$access: a guard stands against the grant"; done
for n in by-eve hidden other-key; do wrong glass-$n "$answer: the floor does not name the key"; done
for n in unsigned no-proof; do wrong glass-$n "$answer: nobody signed it"; done
wrong glass-other-session "$answer: another session was signed"
wrong glass-other-guard "$answer: other guards were signed"
for n in more other-path; do wrong glass-$n "$answer: another right was signed"; done
for n in without-reason other-reason; do wrong glass-$n "$answer: another reason was signed"; done
for n in two-hours without-beginning; do wrong glass-$n "$answer: more than an hour was signed"; done
for n in over longer without-end; do wrong glass-$n "$answer: another time was signed"; done
wrong glass-not-said "$answer: the policy demands signed answers, and this grant is of none"
agree "decided"
agree_public "decided" "$(audit key show)" good-answer open-denied use-elsewhere answer-by-agent

# Changes that are staged are not asked about; nothing else is allowed for that.
mounts='[{"path":"/","recorded":false,"own":true},{"path":"/workspace","recorded":true,"staged":true},{"path":"/workspace/.github","recorded":true}]'
staged="{\"owner_uid\":1000,\"started_by\":1000,\"mounts\":$mounts}"
beside=$(echo "$staged" | sed 's/"staged":true//; s/,}/}/')
elsewhere=$(echo "$staged" | sed 's|/workspace/.github|/workspace/other|')
for n in open rename; do try staged-$n "$elsewhere" $n-asked-staged; done
for n in open rename; do try inner-$n "$staged" $n-asked-staged; done
for n in open rename; do try beside-$n "$beside" $n-asked-staged; done
try staged-denied "$elsewhere" open-denied
for n in open rename; do
	audit verify staged-$n >verdict || fail "control: staged: $(cat verdict)"
	wrong inner-$n "$access: no rule of the policy"
	wrong beside-$n "$access: no rule of the policy"
done
wrong staged-denied "$access: no rule of the policy"
agree "staged changes"

# Where the command is one of the owner's processes, nobody else is known to have answered.
try own '{"owner_uid":1000,"started_by":1000,"sandbox":{"guarantees":["files"]}}' good-answer
wrong own "$answer: in a session of this mode the command could give it itself"
agree "a mode without integrity"
