#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# [oci] network = ours: a container's network is wardfs-net with the rules of the policy, whatever
# the engine has prepared. The control of each attempt is the engine's network.
# shellcheck disable=SC2154
# timeout: 600
set -eu
. "$WARD_SRC/tests/cases/oci/lib/oci.sh"
. "$WARD_SRC/tests/cases/network/lib/network.sh"
case ${1-} in
'')
	on_host "$0" host
	exit
	;;
host)
	in_host "$0" inside
	exit
	;;
esac
trap 'oci kill n4 KILL || :' EXIT
workspace
asks() { # asks LINE...: [network] of the policy
	{
		printf '[policy]\nversion = 1\nextends = medium\n[network]\n'
		printf '%s\n' "$@"
	} >/etc/wardfs/net.policy
}
image "$b/rootfs"
for applet in wget nslookup nc ping cut; do
	ln -s busybox "$b/rootfs/bin/$applet"
done
n=0
fresh() { # fresh PROGRAM...
	bundle "$b" "$@"
	volume "$b" "$work" /workspace
	edit "$b" 'c["annotations"] = {"wardfs.session": sys.argv[3]}' "n$((n + 1))"
}
host() { # host ours|engine|policy [LINE...]
	host_policy 'policy = /etc/wardfs/net.policy' "network = $1" '[caller]' 'session = yes' '[floor]' \
		'host-namespace = network'
}
host_network() {
	edit "$b" 'c["linux"]["namespaces"] = [x for x in c["linux"]["namespaces"] if x["type"] != "network"]'
	# The host of this test has its own resolv.conf, and an engine would hand that on.
	cp /etc/resolv.conf "$b/rootfs/etc/resolv.conf"
}
runs() { # runs STATUS
	n=$((n + 1))
	expect "$1" oci run -b "$b" "n$n"
}
told() { # told SESSION KIND TEXT
	wait_until 60 gone_all || fail "left: $(ls /run/wardfs/oci)"
	expect 0 "$WARDFS" audit show --json --kind "$2" "$1"
	has "$OUT" "$3"
	expect 0 "$WARDFS" audit verify "$1"
}
gone_all() { [ -z "$(ls /run/wardfs/oci)" ]; }
plain='unset http_proxy https_proxy all_proxy; '

# Control: with the engine's network, here the host's, both servers answer.
asks 'mode = allowlist' 'allow = web.example'
host engine
fresh sh -c "$plain wget -qO- http://web.example/; wget -qO- http://other.example/"
host_network
runs 0
has "$OUT" 'hello from web.example'
has "$OUT" 'hello from other.example'
# Without wardfs-net such a policy is refused.
host policy
runs 1
has "$ERR" 'network = ours'

# Ours: the allowed one answers, by its name alone; the other one is refused, by name and address.
host ours
fresh sh -c "$plain cat /etc/resolv.conf; wget -qO- http://web.example/
	wget -qO- http://other.example/ || echo no-name
	wget -qO- http://203.0.113.11/ || echo no-address
	wget -qO- http://192.0.2.2/ || echo no-router
	nslookup secret.other.example || echo no-dns
	ip -o link | cut -d: -f2; ip route add 203.0.113.0/24 via 198.18.0.1 || echo no-route"
host_network
: >"$NET/log"
runs 0
has "$OUT" 'hello from web.example'
for s in 'nameserver 198.18.0.1' no-name no-address no-router no-dns eth0 no-route; do
	has "$OUT" "$s"
done
hasnt "$OUT" 'hello from other.example'
hasnt "$OUT" wan
hasnt "$(cat "$NET/log")" secret.other.example
told "n$n" session.start '"network":"ours"'
told "n$n" connect '"host":"web.example"'
expect 0 "$WARDFS" audit show --json "n$n"
has "$OUT" '"host":"other.example"'

# By the proxy that the environment names, which is ours and not the engine's; also for exec.
fresh sh -c 'echo "$http_proxy"; while :; do sleep 1; done'
edit "$b" 'c["process"]["env"] += ["HTTP_PROXY=http://203.0.113.11:1", "http_proxy=http://203.0.113.11:1"]'
n=$((n + 1))
oci create -b "$b" "n$n" >"$W/log" 2>&1 </dev/null || fail "$(cat "$W/log")"
expect 0 oci start "n$n"
expect 0 oci exec "n$n" wget -qO- http://web.example/
has "$OUT" 'hello from web.example'
expect 1 oci exec "n$n" wget -qO- http://other.example/
pid=$(oci state "n$n" | sed -n 's/.*"pid": \([0-9]*\).*/\1/p')
has "$(tr '\0' '\n' <"/proc/$pid/environ")" 'http_proxy=http://198.18.0.1:3128'
hasnt "$(tr '\0' '\n' <"/proc/$pid/environ")" 203.0.113.11
# Nothing of it shows on the host.
hasnt "$(ip -o link)" net0
hasnt "$(cat /proc/mounts)" /run/wardfs/oci

# wardfs-net dies: the container ends, and the trail says why.
session=$(session_of "n$n")
broker=$(brokers "$(status_of "$session" pid)" | head -n 1)
[ -n "$broker" ] || fail 'no wardfs-net'
kill -9 "$broker"
no_more() { [ ! -e "/proc/$pid/root" ]; }
wait_until 60 no_more || fail 'it runs without its network'
expect 0 oci delete --force "n$n"
wait_until 60 gone_all || fail "left: $(ls /run/wardfs/oci)"
expect 0 "$WARDFS" audit show --json --kind session.end "$session"
has "$OUT" 'wardfs-net died'

# What cannot be had with it is refused; each works with the engine's network.
cannot() { # cannot WHY
	n=$((n + 1))
	expect 1 oci run -b "$b" "n$n"
	has "$ERR" "$1"
}
asks 'mode = host'
fresh true
host ours
cannot 'mode = host is not'
host engine
host_network
runs 0
asks 'mode = allowlist' 'allow = web.example'
fresh true
edit "$b" 'c["linux"]["namespaces"].append({"type": "user"})
m = [{"containerID": 0, "hostID": 100000, "size": 65536}]
c["linux"].update(uidMappings=m, gidMappings=m)'
chmod 755 "$W" "$b" "$b/rootfs"
host ours
cannot 'user namespace of its own'
host engine
runs 0
asks 'mode = allowlist' 'allow = web.example' "socket = $W/sock"
fresh true
host ours
cannot '[network] socket'
host engine
runs 0

# A namespace that the caller has prepared, and a card in it, is not the one that it gets.
ip netns add given
ip -n given link add open0 type veth peer name open1
for mode in none allowlist; do
	asks "mode = $mode"
	fresh ip -o link
	edit "$b" '[x.update(path="/run/netns/given") for x in c["linux"]["namespaces"] if x["type"] == "network"]'
	host engine
	runs 0
	has "$OUT" open0
	host ours
	edit "$b" 'c["annotations"] = {}'
	runs 0
	hasnt "$OUT" open0
done
ip netns del given

# A hook by which docker plugs its network into whatever namespace the container has: it does not
# run unless the engine's network is wanted. Control: it does then.
mkdir "$W/hooks"
printf '#!/bin/sh\necho ran >%s/hooks/ran\n' "$W" >"$W/hooks/plug"
chmod 755 "$W/hooks/plug"
for who in engine ours policy; do
	asks 'mode = none'
	fresh true
	edit "$b" 'c["annotations"] = {}
c["hooks"] = {"prestart": [{"path": sys.argv[3], "args": ["plug", "-exec-root=/run/docker", "libnetwork-setkey", "x"]}]}' "$W/hooks/plug"
	host_policy 'policy = /etc/wardfs/net.policy' "network = $who" '[floor]' "hook = $W/hooks/plug"
	rm -f "$W/hooks/ran"
	runs 0
	[ -e "$W/hooks/ran" ] && ran=yes || ran=no
	[ "$who-$ran" = engine-yes ] || [ "$who-$ran" = ours-no ] || [ "$who-$ran" = policy-no ] ||
		fail "with network = $who the hook ran: $ran"
done
wait_until 60 gone_all || fail "left: $(ls /run/wardfs/oci)"
