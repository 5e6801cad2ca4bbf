# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh disable=SC2016,SC2034
# For the cases of this folder: a small internet in network namespaces of the test's own.
#
#   "the host"  192.0.2.1 --- 192.0.2.2  "the internet": 203.0.113.10 and others, see $NET/zone
#
# in_host SCRIPT [ARG...]   runs the sh script as root on that host: with an own network namespace,
# its
#                           own /etc/resolv.conf and /etc/hosts, an own /run; afterwards nothing is
# left
# in_host_both SCRIPT       two of them side by side: as root, and as an ordinary user, each in a
# home of
#                           their own; $TOP is the test's directory. $TOP/servers.sh, if there is
#                           one, is sourced before, as root on that host
# as_user, inside of it, becomes an ordinary user there.
# net_project               in a SCRIPT: makes the project ~/p and goes there. It has n.py
# (netclient.py),
#                           ca.crt (of what the internet serves) and says.sh
set -eu
. "$WARD_SRC/tests/lib.sh"

NET=$WARD_TMP/net
export NET

make_certificate() {
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 3650 \
		-keyout "$NET/key.pem" -out "$NET/cert.pem" -subj /CN=test \
		-addext 'subjectAltName=DNS:web.example,DNS:*.wild.example,DNS:other.example' 2>/dev/null
	chmod 644 "$NET"/*.pem
}

in_host() {
	mkdir -p "$NET"
	chmod 755 "$WARD_TMP" "$NET"
	make_certificate || fail "no certificate"
	cat >"$NET/zone" <<'Z'
web.example 203.0.113.10
six.example 2001:db8:113::10
both.example 203.0.113.10 2001:db8:113::10
other.example 203.0.113.11
a.wild.example 203.0.113.10
echo.example 203.0.113.10
cdn.example front.cdn.example
front.cdn.example 203.0.113.10
alias.example evil.example
evil.example 203.0.113.66
rebind.example 203.0.113.10 / 192.0.2.1
near.example 192.0.2.1
loop.example 127.0.0.1
private.example 10.9.8.7
meta.example 169.254.169.254
meta6.example fd00:ec2::254
mapped.example ::ffff:127.0.0.1
nat64.example 64:ff9b::a09:807
sixtofour.example 2002:a09:807::1
Z
	echo 'nameserver 203.0.113.53' >"$NET/resolv.conf"
	printf '127.0.0.1 localhost\n203.0.113.11 hosts.example\n' >"$NET/hosts"
	unshare --mount --net --propagation private sh -c '
		set -eu
		mount -t tmpfs -o mode=755 tmpfs /run
		mkdir /run/netns
		touch "$NET/log"
		mount --bind "$NET/resolv.conf" /etc/resolv.conf
		mount --bind "$NET/hosts" /etc/hosts
		ip link set lo up
		ip netns add internet
		ip link add wan type veth peer name wan netns internet
		ip addr add 192.0.2.1/30 dev wan
		ip -6 addr add 2001:db8:0:1::1/126 dev wan nodad
		ip link set wan up
		ip -n internet addr add 192.0.2.2/30 dev wan
		ip -n internet -6 addr add 2001:db8:0:1::2/126 dev wan nodad
		ip -n internet link set lo up
		ip -n internet link set wan up
		ip route add default via 192.0.2.2
		ip -6 route add default via 2001:db8:0:1::2
		for a in 203.0.113.10 203.0.113.11 203.0.113.53 203.0.113.66 10.9.8.7 169.254.169.254; do
			ip -n internet addr add $a/32 dev lo
		done
		# A cloud has its metadata there; NAT64 and 6to4 hold 203.0.113.10 and 10.9.8.7.
		for a in 2001:db8:113::10 fd00:ec2::254 64:ff9b::cb00:710a 64:ff9b::a09:807 2002:cb00:710a::1 2002:a09:807::1; do
			ip -n internet -6 addr add $a/128 dev lo nodad
		done
		ip -n internet -6 addr add fe80::53/64 dev wan nodad
		# A container engine lets the host forward, and namespaces inherit that: the router
		# would then answer for an address that nobody has.
		ip netns exec internet sh -c "echo 0 >/proc/sys/net/ipv4/ip_forward"
		for d in all wan; do
			ip netns exec internet sh -c "echo 1 >/proc/sys/net/ipv4/conf/$d/accept_source_route"
		done
		# Whoever asks may send an ICMP echo here.
		echo "0 2147483647" >/proc/sys/net/ipv4/ping_group_range
		# dash has no job control here: a process of its own, ended by its number.
		ip netns exec internet python3 "$WARD_SRC/tests/support/internet.py" "$NET" \
			2>"$NET/errors" &
		internet=$!
		trap "kill $internet || :" EXIT
		i=0
		until [ -e "$NET/ready" ]; do
			i=$((i + 1))
			[ $i -lt 1200 ] || { cat "$NET/errors"; exit 1; }
			sleep 0.05
		done
		sh "$@"' sh "$@"
}

in_host_both() {
	TOP=$WARD_TMP
	export TOP
	chmod 755 "$TOP"
	cat >"$TOP/both.sh" <<'S'
set -eu
. "$WARD_SRC/tests/lib.sh"
mkdir -p "$NET/www" "$WARD_TMP/roothome"
chmod 777 "$NET" "$NET/www"
chmod 666 "$NET/log" "$NET/zone"
[ ! -e "$TOP/servers.sh" ] || . "$TOP/servers.sh"
who=$1
shift
case $who in
root) HOME=$WARD_TMP/roothome sh "$WARD_SRC/tests/cases/network/lib/verified.sh" "$@" ;;
user) as_user "$WARD_SRC/tests/cases/network/lib/verified.sh" "$@" ;;
esac
S
	mkdir "$TOP/root" "$TOP/user"
	(
		cd "$TOP/user" && WARD_TMP=$PWD NET=$PWD/net in_host "$TOP/both.sh" user "$@"
	) >"$TOP/user.out" 2>&1 &
	beside=$!
	failed=0
	(
		cd "$TOP/root" && WARD_TMP=$PWD NET=$PWD/net in_host "$TOP/both.sh" root "$@"
	) || failed=$?
	if ! wait "$beside"; then
		echo '(as an ordinary user)' >&2
		failed=1
	fi
	cat "$TOP/user.out"
	return "$failed"
}

net_project() {
	mkdir -p "$HOME" "$NET/www"
	cd "$HOME" || exit 1
	WARD_TMP=$HOME
	project p
	cd p || exit 1
	cp "$WARD_SRC/tests/support/netclient.py" n.py
	cp "$WARD_SRC/tests/cases/network/lib/says.sh" .
	cp "$NET/cert.pem" ca.crt
}

# net_repository: a repository with one commit, "one", that the internet serves as /www/r.git
net_repository() {
	[ ! -d "$NET/www/r.git" ] || return 0
	git init -q "$HOME/src"
	git -C "$HOME/src" -c user.name=T -c user.email=t@example.org commit -q --allow-empty -m one
	git clone -q --bare "$HOME/src" "$NET/www/r.git"
	git -C "$NET/www/r.git" update-server-info
}

# below PID: the processes that it has started. brokers PID: those of them that are wardfs-net's
below() {
	grep -sl "^PPid:[[:space:]]*$1\$" /proc/[0-9]*/status | cut -d/ -f3
}

brokers() {
	for p in $(below "$1"); do
		[ "$(cat "/proc/$p/comm")" != wardfs-net ] || echo "$p"
	done
}

# policy FILE LINE...: a policy with these lines under [network].
policy() {
	file=$1
	shift
	{
		printf '[policy]\nversion = 1\nextends = medium\n[network]\n'
		printf '%s\n' "$@"
	} >"$file"
}
