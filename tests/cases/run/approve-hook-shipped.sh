#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The shipped programs for [approvals] command: one asks a service by HTTP, one asks by a
# notification of the desktop. Service and desktop are the test's own.
# timeout: 300
set -eu
. "$WARD_SRC/tests/cases/run/lib/approve.sh"
asking_project
cp ../ask.policy ../plain.policy
hooks=$WARD_TMP/hooks
mkdir -p "$hooks/bin" "$hooks/home/.config/wardfs"
chmod 755 "$WARD_TMP" "$hooks"
# hook NAME: that shipped program, with the test's HOME and PATH.
hook() {
	printf '#!/bin/sh\nHOME=%s PATH=%s:$PATH exec "%s"\n' "$hooks/home" "$hooks/bin" \
		"$WARD_SRC/conf/approvals/$1" >"$hooks/$1"
	chmod 755 "$hooks/$1"
	{
		cat ../plain.policy
		printf '[approvals]\ntimeout = 60s\ncommand = %s\n' "$hooks/$1"
	} >../ask.policy
}
write='echo more >>.github/workflows/ci'

echo "--- by HTTP"
python3 "$WARD_SRC/tests/cases/run/lib/approve-service.py" ../port ../asked &
service=$!
trap 'kill $service' EXIT
wait_until 30 test -s ../port || fail "no service"
printf 'http://127.0.0.1:%s/ask\nAuthorization: Bearer letmein\n' "$(cat ../port)" \
	>"$hooks/home/.config/wardfs/webhook"
chmod 600 "$hooks/home/.config/wardfs/webhook"
hook webhook
begin http sh -c "$write"
end 0 http
grep -q '"path": "/workspace/.github/workflows/ci"' ../asked || fail "asked: $(cat ../asked)"
"$WARDFS" audit approvals http | grep -q 'granted  write' || fail "not granted"
echo no >../answer
begin httpno sh -c "$write"
end 2 httpno
"$WARDFS" audit approvals httpno | grep -q 'refused  write' || fail "not refused"

echo "--- a header that others may read is not sent, and a service that moved gets none"
rm ../answer
chmod 644 "$hooks/home/.config/wardfs/webhook"
: >../asked
begin open sh -c "$write"
question open
[ ! -s ../asked ] || fail "asked: $(cat ../asked)"
expect 0 "$WARDFS" approve "$Q" no
end 2 open
printf 'http://127.0.0.1:%s/moved\nAuthorization: Bearer letmein\n' "$(cat ../port)" \
	>"$hooks/home/.config/wardfs/webhook"
chmod 600 "$hooks/home/.config/wardfs/webhook"
begin moved sh -c "$write"
question moved
wait_until 30 grep -q moved ../asked || fail "control: the service was not asked"
grep -q elsewhere ../asked && fail "the header went elsewhere"
expect 0 "$WARDFS" approve "$Q" no
end 2 moved

echo "--- by a notification"
cat >"$hooks/bin/notify-send" <<EOF
#!/bin/sh
printf '%s\n' "\$@" "\$DBUS_SESSION_BUS_ADDRESS" >"$hooks/notified"
echo once
EOF
chmod 755 "$hooks/bin/notify-send"
: >"$hooks/notified"
hook desktop
begin desk sh -c "$write # <b>&"
end 0 desk
grep -qx 'desk: write /workspace/.github/workflows/ci' "$hooks/notified" || fail "$(cat "$hooks/notified")"
grep -q '&lt;b>&amp;' "$hooks/notified" || fail "markup of the command: $(cat "$hooks/notified")"
grep -q "^unix:path=/run/user/$(id -u)/bus" "$hooks/notified" || fail "$(cat "$hooks/notified")"
printf '#!/bin/sh\nexit 0\n' >"$hooks/bin/notify-send"
begin shut sh -c "$write"
question shut
expect 0 "$WARDFS" approve "$Q" no
end 2 shut
