#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# git over ssh with mode = allowlist, as root and as an ordinary user: a protocol in which the
# server speaks first, without proxy support. The server is OpenSSH with keys that the test makes.
# shellcheck disable=SC2016
# plain
set -eu
. "$WARD_SRC/tests/cases/network/lib/network.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root"
# It insists on being called by its whole path.
server=$(PATH=$PATH:/usr/sbin command -v sshd) || skip "no sshd (openssh-server)"
export server

cat >servers.sh <<'S'
git init -q "$NET/src"
git -C "$NET/src" -c user.name=T -c user.email=t@example.org commit -q --allow-empty -m one
git clone -q --bare "$NET/src" "$NET/ssh.git"
ssh-keygen -q -t ed25519 -N '' -f "$NET/hostkey" && ssh-keygen -q -t ed25519 -N '' -f "$NET/key" || fail "no keys"
cp "$NET/key.pub" "$NET/authorized"
chmod 644 "$NET/key"
chmod 600 "$NET/authorized"
printf '%s\n' 'Port 22' 'ListenAddress 203.0.113.10' "HostKey $NET/hostkey" "AuthorizedKeysFile $NET/authorized" \
	'StrictModes no' 'UsePAM no' 'PasswordAuthentication no' 'PermitRootLogin yes' "PidFile $NET/sshd.pid" >"$NET/sshd"
# Whom it does not know, OpenSSH does not work for.
{ cat /etc/passwd && echo 'tester:x:4711:4711::/nonexistent:/bin/sh'; } >"$NET/passwd"
mount --bind "$NET/passwd" /etc/passwd
mkdir -p /run/sshd
mkdir -m 1777 /run/agents
ip netns exec internet "$server" -D -f "$NET/sshd" -E "$NET/sshd.log" &
sshd=$!
trap 'kill $sshd || :' EXIT
S
cat >check.sh <<'S'
set -eu
. "$WARD_SRC/tests/cases/network/lib/network.sh"
net_project
cp "$NET/key" key
# ssh wants a key that is its owner's alone.
chmod 600 key
echo "web.example,203.0.113.10 $(cut -d' ' -f1,2 "$NET/hostkey.pub")" >known
options='-o StrictHostKeyChecking=yes -o IdentitiesOnly=yes -o BatchMode=yes'
GIT_SSH_COMMAND="ssh -i key -o UserKnownHostsFile=known $options"
export GIT_SSH_COMMAND
# A clone that was begun too early leaves nothing.
wait_until 60 git clone -q "ssh://root@web.example$NET/ssh.git" control || fail "control: $(cat "$NET/sshd.log")"
rm -r control

# The script inside: ssh wants a key that is its owner's alone, git a whole path.
cat >inside.sh <<'I'
cp key known "$HOME/" && chmod 600 "$HOME/key" || exit 99
GIT_SSH_COMMAND="ssh -i $HOME/key -o UserKnownHostsFile=$HOME/known $1"
export GIT_SSH_COMMAND
cd "$HOME" && rm -rf c && git clone -q "ssh://root@$2/ssh.git" c && git -C c log --format=%s || exit
git -C c -c user.name=T -c user.email=t@example.org commit -q --allow-empty -m two && git -C c push -q origin HEAD:two
I
chmod 644 key
# guarded WHERE LINE...: the clone inside, with these lines under [network].
guarded() {
	where=$1
	shift
	policy "$HOME/pol" 'mode = allowlist' "$@"
	expect "$want" "$WARDFS" run --policy "$HOME/pol" -- sh inside.sh "$options" "$where$NET"
}

echo '--- where it is allowed'
want=0
guarded web.example 'allow = web.example:22'
[ "$OUT" = one ] || fail "git over ssh: $OUT $ERR"
[ "$(git -c safe.directory='*' -C "$NET/ssh.git" log -1 --format=%s two)" = two ] || fail "nothing was pushed"
expect 0 "$WARDFS" audit show --kind connect
has "$OUT" 'host web.example  addr 203.0.113.10  proto tcp  port 22'
echo "$OUT" | grep 'port 22' | grep -q 'ssh\[' || fail "who asked: $OUT"

echo '--- with the key of an agent outside, which never comes in'
agent=/run/agents/ssh-agent.$(id -u)
eval "$(ssh-agent -a "$agent")" >/dev/null
trap 'kill $SSH_AGENT_PID || :' EXIT
ssh-add -q - <key || fail "ssh-add"
cat >agent.sh <<'I'
export GIT_SSH_COMMAND="ssh -o UserKnownHostsFile=$PWD/known -o StrictHostKeyChecking=yes -o BatchMode=yes"
cd "$HOME" && rm -rf c d && git clone -q "ssh://root@web.example$1/ssh.git" d &&
	git -C d commit -q --allow-empty -m three && git -C d push -q origin HEAD:three
I
push_by_agent() {
	policy "$HOME/pol" 'mode = allowlist' 'allow = web.example:22' "$@"
	expect "$want" "$WARDFS" run --policy "$HOME/pol" --env SSH_AUTH_SOCK="$agent" \
		--env GIT_AUTHOR_NAME=T --env GIT_AUTHOR_EMAIL=t@example.org \
		--env GIT_COMMITTER_NAME=T --env GIT_COMMITTER_EMAIL=t@example.org -- sh agent.sh "$NET"
}
want=128
push_by_agent
has "$ERR" 'Permission denied (publickey'
want=0
push_by_agent "socket = $agent"
[ "$(git -C "$NET/ssh.git" log -1 --format=%s three)" = three ] || fail "nothing was pushed by the agent"
expect 0 "$WARDFS" policy check "$HOME/pol"
has "$OUT$ERR" 'agent'

echo '--- where it is not'
want=128
# Another name, the name with the ports that are meant where none is given, and the address.
guarded web.example 'allow = other.example:22'
has "$ERR" 'resolve hostname'
guarded web.example 'allow = web.example'
has "$ERR" 'port 22: Connection refused'
guarded 203.0.113.10 'allow = web.example:22'
has "$ERR" 'port 22: Connection refused'
guarded web.example 'allow = web.example:22' 'deny = web.example'
has "$ERR" 'resolve hostname'
expect 0 "$WARDFS" audit show --kind deny
has "$OUT" 'deny = web.example'
expect 0 "$WARDFS" audit verify
exit 0
S
in_host_both "$WARD_TMP/check.sh"
