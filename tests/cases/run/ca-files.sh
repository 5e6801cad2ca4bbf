#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Certificates of a company's own authority, named by the caller's environment: the variable
# reaches the command, and the file is readable there. wardfs names a file that is no certificate,
# holds a key or is closed by a rule, and does not show it. For another owner, root's variables
# show only what that owner may read.
set -eu
. "$WARD_SRC/tests/lib.sh"
unset NODE_EXTRA_CA_CERTS SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE CURL_CA_BUNDLE GIT_SSL_CAINFO PIP_CERT
cat >main.sh <<'S'
set -eu
. "$WARD_SRC/tests/lib.sh"
WARD_TMP=$HOME
unset GIT_SSL_CAPATH AWS_CA_BUNDLE DENO_CERT CARGO_HTTP_CAINFO
c=$HOME/corp
mkdir -p "$c/dir"
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=corp -keyout "$c/key" -out "$c/ca.crt" 2>/dev/null
cat "$c/ca.crt" "$c/key" >"$c/both"
echo TOKEN=1 >"$c/text"
: >"$c/empty"
mkfifo "$c/fifo"
project "$HOME/p"
cd "$HOME/p" || exit 1
show='cat "$1"; ls "$(dirname "$1")"; env'
# Control: without the variable nothing of it is seen.
expect 1 "$WARDFS" run -- cat "$c/ca.crt"
for name in NODE_EXTRA_CA_CERTS SSL_CERT_FILE REQUESTS_CA_BUNDLE CURL_CA_BUNDLE GIT_SSL_CAINFO PIP_CERT; do
	expect 0 env "$name=$c/ca.crt" "$WARDFS" run -- sh -c "$show" sh "$c/ca.crt"
	has "$OUT" "BEGIN CERTIFICATE"
	has "$OUT" "$name=$c/ca.crt"
	hasnt "$OUT" both
	hasnt "$ERR" "not passed on"
done
expect 1 env "SSL_CERT_FILE=$c/ca.crt" "$WARDFS" run -- sh -c 'echo x >>"$1" || exit 1' sh "$c/ca.crt"
# A directory that every view shows needs no line.
expect 0 env SSL_CERT_DIR=/etc/ssl/certs "$WARDFS" run -- env
has "$OUT" SSL_CERT_DIR=/etc/ssl/certs
hasnt "$ERR" "not passed on"
# refused FILE TEXT: neither the file nor the variable is inside, and the session starts.
refused_file() {
	expect 0 env "SSL_CERT_FILE=$1" timeout 60 "$WARDFS" run -- sh -c '[ ! -e "$1" ] && env' sh "$1"
	hasnt "$OUT" SSL_CERT_FILE
	has "$ERR" "SSL_CERT_FILE is not passed on: $1: "
	has "$ERR" "$2"
}
refused_file "$c/both" "it holds more than certificates"
refused_file "$c/key" "it holds more than certificates"
# A key that is no block of PEM, around the certificates or in one.
grep -v -e ----- "$c/key" | tr -d '\n' >"$c/bare"
for kind in "$(cat "$c/bare")" "# key: $(cat "$c/bare")" '---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----' "  $(head -n 1 "$c/key")" \
	'keystore password: hunter2' "$(openssl ec -in "$c/key" -text -noout 2>/dev/null)"; do
	{ echo "$kind" && cat "$c/ca.crt"; } >"$c/around"
	refused_file "$c/around" "it holds more than certificates: text"
	{ cat "$c/ca.crt" && echo "$kind"; } >"$c/around"
	refused_file "$c/around" "it holds more than certificates: text"
done
sed '3i\
user: me' "$c/ca.crt" >"$c/around"
refused_file "$c/around" "it holds more than certificates: a block"
# The control: what bundles have around their certificates.
{
	echo '# Issuer: CN=Corp Root O=Corp OU=X'
	echo '# Serial: 459271402209476785167459271402209476785167012345'
	echo '# SHA256 Fingerprint: 9a:c4:22:55:0a:b1:11:22:33:44:55:66:77:88:99:aa:bb:cc:dd:ee:ff:00:11:22:33:44:55:66:77:88:99:aa'
	echo 'Corp Root CA'
	echo '============'
	openssl x509 -in "$c/ca.crt" -text
} >"$c/bundle"
expect 0 env "SSL_CERT_FILE=$c/bundle" "$WARDFS" run -- cat "$c/bundle"
has "$OUT" "BEGIN CERTIFICATE"
for own in /etc/ssl/certs/ca-certificates.crt "$(python3 -c 'import certifi; print(certifi.where())' 2>/dev/null)"; do
	[ -n "$own" ] && [ -e "$own" ] || continue
	cp "$own" "$c/shipped"
	expect 0 env "SSL_CERT_FILE=$c/shipped" "$WARDFS" run -- test -e "$c/shipped"
	[ -z "$(said_besides_limits)" ] || fail "$own: $ERR"
done
refused_file "$c/text" "it is no file of certificates"
refused_file "$c/empty" "it is empty"
refused_file "$c/fifo" "it is no regular file"
refused_file "$c/dir" "--read $c/dir"
refused_file "$c/none" "there is no such file, or its owner cannot reach it"
expect 0 env SSL_CERT_FILE=/dev/zero timeout 60 "$WARDFS" run -- true
has "$ERR" "/dev/zero: it is no regular file"
# The directory by what was said.
expect 0 env "SSL_CERT_DIR=$c/dir" "$WARDFS" run --read "$c/dir" --env SSL_CERT_DIR -- sh -c 'ls "$SSL_CERT_DIR"'
hasnt "$ERR" "not passed on"
expect 0 env SSL_CERT_FILE=ca.crt "$WARDFS" run -- true
has "$ERR" "it is no absolute path"
# A guard holds, and names itself. --env has the last word.
printf '[policy]\nversion = 1\nextends = medium\n[guard]\nhide = %s\n' "$c" >../own.policy
expect 0 env "SSL_CERT_FILE=$c/ca.crt" "$WARDFS" run --policy ../own.policy -- sh -c '[ ! -e "$1" ]' sh "$c/ca.crt"
has "$ERR" "[guard] hide = $c closes it"
expect 0 env "SSL_CERT_FILE=$c/both" "$WARDFS" run --env SSL_CERT_FILE=/else -- env
has "$OUT" SSL_CERT_FILE=/else
hasnt "$ERR" "not passed on"
# A program takes it: node says of one that it cannot read.
expect 0 env "NODE_EXTRA_CA_CERTS=$c/ca.crt" "$WARDFS" run -- node -p 'require("tls").rootCertificates.length > 0'
hasnt "$ERR" Warning
exit 0
S
if [ "$(id -u)" -ne 0 ]; then
	exec sh main.sh
fi
mkdir roots
(HOME=$WARD_TMP/roots; export HOME; cd roots; sh "$WARD_TMP/main.sh") || fail "as root"
as_user "$WARD_TMP/main.sh" || fail "as an ordinary user"

# Root for another owner: what root's variables name is looked at with that owner's rights.
cd "$WARD_TMP" || exit 1
chmod 755 .
mkdir -p theirs public private
project theirs/p
chown -R 4711:4711 theirs
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=corp -keyout private/key -out public/ca.crt 2>/dev/null
cp public/ca.crt public/closed.crt
cp public/ca.crt private/ca.crt
ln -s "$WARD_TMP/private/ca.crt" public/link.crt
chmod 644 public/ca.crt private/ca.crt
chmod 600 public/closed.crt
chmod 700 private
cd theirs/p || exit 1
look='cat "$1" 2>/dev/null; env'
# By root's own word, and under sudo by that of whoever calls; else no such variable of root's
# reaches another owner.
for by in "env SUDO_UID=4711 SUDO_GID=4711 SUDO_USER=them" "env"; do
	set --
	[ "$by" != env ] || set -- --policy medium
	file=$WARD_TMP/public/ca.crt
	expect 0 $by "SSL_CERT_FILE=$file" "$WARDFS" run "$@" -- sh -c "$look" sh "$file"
	has "$OUT" "SSL_CERT_FILE=$file"
	has "$OUT" "BEGIN CERTIFICATE"
	for file in "$WARD_TMP/public/closed.crt" "$WARD_TMP/private/ca.crt" "$WARD_TMP/public/link.crt"; do
		# The control: root reads it.
		expect 0 grep -q "BEGIN CERTIFICATE" "$file"
		expect 0 $by "SSL_CERT_FILE=$file" "$WARDFS" run "$@" -- sh -c "$look" sh "$file"
		hasnt "$OUT" SSL_CERT_FILE
		hasnt "$OUT" "BEGIN CERTIFICATE"
		has "$ERR" "SSL_CERT_FILE is not passed on: $file: "
		has "$ERR" "its owner cannot "
	done
done
file=$WARD_TMP/public/ca.crt
expect 0 env "SSL_CERT_FILE=$file" "$WARDFS" run -- sh -c "$look" sh "$file"
hasnt "$OUT" SSL_CERT_FILE
hasnt "$OUT" "BEGIN CERTIFICATE"
exit 0
