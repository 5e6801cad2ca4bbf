#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# deploy/fleet: two nodes, each with its own network, directories and writer (wardfs-auditd), send
# the trails of their sessions to a collector. All arrive, and the public keys of a node find what
# somebody removed or changed at the collector. 80 sessions; with --long 10,000.
# plain
# timeout: 7200
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/lib.sh"
[ "$(id -u)" -eq 0 ] || skip 'needs root'
fleet=$WARD_SRC/deploy/fleet
STORE=/var/lib/wardfs-audit
each=40
[ -z "${WARD_LONG-}" ] || each=5000

case ${1-} in
'')
	# The collector's host; the nodes are joined to it by a wire each.
	exec unshare --net sh "$0" collector
	;;
node)
	# A mount and a network namespace of its own. The files of $2 tell the others how far it is.
	node=$2
	at=$WARD_TMP/$node
	WARD_TMP=$at
	hostname "$node"
	mkdir -p "$at/etc"
	cp -a /etc/. "$at/etc/"
	mount --bind "$at/etc" /etc
	mount -t tmpfs -o mode=755 tmpfs /var/lib
	mount -t tmpfs -o mode=755 tmpfs /run
	mknod /run/fuse c 10 229
	chmod 666 /run/fuse
	mount --bind /run/fuse /dev/fuse
	mkdir /run/wardfs-audit "$STORE"
	chmod 711 "$STORE"
	chown 4712:4712 "$STORE"
	mkdir "$at/home"
	chown 4711:4711 "$at/home"
	HOME=$at/home
	export HOME
	unset XDG_RUNTIME_DIR XDG_STATE_HOME XDG_CONFIG_HOME
	python3 "$WARD_SRC/tests/support/activate.py" /run/wardfs-audit/socket 4712 \
		"$WARD_BUILD/wardfs-auditd" 2>>"$at/service.err" &
	service=$!
	trap 'kill "$service" || :' EXIT
	trap 'exit 1' TERM
	wait_until 60 test -S /run/wardfs-audit/socket || fail "no writer: $(cat "$at/service.err")"
	: >"$at/ready"
	wait_until 60 test -e "$at/wired" || fail 'no wire'
	# Four at a time.
	(cd "$HOME" && setpriv --reuid=4711 --regid=4711 --clear-groups --inh-caps=-all sh -c '
		set -eu
		. "$WARD_SRC/tests/lib.sh"
		WARD_TMP=$HOME
		project p
		cd p
		printf "[policy]\nversion = 1\nextends = medium\n[audit]\nwriter = system\n" >../policy
		seq '"$each"' | xargs -P 4 -I % "$WARDFS" run --policy ../policy --session '"$node"'-% -- true'
	) || fail 'a session failed'
	"$WARDFS" audit key show --state "$STORE/4711" >"$at/keys"
	"$WARDFS" audit key show --ledger --state "$STORE/4711" >>"$at/keys"
	# The first try reaches nobody, and says so. The second one sends all, the third the rest.
	expect 1 python3 "$fleet/ship.py" --wardfs "$WARDFS" --at-once 2 "$STORE/4711" "$at/nobody" \
		192.0.2.254:1
	has "$ERR" ledger
	for try in 1 2; do
		expect 0 python3 "$fleet/ship.py" --wardfs "$WARDFS" "$STORE/4711" "$at/cursors" \
			"$(cat "$at/wired")"
		has "$OUT" "$each sessions"
	done
	exit
	;;
esac

chmod 755 "$WARD_TMP"
ip link set lo up
wires=1
for node in one two; do
	mkdir "$WARD_TMP/$node"
	chmod 755 "$WARD_TMP/$node"
	unshare --mount --net --uts --propagation private sh "$0" node "$node" >"$WARD_TMP/$node.out" 2>&1 &
	echo $! >"$WARD_TMP/$node.pid"
done
python3 "$fleet/collector.py" listen --address 0.0.0.0 "$WARD_TMP/got" >"$WARD_TMP/port" 2>"$WARD_TMP/listen.err" &
collector=$!
trap 'kill "$collector" $(cat "$WARD_TMP/one.pid" "$WARD_TMP/two.pid") 2>"$WARD_TMP/gone" || :; wait' EXIT
wait_until 60 test -s "$WARD_TMP/port" || fail "no collector: $(cat "$WARD_TMP/listen.err")"
for node in one two; do
	wait_until 120 test -e "$WARD_TMP/$node/ready" || fail "$node: $(cat "$WARD_TMP/$node.out")"
	pid=$(cat "$WARD_TMP/$node.pid")
	ip link add "to-$node" type veth peer name wan netns "$pid"
	ip addr add "192.0.2.$wires/30" dev "to-$node"
	ip link set "to-$node" up
	nsenter --net="/proc/$pid/ns/net" sh -c "ip link set lo up; ip addr add 192.0.2.$((wires + 1))/30 dev wan; ip link set wan up"
	echo "192.0.2.$wires:$(cat "$WARD_TMP/port")" >"$WARD_TMP/$node/wired.new"
	mv "$WARD_TMP/$node/wired.new" "$WARD_TMP/$node/wired"
	wires=$((wires + 4))
done
for node in one two; do
	wait "$(cat "$WARD_TMP/$node.pid")" || fail "$node: $(tail -n 20 "$WARD_TMP/$node.out")"
done
[ ! -s "$WARD_TMP/listen.err" ] || fail "collector: $(head -n 20 "$WARD_TMP/listen.err")"

# The collector's side: nothing of the nodes but public keys.
gathered=$WARD_TMP/got
expect 0 python3 "$fleet/collector.py" complete "$gathered/one" "$gathered/two"
verify() { # verify NODE
	"$WARDFS" audit verify --all --key "$WARD_TMP/$1/keys" --state "$gathered/$1"
}
for node in one two; do
	[ "$(find "$gathered/$node/sessions" -name trail.jsonl | wc -l)" = "$each" ] || fail "$node: not all arrived"
	verify "$node" >"$WARD_TMP/said" || fail "$node: $(grep -v ': intact' "$WARD_TMP/said" | head)"
	[ "$(grep -c ': intact' "$WARD_TMP/said")" = "$((each + 1))" ] || fail "$node: $(tail -n 3 "$WARD_TMP/said")"
done
# The keys of the other node verify nothing.
"$WARDFS" audit verify --all --key "$WARD_TMP/two/keys" --state "$gathered/one" >"$WARD_TMP/said" && fail 'by the keys of another node'
grep -q '^ledger: foreign key' "$WARD_TMP/said" || fail "$(head -n 3 "$WARD_TMP/said")"

# wrong TEXT: the node `one` is not whole, and the one line that says so begins with that.
wrong() {
	verify one >"$WARD_TMP/said" && fail "nothing is found: $1"
	grep -v ': intact' "$WARD_TMP/said" >"$WARD_TMP/bad"
	[ "$(wc -l <"$WARD_TMP/bad")" = "${2-1}" ] || fail "$(head "$WARD_TMP/bad")"
	grep -q "^$1" "$WARD_TMP/bad" || fail "not '$1': $(cat "$WARD_TMP/bad")"
}
ledger=$gathered/one/ledger.jsonl
cp -a "$gathered/one" "$WARD_TMP/kept"
whole() {
	rm -r "$gathered/one"
	cp -a "$WARD_TMP/kept" "$gathered/one"
}
# A session is removed.
rm -r "$gathered/one/sessions/one-17"
wrong 'one-17: missing'
# So are its lines of the ledger, so that nobody misses it; or the ledger; or what signs it.
grep -v '"session":"one-17"' "$ledger" >"$WARD_TMP/less"
cp "$WARD_TMP/less" "$ledger"
wrong 'ledger: edited'
rm "$ledger"
wrong 'ledger: missing'
whole
: >"$gathered/one/ledger.checkpoints"
rm -r "$gathered/one/sessions/one-17"
wrong 'ledger: missing'
whole
# An entry says that it was removed in order: no checkpoint of the node covers that.
rm -r "$gathered/one/sessions/one-17"
printf '{"v":1,"seq":9999,"session":"one-17","kind":"removed","time":"2026-01-01T00:00:00Z"}\n' >>"$ledger"
wrong 'one-17: missing'
whole
# A record is changed, or the last ones go.
sed -i '1s/"seq":1,/"seq":1, /' "$gathered/one/sessions/one-23/trail.jsonl"
wrong 'one-23: '
whole
sed -i '$d' "$gathered/one/sessions/one-23/trail.jsonl"
wrong 'one-23: '
whole
verify one >"$WARD_TMP/said" || fail 'the copy is whole'
# Hostile senders.
python3 "$WARD_SRC/tests/cases/oci/lib/fleet-elsewhere.py" "$(cat "$WARD_TMP/port")" "$gathered"
[ -z "$(find "$WARD_TMP" -name 'out*' ! -name '*.out')" ] || fail 'written outside'
[ "$(find "$gathered" -mindepth 1 -maxdepth 1 | wc -l)" = 2 ] || fail "$(ls "$gathered")"
